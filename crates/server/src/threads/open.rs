//! The last step of loading: what was read or made becomes a thread that runs.

use std::sync::Arc;

use quipu_config::Deprecation;
use quipu_engine::{Thread as Engine, ThreadSetup};
use quipu_journal::{Log, SessionMeta};
use quipu_wire::method::event::DeprecationNotice;
use quipu_wire::{DeprecationNoticeNotification, Json, Thread, ThreadTokenUsage};
use tokio::sync::oneshot;
use uuid::Uuid;

use super::actor::{self, Actor, TurnSettings};
use super::hooks::ThreadHooks;
use super::live::Live;
use super::mask::Mask;
use super::mcp::Servers;
use super::message::ThreadHandle;
use super::network;
use super::opened::{Hold, Opened};
use super::replies::Replies;
use super::rest::Rest;
use super::session::Session;
use super::subscribers::Subscribers;
use super::tooling::Tooling;
use super::turn_context::Told;
use crate::hub::Client;
use crate::{Server, agents, rules};
use quipu_prompt::notes;

/// What a loaded thread is made of, besides its settings.
pub(super) struct Parts {
    pub meta: SessionMeta,
    pub log: Option<Log>,
    pub history: Vec<Json>,
    pub rest: Rest,
    pub usage: Option<ThreadTokenUsage>,
    pub thread: Thread,
    pub told: Told,
    pub raw_items: bool,
}

/// Makes a thread that these clients follow.
pub(super) fn open(
    server: &Arc<Server>,
    followers: &[Arc<Client>],
    session: Session,
    parts: Parts,
) -> Opened {
    let loaded = rules::load(server, &session.snapshot);
    let resumed = matches!(parts.rest, Rest::Places(_));
    let (hooks, hooks_left_out) = ThreadHooks::load(server, &session, resumed);
    let left_out = loaded.problems.iter().map(rules::left_out);
    let left_out: Vec<_> = left_out.chain(hooks_left_out).collect();
    let opener = followers.first().map(|client| client.id);
    let (handle, mailbox) = actor::mailbox(parts.meta.id.to_string(), opener);
    let thread = parts.thread.clone();
    let tooling = Tooling::new(loaded.rules, network::managed(server, &session));
    let servers = Servers::start(server, &session.snapshot, &handle);
    let fleet = servers.scope.fleet.clone();
    let actor = actor(
        &handle,
        session.clone(),
        parts,
        hooks,
        (server, tooling, servers),
    );
    let introduction = followers.first().and_then(|client| client.introduction());
    let actor = Box::new(Actor {
        subscribers: Subscribers::new(followers),
        client: introduction
            .filter(|_| actor.agent.is_none())
            .map(|it| it.name.clone()),
        ..actor
    });
    let deprecations = session.snapshot.deprecations();
    let (hold, released) = oneshot::channel::<()>();
    server.threads.insert(handle.clone());
    let (server, closed) = (Arc::clone(server), handle.clone());
    let followers = followers.to_vec();
    tokio::spawn(async move {
        let ended = tokio::spawn(async move {
            if released.await.is_ok() {
                return;
            }
            // Nothing of this is kept while the thread runs.
            Box::pin(async move {
                for client in &followers {
                    rules::tell_left_out(client, &left_out).await;
                    tell_deprecations(client, &deprecations).await;
                }
            })
            .await;
            actor.run(mailbox).await;
        })
        .await;
        if let Err(error) = ended {
            tracing::error!(thread = closed.id, %error, "a thread ended by a defect of the server");
        }
        server.threads.remove(&closed);
        agents::close_all_of(&server, &closed).await;
        server.agents.left(&closed.id);
    });
    Opened {
        handle,
        thread,
        session,
        fleet,
        hold: Some(Hold(hold)),
    }
}

/// Tells which of the settings that hold for a thread should be written in another way.
async fn tell_deprecations(client: &Client, found: &[Deprecation]) {
    for Deprecation { summary, details } in found {
        let notice = DeprecationNoticeNotification {
            summary: summary.clone(),
            details: Some(details.clone()),
        };
        client.notify::<DeprecationNotice>(&notice).await;
    }
}

fn actor(
    handle: &ThreadHandle,
    session: Session,
    parts: Parts,
    hooks: ThreadHooks,
    (server, tooling, servers): (&Arc<Server>, Tooling, Servers),
) -> Actor {
    let mut engine = Engine::new(ThreadSetup {
        id: handle.id.clone(),
        history: parts.history,
        usage: parts.usage,
        raw_items: parts.raw_items,
        hooks: !hooks.hooks.is_empty(),
        seed: Uuid::new_v4().as_u128(),
    });
    engine.set_interrupt_note(notes::turn_aborted());
    Actor {
        server: Arc::clone(server),
        handle: handle.clone(),
        engine,
        model: server.model_client(&session.provider),
        session,
        log: parts.log,
        subscribers: Subscribers::default(),
        replies: Replies::default(),
        facts: Thread {
            turns: Vec::new(),
            ..parts.thread
        },
        told: parts.told,
        sent: Vec::new(),
        turn: TurnSettings::default(),
        sampling: None,
        tooling,
        hooks,
        client: None,
        servers,
        mask: Mask::default(),
        questions: Default::default(),
        deserted: None,
        live: Live::default(),
        agent: server.agents.get(&handle.id),
        ended: None,
        elicitations: 0,
        reports: Default::default(),
        rest: parts.rest,
        journal_failed: false,
        lost: None,
        quiet: Vec::new(),
        pending: None,
    }
}
