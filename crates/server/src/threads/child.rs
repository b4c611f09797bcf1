//! Opening the threads of agents: new ones, ones that know what their parent knows, and stored ones.

use std::path::PathBuf;
use std::sync::Arc;

use quipu_journal::{Log, Record, Replay, SessionMeta, Source, SubAgent, ThreadSpawn};
use quipu_wire::Json;
use uuid::Uuid;

use super::agent::InheritedSettings;
use super::open::{Parts, open};
use super::opened::Opened;
use super::recorder::HistoryState;
use super::session::Session;
use super::{load, view};
use crate::Refusal;
use crate::Server;

/// An agent to open a thread for.
pub(crate) struct Child<'a> {
    pub id: Uuid,
    pub origin: ThreadSpawn,
    pub session: Session,
    pub inherited: &'a InheritedSettings,
}

impl Child<'_> {
    fn meta(&self, server: &Server, forked_from_id: Option<Uuid>) -> SessionMeta {
        SessionMeta {
            id: self.id,
            source: Source::SubAgent(SubAgent::ThreadSpawn(self.origin.clone())),
            agent_nickname: self.origin.agent_nickname.clone(),
            agent_role: self.origin.agent_role.clone(),
            ..load::new_meta(server, &self.session, forked_from_id)
        }
    }
}

/// A thread without a history.
pub(crate) fn new(server: &Arc<Server>, child: Child<'_>) -> Result<Opened, Refusal> {
    let meta = child.meta(server, None);
    let log = match child.inherited.is_ephemeral {
        true => None,
        false => Some(
            server
                .store
                .create(meta.clone())
                .map_err(load::cannot_create)?,
        ),
    };
    let parts = Parts {
        has_run: false,
        prompt: load::prompt_state(server, &child.session, &meta),
        thread: view::new(&meta, &child.session, log.as_ref()),
        meta,
        log,
        history: Vec::new(),
        history_state: HistoryState::InMemory,
        usage: None,
        raw_items: false,
        after: None,
        left: None,
    };
    Ok(open(
        server,
        &child.inherited.followers,
        child.session,
        parts,
    ))
}

/// A thread that begins with a copy of its parent's. The call that asked for it gets an output that
/// says who reads it now.
pub(crate) fn with_context(
    server: &Arc<Server>,
    child: Child<'_>,
    call_id: &str,
) -> Result<Opened, Refusal> {
    let parent = &child.origin.parent_thread_id;
    let Some(path) = &child.inherited.rollout else {
        return Err(Refusal::internal(format!(
            "parent thread rollout unavailable for fork: {parent}"
        )));
    };
    let replay = load::read(server, path)?;
    let output = Json::from(serde_json::json!({
        "type": "function_call_output",
        "call_id": call_id,
        "output": "You are the agent that this call started. All of the above was said before, between others; it is \
            background for you. Your own task comes next.",
    }));
    let meta = child.meta(server, Some(replay.meta.id));
    let mut history = load::history(server, &replay.history, path)?;
    let mut log = server
        .store
        .fork(path, meta.clone())
        .map_err(load::cannot_fork)?;
    log.append(&[Record::ResponseItem(output.clone())])
        .and_then(|()| log.flush())
        .map_err(load::cannot_fork)?;
    history.push(output);
    let parts = Parts {
        has_run: false,
        prompt: load::prompt_state(server, &child.session, &meta).stored(&replay),
        thread: load::stored_thread(server, meta.id, log.path())?,
        meta,
        log: Some(log),
        history,
        history_state: HistoryState::InMemory,
        usage: replay.usage.as_ref().map(load::wire_usage),
        raw_items: false,
        after: None,
        left: None,
    };
    Ok(open(
        server,
        &child.inherited.followers,
        child.session,
        parts,
    ))
}

/// The thread of an agent that was closed, with the model and the directory it had last.
pub(crate) fn stored(
    server: &Arc<Server>,
    child: Child<'_>,
    mut replay: Replay,
    log: Log,
) -> Result<Opened, Refusal> {
    replay.settle();
    let mut session = child.session;
    session.cwd = PathBuf::from(&replay.meta.cwd);
    let instructions = replay.meta.base_instructions.as_ref();
    session.base_instructions = instructions.map(|it| it.text.clone());
    if let Some(context) = &replay.context {
        let effort = context.effort.as_ref().map(|it| serde_json::json!(it));
        let effort = effort.and_then(|it| serde_json::from_value(it).ok());
        session.recall(server, &context.model, effort);
    }
    let path = log.path();
    let history = load::history(server, &replay.history, path)?;
    let parts = Parts {
        has_run: true,
        prompt: load::prompt_state(server, &session, &replay.meta).stored(&replay),
        thread: load::stored_thread(server, replay.meta.id, path)?,
        log: Some(log),
        history,
        history_state: HistoryState::InMemory,
        usage: replay.usage.as_ref().map(load::wire_usage),
        meta: replay.meta,
        raw_items: false,
        after: None,
        left: None,
    };
    Ok(open(server, &child.inherited.followers, session, parts))
}
