//! A thread that is loaded and does not run yet.

use quipu_mcp::Fleet;
use quipu_wire::Thread;
use tokio::sync::oneshot;

use super::events::CatchUp;
use super::message::ThreadHandle;
use super::session::Session;
use crate::Refusal;
use crate::Server;

/// A thread that was just opened, and the settings it has.
pub(crate) struct Opened {
    pub handle: ThreadHandle,
    pub thread: Thread,
    pub session: Session,
    /// Its MCP servers, which are starting.
    pub fleet: Fleet,
    /// Where its numbered events are, for the client that opened it.
    pub catch_up: Option<CatchUp>,
    /// The thread does nothing until this is dropped, so that it can be announced first.
    pub hold: Option<Hold>,
}

/// Keeps a new thread from doing anything; sending ends it instead.
pub(crate) struct Hold(pub oneshot::Sender<()>);

impl Opened {
    /// Waits for the MCP servers that the thread must not go without. If one fails, there is no thread.
    pub async fn with_required_servers(
        mut self,
        server: &Server,
        doing: &str,
    ) -> Result<Opened, Refusal> {
        let Err(why) = self.fleet.required().await else {
            return Ok(self);
        };
        server.threads.remove(&self.handle);
        if let Some(Hold(end)) = self.hold.take() {
            // The task that waits for it may be gone with the runtime.
            end.send(()).ok();
        }
        Err(Refusal::internal(format!(
            "error {doing} thread: Fatal error: Failed to initialize session: required MCP servers failed \
             to initialize: {why}"
        )))
    }
}
