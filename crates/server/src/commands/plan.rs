//! What a `command/exec` asks for, checked in the order that decides which error a client sees.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use quipu_config::{Feature, LoadRequest, Loader, Snapshot, Table};
use quipu_sandbox::{Command, Enforcement, Network, Policy, Stdio, WindowSize};
use quipu_tools::{Guarded, sandbox_policy};
use quipu_wire::{CommandExecParams, SandboxPolicy};

use super::{Family, ManagedCommand};
use crate::Cx;
use crate::Refusal;
use crate::threads::one_policy;

/// The time a command gets if nobody says.
pub(super) const TIMEOUT: Duration = Duration::from_secs(10);
/// The bytes that are kept of each stream if nobody says.
pub(super) const CAP: usize = 1024 * 1024;
/// The bytes that are kept of each stream at most if they are to be returned at once.
pub(super) const MOST_BUFFERED: usize = 512 * 1024 * 1024;
/// The size of a terminal if nobody says.
pub(super) const TERMINAL: WindowSize = WindowSize { rows: 24, cols: 80 };
/// Tells a command that it cannot reach the network, under the name that scripts look for.
const NO_NETWORK: &str = "CODEX_SANDBOX_NETWORK_DISABLED";

/// A command that is ready to start.
pub(crate) struct Plan {
    pub command: ManagedCommand,
    pub family: Family,
    pub process_id: Option<String>,
    pub timeout: Option<Duration>,
    /// The most bytes of each stream.
    pub cap: usize,
    pub output: Delivery,
}

/// How output reaches the client.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Delivery {
    /// With the result.
    AtEnd,
    /// In notifications, as it comes.
    Streamed,
}

impl Plan {
    pub fn new(cx: &Cx, params: CommandExecParams) -> Result<Plan, Refusal> {
        if params.command.is_empty() {
            return Err(Refusal::EmptyCommand);
        }
        check_options(&params)?;
        let timeout = timeout(&params)?;
        one_policy(
            ("permissionProfile", params.permission_profile.is_some()),
            ("sandboxPolicy", params.sandbox_policy.is_some()),
        )?;
        let config = config(cx, params.permission_profile.as_deref())?;
        let policy = policy(cx, &params, &config)?;
        let stdio = stdio(&params)?;
        let streams = params.tty || params.stream_stdin || params.stream_stdout_stderr;
        if streams && params.process_id.is_none() {
            return Err(Refusal::invalid_request(
                "command/exec tty or streaming requires a client-supplied processId",
            ));
        }
        if let Some(name) = &params.process_id {
            let commands = &cx.server.commands;
            commands.refuse_duplicate(cx.client.id, Family::Exec, name)?;
        }
        let output = match params.tty || params.stream_stdout_stderr {
            true => Delivery::Streamed,
            false => Delivery::AtEnd,
        };
        let mut command = command(cx, &params, &config, policy);
        command.stdio = stdio;
        let env = cx.server.settings.config.env();
        Ok(Plan {
            command: ManagedCommand::new(command, env, &config),
            timeout,
            cap: cap(&params, output),
            output,
            family: Family::Exec,
            process_id: params.process_id,
        })
    }
}

fn check_options(params: &CommandExecParams) -> Result<(), Refusal> {
    let conflict = if params.size.is_some() && !params.tty {
        "command/exec size requires tty: true"
    } else if params.disable_output_cap && params.output_bytes_cap.is_some() {
        "command/exec cannot set both outputBytesCap and disableOutputCap"
    } else if params.disable_timeout && params.timeout_ms.is_some() {
        "command/exec cannot set both timeoutMs and disableTimeout"
    } else {
        return Ok(());
    };
    Err(Refusal::invalid_params(conflict))
}

fn timeout(params: &CommandExecParams) -> Result<Option<Duration>, Refusal> {
    match params.timeout_ms {
        _ if params.disable_timeout => Ok(None),
        None => Ok(Some(TIMEOUT)),
        Some(given) => match u64::try_from(given) {
            Ok(given) => Ok(Some(Duration::from_millis(given))),
            Err(_) => Err(Refusal::invalid_params(format!(
                "command/exec timeoutMs must be non-negative, got {given}"
            ))),
        },
    }
}

fn cap(params: &CommandExecParams, output: Delivery) -> usize {
    let cap = match params.output_bytes_cap {
        _ if params.disable_output_cap => usize::MAX,
        None => CAP,
        Some(cap) => cap,
    };
    match output {
        Delivery::Streamed => cap,
        Delivery::AtEnd => cap.min(MOST_BUFFERED),
    }
}

fn stdio(params: &CommandExecParams) -> Result<Stdio, Refusal> {
    let size = params.size.as_ref();
    let size = size.map_or(Ok(TERMINAL), |size| {
        window_size("command/exec", size.rows, size.cols)
    })?;
    Ok(match (params.tty, params.stream_stdin) {
        (true, _) => Stdio::Pty(size),
        (false, true) => Stdio::Pipes,
        (false, false) => Stdio::NullStdin,
    })
}

