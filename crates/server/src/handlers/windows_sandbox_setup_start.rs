//! `windowsSandbox/setupStart`: there is nothing to set up, since only Linux has a sandbox yet.

use quipu_wire::method::event::WindowsSandboxSetupCompleted;
use quipu_wire::method::request::WindowsSandboxSetupStart;
use quipu_wire::{
    WindowsSandboxSetupCompletedNotification, WindowsSandboxSetupMode,
    WindowsSandboxSetupStartParams, WindowsSandboxSetupStartResponse,
};

use super::ReplyHandler;
use crate::{Cx, Reply};

impl ReplyHandler for WindowsSandboxSetupStart {
    async fn handle(cx: Cx, params: WindowsSandboxSetupStartParams, reply: Reply<Self>) {
        let started = WindowsSandboxSetupStartResponse { started: true };
        reply.send(Ok(started)).await;
        let kind = match params.mode {
            WindowsSandboxSetupMode::Elevated => "elevated",
            _ => "legacy",
        };
        let completed = WindowsSandboxSetupCompletedNotification {
            mode: params.mode,
            success: false,
            error: Some(if cfg!(windows) {
                format!("{kind} Windows sandbox setup is not supported yet")
            } else {
                format!("{kind} Windows sandbox setup is only supported on Windows")
            }),
        };
        cx.client
            .notify::<WindowsSandboxSetupCompleted>(&completed)
            .await;
    }
}
