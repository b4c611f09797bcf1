//! MODDOC

use std::collections::BTreeMap;

use quipu_wire_macros::wire;

use crate::SandboxPolicy;

/// DOC
#[wire]
pub struct CommandExecTerminalSize {
    pub rows: u16,
    pub cols: u16,
}

/// Parameters of `command/exec`.
#[wire(params, default)]
pub struct CommandExecParams {
    pub command: Vec<String>,
    pub process_id: Option<String>,
    #[wire(sparse)]
    pub tty: bool,
    #[wire(sparse)]
    pub stream_stdin: bool,
    #[wire(sparse)]
    pub stream_stdout_stderr: bool,
    pub output_bytes_cap: Option<usize>,
    #[wire(sparse)]
    pub disable_output_cap: bool,
    #[wire(sparse)]
    pub disable_timeout: bool,
    pub timeout_ms: Option<i64>,
    pub cwd: Option<String>,
    pub env: Option<BTreeMap<String, Option<String>>>,
    pub size: Option<CommandExecTerminalSize>,
    pub sandbox_policy: Option<SandboxPolicy>,
}

/// Parameters of `command/exec/write`.
#[wire(params, default)]
pub struct CommandExecWriteParams {
    pub process_id: String,
    pub delta_base64: Option<String>,
    #[wire(sparse)]
    pub close_stdin: bool,
}

/// Parameters of `command/exec/terminate`.
#[wire(params, default)]
pub struct CommandExecTerminateParams {
    pub process_id: String,
}

/// Parameters of `command/exec/resize`.
#[wire(params)]
pub struct CommandExecResizeParams {
    pub process_id: String,
    pub size: CommandExecTerminalSize,
}

/// Result of `command/exec`.
#[wire]
pub struct CommandExecResponse {
    pub exit_code: i32,
    pub stdout: String,
    pub stderr: String,
}

/// Result of `command/exec/write`.
#[wire]
pub struct CommandExecWriteResponse {}

/// Result of `command/exec/terminate`.
#[wire]
pub struct CommandExecTerminateResponse {}

/// Result of `command/exec/resize`.
#[wire]
pub struct CommandExecResizeResponse {}

/// DOC
#[wire(apart)]
pub enum CommandExecOutputStream {
    Stdout,
    Stderr,
}

/// Parameters of the notification `command/exec/outputDelta`.
#[wire]
pub struct CommandExecOutputDeltaNotification {
    pub process_id: String,
    pub stream: CommandExecOutputStream,
    pub delta_base64: String,
    pub cap_reached: bool,
}
