//! Commands that clients run outside any thread. A command belongs to the connection that started it:
//! nobody else can name it, and it ends when the connection does.

mod plan;
mod run;
mod stdin;

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use quipu_sandbox::Process;

use crate::Refusal;
use crate::hub::ClientId;
use stdin::Stdin;

pub use plan::configured_command;
pub(crate) use plan::{Plan, window_size};
pub(crate) use run::Run;
pub(crate) use stdin::WriteError;

/// The running commands that have a name.
#[derive(Default)]
pub(crate) struct Commands(Mutex<HashMap<Key, Arc<Running>>>);

/// The connection, and the name the client gave.
type Key = (ClientId, String);

/// A command that runs.
pub(crate) struct Running {
    pub process: Process,
    pub stdin: Stdin,
}

impl Commands {
    /// The running command of this name, or why there is none.
    pub fn get(&self, client: ClientId, name: &str) -> Result<Arc<Running>, Refusal> {
        self.0
            .lock()
            .get(&(client, name.to_owned()))
            .cloned()
            .ok_or_else(|| {
                let name = quoted(name);
                let text = format!("no active command/exec for process id {name}");
                Refusal::invalid_request(text)
            })
    }

    fn refuse_duplicate(&self, client: ClientId, name: &str) -> Result<(), Refusal> {
        if !self.0.lock().contains_key(&(client, name.to_owned())) {
            return Ok(());
        }
        let text = format!("duplicate active command/exec process id: {}", quoted(name));
        Err(Refusal::invalid_request(text))
    }
}

/// A name as errors show it: a JSON string.
fn quoted(name: &str) -> String {
    serde_json::Value::from(name).to_string()
}
