//! Bringing threads into memory, and out of it.

use std::path::{Path, PathBuf};
use std::slice::from_ref;
use std::sync::Arc;

use quipu_config::Feature;
use quipu_journal::event::{TokenUsage, TokenUsageInfo};
use quipu_journal::{BaseInstructions, History, Log, Replay, SessionMeta};
use quipu_wire::method::event;
use quipu_wire::{
    DynamicToolSpec, Json, Thread, ThreadClosedNotification, ThreadStatus, ThreadTokenUsage,
    TokenUsageBreakdown, Turn,
};
use uuid::Uuid;

use super::continuation;
use super::message::ThreadHandle;
use super::open::{Parts, open};
use super::opened::Opened;
use super::recorder::HistoryState;
use super::session::{Overrides, Session};
use super::skills::ThreadSkills;
use super::turn_context::PromptState;
use super::view;
use crate::hub::Client;
use crate::{Refusal, Server, clock, git};
use quipu_prompt::{agents_md, base, notes};

/// How a new thread is to be.
#[derive(Default)]
pub(crate) struct StartRequest {
    pub overrides: Overrides,
    pub ephemeral: bool,
    pub dynamic_tools: Vec<DynamicToolSpec>,
    pub raw_items: bool,
    /// A history to begin with.
    pub history: Vec<Json>,
    /// Its id, if that was chosen before.
    pub id: Option<Uuid>,
}

fn has_room(server: &Server, client: &Client) -> Result<(), Refusal> {
    let most = server.settings.threads_per_client;
    server.threads.has_room(client.id, most)
}

/// Starts a new thread that `client` follows.
pub(crate) fn start(
    server: &Arc<Server>,
    client: &Arc<Client>,
    request: StartRequest,
) -> Result<Opened, Refusal> {
    has_room(server, client)?;
    let mut session = Session::resolve(server, &request.overrides, None)?;
    session.dynamic_tools = request.dynamic_tools;
    let mut meta = new_meta(server, &session, None);
    meta.id = request.id.unwrap_or(meta.id);
    let mut log = match request.ephemeral {
        true => None,
        false => Some(server.store.create(meta.clone()).map_err(cannot_create)?),
    };
    if let Some(log) = log
        .as_mut()
        .filter(|_| request.id.is_some() && server.nodes.is_some())
    {
        // Other nodes pass the same request on to this one, also before anything is said in the thread.
        log.take_writer().map_err(cannot_create)?;
    }
    let prompt = prompt_state(server, &session, &meta);
    let mut thread = view::new(&meta, &session, log.as_ref());
    if let Some(log) = log.as_mut().filter(|_| !request.history.is_empty()) {
        store_history(log, &request.history).map_err(cannot_create)?;
        thread.preview = quipu_journal::first_words(&request.history).unwrap_or_default();
    }
    let parts = Parts {
        has_run: false,
        meta,
        log,
        history: request.history,
        history_state: HistoryState::InMemory,
        usage: None,
        thread,
        prompt,
        raw_items: request.raw_items,
        after: None,
        left: None,
    };
    Ok(open(server, from_ref(client), session, parts))
}

/// Loads a stored thread that `client` follows from now on, if there is one.
pub(crate) fn resume(
    server: &Arc<Server>,
    client: Option<&Arc<Client>>,
    path: &Path,
    overrides: &Overrides,
    after: Option<i64>,
) -> Result<Opened, Refusal> {
    client.map_or(Ok(()), |client| has_room(server, client))?;
    let (mut replay, mut log) = reopen(server, path)?;
    let mut overrides = overrides.clone();
    keep_model(&mut overrides, &replay);
    let left = continuation::settle(server, &mut replay, &mut log, &mut overrides)?;
    let mut session = Session::resolve(server, &overrides, Some(&replay.meta.cwd))?;
    session.dynamic_tools = stored_tools(&replay.meta);
    if overrides.base_instructions.is_none() {
        session.base_instructions = replay
            .meta
            .base_instructions
            .as_ref()
            .map(|it| it.text.clone());
    }
    let prompt = prompt_state(server, &session, &replay.meta).stored(&replay);
    let mut thread = match stored_thread(server, replay.meta.id, path) {
        Ok(thread) => thread,
        Err(_) => view::foreign(&replay, &session, &log),
    };
    thread.turns = std::mem::take(&mut replay.turns);
    if left.is_some() {
        let active_flags = Vec::new();
        thread.status = ThreadStatus::Active { active_flags };
    }
    let usage = replay.usage.as_ref().map(wire_usage);
    let parts = Parts {
        has_run: true,
        left,
        meta: replay.meta,
        log: Some(log),
        history: Vec::new(),
        history_state: HistoryState::Located(replay.history),
        usage,
        thread,
        prompt,
        raw_items: false,
        after,
    };
    let followers = client.map_or(&[][..], from_ref);
    Ok(open(server, followers, session, parts))
}

