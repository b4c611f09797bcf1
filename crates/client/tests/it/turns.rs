//! Turns against Quipu: results, streams, questions.

use std::sync::Mutex;

use quipu_client::wire::{
    CommandExecutionApprovalDecision as Decision, CommandExecutionRequestApprovalParams,
    DynamicToolCallOutputContentItem, DynamicToolCallParams, DynamicToolCallResponse,
    DynamicToolSpec, ServerNotification, ThreadItem, ThreadStartParams, TurnStatus,
};
use quipu_client::{Error, Event, Handler, prompt};
use serde_json::json;

use crate::support::{Lab, connect, script, soon, thread, within};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_turn_is_run_to_its_end() {
    let lab = Lab::new();
    let client = lab.client().await;
    let thread = thread(&client).await;
    let patch = "*** Begin Patch\n*** Add File: new.txt\n+hello\n*** End Patch";
    let steps = json!([
        { "text": "I add a file.", "patch": patch },
        { "text": "Done.", "usage": { "input": 7, "output": 2 } },
    ]);
    let done = soon(client.run_turn(prompt(&thread, script(steps)))).await;
    assert_eq!(done.turn.status, TurnStatus::Completed);
    assert_eq!(done.agent_message, "Done.");
    assert!(done.diff.unwrap().contains("+hello"));
    assert_eq!(done.usage.unwrap().last.input_tokens, 7);
    let kinds: Vec<_> = done.items.iter().map(kind).collect();
    assert_eq!(kinds, ["user", "agent", "files", "agent"]);
    assert_eq!(done.missed_items, 0);
}

fn kind(item: &ThreadItem) -> &'static str {
    match item {
        ThreadItem::UserMessage { .. } => "user",
        ThreadItem::AgentMessage { .. } => "agent",
        ThreadItem::FileChange { .. } => "files",
        _ => "other",
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_failed_turn_fails_with_the_servers_error() {
    let lab = Lab::new();
    let client = lab.client().await;
    let thread = thread(&client).await;
    let steps = json!([{ "fail": 400, "body": { "error": { "message": "no such luck" } } }]);
    let failed = within("the end", client.run_turn(prompt(&thread, script(steps)))).await;
    let Err(Error::TurnFailed { error, outcome }) = failed else {
        panic!("{failed:?}");
    };
    assert!(error.message.contains("no such luck"), "{error:?}");
    assert_eq!(outcome.turn.status, TurnStatus::Failed);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stream_shows_the_whole_turn_and_its_result() {
    let lab = Lab::new();
    let client = lab.client().await;
    let thread = thread(&client).await;
    let steps = script(json!([{ "deltas": ["one ", "two ", "three"] }]));
    let mut turn = soon(client.stream_turn(prompt(&thread, steps))).await;
    let mut text = String::new();
    let mut methods = Vec::new();
    while let Some(event) = within("an event", turn.next()).await {
        if let Event::Notification(ServerNotification::ItemAgentMessageDelta(it)) = &event {
            text += &it.delta;
        }
        methods.push(event.method().to_owned());
    }
    assert_eq!(text, "one two three");
    assert_eq!(methods.first().unwrap(), "turn/started");
    assert_eq!(methods.last().unwrap(), "turn/completed");
    assert_eq!(soon(turn.finish()).await.agent_message, text);
}

#[derive(Default)]
struct Curious {
    asked: Mutex<Vec<String>>,
}

impl Handler for Curious {
    async fn approve_command(&self, request: CommandExecutionRequestApprovalParams) -> Decision {
        let command = request.command.unwrap_or_default();
        self.asked.lock().unwrap().push(command.clone());
        match command.contains("yes") {
            true => Decision::Accept,
            false => Decision::Decline,
        }
    }

    async fn call_tool(&self, request: DynamicToolCallParams) -> DynamicToolCallResponse {
        DynamicToolCallResponse {
            content_items: vec![DynamicToolCallOutputContentItem::InputText {
                text: format!("{} of {}", request.tool, request.arguments.get()),
            }],
            success: true,
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_handler_approves_and_runs_tools() {
    let lab = Lab::with("approval_policy = \"untrusted\"\nsandbox_mode = \"danger-full-access\"\n");
    let client = connect(lab.options().handler(Curious::default())).await;
    let tool = DynamicToolSpec {
        name: "weather".to_owned(),
        description: "tells the weather".to_owned(),
        input_schema: json!({ "type": "object" }).into(),
        defer_loading: false,
        namespace: None,
    };
    let params = ThreadStartParams {
        dynamic_tools: Some(vec![tool.into()]),
        ..ThreadStartParams::default()
    };
    let thread = soon(client.start_thread(params)).await.id;
    let run = |command: &str| json!({ "calls": [{ "name": "shell_command", "arguments": { "command": command } }] });
    let steps = json!([
        run("touch yes"),
        run("touch no"),
        { "calls": [{ "name": "weather", "arguments": { "city": "Cusco" } }] },
        { "text": "done" },
    ]);
    let done = soon(client.run_turn(prompt(&thread, script(steps)))).await;
    assert!(lab.directory.path().join("yes").exists());
    assert!(!lab.directory.path().join("no").exists());
    let messages = done.items.iter().find_map(|item| match item {
        ThreadItem::DynamicToolCall { content_items, .. } => content_items.clone(),
        _ => None,
    });
    let messages = format!("{messages:?}");
    assert!(
        messages.contains("weather of") && messages.contains("Cusco"),
        "{messages}"
    );
}
