//! Telemetry of a thread, under the names that the official program uses. Arguments and outputs of tools are not
//! reported, because they may hold secrets, and the text of the user only if the settings say so.

use std::collections::HashMap;
use std::time::{Duration, Instant, SystemTime};

use quipu_engine::{CallId, ThreadId};
use quipu_telemetry::{Attribute, Kind, Span, SpanContext, Telemetry, Unit, Value};
use quipu_wire::{
    CommandExecutionStatus, DynamicToolCallStatus, McpToolCallStatus, PatchApplyStatus,
    SandboxPolicy, ServerNotification, ThreadItem, TurnStatus, UserInput,
};

use super::session::Session;
use crate::Server;
use crate::mcp::Configured;

/// Reports what happens in one thread, if there are collectors.
pub(super) struct Reports {
    telemetry: Telemetry,
    /// The user's text may be reported.
    prompts: bool,
    thread_id: ThreadId,
    originator: String,
    /// The running turn.
    turn: Option<Timer>,
    /// The request that began it, or begins the next one.
    caller: Option<SpanContext>,
    /// The tools that run, by call.
    calls: HashMap<CallId, Call>,
}

/// Something that has begun.
#[derive(Clone, Copy)]
pub(super) struct Timer {
    pub context: SpanContext,
    began: SystemTime,
    since: Instant,
}

struct Call {
    name: String,
    timer: Timer,
    failed: bool,
}

impl Timer {
    fn start(context: SpanContext) -> Timer {
        Timer {
            context,
            began: SystemTime::now(),
            since: Instant::now(),
        }
    }

    pub fn millis(&self) -> i64 {
        millis(self.since.elapsed())
    }

    fn span(self, name: String, parent: Option<SpanContext>, about: Vec<Attribute>) -> Span {
        Span {
            name: name.into(),
            kind: Kind::Internal,
            context: self.context,
            parent,
            began: self.began,
            attributes: about,
            failure: None,
        }
    }
}

/// One request to the model, as it is reported.
pub(super) struct RequestReport {
    telemetry: Telemetry,
    about: Vec<Attribute>,
    /// What only the span says, by the conventions for generative AI.
    span: Vec<Attribute>,
    turn: Option<SpanContext>,
    timer: Timer,
    attempt: i64,
}

impl RequestReport {
    /// What the provider is told of the trace.
    pub fn traceparent(&self) -> String {
        self.timer.context.traceparent()
    }

    /// The provider answers.
    pub fn opened(&self) {
        self.requested(None);
    }

    /// A try failed, for this reason; there may be another.
    pub fn failed(&mut self, reason: String) {
        self.requested(Some(reason));
        self.attempt += 1;
        self.timer = Timer::start(self.timer.context.child());
    }

    fn requested(&self, reason: Option<String>) {
        let mut about = self.about.clone();
        let outcome = if reason.is_some() { "failed" } else { "ok" };
        let counted = vec![("outcome", outcome.into())];
        self.telemetry.add("codex.api_requests", 1, counted);
        about.push(("attempt", self.attempt.into()));
        about.push(("duration_ms", self.timer.millis().into()));
        if let Some(reason) = &reason {
            about.push(("error.message", reason.as_str().into()));
        }
        let context = Some(self.timer.context);
        self.telemetry.event("codex.api_request", context, about);
        if reason.is_some() {
            self.ended(reason);
        }
    }

    /// The answer is complete.
    pub fn completed(&mut self, usage: Option<&quipu_wire::TokenUsageBreakdown>) {
        let mut about = self.about.clone();
        about.push(("event.kind", "response.completed".into()));
        about.push(("duration_ms", self.timer.millis().into()));
        if let Some(usage) = usage {
            for (kind, count) in [
                ("input", usage.input_tokens),
                ("output", usage.output_tokens),
            ] {
                let mut by = self.gen_ai();
                by.push(("gen_ai.token.type", kind.into()));
                let count = u64::try_from(count).unwrap_or_default();
                self.telemetry
                    .record("gen_ai.client.token.usage", Unit::Tokens, count, by);
            }
            self.span.extend([
                ("gen_ai.usage.input_tokens", usage.input_tokens.into()),
                ("gen_ai.usage.output_tokens", usage.output_tokens.into()),
            ]);
            for (name, kind, count) in [
                ("input_token_count", "input", usage.input_tokens),
                ("output_token_count", "output", usage.output_tokens),
                ("cached_token_count", "cached", usage.cached_input_tokens),
                (
                    "reasoning_token_count",
                    "reasoning",
                    usage.reasoning_output_tokens,
                ),
                ("tool_token_count", "total", usage.total_tokens),
            ] {
                about.push((name, count.into()));
                let count = u64::try_from(count).unwrap_or_default();
                let by = vec![("type", kind.into())];
                self.telemetry.add("codex.tokens", count, by);
            }
        }
        let context = Some(self.timer.context);
        self.telemetry.event("codex.sse_event", context, about);
        self.ended(None);
    }

