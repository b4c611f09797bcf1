//! What a running tool needs of the thread around it.

use futures_util::future::BoxFuture;
use quipu_engine::{CallId, ToolEvent, Waiting};
use quipu_mcp::OfferedTool;
use quipu_policy::guardian::Assessment;
use quipu_wire::{Json, ServerRequest, ThreadGoalStatus};

use crate::agents::Agents;
use crate::guardian::Action;
use crate::hooks::Advice;
use crate::toolbox::Access;

/// What a client answered: a result, or `Err` for an error of the client's own.
pub type Answer = Result<Json, ()>;

/// The thread, as a tool sees it.
pub trait Host: Send + Sync {
    /// Tells what the call is doing.
    fn report<'a>(&'a self, call_id: &'a CallId, event: ToolEvent) -> BoxFuture<'a, ()>;

    /// Asks the user; `None` if there will be no answer.
    fn ask<'a>(
        &'a self,
        call_id: &'a CallId,
        request: ServerRequest,
        waiting: Option<Waiting>,
    ) -> BoxFuture<'a, Option<Answer>>;

    /// Lets the thread, which owns its tools' memory, do something with it. It does nothing if the thread is gone.
    fn with_toolbox(&self, access: Access) -> BoxFuture<'_, ()>;

    /// Saves that a tool of an MCP server may be called without asking.
    fn always_allow<'a>(&'a self, tool: &'a OfferedTool) -> BoxFuture<'a, ()>;

    /// Says how far the thread's goal has come; the answer is for the model.
    fn update_goal(&self, _status: ThreadGoalStatus) -> BoxFuture<'_, String> {
        Box::pin(async { "the thread has no goal".to_owned() })
    }

    /// The agents that the thread started, if it can have any.
    fn agents(&self) -> Option<&dyn Agents>;

    /// Runs the user's hooks before a command, or after one that has ended and wrote this.
    fn hook<'a>(
        &'a self,
        call_id: &'a CallId,
        command: &'a str,
        response: Option<&'a str>,
    ) -> BoxFuture<'a, Advice>;

    /// Lets a model judge an action in the user's place. The call may be given up meanwhile.
    fn review<'a>(&'a self, call_id: &'a CallId, action: Action) -> BoxFuture<'a, Assessment>;
}
