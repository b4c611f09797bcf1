//! What the server reports about a turn, as `codex/event` notifications: one notification of the protocol becomes none,
//! one or several events.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use quipu_client::wire::{
    CommandExecutionStatus, McpToolCallStatus, PatchApplyStatus, SandboxPolicy, ServerNotification,
    ThreadItem, ThreadStartResponse, ThreadTokenUsage, TurnStatus,
};
use serde_json::{Value, json};

use crate::item;

/// What is remembered of a turn to report its end.
#[derive(Default)]
pub struct Events {
    last_message: Option<String>,
    window: Option<i64>,
    /// What the patch that is being applied printed.
    patch_output: String,
}

impl Events {
    /// The events of a notification, in order.
    pub fn of(&mut self, notification: &ServerNotification) -> Vec<Value> {
        use ServerNotification as Notification;
        match notification {
            Notification::TurnStarted(it) => vec![json!({
                "type": "task_started",
                "turn_id": it.turn.id,
                "model_context_window": self.window,
                "collaboration_mode_kind": "default",
            })],
            Notification::TurnCompleted(it) => match it.turn.status {
                TurnStatus::Completed => vec![json!({
                    "type": "task_complete",
                    "turn_id": it.turn.id,
                    "last_agent_message": self.last_message,
                })],
                TurnStatus::Interrupted => vec![json!({
                    "type": "turn_aborted",
                    "turn_id": it.turn.id,
                    "reason": "interrupted",
                })],
                _ => Vec::new(),
            },
            Notification::ItemStarted(it) => self.started(&it.thread_id, &it.turn_id, &it.item),
            Notification::ItemCompleted(it) => self.completed(&it.thread_id, &it.turn_id, &it.item),
            Notification::ThreadTokenUsageUpdated(it) => vec![self.usage(&it.token_usage)],
            Notification::ItemFileChangeOutputDelta(it) => {
                self.patch_output.push_str(&it.delta);
                Vec::new()
            }
            other => passed_on(other),
        }
    }

    fn usage(&mut self, usage: &ThreadTokenUsage) -> Value {
        self.window = usage.model_context_window.or(self.window);
        json!({
            "type": "token_count",
            "info": {
                "total_token_usage": item::snake(&usage.total),
                "last_token_usage": item::snake(&usage.last),
                "model_context_window": usage.model_context_window,
            },
            "rate_limits": null,
        })
    }

    fn started(&mut self, thread_id: &str, turn_id: &str, started: &ThreadItem) -> Vec<Value> {
        if let Some(item) = item::whole(started) {
            return vec![json!({
                "type": "item_started",
                "thread_id": thread_id,
                "turn_id": turn_id,
                "item": item,
            })];
        }
        match started {
            ThreadItem::CommandExecution { .. } => vec![command(turn_id, started, "begin")],
            ThreadItem::McpToolCall {
                id,
                server,
                tool,
                arguments,
                ..
            } => vec![json!({
                "type": "mcp_tool_call_begin",
                "call_id": id,
                "invocation": { "server": server, "tool": tool, "arguments": arguments },
            })],
            ThreadItem::WebSearch { id, .. } => {
                vec![json!({ "type": "web_search_begin", "call_id": id })]
            }
            ThreadItem::FileChange { .. } => {
                self.patch_output.clear();
                Vec::new()
            }
            _ => Vec::new(),
        }
    }

    fn completed(&mut self, thread_id: &str, turn_id: &str, done: &ThreadItem) -> Vec<Value> {
        let mut events = Vec::new();
        if let Some(item) = item::whole(done) {
            events.push(json!({
                "type": "item_completed",
                "thread_id": thread_id,
                "turn_id": turn_id,
                "item": item,
            }));
        }
        match done {
            ThreadItem::UserMessage { content, .. } => events.push(item::said(content)),
            ThreadItem::AgentMessage {
                text,
                phase,
                memory_citation,
                ..
            } => {
                self.last_message = Some(text.clone());
                events.push(json!({
                    "type": "agent_message",
                    "message": text,
                    "phase": item::snake(phase),
                    "memory_citation": item::snake(memory_citation),
                }));
            }
            ThreadItem::Reasoning {
                summary, content, ..
            } => {
                let text = |kind: &str, text: &String| json!({ "type": kind, "text": text });
                events.extend(summary.iter().map(|it| text("agent_reasoning", it)));
                let raw = content
                    .iter()
                    .map(|it| text("agent_reasoning_raw_content", it));
                events.extend(raw);
            }
            ThreadItem::CommandExecution { .. } => events.push(command(turn_id, done, "end")),
            ThreadItem::FileChange { .. } => events.push(self.patch_end(turn_id, done)),
            ThreadItem::McpToolCall { .. } => events.extend(tool_end(done)),
            ThreadItem::WebSearch { id, query, action } => events.push(json!({
                "type": "web_search_end",
                "call_id": id,
                "query": query,
                "action": item::snake(action),
            })),
            ThreadItem::ImageView { id, path } => events.push(json!({
                "type": "view_image_tool_call",
                "call_id": id,
                "path": path,
            })),
            ThreadItem::ContextCompaction { .. } => {
                events.push(json!({ "type": "context_compacted" }));
            }
            _ => {}
        }
        events
    }