/// Copies a stored thread into a new one that `client` follows.
pub(crate) fn fork(
    server: &Arc<Server>,
    client: &Arc<Client>,
    path: &Path,
    overrides: &Overrides,
    copy: &Copy,
) -> Result<Opened, Refusal> {
    let (ephemeral, cut) = (copy.ephemeral, &copy.cut);
    has_room(server, client)?;
    let mut replay = read(server, path)?;
    let dropped = cut.dropped(&replay.turns)?;
    if dropped > 0 {
        let cut = server.store.replay_without(path, dropped);
        replay = cut.map_err(|error| cannot_read(path, &error))?;
    }
    let was_open = replay.open_turn().map(str::to_owned);
    replay.settle();
    let mut session = Session::resolve(server, overrides, Some(&replay.meta.cwd))?;
    session.dynamic_tools = stored_tools(&replay.meta);
    let mut meta = new_meta(server, &session, Some(replay.meta.id));
    meta.id = copy.id.unwrap_or(meta.id);
    meta.dynamic_tools.clone_from(&replay.meta.dynamic_tools);
    let (mut log, mut history, history_state) = match ephemeral {
        true => (
            None,
            history(server, &replay.history, path)?,
            HistoryState::InMemory,
        ),
        false => {
            let mut log = server.store.fork(path, meta.clone()).map_err(cannot_fork)?;
            take_back(&mut log, dropped).map_err(cannot_fork)?;
            (Some(log), Vec::new(), HistoryState::Unread)
        }
    };
    if was_open.is_some() || replay.has_unended_turn {
        let note = notes::turn_aborted();
        match &mut log {
            Some(log) => interrupt_copy(log, was_open, note).map_err(cannot_fork)?,
            None => history.push(note),
        }
    }
    if let Some(log) = log.as_ref().filter(|_| replay.has_unended_turn) {
        // Its id is made from its place in the file, which is another one in the copy.
        replay.turns = read(server, log.path())?.turns;
    }
    let prompt = prompt_state(server, &session, &meta).stored(&replay);
    let mut thread = match &log {
        Some(log) => stored_thread(server, meta.id, log.path())?,
        None => Thread {
            preview: preview(server, replay.meta.id),
            ..view::new(&meta, &session, None)
        },
    };
    thread.turns = std::mem::take(&mut replay.turns);
    let usage = replay.usage.as_ref().map(wire_usage);
    let parts = Parts {
        has_run: false,
        meta,
        log,
        history,
        history_state,
        usage,
        thread,
        prompt,
        raw_items: false,
        after: None,
        left: None,
    };
    Ok(open(server, from_ref(client), session, parts))
}

/// Unloads a thread and notifies all clients.
pub(crate) async fn unload(server: &Arc<Server>, handle: &ThreadHandle) {
    handle.close().await;
    server.threads.remove(handle);
    let params = ThreadClosedNotification {
        thread_id: handle.id.to_string(),
    };
    server.hub.broadcast::<event::ThreadClosed>(&params).await;
}

pub(super) fn new_meta(
    server: &Server,
    session: &Session,
    forked_from_id: Option<Uuid>,
) -> SessionMeta {
    SessionMeta {
        id: Uuid::now_v7(),
        forked_from_id,
        timestamp: clock::timestamp(),
        cwd: session.cwd_text(),
        originator: server.identity.originator().to_owned(),
        cli_version: server.identity.version().to_owned(),
        source: server.settings.source.clone(),
        agent_nickname: None,
        agent_role: None,
        agent_path: None,
        model_provider: Some(session.provider.id.clone()),
        base_instructions: Some(BaseInstructions {
            text: base_instructions(session),
        }),
        dynamic_tools: (!session.dynamic_tools.is_empty())
            .then(|| Json::new(&session.dynamic_tools).unwrap_or_default()),
        memory_mode: None,
        git: git::info(&session.cwd),
        history_mode: None,
        history_base: None,
    }
}