/// A terminal of that size, which must have room for something.
pub(crate) fn window_size(what: &str, rows: u16, cols: u16) -> Result<WindowSize, Refusal> {
    match rows == 0 || cols == 0 {
        true => Err(Refusal::invalid_params(format!(
            "{what} size rows and cols must be greater than 0"
        ))),
        false => Ok(WindowSize { rows, cols }),
    }
}

/// The settings in force, with the permission profile that the client chose.
pub(super) fn config(cx: &Cx, profile: Option<&str>) -> Result<Arc<Snapshot>, Refusal> {
    let config = &cx.server.settings.config;
    let Some(profile) = profile else {
        return config
            .load_or_defaults()
            .map_err(|error| Refusal::internal(format!("failed to load configuration: {error}")));
    };
    let chosen = Table::from_iter([("default_permissions".to_owned(), profile.into())]);
    let request = LoadRequest {
        chosen: Some(&chosen),
        ..LoadRequest::default()
    };
    config
        .load(&request)
        .map_err(|error| Refusal::invalid_request(format!("invalid permission profile: {error}")))
}

/// What the command may touch: what the client says, within the administrator's limits, or what is
/// configured. The workspace is the server's own directory either way.
fn policy(cx: &Cx, params: &CommandExecParams, config: &Snapshot) -> Result<Policy, Refusal> {
    let policy = match &params.sandbox_policy {
        None => &config.permissions().sandbox_policy,
        Some(given) => {
            config.requirements().allow_policy(given).map_err(|error| {
                Refusal::invalid_request(format!("invalid sandbox policy: {error}"))
            })?;
            given
        }
    };
    Ok(confined(&cx.server.settings.config, config, policy))
}

/// A policy with what this program guards, for work in the directory that it was started in.
pub(super) fn confined(config: &Loader, snapshot: &Snapshot, policy: &SandboxPolicy) -> Policy {
    let credentials = snapshot.hidden_paths(config.env().user_home());
    let guarded = Guarded {
        home: config.home().path(),
        credentials: &credentials,
        denied: &snapshot.permissions().hidden,
        trusted: &snapshot.trusted_projects(),
    };
    let tmpdir = config.env().get("TMPDIR").map(Path::new);
    sandbox_policy(policy, config.env().cwd(), tmpdir, guarded)
}

/// The variables of commands under a policy.
pub(super) fn variables(
    config: &Loader,
    snapshot: &Snapshot,
    policy: &Policy,
) -> BTreeMap<String, String> {
    let shell_environment = snapshot.shell_environment();
    let mut vars = shell_environment.apply(config.env().vars());
    if policy.is_enforced() && policy.network() == Network::Off {
        vars.retain(|name, _| !shell_environment.withholds(name));
    }
    vars
}

/// A command that runs under the configured policy, as those of clients do that name none, for programs
/// that attend to it themselves.
pub fn configured_command(config: &Loader, argv: &[String]) -> Result<ManagedCommand, String> {
    let snapshot = config.load(&LoadRequest::default());
    let snapshot = snapshot.map_err(|error| error.to_string())?;
    let policy = confined(config, &snapshot, &snapshot.permissions().sandbox_policy);
    let vars = variables(config, &snapshot, &policy);
    let cwd = config.env().cwd().to_owned();
    let mut command = prepared(config, argv, cwd, policy, vars);
    command.enforcement = enforcement(&snapshot);
    Ok(ManagedCommand::new(command, config.env(), &snapshot))
}

fn command(cx: &Cx, params: &CommandExecParams, snapshot: &Snapshot, policy: Policy) -> Command {
    let config = &cx.server.settings.config;
    let mut vars = variables(config, snapshot, &policy);
    for (name, value) in params.env.iter().flatten() {
        match value {
            Some(value) => vars.insert(name.clone(), value.clone()),
            None => vars.remove(name),
        };
    }
    let cwd = match params.cwd.as_deref() {
        // No name is no directory, which is found out when the command is to start there.
        Some("") => PathBuf::new(),
        Some(cwd) => cx.server.cwd().join(cwd),
        None => cx.server.cwd().to_owned(),
    };
    let mut command = prepared(config, &params.command, cwd, policy, vars);
    command.enforcement = enforcement(snapshot);
    command
}

/// What is to enforce the policy of commands.
fn enforcement(snapshot: &Snapshot) -> Enforcement {
    match snapshot.features().enabled(Feature::UseLegacyLandlock) {
        true => Enforcement::Landlock,
        false => Enforcement::Auto,
    }
}

pub(super) fn prepared(
    config: &Loader,
    argv: &[String],
    cwd: PathBuf,
    policy: Policy,
    mut vars: BTreeMap<String, String>,
) -> Command {
    if policy.network() == Network::Off {
        vars.insert(NO_NETWORK.to_owned(), "1".to_owned());
    }
    let mut command = Command::new(argv, cwd, policy);
    command.env = vars
        .into_iter()
        .map(|(name, value)| (name.into(), value.into()))
        .collect();
    command.search_path = config.env().get("PATH").map(Into::into);
    command
}
