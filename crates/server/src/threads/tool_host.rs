//! The thread as its tools reach it: what they report, ask and want to have decided becomes messages.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use quipu_engine::{CallId, ToolEvent, TurnId, Waiting};
use quipu_mcp::OfferedTool;
use quipu_policy::guardian::Assessment;
use quipu_tools::agents::Agents;
use quipu_tools::{Access, Action, Advice, Answer, Host};
use quipu_wire::{Json, ServerRequest, ThreadGoalStatus};
use tokio::sync::oneshot;

use super::actor::Actor;
use super::goal::GoalMessage;
use super::guardian;
use super::hooks::{self, Runner};
use super::mcp::McpMessage;
use super::message::{Message, ThreadHandle, ToolReport};
use crate::agents::AgentHost;
use crate::questions::Outcome;

/// The thread, as its tools see it.
pub(super) struct ThreadHost {
    thread: ThreadHandle,
    agents: AgentHost,
    /// What runs the hooks of the turn, if there are any.
    pub(super) hooks: Option<Arc<Runner>>,
}

impl ThreadHost {
    pub fn new(actor: &Actor, turn_id: &TurnId) -> ThreadHost {
        ThreadHost {
            thread: actor.handle.clone(),
            agents: AgentHost {
                server: Arc::clone(&actor.server),
                parent: actor.handle.clone(),
            },
            hooks: hooks::runner(actor, turn_id),
        }
    }

    pub fn thread(&self) -> &ThreadHandle {
        &self.thread
    }
}

impl Host for ThreadHost {
    fn agents(&self) -> Option<&dyn Agents> {
        Some(&self.agents)
    }

    fn report<'a>(&'a self, call_id: &'a CallId, event: ToolEvent) -> BoxFuture<'a, ()> {
        Box::pin(async move {
            let event = ToolReport::Event(event);
            self.thread
                .send(Message::Tool {
                    call_id: call_id.clone(),
                    event,
                })
                .await;
        })
    }

    fn ask<'a>(
        &'a self,
        call_id: &'a CallId,
        request: ServerRequest,
        waiting: Option<Waiting>,
    ) -> BoxFuture<'a, Option<Answer>> {
        Box::pin(async move {
            let (answer, answered) = oneshot::channel();
            let event = ToolReport::Ask {
                request: Box::new(request),
                waiting,
                answer,
            };
            self.thread
                .send(Message::Tool {
                    call_id: call_id.clone(),
                    event,
                })
                .await;
            let answer = answered.await.ok().flatten().map(answer_of);
            if let Some(Ok(answer)) = &answer
                && let Some(decision) = decision(answer)
            {
                let call_id = call_id.clone();
                let event = ToolReport::Decided { decision };
                self.thread.send(Message::Tool { call_id, event }).await;
            }
            answer
        })
    }

    fn update_goal(&self, status: ThreadGoalStatus) -> BoxFuture<'_, String> {
        Box::pin(async move {
            let (done, answer) = oneshot::channel();
            let report = GoalMessage::Report { status, done };
            self.thread.send(Message::Goal(report)).await;
            answer
                .await
                .unwrap_or_else(|_| "the thread is gone".to_owned())
        })
    }

    fn with_toolbox(&self, access: Access) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            self.thread.send(Message::Toolbox(access)).await;
        })
    }

    fn always_allow<'a>(&'a self, tool: &'a OfferedTool) -> BoxFuture<'a, ()> {
        Box::pin(async move {
            let allowed = McpMessage::AlwaysAllow {
                server: tool.server.clone(),
                tool: tool.tool.name.clone(),
                app: tool.connector.as_ref().map(|app| app.id.clone()),
            };
            self.thread.send(Message::Mcp(allowed)).await;
        })
    }

    fn hook<'a>(
        &'a self,
        call_id: &'a CallId,
        command: &'a str,
        response: Option<&'a str>,
    ) -> BoxFuture<'a, Advice> {
        Box::pin(self.run_hooks(call_id, command, response))
    }

    fn review<'a>(&'a self, call_id: &'a CallId, action: Action) -> BoxFuture<'a, Assessment> {
        Box::pin(async move {
            let (case, ready) = oneshot::channel();
            let target = action.target.clone().unwrap_or_else(|| call_id.to_string());
            let event = ToolReport::Review { action, case };
            let call = call_id.clone();
            self.thread
                .send(Message::Tool {
                    call_id: call,
                    event,
                })
                .await;
            let assessment = match ready.await {
                Ok(case) => case.judge().await,
                Err(_) => Assessment::failed("the turn has ended"),
            };
            let review = guardian::shown(&assessment);
            let event = ToolEvent::ApprovalReviewCompleted { target, review };
            self.report(call_id, event).await;
            assessment
        })
    }
}

/// What an answer decides about a call, if it does.
fn decision(answer: &Json) -> Option<String> {
    let answer = answer.to_value();
    let decision = answer.get("decision").or_else(|| answer.get("action"))?;
    let name = decision.as_str().map(str::to_owned);
    name.or_else(|| decision.as_object()?.keys().next().cloned())
}

/// A client's answer, as tools read it.
pub(super) fn answer_of(outcome: Outcome) -> Answer {
    outcome.map_err(drop).and_then(|result| {
        let text = std::str::from_utf8(result.as_bytes()).map_err(drop)?;
        serde_json::from_str::<Json>(text).map_err(drop)
    })
}
