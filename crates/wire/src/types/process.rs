//! Processes that clients run beside all threads and without a sandbox.
//! A process belongs to the connection that started it and dies with it.

use std::collections::BTreeMap;

use quipu_wire_macros::wire;

use crate::AbsolutePath;

/// The size of a terminal in character cells; neither number may be 0.
#[wire]
pub struct ProcessTerminalSize {
    pub rows: u16,
    pub cols: u16,
}

/// Parameters of `process/spawn`.
#[wire(params)]
pub struct ProcessSpawnParams {
    /// The program and its arguments; no shell is involved. It must not be empty.
    pub command: Vec<String>,
    /// A name that is unique among the running processes of this connection; must not be empty.
    pub process_handle: String,
    /// The directory to run in.
    pub cwd: AbsolutePath,
    /// Runs the process in a terminal, with input and output streamed and all output on `stdout`.
    #[wire(sparse)]
    pub tty: bool,
    /// Keeps standard input open for `process/writeStdin`; otherwise it is closed from the start.
    #[wire(sparse)]
    pub stream_stdin: bool,
    /// Sends output in `process/outputDelta` as it comes; `process/exited` then has none.
    #[wire(sparse)]
    pub stream_stdout_stderr: bool,
    /// The most bytes of output to keep per stream; 1048576 (1 MiB) if absent, all if null.
    pub output_bytes_cap: Option<Option<usize>>,
    /// Milliseconds until the process is killed; 10000 if absent, no limit if null.
    pub timeout_ms: Option<Option<i64>>,
    /// Changes to the environment that the configuration yields: a string sets, null removes.
    pub env: Option<BTreeMap<String, Option<String>>>,
    /// The terminal's first size, 24 rows and 80 columns if absent; only with `tty`.
    pub size: Option<ProcessTerminalSize>,
}

/// Result of `process/spawn`.
#[wire]
pub struct ProcessSpawnResponse {}

/// Parameters of `process/writeStdin`.
#[wire(params, default)]
pub struct ProcessWriteStdinParams {
    pub process_handle: String,
    /// Bytes to write, in base64 with padding; needed unless `closeStdin` is set.
    pub delta_base64: Option<String>,
    /// Closes standard input, after the bytes if there are any.
    #[wire(sparse)]
    pub close_stdin: bool,
}

/// Result of `process/writeStdin`.
#[wire]
pub struct ProcessWriteStdinResponse {}

/// Parameters of `process/resizePty`.
#[wire(params)]
pub struct ProcessResizePtyParams {
    pub process_handle: String,
    pub size: ProcessTerminalSize,
}

/// Result of `process/resizePty`.
#[wire]
pub struct ProcessResizePtyResponse {}

/// Parameters of `process/kill`.
#[wire(params, default)]
pub struct ProcessKillParams {
    pub process_handle: String,
}

/// Result of `process/kill`.
#[wire]
pub struct ProcessKillResponse {}

/// Where output came from.
#[wire(apart)]
pub enum ProcessOutputStream {
    /// Standard output; in a terminal, all output.
    Stdout,
    Stderr,
}

/// Parameters of the notification `process/outputDelta`.
#[wire]
pub struct ProcessOutputDeltaNotification {
    pub process_handle: String,
    pub stream: ProcessOutputStream,
    /// The next bytes of the stream, in base64.
    pub delta_base64: String,
    /// The cap is full: the rest of this stream is dropped while the process runs on.
    pub cap_reached: bool,
}

/// Parameters of the notification `process/exited`.
#[wire]
pub struct ProcessExitedNotification {
    pub process_handle: String,
    /// The exit status; 124 after the timeout, 128 and the signal after a signal.
    pub exit_code: i32,
    /// Always false: output ends with the process and all its descendants.
    #[wire(hidden_default)]
    pub output_drain_timed_out: Option<bool>,
    /// Empty if the output was streamed.
    pub stdout: String,
    pub stdout_cap_reached: bool,
    /// Empty if the output was streamed.
    pub stderr: String,
    pub stderr_cap_reached: bool,
}
