//! One command from its start to the answer.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use quipu_sandbox::{Chunk, Exit, Output, SpawnError, Spawned, Stdio, Stream};
use quipu_wire::method::event;
use quipu_wire::{
    CommandExecOutputDeltaNotification, CommandExecOutputStream, ProcessOutputDeltaNotification,
    ProcessOutputStream,
};

use super::plan::Delivery;
use super::stdin::{Pending, Stdin};
use super::{Family, Key, Plan, Running};
use crate::Cx;
use crate::Refusal;
use crate::hub::Client;

/// The exit code of a command that took too long.
const TIMED_OUT: i32 = 124;
/// What is added to the signal that ended a command, as in a shell.
const SIGNALLED: i32 = 128;

/// A started command whose end is to be waited for.
pub(crate) struct Run {
    cx: Cx,
    /// Makes the command known by its name for as long as this lives.
    name: Option<Name>,
    running: Arc<Running>,
    input: Option<Pending>,
    output: Output,
    timeout: Option<Duration>,
    sink: Sink,
}

impl Run {
    /// Starts a command.
    pub async fn start(cx: Cx, plan: Plan) -> Result<Run, Refusal> {
        let command = &plan.command.command;
        let stdio = command.stdio;
        let nameless = command.argv.first().is_some_and(|it| it.is_empty());
        let Spawned { process, output } =
            plan.command.spawn().await.map_err(|error| {
                Refusal::internal(why_not(&error, stdio, nameless, plan.family))
            })?;
        let (stdin, input) = match stdio {
            Stdio::NullStdin | Stdio::Null => (Stdin::none(), None),
            Stdio::Pipes | Stdio::Pty(_) => {
                let (stdin, input) = Stdin::streamed();
                (stdin, Some(input))
            }
        };
        let running = Arc::new(Running { process, stdin });
        let name = plan.process_id.as_deref();
        let sink = Sink::new(plan.output, plan.family, name, plan.cap);
        let name = plan.process_id;
        let name = name.map(|id| Name::new(&cx, plan.family, id, &running));
        Ok(Run {
            cx,
            name,
            running,
            input,
            output,
            timeout: plan.timeout,
            sink,
        })
    }

    /// Hands on all output and returns the result. Kills the command when its time is over or its client
    /// has left.
    pub async fn finish(self) -> Captured {
        let Run {
            cx,
            name,
            running,
            input,
            mut output,
            timeout,
            mut sink,
        } = self;
        let process = &running.process;
        let drain = async {
            while let Some(chunk) = output.next().await {
                sink.take(chunk, &cx.client).await;
            }
            process.wait().await
        };
        let feed = async {
            if let Some(input) = input {
                input.write_to(process).await;
            }
        };
        let (exit, timed_out) = tokio::select! {
            ended = within(timeout, cx.client.left(), drain, || process.kill()) => ended,
            // Input never ends a command, so only the other branch can be first.
            never = async { feed.await; std::future::pending().await } => never,
        };
        // The name is free again when the client reads the answer.
        drop(name);
        let exit_code = match exit {
            _ if timed_out => TIMED_OUT,
            Exit::Code(code) => code,
            Exit::Signal(signal) => SIGNALLED + signal,
        };
        sink.result(exit_code)
    }
}

/// Why a command did not start, in the words that clients know.
fn why_not(error: &SpawnError, stdio: Stdio, nameless: bool, family: Family) -> String {
    let cause = match (error, error.os_error()) {
        (SpawnError::CannotEnforce { .. } | SpawnError::Setup { .. }, _) => {
            return format!("exec failed: {error}");
        }
        _ if nameless && matches!(stdio, Stdio::Pty(_)) => {
            "missing program for PTY spawn".to_owned()
        }
        _ if nameless => "missing program for pipe spawn".to_owned(),
        (SpawnError::ZeroByte { .. }, _) => "nul byte found in provided data".to_owned(),
        (_, Some(cause)) => cause.to_string(),
        (_, None) => error.to_string(),
    };
    format!("failed to spawn {}: {cause}", family.noun())
}

/// Waits for the end of a command, which is killed when its time is over or nobody wants it any more.
/// Says whether its time was over.
async fn within(
    timeout: Option<Duration>,
    unwanted: impl Future<Output = ()>,
    end: impl Future<Output = Exit>,
    kill: impl Fn(),
) -> (Exit, bool) {
    let expired = async {
        match timeout {
            Some(timeout) => tokio::time::sleep(timeout).await,
            None => std::future::pending().await,
        }
    };
    tokio::pin!(end);
    let timed_out = tokio::select! {
        biased;
        exit = &mut end => return (exit, false),
        () = expired => true,
        () = unwanted => false,
    };
    kill();
    (end.await, timed_out)
}

