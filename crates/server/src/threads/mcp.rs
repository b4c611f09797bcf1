//! The MCP servers of a thread: started with it, renewed when the configuration is, ended with it.

use std::sync::Arc;

use quipu_config::{Feature, Snapshot};
use quipu_engine::Purpose;
use quipu_mcp::{Fleet, FleetEvent, Question as Asked, Reaction, Startup};
use quipu_policy::mcp::mcp_may_elicit;
use quipu_tools::{McpScope, elicitation_request, reaction};
use quipu_wire::{McpServerStartupState, McpServerStatusUpdatedNotification, ServerNotification};
use tokio::sync::{mpsc, oneshot};

use super::actor::Actor;
use super::message::{Message, ThreadHandle};
use super::tooling::answer_of;
use crate::questions::QuestionId;
use crate::{Server, mcp};

/// What servers may tell before the thread looks.
const EVENTS: usize = 64;

/// What a thread must know about its MCP servers.
pub(crate) enum McpMessage {
    /// A server has something to tell.
    Event(FleetEvent),
    /// All servers have started or failed; the model waits to be asked.
    Settled {
        sample: u64,
        turn_id: String,
        purpose: Purpose,
    },
    /// The configuration was read anew.
    Reload,
    /// Nobody waits for the answer of a question any more.
    QuestionOver { question: QuestionId },
    /// A tool may be called from now on without asking.
    AlwaysAllow { server: String, tool: String },
}

/// The MCP servers of a thread.
pub(super) struct Servers {
    pub scope: McpScope,
    /// The configuration was read anew since they started.
    pub stale: bool,
}

impl Servers {
    /// Starts the servers that the settings name, without waiting for them.
    pub fn start(server: &Server, snapshot: &Snapshot, handle: &ThreadHandle) -> Servers {
        let configured = snapshot.mcp_servers();
        let specs = mcp::specs(server, snapshot, &configured);
        let fleet = if specs.is_empty() {
            Fleet::default()
        } else {
            let (events, mut told) = mpsc::channel(EVENTS);
            let handle = handle.clone();
            tokio::spawn(async move {
                while let Some(event) = told.recv().await {
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
                approvals: Arc::new(mcp::approvals(&configured)),
                asks_by_elicitation: features.enabled(Feature::ToolCallMcpElicitation),
            },
            stale: false,
        }
    }
}

impl Actor {
    pub async fn mcp(&mut self, message: McpMessage) {
        match message {
            McpMessage::Event(event) => self.server_says(event).await,
            McpMessage::Settled {
                sample,
                turn_id,
                purpose,
            } => self.servers_settled(sample, &turn_id, purpose),
            McpMessage::Reload => self.servers.stale = true,
            McpMessage::QuestionOver { question } => self.settle_beside_calls(question).await,
            McpMessage::AlwaysAllow { server, tool } => self.always_allow(&server, &tool),
        }
    }

    /// Replaces the servers if the configuration was read anew since they started.
    pub fn renew_servers(&mut self) {
        if !std::mem::take(&mut self.servers.stale) {
            return;
        }
        self.session.reload(&self.server);
        self.servers = Servers::start(&self.server, &self.session.snapshot, &self.handle);
    }

    async fn server_says(&mut self, event: FleetEvent) {
        match event {
            FleetEvent::Startup { server, state } => {
                let (status, error) = match state {
                    Startup::Starting => (McpServerStartupState::Starting, None),
                    Startup::Ready => (McpServerStartupState::Ready, None),
                    Startup::Failed(why) => {
                        let why = self.mask.text(&self.server, &self.session, why);
                        (McpServerStartupState::Failed, Some(why))
                    }
                };
                let params = McpServerStatusUpdatedNotification {
                    name: server,
                    status,
                    error,
                };
                let told = ServerNotification::McpServerStartupStatusUpdated(params);
                self.audience.notify(&told).await;
            }
            FleetEvent::Question { server, question } => self.server_asks(&server, question).await,
        }
    }

    /// Passes on a question that belongs to no call.
    async fn server_asks(&mut self, server: &str, asked: Asked) {
        let Asked {
            elicitation,
            reaction: mut back,
        } = asked;
        if !mcp_may_elicit(&self.session.approval_policy) {
            // A server that is gone needs no answer; so everywhere below.
            back.send(Reaction::Decline).ok();
            return;
        }
        let turn = self.engine.active_turn().map(str::to_owned);
        let request = match elicitation_request(self.handle.id.clone(), turn, server, elicitation) {
            Ok(request) => {
                let mask = &mut self.mask;
                Box::new(mask.elicitation(&self.server, &self.session, request))
            }
            Err(why) => {
                back.send(Reaction::Unsupported(why)).ok();
                return;
            }
        };
        let (answer, answered) = oneshot::channel();
        let question = self.ask_beside_calls(request, answer).await;
        let handle = self.handle.clone();
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

    /// Keeps for good that a tool may be called.
    fn always_allow(&self, server: &str, tool: &str) {
        let (loader, snapshot) = (&self.server.settings.config, &self.session.snapshot);
        let written =
            tokio::task::block_in_place(|| loader.approve_mcp_tool(snapshot.stack(), server, tool));
        if let Err(error) = written {
            tracing::warn!(server, tool, %error, "the approval of a tool was not kept");
        }
    }
}
