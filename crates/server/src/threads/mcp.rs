//! The MCP servers of a thread: they start and end with it, and start again when the configuration changes.

use std::sync::Arc;

use quipu_config::{Feature, Snapshot};
use quipu_engine::{Purpose, SampleId, TurnId};
use quipu_mcp::{Fleet, FleetEvent, Question as Asked, Reaction, Startup};
use quipu_policy::mcp::mcp_may_elicit;
use quipu_tools::{McpScope, elicitation_request, reaction};
use quipu_wire::{McpServerStartupState, McpServerStatusUpdatedNotification, ServerNotification};
use tokio::sync::{mpsc, oneshot};

use super::actor::Actor;
use super::message::{Message, ThreadHandle};
use super::session::Session;
use super::tool_host::answer_of;
use crate::questions::QuestionId;
use crate::{Server, mcp};

/// Events of servers that may wait for the thread.
const EVENTS: usize = 64;

/// What a thread must know about its MCP servers.
pub(crate) enum McpMessage {
    /// A server started, failed or asks something.
    Event(FleetEvent),
    /// All servers have started or failed; the model waits to be asked.
    Settled {
        sample: SampleId,
        turn_id: TurnId,
        purpose: Purpose,
    },
    /// The servers, for a request of a client.
    Fleet { done: oneshot::Sender<Fleet> },
    /// The configuration was read again.
    Reload,
    /// Nobody waits for the answer of a question any more.
    QuestionOver { question: QuestionId },
    /// A tool may be called from now on without asking.
    AlwaysAllow {
        server: String,
        tool: String,
        /// The app that the tool belongs to.
        app: Option<String>,
    },
}

/// The MCP servers of a thread.
pub(super) struct Servers {
    scope: McpScope,
    /// The configuration was read again since they started.
    stale: bool,
}

impl Servers {
    /// Starts the servers that the settings name, without waiting for them.
    pub fn start(server: &Server, snapshot: &Arc<Snapshot>, handle: &ThreadHandle) -> Servers {
        let configured = mcp::Configured::with_apps(server, snapshot);
        let specs = mcp::specs(server, &configured);
        let fleet = if specs.is_empty() {
            Fleet::default()
        } else {
            let (events, mut reported) = mpsc::channel(EVENTS);
            let handle = handle.clone();
            tokio::spawn(async move {
                while let Some(event) = reported.recv().await {
                    if !handle.send(Message::Mcp(McpMessage::Event(event))).await {
                        return;
                    }
                }
            });
            Fleet::start(specs, &mcp::client_info(), &events)
        };
        let features = snapshot.features();
        Servers {
            scope: McpScope {
                fleet,
                approvals: Arc::new(mcp::approvals(&configured, snapshot)),
                has_apps: configured.has_apps,
                asks_by_elicitation: features.enabled(Feature::ToolCallMcpElicitation),
                max_listed: snapshot.tools().mcp_listed,
            },
            stale: false,
        }
    }

    pub fn scope(&self) -> &McpScope {
        &self.scope
    }

    /// Starts the servers again, as the configuration has them now.
    pub fn restart(&mut self, server: &Server, session: &mut Session, thread: &ThreadHandle) {
        session.reload(server);
        *self = Servers::start(server, &session.snapshot, thread);
    }

    /// The same, if the configuration was read again since they started.
    pub fn renew(&mut self, server: &Server, session: &mut Session, thread: &ThreadHandle) {
        if self.stale {
            self.restart(server, session, thread);
        }
    }
}

/// Deals with a message about the servers.
pub(super) async fn receive(actor: &mut Actor, message: McpMessage) {
    match message {
        McpMessage::Event(FleetEvent::Startup { server, state }) => {
            let updated = startup(actor, server, state);
            actor.audience.notify(&updated).await;
        }
        McpMessage::Event(FleetEvent::Question { server, question }) => {
            ask(actor, &server, question).await;
        }
        McpMessage::Settled {
            sample,
            turn_id,
            purpose,
        } => actor.servers_settled(sample, &turn_id, purpose).await,
        // The requester may have stopped waiting.
        McpMessage::Fleet { done } => drop(done.send(actor.sampler.mcp().fleet.clone())),
        McpMessage::Reload => actor.sampler.mcp_mut().stale = true,
        McpMessage::QuestionOver { question } => {
            let (audience, id) = (&mut actor.audience, &actor.handle.id);
            let questions = &mut actor.questions;
            questions.settle_beside_calls(audience, id, question).await;
        }
        McpMessage::AlwaysAllow { server, tool, app } => {
            always_allow(actor, &server, &tool, app.as_deref());
        }
    }
}

/// How far a server has come, as clients are notified of it.
fn startup(actor: &mut Actor, name: String, state: Startup) -> ServerNotification {
    let (status, error) = match state {
        Startup::Starting => (McpServerStartupState::Starting, None),
        Startup::Ready => (McpServerStartupState::Ready, None),
        Startup::Failed(why) => {
            let mask = actor.tools.mask();
            let why = mask.text(&actor.server, &actor.session, why);
            (McpServerStartupState::Failed, Some(why))
        }
    };
    let params = McpServerStatusUpdatedNotification {
        name,
        status,
        error,
    };
    ServerNotification::McpServerStartupStatusUpdated(params)
}

/// Passes on a question that belongs to no call.
async fn ask(actor: &mut Actor, server: &str, asked: Asked) {
    let Asked {
        elicitation,
        reaction: mut back,
    } = asked;
    if !mcp_may_elicit(&actor.session.approval_policy) {
        // A server that is gone needs no answer; so everywhere below.
        back.send(Reaction::Decline).ok();
        return;
    }
    let turn = actor.engine.active_turn();
    let request = match elicitation_request(&actor.handle.id, turn, server, elicitation) {
        Ok(request) => {
            let mask = actor.tools.mask();
            Box::new(mask.elicitation(&actor.server, &actor.session, request))
        }
        Err(why) => {
            back.send(Reaction::Unsupported(why)).ok();
            return;
        }
    };
    let (answer, answered) = oneshot::channel();
    let (questions, audience) = (&mut actor.questions, &actor.audience);
    let question = questions
        .ask_beside_calls(&actor.server, audience, request, answer)
        .await;
    let handle = actor.handle.clone();
    tokio::spawn(async move {
        tokio::select! {
            outcome = answered => {
                let outcome = outcome.ok().flatten();
                back.send(reaction(outcome.map(answer_of))).ok();
            }
            () = back.closed() => {
                let over = McpMessage::QuestionOver { question };
                handle.send(Message::Mcp(over)).await;
            }
        }
    });
}

/// Saves that a tool may be called without asking.
fn always_allow(actor: &Actor, server: &str, tool: &str, app: Option<&str>) {
    let (loader, snapshot) = (&actor.server.settings.config, &actor.session.snapshot);
    let written = tokio::task::block_in_place(|| match app {
        Some(app) => loader.approve_app_tool(app, tool),
        None => loader.approve_mcp_tool(snapshot.stack(), server, tool),
    });
    if let Err(error) = written {
        tracing::warn!(server, tool, %error, "failed to save the approval of a tool");
    }
}
