//! Commands that clients run outside any thread, by `command/exec` or `process/spawn`. A command belongs to the
//! connection that started it: nobody else can name it, and it ends when the connection does.

mod managed;
mod plan;
mod process;
mod run;
mod stdin;

use std::collections::HashMap;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use parking_lot::Mutex;
use quipu_sandbox::{Process, WindowSize};

use crate::Refusal;
use crate::hub::ClientId;
use stdin::{Stdin, WriteError};

pub use managed::ManagedCommand;
pub use plan::configured_command;
pub(crate) use plan::{Plan, window_size};
pub(crate) use process::plan as process_plan;
pub(crate) use run::Run;

/// The running commands that have a name.
#[derive(Default)]
pub(crate) struct Commands(Mutex<HashMap<Key, Arc<Running>>>);

/// The connection, what the command was started by, and the name the client gave.
type Key = (ClientId, Family, String);

/// The methods that a command belongs to; names are unique in each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Family {
    /// `command/exec`: the result has the end.
    Exec,
    /// `process/spawn`: a notification has the end.
    Process,
}

impl Family {
    /// What it runs, as errors call it.
    pub fn noun(self) -> &'static str {
        match self {
            Family::Exec => "command",
            Family::Process => "process",
        }
    }
}

/// A command that runs.
pub(crate) struct Running {
    pub process: Process,
    pub stdin: Stdin,
}

impl Commands {
    /// The running command of this name, or why there is none.
    pub fn get(
        &self,
        client: ClientId,
        family: Family,
        name: &str,
    ) -> Result<Arc<Running>, Refusal> {
        let found = self
            .0
            .lock()
            .get(&(client, family, name.to_owned()))
            .cloned();
        found.ok_or_else(|| {
            let name = quoted(name);
            Refusal::invalid_request(match family {
                Family::Exec => format!("no active command/exec for process id {name}"),
                Family::Process => format!("no active process for process handle {name}"),
            })
        })
    }

    fn refuse_duplicate(
        &self,
        client: ClientId,
        family: Family,
        name: &str,
    ) -> Result<(), Refusal> {
        let key = (client, family, name.to_owned());
        if !self.0.lock().contains_key(&key) {
            return Ok(());
        }
        let name = quoted(name);
        Err(Refusal::invalid_request(match family {
            Family::Exec => format!("duplicate active command/exec process id: {name}"),
            Family::Process => format!("duplicate active process handle: {name}"),
        }))
    }
}

impl Running {
    /// Queues input in base64, if there is any, and then ends the input, if that is asked.
    pub fn write(
        &self,
        family: Family,
        bytes: Option<Vec<u8>>,
        close: bool,
    ) -> Result<(), Refusal> {
        self.stdin.write(bytes, close).map_err(|error| match error {
            WriteError::NotStreamed => Refusal::invalid_request(match family {
                Family::Exec => "stdin streaming is not enabled for this command/exec",
                Family::Process => "stdin streaming is not enabled for this process",
            }),
            WriteError::Closed => Refusal::invalid_request("stdin is already closed"),
            WriteError::Full => {
                let noun = family.noun();
                Refusal::NoRoom(format!("the {noun} does not read its input; retry later"))
            }
        })
    }

    /// Changes the size of the terminal.
    pub fn resize(&self, size: WindowSize) -> Result<(), Refusal> {
        let failed = |why: String| Refusal::invalid_request(format!("failed to resize PTY: {why}"));
        match self.process.resize(size) {
            Ok(true) => Ok(()),
            Ok(false) => Err(failed("process is not attached to a PTY".to_owned())),
            Err(error) => Err(failed(error.to_string())),
        }
    }
}

/// Input of a client in base64.
pub(crate) fn decoded(text: Option<&String>) -> Result<Option<Vec<u8>>, Refusal> {
    let decode = |text| {
        STANDARD
            .decode(text)
            .map_err(|error| Refusal::invalid_params(format!("invalid deltaBase64: {error}")))
    };
    text.map(decode).transpose()
}

/// A name as errors show it: a JSON string.
fn quoted(name: &str) -> String {
    serde_json::Value::from(name).to_string()
}
