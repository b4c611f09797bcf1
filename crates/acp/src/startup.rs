//! Which of the editor's MCP servers did not start: the user chose them there and has no other place to see it.

use quipu_client::wire::{McpServerStartupState, ServerNotification};
use quipu_client::{Event, EventStream};

use crate::editor::Editor;
use crate::input;
use crate::schema::McpServer;

/// The servers of a session that have not reported yet.
pub struct Startup {
    names: Vec<String>,
    events: EventStream,
}

impl Startup {
    /// Begins to listen, before the thread is opened; nothing if there are no servers to report.
    pub fn of(servers: &[McpServer], events: impl FnOnce() -> EventStream) -> Option<Startup> {
        let names: Vec<_> = servers.iter().map(|it| input::key(&it.name)).collect();
        (!names.is_empty()).then(|| Startup {
            names,
            events: events(),
        })
    }

    /// Shows failures until all servers have started or failed, or the connection ends.
    pub async fn report(mut self, editor: Editor, session_id: String) {
        while !self.names.is_empty() {
            let status = match self.events.next().await {
                Some(Event::Notification(ServerNotification::McpServerStartupStatusUpdated(
                    status,
                ))) => status,
                Some(Event::Closed(_)) | None => return,
                Some(_) => continue,
            };
            let Some(at) = self.names.iter().position(|it| *it == status.name) else {
                continue;
            };
            match status.status {
                McpServerStartupState::Starting => {}
                McpServerStartupState::Failed => {
                    self.names.swap_remove(at);
                    let why = status.error.unwrap_or_default();
                    let text = format!("The MCP server `{}` did not start: {why}\n\n", status.name);
                    editor.say(&session_id, &text).await;
                }
                _ => drop(self.names.swap_remove(at)),
            }
        }
    }
}
