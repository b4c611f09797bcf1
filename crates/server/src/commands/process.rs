//! What a `process/spawn` asks for: a command without a sandbox, which an administrator may forbid.

use std::time::Duration;

use quipu_sandbox::Stdio;
use quipu_wire::{ProcessSpawnParams, SandboxPolicy};

use super::plan::{
    CAP, Delivery, MOST_BUFFERED, Plan, TERMINAL, TIMEOUT, config, confined, prepared, variables,
    window_size,
};
use super::{Family, ManagedCommand};
use crate::{Cx, Refusal};

/// Checks a request in the order that decides which error a client sees.
pub(crate) fn plan(cx: &Cx, params: ProcessSpawnParams) -> Result<Plan, Refusal> {
    if params.command.is_empty() {
        return Err(Refusal::EmptyCommand);
    }
    if params.process_handle.is_empty() {
        let text = "processHandle must not be empty";
        return Err(Refusal::invalid_request(text));
    }
    if params.size.is_some() && !params.tty {
        let text = "process/spawn size requires tty: true";
        return Err(Refusal::invalid_params(text));
    }
    let timeout = timeout(params.timeout_ms)?;
    let size = params.size.as_ref();
    let size = size.map_or(Ok(TERMINAL), |it| window_size("process", it.rows, it.cols))?;
    let commands = &cx.server.commands;
    commands.refuse_duplicate(cx.client.id, Family::Process, &params.process_handle)?;
    let output = match params.tty || params.stream_stdout_stderr {
        true => Delivery::Streamed,
        false => Delivery::AtEnd,
    };
    let cap = params
        .output_bytes_cap
        .unwrap_or(Some(CAP))
        .unwrap_or(usize::MAX);
    let snapshot = config(cx, None)?;
    let free = SandboxPolicy::DangerFullAccess;
    snapshot
        .requirements()
        .allow_policy(&free)
        .map_err(|error| {
            Refusal::invalid_request(format!("process/spawn runs without a sandbox: {error}"))
        })?;
    let loader = &cx.server.settings.config;
    let policy = confined(loader, &snapshot, &free);
    let mut vars = variables(loader, &snapshot, &policy);
    for (name, value) in params.env.into_iter().flatten() {
        match value {
            Some(value) => vars.insert(name, value),
            None => vars.remove(&name),
        };
    }
    let cwd = params.cwd.as_path().to_owned();
    let mut command = prepared(loader, &params.command, cwd, policy, vars);
    command.stdio = match (params.tty, params.stream_stdin) {
        (true, _) => Stdio::Pty(size),
        (false, true) => Stdio::Pipes,
        (false, false) => Stdio::NullStdin,
    };
    Ok(Plan {
        command: ManagedCommand::new(command, loader.env(), &snapshot),
        family: Family::Process,
        process_id: Some(params.process_handle),
        timeout,
        cap: match output {
            Delivery::Streamed => cap,
            Delivery::AtEnd => cap.min(MOST_BUFFERED),
        },
        output,
    })
}

fn timeout(given: Option<Option<i64>>) -> Result<Option<Duration>, Refusal> {
    let Some(given) = given else {
        return Ok(Some(TIMEOUT));
    };
    let Some(given) = given else { return Ok(None) };
    let given = u64::try_from(given).map_err(|_| {
        let text = format!("process/spawn timeoutMs must be non-negative, got {given}");
        Refusal::invalid_params(text)
    })?;
    Ok(Some(Duration::from_millis(given)))
}
