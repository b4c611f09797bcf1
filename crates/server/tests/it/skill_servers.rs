//! MCP servers that skills need are installed once the user agrees. The official server was asked the same.

use quipu_testkit::conversation::Conversation;
use quipu_testkit::mcp::{HttpOptions, McpHttpServer};
use serde_json::{Value, json};

use crate::stage::{Stage, order, run, say, status, text};

/// A skill `dep` that needs a server of this address.
fn write_skill(stage: &Stage, url: &str) {
    let directory = stage.home().join("skills/dep");
    std::fs::create_dir_all(directory.join("agents")).unwrap();
    let skill = "---\nname: dep\ndescription: Needs a server\n---\nBODY\n";
    std::fs::write(directory.join("SKILL.md"), skill).unwrap();
    let needs = format!(
        "dependencies:\n  tools:\n  - type: mcp\n    value: depserver\n    transport: streamable_http\n    url: {url}\n"
    );
    std::fs::write(directory.join("agents/openai.yaml"), needs).unwrap();
}

/// A client that is asked, and a thread in which it is.
async fn asked(stage: &Stage) -> (Conversation, String) {
    let mut client = stage.client_as("codex_vscode").await;
    let policy = json!({ "approvalPolicy": "on-request" });
    let started = client.call("thread/start", policy).await;
    (client, text(&started["thread"]["id"]))
}

async fn answer(client: &mut Conversation, question: &Value, label: &str) {
    let answer = json!({ "answers": { "skill_mcp_dependency_install": { "answers": [label] } } });
    client.reply(&question["id"], answer).await;
}

fn config(stage: &Stage) -> String {
    std::fs::read_to_string(stage.home().join("config.toml")).unwrap()
}

/// Whether a server is installed without a question, with full access.
pub async fn installed(settings: &str) -> Value {
    let stage = Stage::with(settings).await;
    write_skill(&stage, "http://127.0.0.1:9/mcp");
    let mut client = stage.client_as("codex_vscode").await;
    let started = client.call("thread/start", json!({})).await;
    stage.play([json!({ "text": "hi" })]);
    run(&mut client, &text(&started["thread"]["id"]), "use $dep").await;
    json!(config(&stage).contains("[mcp_servers.depserver]"))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_is_installed_and_used_in_the_same_turn() {
    let server = McpHttpServer::start(HttpOptions::default()).await.unwrap();
    let stage = Stage::new().await;
    write_skill(&stage, &server.url());
    let (mut client, thread) = asked(&stage).await;
    stage.play([json!({ "text": "one" }), json!({ "text": "two" })]);
    let turn = say(&mut client, &thread, "use $dep").await;
    let mut before = client.until("item/tool/requestUserInput").await;
    let question = before.pop().unwrap();
    assert!(!order(&before).iter().any(|it| it.starts_with("item/")));
    let flags = &before.last().unwrap()["params"]["status"]["activeFlags"];
    assert_eq!(*flags, json!(["waitingOnUserInput"]));
    assert_eq!(question["params"]["itemId"], format!("mcp-deps-{turn}"));
    let asked = &question["params"]["questions"][0];
    assert_eq!(asked["id"], "skill_mcp_dependency_install");
    assert_eq!(asked["options"][0]["label"], "Install");
    answer(&mut client, &question, "Install").await;
    let messages = client.until("turn/completed").await;
    assert_eq!(messages[0]["method"], "serverRequest/resolved");
    assert_eq!(status(&messages), "completed");
    let expected = format!("[mcp_servers.depserver]\nurl = \"{}\"\n", server.url());
    assert!(config(&stage).contains(&expected), "{}", config(&stage));
    let sent = stage.last_request();
    assert!(sent.contains("mcp__depserver__echo"), "{sent}");

    let messages = run(&mut client, &thread, "again $dep").await;
    assert!(
        !messages.iter().any(|it| !it["id"].is_null()),
        "it is there"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn who_goes_on_without_a_server_is_not_asked_again() {
    let stage = Stage::new().await;
    write_skill(&stage, "http://127.0.0.1:9/mcp");
    let before = config(&stage);
    let (mut client, thread) = asked(&stage).await;
    stage.play([json!({ "text": "one" }), json!({ "text": "two" })]);
    say(&mut client, &thread, "use $dep").await;
    let question = client.skip_to("item/tool/requestUserInput").await;
    answer(&mut client, &question, "Continue anyway").await;
    assert_eq!(status(&client.until("turn/completed").await), "completed");
    let messages = run(&mut client, &thread, "use $dep").await;
    assert!(!messages.iter().any(|it| !it["id"].is_null()));
    assert_eq!(config(&stage), before);

    // Clients that do not show such questions are not asked at all.
    let (mut other, thread) = stage.thread().await;
    stage.play([json!({ "text": "three" })]);
    let messages = run(&mut other, &thread, "use $dep").await;
    assert!(!messages.iter().any(|it| !it["id"].is_null()));
    assert_eq!(config(&stage), before);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_interrupt_ends_the_question_and_installs_nothing() {
    let stage = Stage::new().await;
    write_skill(&stage, "http://127.0.0.1:9/mcp");
    let before = config(&stage);
    let (mut client, thread) = asked(&stage).await;
    let turn = say(&mut client, &thread, "use $dep").await;
    let question = client.skip_to("item/tool/requestUserInput").await;
    let interrupt = json!({ "threadId": thread, "turnId": turn });
    client.ask("turn/interrupt", interrupt).await;
    let messages = client.until("turn/completed").await;
    assert_eq!(status(&messages), "interrupted");
    answer(&mut client, &question, "Install").await;
    stage.play([json!({ "text": "fine" })]);
    assert_eq!(
        status(&run(&mut client, &thread, "go on").await),
        "completed"
    );
    assert_eq!(config(&stage), before);
}
