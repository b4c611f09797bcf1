//! Commands that clients run outside any thread.
//! A process belongs to the connection that started it and dies with it.

use std::collections::BTreeMap;

use quipu_wire_macros::wire;

use crate::SandboxPolicy;

/// The size of a terminal in character cells; neither number may be 0.
#[wire]
pub struct CommandExecTerminalSize {
    pub rows: u16,
    pub cols: u16,
}

/// Parameters of `command/exec`.
#[wire(params, default)]
pub struct CommandExecParams {
    /// The program and its arguments; no shell is involved. It must not be empty.
    pub command: Vec<String>,
    /// A name that is unique among the running commands of this connection. Required for `tty` and
    /// streaming, and to write to, resize or terminate the command.
    pub process_id: Option<String>,
    /// Runs the command in a terminal, with input and output streamed and all output on `stdout`.
    #[wire(sparse)]
    pub tty: bool,
    /// Keeps standard input open for `command/exec/write`; otherwise it is closed from the start.
    #[wire(sparse)]
    pub stream_stdin: bool,
    /// Sends output in `command/exec/outputDelta` as it comes; the result then has none.
    #[wire(sparse)]
    pub stream_stdout_stderr: bool,
    /// The most bytes of output to keep per stream; 1048576 (1 MiB) if absent.
    pub output_bytes_cap: Option<usize>,
    /// Keeps all output; excludes `outputBytesCap`.
    #[wire(sparse)]
    pub disable_output_cap: bool,
    /// Sets no time limit; excludes `timeoutMs`.
    #[wire(sparse)]
    pub disable_timeout: bool,
    /// Milliseconds until the command is killed; 10000 if absent, and 0 kills it at once.
    pub timeout_ms: Option<i64>,
    /// The directory to run in, relative to the server's own, which is also the default.
    pub cwd: Option<String>,
    /// Changes to the environment that the configuration yields: a string sets, null removes.
    pub env: Option<BTreeMap<String, Option<String>>>,
    /// The terminal's first size, 24 rows and 80 columns if absent; only with `tty`.
    pub size: Option<CommandExecTerminalSize>,
    /// The sandbox for this command; the configured one if absent.
    pub sandbox_policy: Option<SandboxPolicy>,
    /// The id of a permission profile, in place of `sandboxPolicy`; see `thread/start`.
    #[wire(since = "0.166", experimental = "command/exec.permissionProfile")]
    pub permission_profile: Option<String>,
}

/// Parameters of `command/exec/write`.
#[wire(params, default)]
pub struct CommandExecWriteParams {
    pub process_id: String,
    /// Bytes to write, in base64 with padding; needed unless `closeStdin` is set.
    pub delta_base64: Option<String>,
    /// Closes standard input, after the bytes if there are any.
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
    /// The exit status; 124 after the timeout, -1 after a signal outside a terminal.
    pub exit_code: i32,
    /// Empty if the output was streamed.
    pub stdout: String,
    /// Empty if the output was streamed.
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

/// Where output came from.
#[wire(apart)]
pub enum CommandExecOutputStream {
    /// Standard output; in a terminal, all output.
    Stdout,
    Stderr,
}

/// Parameters of the notification `command/exec/outputDelta`.
#[wire]
pub struct CommandExecOutputDeltaNotification {
    pub process_id: String,
    pub stream: CommandExecOutputStream,
    /// The next bytes of the stream, in base64.
    pub delta_base64: String,
    /// The cap is full: the rest of this stream is dropped while the command runs on.
    pub cap_reached: bool,
}
