//! A command from its start to its end: its item, its output, its exit.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use quipu_engine::{CallId, ProcessId, ToolDelta};
use quipu_policy::actions::command_actions;
use quipu_policy::command_line::display;
use quipu_policy::commands::{Confinement, Run};
use quipu_sandbox::{
    Command, Exit, Linger, Network as Reach, Policy, SpawnError, Spawned, Stdio, Stream, WindowSize,
};
use quipu_wire::{CommandAction, CommandExecutionSource, CommandExecutionStatus, ThreadItem};

use crate::call::Running;
use crate::login_shell;
use crate::network::{Door, Keeper, Refusals};
use crate::sandboxing;
use crate::text::Decoder;

/// Pieces of output that clients are sent at most for one command.
const MAX_DELTAS: usize = 10_000;
/// The longest piece.
const MAX_DELTA: usize = 8 * 1024;
/// Tells commands that they cannot reach the network.
const NO_NETWORK: (&str, &str) = ("CODEX_SANDBOX_NETWORK_DISABLED", "1");

/// A command as clients see it.
#[derive(Clone)]
pub(crate) struct Shown {
    pub id: CallId,
    pub command: String,
    pub cwd: String,
    pub process_id: Option<ProcessId>,
    pub source: CommandExecutionSource,
    pub actions: Vec<CommandAction>,
}

impl Shown {
    /// The command of a call, before it runs.
    pub fn new(run: &Running, argv: &[String], cwd: &Path) -> Shown {
        Shown {
            id: run.id().clone(),
            command: display(argv),
            cwd: cwd.to_string_lossy().into_owned(),
            process_id: None,
            source: CommandExecutionSource::Agent,
            actions: command_actions(argv),
        }
    }

    pub fn started(&self) -> ThreadItem {
        self.item(CommandExecutionStatus::InProgress, None, None, None)
    }

    pub fn ended(&self, exit_code: i32, output: String, elapsed: Duration) -> ThreadItem {
        let status = match exit_code {
            0 => CommandExecutionStatus::Completed,
            _ => CommandExecutionStatus::Failed,
        };
        let millis = i64::try_from(elapsed.as_millis()).unwrap_or(i64::MAX);
        let output = Some(output).filter(|output| !output.is_empty());
        self.item(status, output, Some(exit_code), Some(millis))
    }

    /// A command that never ran. The log reads it back so: with numbers, unless it was declined without a reason.
    pub fn refused(&self, status: CommandExecutionStatus, why: Option<&str>) -> ThreadItem {
        let is_bare = status == CommandExecutionStatus::Declined && why.is_none();
        let ran = (!is_bare).then_some((-1, 0));
        self.item(
            status,
            why.map(str::to_owned),
            ran.map(|it| it.0),
            ran.map(|it| it.1),
        )
    }

    fn item(
        &self,
        status: CommandExecutionStatus,
        aggregated_output: Option<String>,
        exit_code: Option<i32>,
        duration_ms: Option<i64>,
    ) -> ThreadItem {
        ThreadItem::CommandExecution {
            id: self.id.to_string(),
            command: self.command.clone(),
            cwd: self.cwd.clone(),
            process_id: self.process_id.map(|id| id.to_string()),
            source: self.source,
            status,
            command_actions: self.actions.clone(),
            aggregated_output,
            exit_code,
            duration_ms,
        }
    }
}

/// A command that is about to run.
pub(crate) struct Start<'a> {
    pub argv: &'a [String],
    pub cwd: &'a Path,
    pub how: &'a Run,
    /// Variables besides the scope's.
    pub env: &'a [(&'a str, &'a str)],
    pub terminal: bool,
}

