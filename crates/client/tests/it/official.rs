//! The official server on the other side, if the tester has it: give the programs' paths in
//! `QUIPU_TEST_CODEX`, separated by colons. They speak to a scripted model on loopback and never leave
//! the machine. `docs/client.md` says which versions this was run with and what differs.

use std::path::Path;

use quipu_client::wire::{
    CommandExecutionApprovalDecision as Decision, CommandExecutionRequestApprovalParams,
    DynamicToolCallOutputContentItem, DynamicToolCallParams, DynamicToolCallResponse,
    DynamicToolSpec, ModelListParams, ReviewStartParams, ReviewTarget, ThreadResumeParams,
    ThreadStartParams, TurnStatus,
};
use quipu_client::{Client, Handler, Options, prompt};
use quipu_testkit::model::ModelServer;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::{connect, script, soon, within};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn official_servers_are_understood() {
    let Some(programs) = std::env::var_os("QUIPU_TEST_CODEX") else {
        return;
    };
    for program in std::env::split_paths(&programs) {
        converse(&program).await;
    }
}

struct Yes;

impl Handler for Yes {
    async fn approve_command(&self, _: CommandExecutionRequestApprovalParams) -> Decision {
        Decision::Accept
    }

    async fn call_tool(&self, request: DynamicToolCallParams) -> DynamicToolCallResponse {
        let text = format!("{} called", request.tool);
        DynamicToolCallResponse {
            content_items: vec![DynamicToolCallOutputContentItem::InputText { text }],
            success: true,
        }
    }
}

fn options(program: &Path, home: &Path) -> Options {
    Options::spawn(program)
        .client("quipu-test", "1.0")
        .env("CODEX_HOME", home)
        .env("HOME", home)
        .env_remove("OPENAI_API_KEY")
        .cwd(home)
        .handler(Yes)
}

/// Connect, models, thread, turn, approval, dynamic tool, interrupt, resume, review.
async fn converse(program: &Path) {
    let model = ModelServer::start().await.unwrap();
    let directory = TempDir::new().unwrap();
    let home = directory.path();
    let config = format!(
        "model = \"scripted-model\"\nmodel_provider = \"scripted\"\nsandbox_mode = \"workspace-write\"\n\
         approval_policy = \"on-request\"\n[model_providers.scripted]\nname = \"scripted\"\nbase_url = \"{}\"\n\
         wire_api = \"responses\"\nrequest_max_retries = 0\nstream_max_retries = 0\n",
        model.base_url(),
    );
    std::fs::write(home.join("config.toml"), config).unwrap();
    let client = connect(options(program, home)).await;
    assert!(
        !soon(client.list_models(ModelListParams::default()))
            .await
            .data
            .is_empty()
    );
    soon(client.config_requirements_read()).await;
    let thread = soon(client.start_thread(with_tool())).await.id;
    let done = soon(client.run_turn(prompt(&thread, "hello"))).await;
    assert_eq!(
        (done.turn.status, &*done.agent_message),
        (TurnStatus::Completed, "ok")
    );

    approval_and_tool(&client, &thread, &model, home).await;
    let stalled = script(json!([{ "text": "…", "stall": true }]));
    let turn = soon(client.stream_turn(prompt(&thread, stalled))).await;
    model.received(5).await;
    soon(turn.interrupt()).await;
    assert_eq!(
        soon(turn.finish()).await.turn.status,
        TurnStatus::Interrupted
    );
    within("leaving", client.disconnect()).await;

    let client = connect(options(program, home)).await;
    let resumed = client.resume_thread(&thread, ThreadResumeParams::default());
    assert!(soon(resumed).await.turns.len() >= 3);
    let done = soon(client.run_turn(prompt(&thread, "hello again"))).await;
    assert_eq!(done.agent_message, "ok");
    let review = ReviewStartParams {
        thread_id: thread,
        target: ReviewTarget::Custom {
            instructions: script(json!([{ "text": "Nothing to complain about." }])),
        },
        delivery: None,
    };
    let done = soon(client.run_review(review)).await;
    assert!(
        done.review_text.contains("Nothing to complain about."),
        "{done:?}"
    );
    within("leaving", client.disconnect()).await;
}

fn with_tool() -> ThreadStartParams {
    ThreadStartParams {
        dynamic_tools: Some(vec![
            DynamicToolSpec {
                name: "weather".to_owned(),
                description: "tells the weather".to_owned(),
                input_schema: json!({ "type": "object", "properties": {} }).into(),
                defer_loading: false,
                namespace: None,
            }
            .into(),
        ]),
        ..ThreadStartParams::default()
    }
}

async fn approval_and_tool(client: &Client, thread: &str, model: &ModelServer, home: &Path) {
    let shell = shell_call(&model.requests()[0].body);
    let weather = json!({ "name": "weather", "arguments": {} });
    let steps = json!([{ "calls": [shell] }, { "calls": [weather] }, { "text": "done" }]);
    let done = soon(client.run_turn(prompt(thread, script(steps)))).await;
    assert_eq!(done.agent_message, "done", "{done:?}");
    assert!(home.join("approved").exists());
    let last = model.requests().last().unwrap().body.to_string();
    assert!(last.contains("weather called"), "{last}");
}

/// A command that leaves a trace.
const LINE: &str = "touch approved";

/// A call of whichever tool for commands the server offers the model, beyond the sandbox, so that the
/// client is asked.
fn shell_call(request: &Value) -> Value {
    let tools = request["tools"].as_array().unwrap();
    let offers = |name: &str| tools.iter().any(|it| it["name"] == name);
    let (name, mut arguments) = match () {
        () if offers("shell_command") => ("shell_command", json!({ "command": LINE })),
        () if offers("exec_command") => ("exec_command", json!({ "cmd": LINE })),
        () => ("shell", json!({ "command": ["bash", "-c", LINE] })),
    };
    arguments["sandbox_permissions"] = json!("require_escalated");
    arguments["justification"] = json!("for the test");
    json!({ "name": name, "arguments": arguments })
}
