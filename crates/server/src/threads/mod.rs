//! Threads in memory. Each is an actor that owns its engine, its log and its subscribers
//! alone. Requests, model events, tool results and answers all reach it as messages.

mod actor;
mod agent;
mod app_usage;
mod audience;
mod catch_up;
pub(crate) mod child;
mod compact;
mod continuation;
mod events;
mod goal;
mod guardian;
mod hooks;
mod idle;
mod inject;
pub(crate) mod join;
mod live;
pub(crate) mod load;
mod mask;
mod mask_model;
mod mcp;
mod message;
mod model_items;
mod model_stream;
mod network;
mod once;
mod open;
mod opened;
mod perform;
mod questions;
mod queue;
mod read_state;
mod realtime;
mod recorder;
mod records;
mod remote_compaction;
mod replies;
mod reports;
mod revert;
mod review;
mod rights;
mod rollback;
mod sample;
mod sampling;
mod session;
mod settings_update;
mod shell;
mod skill_servers;
mod skills;
mod spending;
mod stamps;
mod steer;
mod takeover;
mod tool_host;
mod tool_scope;
mod tool_sets;
mod tools;
mod turn_context;
mod turn_settings;
mod turn_start;
mod unfollowed;
mod user_message;
mod verb;
mod view;
mod web_search;
mod workspace_hook;

use std::collections::BTreeMap;
use std::sync::{Arc, Weak};

use parking_lot::Mutex;
use quipu_engine::ThreadId;
use quipu_wire::method::Method;
use uuid::Uuid;

use crate::hub::ClientId;
use crate::{Refusal, Reply};

pub(crate) use agent::{AgentMessage, InheritedSettings};
pub(crate) use continuation::take_over;
pub(crate) use goal::GoalMessage;
pub(crate) use load::StartRequest;
pub(crate) use mcp::McpMessage;
pub(crate) use message::{Message, Stop, ThreadHandle, ThreadSnapshot};
pub(crate) use network::managed as managed_network;
pub(crate) use opened::Opened;
pub(crate) use queue::{Entry as QueueEntry, QueueMessage};
pub(crate) use realtime::{RealtimeMessage, RealtimeRequest};
pub(crate) use rights::{LOCAL_ENVIRONMENT, one_policy};
pub(crate) use session::{Overrides, Session, usual_provider};
use tool_sets::ToolSets;
use unfollowed::Unfollowed;
pub(crate) use verb::Verb;
pub(crate) use view::{from_summary, stored_git, wire_git};

/// Threads that all clients may have loaded.
const MAX_LOADED: usize = 20_000;

/// The loaded threads.
#[derive(Default)]
pub(crate) struct Threads {
    loaded: Mutex<BTreeMap<ThreadId, ThreadHandle>>,
    /// The instructions of the last thread, which most have in common.
    instructions: Mutex<Option<Weak<str>>>,
    tool_sets: ToolSets,
    unfollowed: Unfollowed,
}

impl Threads {
    /// A loaded thread.
    pub fn get(&self, id: &str) -> Option<ThreadHandle> {
        self.loaded.lock().get(id).cloned()
    }

    /// How many are loaded.
    pub fn count(&self) -> usize {
        self.loaded.lock().len()
    }

    /// Whether a client that may have `most` threads loaded may load one more.
    pub fn has_room(&self, client: ClientId, most: usize) -> Result<(), Refusal> {
        let loaded = self.loaded.lock();
        let opened = loaded.values().filter(|it| it.opener == Some(client));
        let opened = opened.count();
        if opened < most && loaded.len() < MAX_LOADED {
            return Ok(());
        }
        Err(Refusal::TooManyThreads {
            opened,
            per_client: most,
            all: loaded.len(),
            max: MAX_LOADED,
        })
    }

    /// The instructions of a thread, in common with the last one if they are the same.
    pub fn share(&self, instructions: &str) -> Arc<str> {
        let last = &mut *self.instructions.lock();
        let shared = last.as_ref().and_then(Weak::upgrade);
        let shared = shared.filter(|it| **it == *instructions);
        let shared = shared.unwrap_or_else(|| instructions.into());
        *last = Some(Arc::downgrade(&shared));
        shared
    }