fn base_instructions(session: &Session) -> String {
    session.base_instructions.clone().unwrap_or_else(|| {
        let takes_personality = session.info.supports_personality;
        base::instructions(session.personality.filter(|_| takes_personality))
    })
}

/// What the model of a new thread knows.
pub(super) fn prompt_state(server: &Server, session: &Session, meta: &SessionMeta) -> PromptState {
    let docs = session.snapshot.project_docs();
    let found = agents_md::read(&agents_md::Search {
        home: server.home(),
        cwd: &session.cwd,
        root_markers: &docs.root_markers,
        fallback_names: &docs.fallback_filenames,
        max_bytes: docs.max_bytes,
        mention_below: session.has_feature(Feature::ChildAgentsMd),
    });
    for problem in &found.unreadable {
        tracing::warn!(thread = %meta.id, problem, "failed to read instructions");
    }
    let instructions = match (&session.base_instructions, &meta.base_instructions) {
        (Some(given), _) => given.clone(),
        (None, Some(stored)) => stored.text.clone(),
        (None, None) => base_instructions(session),
    };
    PromptState::new(
        server.threads.share(&instructions),
        found.text,
        ThreadSkills::find(server, session),
    )
}

/// A thread as the index knows it, idle.
pub(crate) fn stored_thread(server: &Server, id: Uuid, path: &Path) -> Result<Thread, Refusal> {
    let summary = server
        .store
        .summary(id)
        .map_err(|error| cannot_read(path, &error))?;
    match summary {
        Some(summary) => Ok(view::from_summary(summary, ThreadStatus::Idle)),
        None => Err(Refusal::internal(format!(
            "rollout path missing for thread {id}"
        ))),
    }
}

fn preview(server: &Server, id: Uuid) -> String {
    server
        .store
        .summary(id)
        .ok()
        .flatten()
        .map(|summary| summary.preview)
        .unwrap_or_default()
}

pub(crate) fn read(server: &Server, path: &Path) -> Result<Replay, Refusal> {
    let replay = server.store.replay(path);
    replay.map_err(|error| cannot_read(path, &error))
}

/// The items of a history that was found in the rollout at `path`.
pub(crate) fn history(
    server: &Server,
    history: &History,
    path: &Path,
) -> Result<Vec<Json>, Refusal> {
    let loaded = server.store.history(history, path);
    let loaded = loaded.map_err(|error| cannot_read(path, &error))?;
    Ok(loaded.items)
}

/// A stored thread and its log, unless another process writes to that.
pub(crate) fn reopen(server: &Server, path: &Path) -> Result<(Replay, Log), Refusal> {
    server.store.resume(path).map_err(|error| match error {
        quipu_journal::Error::ActiveWriter(_) => Refusal::ThreadInUse(error.to_string()),
        error => cannot_read(path, &error),
    })
}

/// The model of a resumed thread is its last one, unless the client says anything about models.
fn keep_model(overrides: &mut Overrides, replay: &Replay) {
    let config = |key: &str| {
        overrides
            .config
            .as_ref()
            .is_some_and(|config| config.contains_key(key))
    };
    let chosen = overrides.model.is_some()
        || overrides.model_provider.is_some()
        || config("model")
        || config("model_reasoning_effort");
    let Some(context) = replay.context.as_ref().filter(|_| !chosen) else {
        return;
    };
    overrides.model = Some(context.model.clone());
    if let Some(effort) = &context.effort {
        let config = overrides.config.get_or_insert_default();
        config.insert(
            "model_reasoning_effort".to_owned(),
            Json::from(serde_json::json!(effort)),
        );
    }
}

fn stored_tools(meta: &SessionMeta) -> Vec<DynamicToolSpec> {
    meta.dynamic_tools
        .as_ref()
        .and_then(|tools| tools.parse().ok())
        .unwrap_or_default()
}