    /// What the answer cost.
    pub fn cost(&self, dollars: f64) {
        // Not negative, and no answer costs billions.
        let micros = (dollars * 1_000_000.0).round() as u64;
        let model = self.about.iter().filter(|(name, _)| *name == "model");
        let by = model.cloned().collect();
        self.telemetry.add("quipu.cost.micro_dollars", micros, by);
    }

    /// What metrics say by the conventions for generative AI.
    fn gen_ai(&self) -> Vec<Attribute> {
        const NAMES: [&str; 3] = [
            "gen_ai.operation.name",
            "gen_ai.provider.name",
            "gen_ai.request.model",
        ];
        let about = self.span.iter().filter(|(name, _)| NAMES.contains(name));
        about.cloned().collect()
    }

    fn ended(&self, failure: Option<String>) {
        let mut by = self.gen_ai();
        by.extend(failure.as_deref().map(|it| ("error.type", it.into())));
        let millis = u64::try_from(self.timer.millis()).unwrap_or_default();
        self.telemetry.record(
            "gen_ai.client.operation.duration",
            Unit::Seconds,
            millis,
            by,
        );
        let mut about = self.about.clone();
        about.extend(self.span.iter().cloned());
        let model = about.iter().find(|(name, _)| *name == "model");
        let name = match model {
            Some((_, Value::Text(model))) => format!("chat {model}"),
            _ => "chat".to_owned(),
        };
        self.telemetry.span(Span {
            failure,
            kind: Kind::Client,
            ..self.timer.span(name, self.turn, about)
        });
        let time = self.timer.since.elapsed();
        self.telemetry
            .took("codex.api_request.duration_ms", time, Vec::new());
    }
}

impl Reports {
    pub fn new(server: &Server, thread_id: ThreadId) -> Reports {
        let reporting = server.reporting();
        Reports {
            telemetry: reporting.telemetry.clone(),
            prompts: reporting.prompts,
            thread_id,
            originator: server.identity.originator().to_owned(),
            turn: None,
            caller: None,
            calls: HashMap::new(),
        }
    }

    /// What every event says.
    fn about(&self, session: &Session) -> Vec<Attribute> {
        vec![
            ("conversation.id", self.thread_id.as_str().into()),
            ("app.version", env!("CARGO_PKG_VERSION").into()),
            ("originator", self.originator.as_str().into()),
            ("model", session.model.as_str().into()),
            ("slug", session.model.as_str().into()),
        ]
    }

    /// The thread was loaded.
    pub fn start(&self, server: &Server, session: &Session) {
        if !self.telemetry.is_on() {
            return;
        }
        let mut about = self.about(session);
        let approval = serde_json::to_value(&session.approval_policy).unwrap_or_default();
        let approval = approval.as_str().unwrap_or("granular");
        let servers = Configured::new(server, &session.snapshot).servers;
        let servers: Vec<_> = servers.into_keys().collect();
        about.extend([
            ("provider_name", session.provider.id.as_str().into()),
            ("approval_policy", approval.into()),
            ("sandbox_policy", sandbox_name(&session.sandbox).into()),
            ("mcp_servers", servers.join(", ").into()),
        ]);
        if let Some(effort) = session.effort {
            about.push(("reasoning_effort", effort.to_string().into()));
        }
        self.telemetry
            .event("codex.conversation_starts", None, about);
    }

    /// The user gave input.
    pub fn prompt(&self, session: &Session, content: &[UserInput]) {
        if !self.telemetry.is_on() {
            return;
        }
        let texts = content.iter().filter_map(|input| match input {
            UserInput::Text { text, .. } => Some(text.as_str()),
            _ => None,
        });
        let prompt: String = texts.collect();
        let mut about = self.about(session);
        let length = i64::try_from(prompt.chars().count()).unwrap_or(i64::MAX);
        about.push(("prompt_length", length.into()));
        let prompt = if self.prompts {
            prompt
        } else {
            "[REDACTED]".to_owned()
        };
        about.push(("prompt", prompt.into()));
        let context = self.turn.map(|turn| turn.context);
        self.telemetry.event("codex.user_prompt", context, about);
    }

    /// Keeps up with what clients are notified of.
    pub fn track(&mut self, session: &Session, notification: &ServerNotification) {
        if !self.telemetry.is_on() {
            return;
        }
        match notification {
            ServerNotification::TurnStarted(_) => {
                let context = self
                    .caller
                    .map_or_else(SpanContext::root, SpanContext::child);
                self.turn = Some(Timer::start(context));
            }
            ServerNotification::ItemCompleted(params) => {
                let id = quipu_engine::item_id(&params.item);
                if let Some(call) = self.calls.get_mut(id) {
                    call.failed = failed(&params.item);
                }
            }
            ServerNotification::TurnCompleted(params) => {
                self.turn_ended(session, &params.turn.status)
            }
            _ => {}
        }
    }

    /// A request is about to begin a turn.
    pub fn called_by(&mut self, request: Option<SpanContext>) {
        if self.turn.is_none() {
            self.caller = request;
        }
    }

