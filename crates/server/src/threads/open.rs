//! The last step of loading: what was read or made becomes a thread that runs.

use std::sync::Arc;

use quipu_config::{Deprecation, Feature};
use quipu_engine::{Thread as Engine, ThreadSetup};
use quipu_journal::{Log, SessionMeta};
use quipu_wire::method::event::DeprecationNotice;
use quipu_wire::{
    ConfigWarningNotification, DeprecationNoticeNotification, Json, Thread, ThreadTokenUsage,
};
use tokio::sync::{mpsc, oneshot};
use uuid::Uuid;

use super::actor::{self, Actor};
use super::agent::AgentLink;
use super::audience::Audience;
use super::continuation::LeftTurn;
use super::events::Events;
use super::goal::GoalKeeper;
use super::hooks::ThreadHooks;
use super::mcp::Servers;
use super::message::{Message, ThreadHandle};
use super::network;
use super::opened::{Hold, Opened};
use super::questions::Questions;
use super::queue::QueueKeeper;
use super::realtime::Realtime;
use super::recorder::{HistoryState, Recorder};
use super::replies::Replies;
use super::reports::Reports;
use super::sampling::{self, Sampler};
use super::session::Session;
use super::spending::Spending;
use super::tools::Tools;
use super::turn_context::PromptState;
use crate::hub::Client;
use crate::{Server, agents, models, rules};
use quipu_prompt::notes;

/// What a loaded thread is made of, besides its settings.
pub(super) struct Parts {
    pub meta: SessionMeta,
    pub log: Option<Log>,
    pub history: Vec<Json>,
    pub history_state: HistoryState,
    pub usage: Option<ThreadTokenUsage>,
    pub thread: Thread,
    /// The thread has run before, under this id.
    pub has_run: bool,
    pub prompt: PromptState,
    pub raw_items: bool,
    /// The last event that the client which opens the thread saw of it.
    pub after: Option<i64>,
    /// The turn that goes on here.
    pub left: Option<Box<LeftTurn>>,
}

/// Makes a thread that these clients follow.
pub(super) fn open(
    server: &Arc<Server>,
    followers: &[Arc<Client>],
    session: Session,
    mut parts: Parts,
) -> Opened {
    models::refresh(server, &session.provider);
    let rules = rules::load(server, &session.snapshot);
    let resumed = matches!(parts.history_state, HistoryState::Located(_));
    let (hooks, hook_problems) = ThreadHooks::load(server, &session, resumed);
    let problems = rules.problems.iter().map(rules::left_out);
    let notices = Notices {
        problems: problems.chain(hook_problems).collect(),
        deprecations: session.snapshot.deprecations(),
    };
    let opener = followers.first();
    let id = parts.meta.id.to_string();
    let (handle, mailbox) = actor::mailbox(id.into(), opener.map(|client| client.id));
    let thread = beginning(&handle, &mut parts);
    let (goal, queue) = keepers(server, &parts);
    let servers = Servers::start(server, &session.snapshot, &handle);
    let fleet = servers.scope().fleet.clone();
    let agent = server.agents.get(&handle.id);
    let introduction = opener.and_then(|client| client.introduction());
    let introduction = introduction.filter(|_| agent.is_none());
    let events = Events::new(server, &parts.thread, parts.log.is_some());
    let mut audience = Audience::new(followers, parts.thread, events, &server.threads.unfollowed);
    let catch_up = opener.and_then(|client| audience.catch_up(client, parts.after));
    audience.set_client_name(introduction.map(|it| it.name.clone()));
    let mut actor = Box::new(Actor {
        server: Arc::clone(server),
        handle: handle.clone(),
        engine: engine(
            &handle.id,
            !hooks.is_empty() || session.has_feature(Feature::SkillMcpDependencyInstall),
            parts.history,
            parts.usage,
            parts.raw_items,
        ),
        audience,
        recorder: Recorder::new(handle.id.clone(), parts.log, parts.history_state),
        questions: Questions::new(handle.clone()),
        sampler: Sampler::new(
            server.model_client(&session.provider),
            parts.prompt,
            servers,
            Spending::new(server, &handle, parts.has_run.then_some(thread.created_at)),
        ),
        tools: Tools::new(rules.rules, network::of(server, &session), hooks),
        replies: Replies::default(),
        agent: AgentLink::new(agent),
        reports: Reports::new(server, handle.id.clone()),
        realtime: Realtime::default(),
        goal,
        queue,
        session: session.clone(),
    });
    if !resumed {
        sampling::prewarm(&mut actor);
    }
    let hold = start(actor, mailbox, followers.to_vec(), notices);
    Opened {
        handle,
        thread,
        session,
        fleet,
        catch_up,
        hold: Some(hold),
    }
}

/// The thread as it begins. A turn that goes on does so before anybody else can find the thread.
fn beginning(handle: &ThreadHandle, parts: &mut Parts) -> Thread {
    if let Some(left) = parts.left.take() {
        handle.send_now(Message::GoOn(left));
    }
    parts.thread.clone()
}

/// What a thread that is stored does by itself, also after a restart.
fn keepers(server: &Server, parts: &Parts) -> (GoalKeeper, QueueKeeper) {
    let is_stored = parts.log.is_some();
    let goal = is_stored.then(|| server.store.goal(parts.meta.id));
    let queue = is_stored.then(|| server.store.queue(parts.meta.id));
    let queue = QueueKeeper::new(queue, &parts.thread.turns);
    (GoalKeeper::new(goal, parts.usage.as_ref()), queue)
}

/// What the clients of a new thread are notified of first.
struct Notices {
    problems: Vec<ConfigWarningNotification>,
    deprecations: Vec<Deprecation>,
}

impl Notices {
    async fn send(&self, client: &Client) {
        for problem in &self.problems {
            client.warn(problem).await;
        }
        for Deprecation { summary, details } in &self.deprecations {
            let notice = DeprecationNoticeNotification {
                summary: summary.clone(),
                details: Some(details.clone()),
            };
            client.notify::<DeprecationNotice>(&notice).await;
        }
    }
}

/// Runs a thread as soon as it is no longer held back, until it is unloaded.
fn start(
    actor: Box<Actor>,
    mailbox: mpsc::Receiver<Box<Message>>,
    followers: Vec<Arc<Client>>,
    notices: Notices,
) -> Hold {
    let (hold, released) = oneshot::channel::<()>();
    let (server, handle) = (Arc::clone(&actor.server), actor.handle.clone());
    server.threads.insert(handle.clone());
    tokio::spawn(async move {
        let ended = tokio::spawn(async move {
            if released.await.is_ok() {
                return;
            }
            // Nothing of this is kept while the thread runs.
            Box::pin(async move {
                for client in &followers {
                    notices.send(client).await;
                }
            })
            .await;
            actor.run(mailbox).await;
        })
        .await;
        if let Err(error) = ended {
            tracing::error!(thread = %handle.id, %error, "thread panicked");
        }
        server.threads.remove(&handle);
        agents::close_all_of(&server, &handle).await;
        server.agents.left(&handle.id);
    });
    Hold(hold)
}

fn engine(
    id: &str,
    has_checks: bool,
    history: Vec<Json>,
    usage: Option<ThreadTokenUsage>,
    raw_items: bool,
) -> Engine {
    let mut engine = Engine::new(ThreadSetup {
        id: id.into(),
        history,
        usage,
        raw_items,
        hooks: has_checks,
        seed: Uuid::new_v4().as_u128(),
    });
    engine.set_interrupt_note(notes::turn_aborted());
    engine
}
