//! The calls of the model, and the user's own commands beside them.

use quipu_wire::Json;

use crate::ids::CallId;

/// The tool calls of the current response, in order, and the commands of the user that run in the turn.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Calls {
    calls: Vec<Call>,
    shells: Vec<CallId>,
}

#[derive(Debug, Clone, PartialEq)]
struct Call {
    call_id: CallId,
    /// The output, once there is one.
    output: Option<Vec<Json>>,
}

impl Calls {
    pub fn add(&mut self, call_id: CallId) {
        let output = None;
        self.calls.push(Call { call_id, output });
    }

    pub fn add_shell(&mut self, call_id: CallId) {
        self.shells.push(call_id);
    }

    /// Whether the current response has called tools.
    pub fn has_calls(&self) -> bool {
        !self.calls.is_empty()
    }

    pub fn has_shells(&self) -> bool {
        !self.shells.is_empty()
    }

    /// Whether a call has not ended.
    pub fn is_running(&self) -> bool {
        self.calls.iter().any(|call| call.output.is_none())
    }

    /// Whether this call or command has not ended.
    pub fn has_running(&self, id: &CallId) -> bool {
        let is_running = |call: &Call| call.call_id == *id && call.output.is_none();
        self.calls.iter().any(is_running) || self.shells.contains(id)
    }

    /// Ends a call. Gives the output back if it is of a command of the user, for no call of the model waits for it.
    pub fn finish(&mut self, id: &CallId, output: Vec<Json>) -> Vec<Json> {
        match self.calls.iter_mut().find(|call| call.call_id == *id) {
            Some(call) => {
                call.output = Some(output);
                Vec::new()
            }
            None => {
                self.shells.retain(|shell| shell != id);
                output
            }
        }
    }

    /// Takes the calls of the current response, and gives their outputs in the order of the calls.
    pub fn take_outputs(&mut self) -> impl Iterator<Item = Json> + use<> {
        let calls = std::mem::take(&mut self.calls).into_iter();
        calls.filter_map(|call| call.output).flatten()
    }

    /// Drops the calls of the current response, with their outputs.
    pub fn clear(&mut self) {
        self.calls.clear();
    }

    pub fn take_shells(&mut self) -> Vec<CallId> {
        std::mem::take(&mut self.shells)
    }

    /// Gives up the calls and commands that have not ended, and says which they were.
    pub fn take_unfinished(&mut self) -> Vec<CallId> {
        let calls = self.calls.extract_if(.., |call| call.output.is_none());
        let mut unfinished: Vec<CallId> = calls.map(|call| call.call_id).collect();
        unfinished.append(&mut self.shells);
        unfinished
    }
}