    fn patch_end(&mut self, turn_id: &str, done: &ThreadItem) -> Value {
        let ThreadItem::FileChange {
            id,
            changes,
            status,
        } = done
        else {
            return Value::Null;
        };
        let output = std::mem::take(&mut self.patch_output);
        let success = *status == PatchApplyStatus::Completed;
        let (stdout, stderr) = match status {
            PatchApplyStatus::Completed => (output, String::new()),
            PatchApplyStatus::Declined => (String::new(), "patch rejected by user".to_owned()),
            _ => (String::new(), output),
        };
        json!({
            "type": "patch_apply_end",
            "call_id": id,
            "turn_id": turn_id,
            "stdout": stdout,
            "stderr": stderr,
            "success": success,
            "changes": item::changes(changes),
            "status": item::snake(status),
        })
    }
}

/// The beginning of a patch, which says whether somebody was asked.
pub fn patch_begin(turn_id: &str, patch: &ThreadItem, auto_approved: bool) -> Value {
    let ThreadItem::FileChange { id, changes, .. } = patch else {
        return Value::Null;
    };
    json!({
        "type": "patch_apply_begin",
        "call_id": id,
        "turn_id": turn_id,
        "auto_approved": auto_approved,
        "changes": item::changes(changes),
    })
}

/// What a thread was started with.
pub fn session_configured(started: &ThreadStartResponse) -> Value {
    let mut event = json!({
        "type": "session_configured",
        "session_id": started.thread.id,
        "model": started.model,
        "model_provider_id": started.model_provider,
        "approval_policy": started.approval_policy,
        "approvals_reviewer": started.approvals_reviewer,
        "sandbox_policy": sandbox(&started.sandbox),
        "cwd": started.cwd,
        "history_log_id": 0,
        "history_entry_count": 0,
        "rollout_path": started.thread.path,
    });
    if let Some(effort) = &started.reasoning_effort {
        event["reasoning_effort"] = json!(effort);
    }
    event
}

fn sandbox(policy: &SandboxPolicy) -> Value {
    match policy {
        SandboxPolicy::DangerFullAccess => json!({ "type": "danger-full-access" }),
        SandboxPolicy::ReadOnly {
            network_access: false,
            ..
        } => json!({ "type": "read-only" }),
        SandboxPolicy::ReadOnly { .. } => json!({ "type": "read-only", "network_access": true }),
        SandboxPolicy::ExternalSandbox { network_access } => {
            json!({ "type": "external-sandbox", "network_access": network_access })
        }
        SandboxPolicy::WorkspaceWrite {
            writable_roots,
            network_access,
            exclude_tmpdir_env_var,
            exclude_slash_tmp,
            ..
        } => json!({
            "type": "workspace-write",
            "writable_roots": writable_roots,
            "network_access": network_access,
            "exclude_tmpdir_env_var": exclude_tmpdir_env_var,
            "exclude_slash_tmp": exclude_slash_tmp,
        }),
        other => item::snake(other),
    }
}

