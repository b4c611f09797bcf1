//! Short ways to make the data that inputs are made of.

use quipu_engine::{
    CallKind, Compacted, Context, HookReport, HookRunId, HookVerdict, HooksDone, Input, ModelEvent,
    ModelItem, OutputItem, QuestionId, ReplyToken, ReviewOutcome, ReviewStart, SampleId,
    SchemaMismatch, ShellStart, Start, ToolCall, ToolEvent, UserMessage, Waiting,
};
use quipu_wire::{
    CommandExecutionSource, CommandExecutionStatus, DynamicToolCallStatus,
    FileChangeRequestApprovalParams, GuardianApprovalReview, GuardianApprovalReviewStatus,
    HookEventName, HookExecutionMode, HookHandlerType, HookPromptFragment, HookRunStatus,
    HookRunSummary, HookScope, Json, McpToolCallStatus, PatchApplyStatus, RateLimitSnapshot,
    ServerRequest, ThreadItem, TokenUsageBreakdown, TurnError, UserInput,
};

/// An item of a history that can be told from others.
pub fn json(text: &str) -> Json {
    let content = serde_json::json!([{ "type": "input_text", "text": text }]);
    serde_json::json!({ "type": "message", "role": "user", "content": content }).into()
}

pub fn message(text: &str) -> UserMessage {
    UserMessage {
        item_id: format!("item-{text}").into(),
        content: vec![UserInput::Text {
            text: text.to_owned(),
            text_elements: Vec::new(),
        }],
        history: vec![json(text)],
    }
}

pub fn start(reply: u64, turn_id: &str, text: &str) -> Input {
    Input::Start(Start {
        reply: ReplyToken::new(reply),
        turn_id: turn_id.into(),
        message: message(text),
    })
}

pub fn steer(reply: u64, expected: &str, text: &str) -> Input {
    Input::Steer {
        reply: ReplyToken::new(reply),
        expected: expected.into(),
        message: message(text),
    }
}

pub fn review(reply: u64, turn_id: &str, label: &str) -> Input {
    Input::Review(ReviewStart {
        reply: Some(ReplyToken::new(reply)),
        turn_id: turn_id.into(),
        label: label.to_owned(),
        message: message(&format!("review {turn_id}")),
    })
}

pub fn shell(turn_id: &str, item_id: &str) -> Input {
    Input::Shell(ShellStart {
        turn_id: turn_id.into(),
        item_id: item_id.into(),
        command: "true".to_owned(),
    })
}

pub fn interrupt(reply: u64) -> Input {
    let reply = Some(ReplyToken::new(reply));
    Input::Interrupt { reply }
}

pub fn hooks(run: u64, report: HookReport) -> Input {
    let run = HookRunId::new(run);
    Input::Hooks { run, report }
}

/// All hooks have ended, and want this.
pub fn hooks_done(run: u64, verdict: HookVerdict) -> Input {
    let context = Vec::new();
    hooks(run, HookReport::Done(HooksDone { context, verdict }))
}

pub fn go_on(text: &str) -> HookVerdict {
    let prompt = json(text);
    let fragments = vec![HookPromptFragment {
        text: prompt.get().to_owned(),
        hook_run_id: "stop:0:/hooks.json".to_owned(),
    }];
    HookVerdict::Continue { prompt, fragments }
}

/// A run of a hook.
pub fn hook_run() -> HookRunSummary {
    HookRunSummary {
        id: "stop:0:/hooks.json".to_owned(),
        event_name: HookEventName::Stop,
        handler_type: HookHandlerType::Command,
        execution_mode: HookExecutionMode::Sync,
        scope: HookScope::Turn,
        source_path: "/hooks.json".to_owned(),
        display_order: 0,
        status: HookRunStatus::Running,
        status_message: None,
        started_at: 0,
        completed_at: None,
        duration_ms: None,
        entries: Vec::new(),
    }
}

/// The provider begins to answer, and says as always what the account may still use.
pub fn opened() -> ModelEvent {
    ModelEvent::RateLimits(Box::new(RateLimitSnapshot {
        limit_id: Some("codex".to_owned()),
        limit_name: None,
        primary: None,
        secondary: None,
        credits: None,
        plan_type: None,
    }))
}

pub fn model(sample: u64, event: ModelEvent) -> Input {
    let sample = SampleId::new(sample);
    Input::Model { sample, event }
}

pub fn tool(call_id: &str, event: ToolEvent) -> Input {
    Input::Tool {
        call_id: call_id.into(),
        event,
    }
}

pub fn context(turn_id: &str) -> Input {
    let context = Context {
        history: vec![json("context")],
        record: Some(json("settings")),
    };
    Input::Context {
        turn_id: turn_id.into(),
        context,
    }
}

pub fn compacted(turn_id: &str) -> Input {
    let compacted = Compacted {
        history: vec![json("summary")],
        tokens: 7,
        record: None,
    };
    Input::Compacted {
        turn_id: turn_id.into(),
        compacted,
    }
}

pub fn rendered(turn_id: &str) -> Input {
    let outcome = ReviewOutcome {
        review: "shown".to_owned(),
        message: "said".to_owned(),
        history: vec![json("user action"), json("agent")],
    };
    Input::ReviewRendered {
        turn_id: turn_id.into(),
        outcome,
    }
}

pub fn compact(turn_id: &str) -> Input {
    Input::Compact {
        turn_id: turn_id.into(),
    }
}

pub fn grace_over(turn_id: &str) -> Input {
    Input::GraceOver {
        turn_id: turn_id.into(),
    }
}

