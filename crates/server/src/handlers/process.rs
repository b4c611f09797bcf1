//! `process/spawn`, `process/writeStdin`, `process/resizePty` and `process/kill`: processes without a sandbox, whose
//! output and end are reported in notifications.

use quipu_wire::method::event;
use quipu_wire::method::request::{ProcessKill, ProcessResizePty, ProcessSpawn, ProcessWriteStdin};
use quipu_wire::{
    ProcessExitedNotification, ProcessKillParams, ProcessKillResponse, ProcessResizePtyParams,
    ProcessResizePtyResponse, ProcessSpawnParams, ProcessSpawnResponse, ProcessWriteStdinParams,
    ProcessWriteStdinResponse,
};

use super::{Handler, ReplyHandler};
use crate::commands::{Family, Run, decoded, process_plan, window_size};
use crate::lanes::run_free;
use crate::{Cx, Refusal, Reply};

impl ReplyHandler for ProcessSpawn {
    async fn handle(cx: Cx, params: ProcessSpawnParams, reply: Reply<Self>) {
        let handle = params.process_handle.clone();
        match start(cx.clone(), params).await {
            Ok(run) => {
                reply.send(Ok(ProcessSpawnResponse {})).await;
                run_free(Box::pin(report(cx, handle, run)));
            }
            Err(error) => reply.send(Err(error)).await,
        }
    }
}

async fn start(cx: Cx, params: ProcessSpawnParams) -> Result<Run, Refusal> {
    let plan = process_plan(&cx, params)?;
    Run::start(cx, plan).await
}

/// Hands on the output of a process, and then its end.
async fn report(cx: Cx, process_handle: String, run: Run) {
    let ended = run.finish().await;
    let exited = ProcessExitedNotification {
        process_handle,
        exit_code: ended.exit_code,
        output_drain_timed_out: Some(false),
        stdout: ended.stdout,
        stdout_cap_reached: ended.stdout_cap_reached,
        stderr: ended.stderr,
        stderr_cap_reached: ended.stderr_cap_reached,
    };
    cx.client.notify::<event::ProcessExited>(&exited).await;
}

impl Handler for ProcessWriteStdin {
    async fn run(cx: Cx, params: ProcessWriteStdinParams) -> Result<Self::Result, Refusal> {
        if params.delta_base64.is_none() && !params.close_stdin {
            let text = "process/writeStdin requires deltaBase64 or closeStdin";
            return Err(Refusal::invalid_params(text));
        }
        let bytes = decoded(params.delta_base64.as_ref())?;
        let commands = &cx.server.commands;
        let process = commands.get(cx.client.id, Family::Process, &params.process_handle)?;
        process.write(Family::Process, bytes, params.close_stdin)?;
        Ok(ProcessWriteStdinResponse {})
    }
}

impl Handler for ProcessResizePty {
    async fn run(cx: Cx, params: ProcessResizePtyParams) -> Result<Self::Result, Refusal> {
        let size = window_size("process", params.size.rows, params.size.cols)?;
        let commands = &cx.server.commands;
        let process = commands.get(cx.client.id, Family::Process, &params.process_handle)?;
        process.resize(size)?;
        Ok(ProcessResizePtyResponse {})
    }
}

impl ReplyHandler for ProcessKill {
    async fn handle(cx: Cx, params: ProcessKillParams, reply: Reply<Self>) {
        let commands = &cx.server.commands;
        match commands.get(cx.client.id, Family::Process, &params.process_handle) {
            Ok(process) => {
                reply.send(Ok(ProcessKillResponse {})).await;
                process.process.kill();
            }
            Err(error) => reply.send(Err(error)).await,
        }
    }
}