/// A command at its beginning or end.
fn command(turn_id: &str, item: &ThreadItem, at: &str) -> Value {
    let ThreadItem::CommandExecution {
        id,
        command,
        cwd,
        source,
        status,
        command_actions,
        aggregated_output,
        exit_code,
        duration_ms,
        ..
    } = item
    else {
        return Value::Null;
    };
    let mut event = json!({
        "type": format!("exec_command_{at}"),
        "call_id": id,
        "turn_id": turn_id,
        "command": item::words(command),
        "cwd": cwd,
        "parsed_cmd": item::parsed(command_actions),
        "source": item::snake(source),
    });
    if at == "begin" {
        return event;
    }
    let is_declined = *status == CommandExecutionStatus::Declined;
    let rejected = "exec command rejected by user";
    let output = match aggregated_output.as_deref() {
        None if is_declined => rejected,
        output => output.unwrap_or_default(),
    };
    let (stdout, stderr) = if is_declined {
        ("", output)
    } else {
        (output, "")
    };
    for (key, text) in [
        ("stdout", stdout),
        ("stderr", stderr),
        ("aggregated_output", output),
        ("formatted_output", output),
    ] {
        event[key] = text.into();
    }
    event["exit_code"] = exit_code.unwrap_or(-1).into();
    event["duration"] = duration(*duration_ms);
    event["status"] = item::snake(status);
    event
}

fn duration(milliseconds: Option<i64>) -> Value {
    let milliseconds = milliseconds.unwrap_or_default().max(0);
    json!({ "secs": milliseconds / 1000, "nanos": milliseconds % 1000 * 1_000_000 })
}

fn tool_end(done: &ThreadItem) -> Option<Value> {
    let ThreadItem::McpToolCall {
        id,
        server,
        tool,
        arguments,
        result,
        error,
        duration_ms,
        status,
    } = done
    else {
        return None;
    };
    let outcome = match (result, error) {
        (_, Some(error)) => json!({ "Err": error.message }),
        (Some(result), None) => json!({ "Ok": {
            "content": result.content,
            "structuredContent": result.structured_content,
            "isError": *status == McpToolCallStatus::Failed,
        } }),
        (None, None) => json!({ "Err": "the call has no result" }),
    };
    Some(json!({
        "type": "mcp_tool_call_end",
        "call_id": id,
        "invocation": { "server": server, "tool": tool, "arguments": arguments },
        "duration": duration(*duration_ms),
        "result": outcome,
    }))
}

/// Events that need no memory.
fn passed_on(notification: &ServerNotification) -> Vec<Value> {
    use ServerNotification as Notification;
    let delta = |kind: &str, thread: &str, turn: &str, item: &str, delta: &str| json!({ "type": kind, "thread_id": thread, "turn_id": turn, "item_id": item, "delta": delta });
    match notification {
        Notification::RawResponseItemCompleted(it) => {
            vec![json!({ "type": "raw_response_item", "item": it.item })]
        }
        Notification::ItemAgentMessageDelta(it) => {
            let kind = "agent_message_content_delta";
            vec![
                delta(kind, &it.thread_id, &it.turn_id, &it.item_id, &it.delta),
                json!({ "type": "agent_message_delta", "delta": it.delta }),
            ]
        }
        Notification::ItemReasoningSummaryTextDelta(it) => {
            let kind = "reasoning_content_delta";
            let mut event = delta(kind, &it.thread_id, &it.turn_id, &it.item_id, &it.delta);
            event["summary_index"] = it.summary_index.into();
            vec![
                event,
                json!({ "type": "agent_reasoning_delta", "delta": it.delta }),
            ]
        }
        Notification::ItemReasoningSummaryPartAdded(it) => vec![json!({
            "type": "agent_reasoning_section_break",
            "item_id": it.item_id,
            "summary_index": it.summary_index,
        })],
        Notification::ItemPlanDelta(it) => {
            vec![delta(
                "plan_delta",
                &it.thread_id,
                &it.turn_id,
                &it.item_id,
                &it.delta,
            )]
        }
        Notification::ItemCommandExecutionOutputDelta(it) => vec![json!({
            "type": "exec_command_output_delta",
            "call_id": it.item_id,
            "stream": "stdout",
            "chunk": BASE64_STANDARD.encode(&it.delta),
        })],
        Notification::TurnDiffUpdated(it) => {
            vec![json!({ "type": "turn_diff", "unified_diff": it.diff })]
        }
        Notification::TurnPlanUpdated(it) => vec![json!({
            "type": "plan_update",
            "explanation": it.explanation,
            "plan": item::snake(&it.plan),
        })],
        Notification::Error(it) if it.will_retry => vec![json!({
            "type": "stream_error",
            "message": it.error.message,
            "codex_error_info": item::snake(&it.error.codex_error_info),
            "additional_details": it.error.additional_details,
        })],
        Notification::Error(it) => vec![json!({
            "type": "error",
            "message": it.error.message,
            "codex_error_info": item::snake(&it.error.codex_error_info),
        })],
        _ => Vec::new(),
    }
}