/// The entry of a command in the table of running ones.
struct Name {
    cx: Cx,
    key: Key,
}

impl Name {
    fn new(cx: &Cx, family: Family, process_id: String, running: &Arc<Running>) -> Name {
        let key = (cx.client.id, family, process_id);
        let mut table = cx.server.commands.0.lock();
        table.insert(key.clone(), Arc::clone(running));
        Name {
            cx: cx.clone(),
            key,
        }
    }
}

impl Drop for Name {
    fn drop(&mut self) {
        self.cx.server.commands.0.lock().remove(&self.key);
    }
}

/// How a command ended, and what is kept of its output.
pub(crate) struct Captured {
    pub exit_code: i32,
    /// Empty if the output was streamed.
    pub stdout: String,
    pub stdout_cap_reached: bool,
    /// Empty if the output was streamed.
    pub stderr: String,
    pub stderr_cap_reached: bool,
}

/// Where output goes: at most so many bytes of each stream.
enum Sink {
    Kept {
        cap: usize,
        stdout: Vec<u8>,
        stderr: Vec<u8>,
    },
    Streamed {
        family: Family,
        name: String,
        /// What each stream may still send; `None` once it was told that there will be no more.
        stdout: Option<usize>,
        stderr: Option<usize>,
    },
}

impl Sink {
    fn new(output: Delivery, family: Family, name: Option<&str>, cap: usize) -> Sink {
        match output {
            Delivery::AtEnd => Sink::Kept {
                cap,
                stdout: Vec::new(),
                stderr: Vec::new(),
            },
            Delivery::Streamed => Sink::Streamed {
                family,
                name: name.unwrap_or_default().to_owned(),
                stdout: Some(cap),
                stderr: Some(cap),
            },
        }
    }

    async fn take(&mut self, mut chunk: Chunk, client: &Client) {
        match self {
            Sink::Kept {
                cap,
                stdout,
                stderr,
            } => {
                let kept = match chunk.stream {
                    Stream::Stdout => stdout,
                    Stream::Stderr => stderr,
                };
                let room = *cap - kept.len();
                kept.extend_from_slice(&chunk.bytes[..room.min(chunk.bytes.len())]);
            }
            Sink::Streamed {
                family,
                name,
                stdout,
                stderr,
            } => {
                let left = match chunk.stream {
                    Stream::Stdout => stdout,
                    Stream::Stderr => stderr,
                };
                let Some(room) = *left else { return };
                chunk.bytes.truncate(room);
                let room = room - chunk.bytes.len();
                *left = (room > 0).then_some(room);
                notify(client, *family, name, &chunk, room == 0).await;
            }
        }
    }

    fn result(self, exit_code: i32) -> Captured {
        match self {
            Sink::Kept {
                cap,
                stdout,
                stderr,
            } => Captured {
                exit_code,
                stdout_cap_reached: stdout.len() == cap,
                stderr_cap_reached: stderr.len() == cap,
                stdout: text(stdout),
                stderr: text(stderr),
            },
            Sink::Streamed { stdout, stderr, .. } => Captured {
                exit_code,
                stdout_cap_reached: stdout.is_none(),
                stderr_cap_reached: stderr.is_none(),
                stdout: String::new(),
                stderr: String::new(),
            },
        }
    }
}

/// Sends the next piece of a stream to the client that started the command.
async fn notify(client: &Client, family: Family, name: &str, chunk: &Chunk, cap_reached: bool) {
    let delta_base64 = STANDARD.encode(&chunk.bytes);
    match family {
        Family::Exec => {
            let delta = CommandExecOutputDeltaNotification {
                process_id: name.to_owned(),
                stream: match chunk.stream {
                    Stream::Stdout => CommandExecOutputStream::Stdout,
                    Stream::Stderr => CommandExecOutputStream::Stderr,
                },
                delta_base64,
                cap_reached,
            };
            client.notify::<event::CommandExecOutputDelta>(&delta).await;
        }
        Family::Process => {
            let delta = ProcessOutputDeltaNotification {
                process_handle: name.to_owned(),
                stream: match chunk.stream {
                    Stream::Stdout => ProcessOutputStream::Stdout,
                    Stream::Stderr => ProcessOutputStream::Stderr,
                },
                delta_base64,
                cap_reached,
            };
            client.notify::<event::ProcessOutputDelta>(&delta).await;
        }
    }
}

/// Output as text; what is not UTF-8 is replaced.
fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}
