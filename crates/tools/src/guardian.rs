//! Actions that a reviewing model decides about in the user's place.

use std::path::{Path, PathBuf};

use quipu_policy::hosts::Target;
use quipu_policy::permissions::CommandTool;
use quipu_wire::Json;
use serde_json::{Value, json};

use crate::approval::{Approval, Asked};
use crate::call::{ABORTED, Running};

/// Something a tool wants to do.
#[derive(Debug, Clone)]
pub struct Action {
    /// What clients know it by, if that is not the call.
    pub target: Option<String>,
    /// What clients see of it.
    pub shown: Json,
    /// All that the reviewer must know.
    pub planned: Value,
}

impl Action {
    pub(crate) fn command(asked: Asked<'_>) -> Action {
        let Asked { shown, request } = asked;
        let (tool, source) = match request.tool {
            CommandTool::Shell => ("shell", "shell"),
            CommandTool::ExecCommand => ("exec_command", "unifiedExec"),
        };
        let mut planned = json!({
            "tool": tool,
            "command": request.argv,
            "cwd": request.cwd,
            "sandbox_permissions": request.permissions,
        });
        if request.tool == CommandTool::ExecCommand {
            planned["tty"] = request.tty.into();
        }
        if let Some(why) = request.justification {
            planned["justification"] = why.into();
        }
        if let Some(wanted) = request.additional_permissions {
            planned["additional_permissions"] =
                json!({ "network": wanted.network, "file_system": wanted.file_system });
        }
        Action {
            target: None,
            shown: json!({
                "tool": tool, "command": shown.command, "cwd": shown.cwd,
                "type": "command", "source": source,
            })
            .into(),
            planned,
        }
    }

    pub(crate) fn network(target: &Target) -> Action {
        let (host, port) = (&target.host, target.port);
        let protocol = target.protocol.name();
        let planned = json!({
            "tool": "network_access", "target": format!("{protocol}://{host}:{port}"),
            "host": host, "protocol": protocol, "port": port,
        });
        Action {
            target: Some(target.question_id()),
            shown: with(&planned, json!({ "type": "networkAccess" })),
            planned,
        }
    }

    pub(crate) fn mcp_tool(server: &str, tool: &str, arguments: Option<&Json>) -> Action {
        let shown = json!({ "tool": "mcp_tool_call", "server": server, "tool_name": tool });
        let mut planned = shown.clone();
        if let Some(arguments) = arguments {
            planned["arguments"] = arguments.to_value();
        }
        let later = json!({
            "type": "mcpToolCall", "toolName": tool,
            "connectorId": null, "connectorName": null, "toolTitle": null,
        });
        Action {
            target: None,
            shown: with(&shown, later),
            planned,
        }
    }

    pub(crate) fn patch(cwd: &Path, files: &[PathBuf], patch: &str) -> Action {
        let shown = json!({
            "tool": "apply_patch", "cwd": cwd, "files": files, "change_count": files.len(),
        });
        let mut planned = shown.clone();
        planned["patch"] = patch.into();
        Action {
            target: None,
            shown: with(&shown, json!({ "type": "applyPatch" })),
            planned,
        }
    }
}

/// An action with the members that clients of later versions read.
fn with(shown: &Value, later: Value) -> Json {
    let mut shown = shown.clone();
    if let (Value::Object(shown), Value::Object(later)) = (&mut shown, later) {
        shown.extend(later);
    }
    shown.into()
}

impl Running {
    /// Waits for the reviewing model, or for the end of the turn.
    pub async fn review(&self, action: Action) -> Approval {
        let assessment = tokio::select! {
            assessment = self.host.review(self.id(), action) => assessment,
            () = self.cancel.cancelled() => return Approval::Denied(ABORTED.to_owned()),
        };
        if assessment.approves() {
            Approval::Granted
        } else {
            Approval::Denied(assessment.refusal())
        }
    }
}