/// Writes the history that a thread begins with.
fn store_history(log: &mut Log, history: &[Json]) -> quipu_journal::Result<()> {
    let records: Vec<_> = history
        .iter()
        .cloned()
        .map(quipu_journal::Record::ResponseItem)
        .collect();
    log.append(&records)?;
    log.flush()
}

/// How a copy of a thread is to be.
pub(crate) struct Copy {
    pub ephemeral: bool,
    pub cut: Cut,
    /// Its id, if that was chosen before.
    pub id: Option<Uuid>,
}

/// Where a copy of a thread ends.
pub(crate) enum Cut {
    /// With the last turn.
    None,
    /// With this turn.
    After(String),
    /// With the turn before this one.
    Before(String),
}

impl Cut {
    /// How many of the last turns are not part of the copy.
    pub fn dropped(&self, turns: &[Turn]) -> Result<u32, Refusal> {
        let (id, offset) = match self {
            Cut::None => return Ok(0),
            Cut::After(id) => (id, 1),
            Cut::Before(id) => (id, 0),
        };
        let found = turns.iter().position(|turn| turn.id == *id);
        let found = found.ok_or_else(|| Refusal::TurnNotFound(id.clone()))?;
        Ok(u32::try_from(turns.len() - found - offset).unwrap_or(u32::MAX))
    }
}

/// Drops the last turns of a copy.
fn take_back(log: &mut Log, turns: u32) -> quipu_journal::Result<()> {
    if turns == 0 {
        return Ok(());
    }
    let num_turns = quipu_journal::event::ThreadRolledBack { num_turns: turns };
    let event = quipu_journal::Event::ThreadRolledBack(num_turns);
    log.append(&[quipu_journal::Record::from(event)])?;
    log.flush()
}

/// Ends the turn that was running when its thread was copied: the one of this id, else the last one.
fn interrupt_copy(log: &mut Log, turn_id: Option<String>, note: Json) -> quipu_journal::Result<()> {
    let aborted = quipu_journal::event::TurnAborted {
        turn_id,
        reason: "interrupted".to_owned(),
    };
    log.append(&[
        quipu_journal::Record::ResponseItem(note),
        quipu_journal::Record::from(quipu_journal::Event::TurnAborted(aborted)),
    ])?;
    log.flush()
}

pub(super) fn wire_usage(info: &TokenUsageInfo) -> ThreadTokenUsage {
    let tokens = |it: &TokenUsage| TokenUsageBreakdown {
        total_tokens: it.total_tokens,
        input_tokens: it.input_tokens,
        cached_input_tokens: it.cached_input_tokens,
        output_tokens: it.output_tokens,
        reasoning_output_tokens: it.reasoning_output_tokens,
    };
    ThreadTokenUsage {
        total: tokens(&info.total_token_usage),
        last: tokens(&info.last_token_usage),
        model_context_window: info.model_context_window,
        cost: None,
    }
}

pub(super) fn cannot_create(error: quipu_journal::Error) -> Refusal {
    Refusal::internal(format!("error creating thread: {error}"))
}

pub(super) fn cannot_fork(error: quipu_journal::Error) -> Refusal {
    Refusal::internal(format!("error forking thread: {error}"))
}

fn cannot_read(path: &Path, error: &quipu_journal::Error) -> Refusal {
    Refusal::invalid_request(format!(
        "failed to load rollout `{}`: {}",
        path.display(),
        error.reason()
    ))
}

/// The rollout of a thread that is not archived.
pub(crate) fn find(server: &Server, id: Uuid) -> Result<PathBuf, Refusal> {
    match server.store.find(id) {
        Ok(Some(path)) => Ok(path),
        Ok(None) => Err(Refusal::NoRollout(id)),
        Err(error) => Err(Refusal::invalid_request(format!(
            "failed to locate thread id {id}: {error}"
        ))),
    }
}

/// The turns of a stored thread; a turn that is not running and does not go on was interrupted.
pub(crate) fn turns(server: &Server, path: &Path, running: bool) -> Result<Vec<Turn>, Refusal> {
    let mut replay = read(server, path)?;
    if !running && !continuation::goes_on(server, &replay) {
        replay.settle();
    }
    Ok(replay.turns)
}