/// Starts a command as the verdict says; tells also what the user declines while it runs.
pub(crate) async fn spawn(
    run: &Running,
    start: Start<'_>,
) -> Result<(Spawned, Arc<Refusals>), SpawnError> {
    let mut policy = match start.how.confinement {
        Confinement::Policy => sandboxing::policy_of(&run.scope),
        Confinement::Lifted => Policy::FullAccess,
    };
    let mut grants = sandboxing::grants(start.how.additional_permissions.as_ref());
    let managed = run.scope.network.as_ref();
    if managed.is_some() {
        policy = policy.with_network(Reach::Gate);
        grants.network = None;
    }
    let door = match managed {
        Some(_) if policy.is_enforced() => Some(Door::Inside),
        Some(_) => Some(Door::outside().await.map_err(|source| SpawnError::Start {
            what: "network gate",
            source,
        })?),
        None => None,
    };
    let prepared = match start.how.confinement {
        Confinement::Policy => login_shell::prepare(run, start.argv).await,
        Confinement::Lifted => None,
    };
    let (argv, scope_env) = match &prepared {
        Some(prepared) => (prepared.argv.as_slice(), prepared.env.as_slice()),
        None => (start.argv, run.scope.env.as_slice()),
    };
    let reach = policy.network().or(grants.network.unwrap_or(Reach::Off));
    let offline = policy.is_enforced() && reach == Reach::Off;
    let mut command = Command::new(argv, start.cwd, policy);
    command.enforcement = run.scope.features.enforcement();
    let gate_env = managed.zip(door.as_ref());
    let gate_env = gate_env.map(|(network, door)| network.env(door));
    let env = scope_env
        .iter()
        .filter(|(key, _)| !offline || !run.scope.withholds.drops(key))
        .map(|(key, value)| (key.as_str(), value.as_str()))
        .chain(start.env.iter().copied())
        .chain(offline.then_some(NO_NETWORK))
        .chain(
            gate_env
                .iter()
                .flatten()
                .map(|(key, value)| (*key, value.as_str())),
        );
    command.env = env.map(|(key, value)| (key.into(), value.into())).collect();
    command.grants = grants;
    if start.terminal {
        command.stdio = Stdio::Pty(WindowSize { rows: 24, cols: 80 });
    }
    command.linger = Linger::Kill(Duration::from_secs(2));
    let spawned = quipu_sandbox::spawn(command).await?;
    let refusals = Arc::<Refusals>::default();
    if let Some((network, door)) = managed.zip(door) {
        let (network, refusals) = (Arc::clone(network), Arc::clone(&refusals));
        let keeper = Keeper::new(run, network, refusals);
        door.watch(&spawned.process, Arc::new(keeper));
    }
    Ok((spawned, refusals))
}

/// The exit code as shells show it.
pub(crate) fn code(exit: Exit) -> i32 {
    match exit {
        Exit::Code(code) => code,
        Exit::Signal(signal) => 128 + signal,
    }
}

/// Passes output on to clients, within bounds.
pub(crate) struct Deltas {
    run: Running,
    decoder: Decoder,
    sent: usize,
}

impl Deltas {
    pub fn new(run: Running) -> Deltas {
        Deltas {
            run,
            decoder: Decoder::default(),
            sent: 0,
        }
    }

    pub async fn push(&mut self, bytes: &[u8]) {
        let text = self.decoder.push(bytes);
        self.send(&text).await;
    }

    pub async fn finish(&mut self) {
        let text = self.decoder.finish();
        self.send(&text).await;
    }

    async fn send(&mut self, mut text: &str) {
        while !text.is_empty() && self.sent < MAX_DELTAS {
            let mut end = text.len().min(MAX_DELTA);
            while !text.is_char_boundary(end) {
                end -= 1;
            }
            self.sent += 1;
            self.run
                .delta(ToolDelta::CommandOutput(text[..end].to_owned()))
                .await;
            text = &text[end..];
        }
    }
}

/// What a command that was waited for has done.
pub(crate) struct Done {
    pub exit_code: i32,
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
    /// Both as they came.
    pub all: Vec<u8>,
    pub elapsed: Duration,
    pub timed_out: bool,
    pub cancelled: bool,
}

/// The most output that is kept of each stream.
const MAX_KEPT: usize = 1024 * 1024;

/// Waits for a command, but not longer than `limit`.
pub(crate) async fn wait(
    run: &Running,
    spawned: Spawned,
    limit: Duration,
    deltas: &mut Deltas,
) -> Done {
    let Spawned {
        process,
        mut output,
    } = spawned;
    let begun = Instant::now();
    let process = Arc::new(process);
    let mut done = Done {
        exit_code: 0,
        stdout: Vec::new(),
        stderr: Vec::new(),
        all: Vec::new(),
        elapsed: Duration::ZERO,
        timed_out: false,
        cancelled: false,
    };
    let deadline = run.scope.clock.elapse(limit);
    tokio::pin!(deadline);
    loop {
        tokio::select! {
            chunk = output.next() => {
                let Some(chunk) = chunk else { break };
                let stream = match chunk.stream {
                    Stream::Stdout => &mut done.stdout,
                    Stream::Stderr => &mut done.stderr,
                };
                keep(stream, &chunk.bytes);
                keep(&mut done.all, &chunk.bytes);
                deltas.push(&chunk.bytes).await;
            }
            () = &mut deadline, if !done.timed_out && !done.cancelled => {
                done.timed_out = true;
                process.kill();
            }
            () = run.cancel.cancelled(), if !done.cancelled && !done.timed_out => {
                done.cancelled = true;
                process.kill();
            }
        }
    }
    let exit = process.wait().await;
    deltas.finish().await;
    done.exit_code = if done.timed_out { 124 } else { code(exit) };
    done.elapsed = begun.elapsed();
    done
}

fn keep(kept: &mut Vec<u8>, bytes: &[u8]) {
    let room = MAX_KEPT.saturating_sub(kept.len()).min(bytes.len());
    kept.extend_from_slice(&bytes[..room]);
}