/// A message as a model streams it.
pub fn said(sample: u64, id: &str, pieces: &[&str]) -> Vec<Input> {
    let begin = ModelEvent::ItemStarted {
        slot: 0,
        item: output(id, words("")),
    };
    let deltas = pieces.iter().map(|delta| (*delta).to_owned());
    let deltas = deltas.map(|delta| ModelEvent::TextDelta { slot: 0, delta });
    let end = done(0, output(id, words(&pieces.concat())));
    let events = std::iter::once(begin).chain(deltas).chain([end]);
    events.map(|event| model(sample, event)).collect()
}

pub fn done(slot: u32, item: Box<OutputItem>) -> ModelEvent {
    ModelEvent::ItemDone { slot, item }
}

pub fn output(id: &str, item: ModelItem) -> Box<OutputItem> {
    let raw = serde_json::json!({ "id": id }).into();
    Box::new(OutputItem {
        id: id.into(),
        item,
        raw,
    })
}

pub fn words(text: &str) -> ModelItem {
    ModelItem::Message {
        text: Some(text.to_owned()),
        phase: None,
    }
}

/// A call as a model makes it.
pub fn call(call_id: &str) -> Box<OutputItem> {
    let raw = serde_json::json!({ "type": "function_call", "call_id": call_id, "name": "f" });
    let item = ModelItem::Call(ToolCall {
        call_id: call_id.into(),
        name: "f".to_owned(),
        namespace: None,
        kind: CallKind::Function("{}".to_owned()),
    });
    Box::new(OutputItem {
        id: call_id.into(),
        item,
        raw: raw.into(),
    })
}

pub fn finished(output: &str) -> ToolEvent {
    ToolEvent::Finished {
        output: vec![json(output)],
        end_turn: false,
    }
}

/// The user is asked before hooks run.
pub fn hooks_ask(question: i64) -> HookReport {
    HookReport::Ask {
        question: QuestionId::new(question),
        request: request(),
    }
}

pub fn ask(question: i64, waiting: Option<Waiting>) -> ToolEvent {
    ToolEvent::Ask {
        question: QuestionId::new(question),
        request: request(),
        waiting,
    }
}

fn request() -> Box<ServerRequest> {
    let params = FileChangeRequestApprovalParams {
        thread_id: "thread".to_owned(),
        turn_id: String::new(),
        item_id: String::new(),
        started_at_ms: 0,
        reason: None,
        grant_root: None,
    };
    Box::new(ServerRequest::ItemFileChangeRequestApproval(params))
}

pub fn answered(question: i64) -> Input {
    let question = QuestionId::new(question);
    Input::Answered { question }
}

pub fn reviewing(target: &str) -> ToolEvent {
    ToolEvent::ApprovalReviewStarted {
        target: target.to_owned(),
        action: json("action"),
    }
}

pub fn reviewed(target: &str) -> ToolEvent {
    ToolEvent::ApprovalReviewCompleted {
        target: target.to_owned(),
        review: GuardianApprovalReview {
            status: GuardianApprovalReviewStatus::Approved,
            risk_score: Some(5),
            risk_level: None,
            rationale: None,
        },
    }
}

pub fn error(message: &str) -> TurnError {
    TurnError {
        message: message.to_owned(),
        codex_error_info: None,
        additional_details: None,
    }
}

pub fn failed(message: &str) -> ModelEvent {
    ModelEvent::Failed {
        error: error(message),
        window_exceeded: false,
    }
}

/// A final message of the wrong shape.
pub fn mismatch() -> Box<SchemaMismatch> {
    Box::new(SchemaMismatch {
        note: json("wrong shape"),
        error: error("wrong shape"),
        is_fatal: true,
    })
}

pub fn tokens(total_tokens: i64) -> TokenUsageBreakdown {
    TokenUsageBreakdown {
        total_tokens,
        input_tokens: total_tokens,
        cached_input_tokens: 0,
        output_tokens: 0,
        reasoning_output_tokens: 0,
    }
}

pub fn completed() -> ModelEvent {
    ModelEvent::Completed {
        usage: Some(tokens(15)),
        mismatch: None,
    }
}

/// An item of a tool. What its id begins with says what it is, so that it is the same at start and end.
pub fn item(id: &str, is_done: bool) -> ThreadItem {
    let id = id.to_owned();
    match id.get(..3) {
        Some("pat") => ThreadItem::FileChange {
            id,
            changes: Vec::new(),
            status: if is_done {
                PatchApplyStatus::Completed
            } else {
                PatchApplyStatus::InProgress
            },
        },
        Some("mcp") => ThreadItem::McpToolCall {
            id,
            server: "server".to_owned(),
            tool: "tool".to_owned(),
            status: if is_done {
                McpToolCallStatus::Completed
            } else {
                McpToolCallStatus::InProgress
            },
            arguments: Json::null(),
            result: None,
            error: None,
            duration_ms: None,
        },
        Some("dyn") => ThreadItem::DynamicToolCall {
            id,
            namespace: None,
            tool: "tool".to_owned(),
            arguments: Json::null(),
            status: if is_done {
                DynamicToolCallStatus::Completed
            } else {
                DynamicToolCallStatus::InProgress
            },
            content_items: None,
            success: is_done.then_some(true),
            duration_ms: None,
        },
        begin => ThreadItem::CommandExecution {
            command: "true".to_owned(),
            cwd: "/".to_owned(),
            process_id: (begin == Some("bg-")).then(|| "1".to_owned()),
            source: CommandExecutionSource::Agent,
            status: if is_done {
                CommandExecutionStatus::Completed
            } else {
                CommandExecutionStatus::InProgress
            },
            command_actions: Vec::new(),
            aggregated_output: None,
            exit_code: is_done.then_some(0),
            duration_ms: None,
            id,
        },
    }
}