    /// The ids of all loaded threads, in order.
    pub fn ids(&self) -> Vec<ThreadId> {
        self.loaded.lock().keys().cloned().collect()
    }

    pub fn all(&self) -> Vec<ThreadHandle> {
        self.loaded.lock().values().cloned().collect()
    }

    /// Makes all threads read the user's settings again, before anything that is asked of them later.
    pub async fn reload_settings(&self) {
        for thread in self.all() {
            thread.send(Message::ReloadSettings).await;
        }
    }

    fn insert(&self, handle: ThreadHandle) {
        self.loaded.lock().insert(handle.id.clone(), handle);
    }

    /// Forgets a thread that is unloaded, but not one that was loaded under its id since.
    pub fn remove(&self, handle: &ThreadHandle) {
        let mut loaded = self.loaded.lock();
        if loaded.get(&handle.id).is_some_and(|it| it.is(handle)) {
            loaded.remove(&handle.id);
        }
    }
}

/// Reads a thread id as clients spell it.
pub(crate) fn parse_id(id: &str) -> Result<Uuid, Refusal> {
    Uuid::parse_str(id).map_err(|_| Refusal::InvalidThreadId(id_problem(id)))
}

/// Refuses a thread that is not stored, or not yet. Blocks.
pub(crate) fn require_stored(server: &crate::Server, id: Uuid) -> Result<(), Refusal> {
    let summary = server.store.summary(id);
    let failed = |error| Refusal::internal(format!("failed to read thread {id}: {error}"));
    match summary.map_err(failed)? {
        Some(_) => Ok(()),
        None => Err(Refusal::ThreadNotFound(id.to_string())),
    }
}

/// Why a text is not a thread id, as the official server says it.
fn id_problem(id: &str) -> String {
    let body = id.strip_prefix("urn:uuid:").unwrap_or(id);
    let body = body
        .strip_prefix('{')
        .and_then(|it| it.strip_suffix('}'))
        .unwrap_or(body);
    let odd = body
        .char_indices()
        .find(|(_, c)| !c.is_ascii_hexdigit() && *c != '-');
    if let Some((index, c)) = odd {
        return format!(
            "invalid character: expected an optional prefix of `urn:uuid:` followed by [0-9a-fA-F-], found `{c}` at {}",
            index + 1
        );
    }
    let groups: Vec<&str> = body.split('-').collect();
    if groups.len() == 1 {
        return format!(
            "invalid length: expected length 32 for simple format, found {}",
            body.len()
        );
    }
    if groups.len() != 5 {
        return format!("invalid group count: expected 5, found {}", groups.len());
    }
    let lengths = [8, 4, 4, 4, 12];
    let wrong = groups
        .iter()
        .zip(lengths)
        .enumerate()
        .find(|(_, (group, length))| group.len() != *length);
    wrong.map_or_else(
        || "not a UUID".to_owned(),
        |(index, (group, length))| {
            format!(
                "invalid group length in group {index}: expected {length}, found {}",
                group.len()
            )
        },
    )
}

/// The loaded thread that a request names.
pub(crate) fn loaded(server: &Arc<crate::Server>, id: &str) -> Result<ThreadHandle, Refusal> {
    let id = parse_id(id)?.to_string();
    let thread = server.threads.get(&id);
    thread.ok_or(Refusal::ThreadNotFound(id))
}

/// Refuses what a thread that is not stored cannot have; `text` is given its id.
pub(crate) async fn refuse_ephemeral(
    thread: &ThreadHandle,
    text: impl FnOnce(&str) -> String,
) -> Result<(), Refusal> {
    let snapshot = thread.snapshot().await.ok_or(Refusal::ThreadUnloading)?;
    match snapshot.ephemeral {
        true => Err(Refusal::invalid_request(text(&thread.id))),
        false => Ok(()),
    }
}

/// Gives a request to the loaded thread that it names, which answers it; one that names no such thread is refused.
pub(crate) async fn pass_on<M: Method, T: Into<Message>>(
    server: &Arc<crate::Server>,
    id: &str,
    reply: Reply<M>,
    message: impl FnOnce(Reply<M>) -> T,
) {
    match loaded(server, id) {
        Ok(thread) => {
            thread.send(message(reply)).await;
        }
        Err(error) => reply.send(Err(error)).await,
    }
}