    fn turn_ended(&mut self, session: &Session, status: &TurnStatus) {
        self.calls.clear();
        let caller = self.caller.take();
        let Some(turn) = self.turn.take() else {
            return;
        };
        let by = vec![("status", status.to_string().into())];
        self.telemetry.add("codex.turns", 1, by.clone());
        self.telemetry
            .took("codex.turn.duration_ms", turn.since.elapsed(), by.clone());
        let mut about = self.about(session);
        about.extend(by);
        about.extend([
            ("gen_ai.operation.name", "invoke_agent".into()),
            ("gen_ai.agent.name", "quipu".into()),
            ("gen_ai.conversation.id", self.thread_id.as_str().into()),
        ]);
        let failed = *status == TurnStatus::Failed;
        self.telemetry.span(Span {
            failure: failed.then(|| "the turn failed".to_owned()),
            ..turn.span("invoke_agent quipu".to_owned(), caller, about)
        });
    }

    /// A request to the model begins.
    pub fn request(&self, session: &Session) -> Option<RequestReport> {
        self.telemetry.is_on().then(|| RequestReport {
            telemetry: self.telemetry.clone(),
            about: self.about(session),
            span: vec![
                ("gen_ai.operation.name", "chat".into()),
                ("gen_ai.provider.name", session.provider.id.as_str().into()),
                ("gen_ai.request.model", session.model.as_str().into()),
                ("gen_ai.conversation.id", self.thread_id.as_str().into()),
            ],
            turn: self.turn.map(|turn| turn.context),
            timer: self.part_of_turn(),
            attempt: 0,
        })
    }

    /// A tool begins.
    pub fn call(&mut self, call: &quipu_engine::ToolCall) {
        if self.telemetry.is_on() {
            let begun = Call {
                name: call.name.clone(),
                timer: self.part_of_turn(),
                failed: false,
            };
            self.calls.insert(call.call_id.clone(), begun);
        }
    }

    /// What the server of a tool is told of the trace.
    pub fn traceparent(&self, call_id: &CallId) -> Option<String> {
        let call = self.calls.get(call_id)?;
        Some(call.timer.context.traceparent())
    }

    /// The user decided about a tool.
    pub fn decision(&self, session: &Session, call_id: &CallId, decision: &str) {
        let Some(call) = self.calls.get(call_id) else {
            return;
        };
        let mut about = self.about(session);
        about.extend([
            ("tool_name", call.name.as_str().into()),
            ("call_id", call_id.as_str().into()),
            ("decision", decision.into()),
            ("source", "User".into()),
        ]);
        let context = Some(call.timer.context);
        self.telemetry.event("codex.tool_decision", context, about);
    }

    /// A tool has ended.
    pub fn result(&mut self, session: &Session, call_id: &CallId) {
        let Some(call) = self.calls.remove(call_id) else {
            return;
        };
        let by = vec![
            ("tool_name", call.name.as_str().into()),
            ("success", (!call.failed).into()),
        ];
        self.telemetry.add("codex.tool_calls", 1, by.clone());
        let time = call.timer.since.elapsed();
        self.telemetry
            .took("codex.tool_call.duration_ms", time, by.clone());
        let mut about = self.about(session);
        about.extend(by);
        about.push(("call_id", call_id.as_str().into()));
        let turn = self.turn.map(|turn| turn.context);
        let mut spanned = about.clone();
        spanned.extend([
            ("gen_ai.operation.name", "execute_tool".into()),
            ("gen_ai.tool.name", call.name.as_str().into()),
            ("gen_ai.tool.call.id", call_id.as_str().into()),
        ]);
        self.telemetry.span(Span {
            failure: call.failed.then(|| "the tool failed".to_owned()),
            ..call
                .timer
                .span(format!("execute_tool {}", call.name), turn, spanned)
        });
        about.push(("duration_ms", call.timer.millis().into()));
        let context = Some(call.timer.context);
        self.telemetry.event("codex.tool_result", context, about);
    }

    fn part_of_turn(&self) -> Timer {
        let turn = self.turn.map(|turn| turn.context);
        Timer::start(turn.map_or_else(SpanContext::root, SpanContext::child))
    }
}

fn sandbox_name(policy: &SandboxPolicy) -> &'static str {
    match policy {
        SandboxPolicy::ReadOnly { .. } => "read-only",
        SandboxPolicy::WorkspaceWrite { .. } => "workspace-write",
        SandboxPolicy::ExternalSandbox { .. } => "external-sandbox",
        SandboxPolicy::DangerFullAccess => "danger-full-access",
        SandboxPolicy::Unrecognized(_) => "unrecognized",
    }
}

fn failed(item: &ThreadItem) -> bool {
    match item {
        ThreadItem::CommandExecution { status, .. } => *status != CommandExecutionStatus::Completed,
        ThreadItem::FileChange { status, .. } => *status != PatchApplyStatus::Completed,
        ThreadItem::McpToolCall { status, .. } => *status != McpToolCallStatus::Completed,
        ThreadItem::DynamicToolCall { status, .. } => *status != DynamicToolCallStatus::Completed,
        _ => false,
    }
}

fn millis(time: Duration) -> i64 {
    i64::try_from(time.as_millis()).unwrap_or(i64::MAX)
}
