//! The sandbox of a session: workflows write it as a mode or as an object, and servers want the mode for the thread
//! and the object for its turns.

use serde_json::Value;

use super::SessionOptions;

/// The mode of a thread's sandbox. An object of a kind that has no mode leaves the thread with the configured one.
pub(super) fn mode(sandbox: &Value) -> Option<Value> {
    match sandbox {
        Value::String(_) => Some(sandbox.clone()),
        _ => match sandbox.get("type")?.as_str()? {
            "readOnly" => Some("read-only".into()),
            "workspaceWrite" => Some("workspace-write".into()),
            "dangerFullAccess" => Some("danger-full-access".into()),
            _ => None,
        },
    }
}

/// The policy of every turn: its own, or else the object that was meant for the thread.
pub(super) fn policy(options: &SessionOptions) -> Option<Value> {
    let of_thread = options.thread_sandbox.as_ref().filter(|it| it.is_object());
    options.turn_sandbox_policy.as_ref().or(of_thread).cloned()
}
