//! Tools that are not listed to the model until it finds them.

use quipu_testkit::conversation::Conversation;
use serde_json::{Value, json};

use crate::stage::{Stage, calls, completed, open, run, say, status, text};

/// A thread with one tool that is listed and two that are not.
fn deferring() -> Value {
    let schema = json!({ "type": "object", "properties": { "subject": { "type": "string" } } });
    let tool = |name: &str, description: &str, deferred: bool| json!({ "name": name, "description": description, "inputSchema": schema, "deferLoading": deferred });
    json!({ "dynamicTools": [
        tool("clock", "Tells the time.", false),
        tool("openTicket", "Reports a defect to the team.", true),
        tool("send_mail", "Writes to a colleague.", true),
    ] })
}

/// The names of the tools of the last requests, the newest last.
fn listed(stage: &Stage, last: usize) -> Vec<Vec<String>> {
    let requests = stage.model.requests();
    let requests = &requests[requests.len() - last..];
    let names = |body: &Value| {
        let tools = body["tools"].as_array().unwrap();
        let name = |it: &Value| {
            let name = [&it["name"], &it["function"]["name"]];
            name.iter().find_map(|it| it.as_str()).map(str::to_owned)
        };
        tools.iter().filter_map(name).collect()
    };
    requests.iter().map(|it| names(&it.body)).collect()
}

fn has(tools: &[String], name: &str) -> bool {
    tools.iter().any(|it| it == name)
}

/// Answers the call of a tool that the turn makes.
async fn answer(client: &mut Conversation, tool: &str) {
    let question = client.skip_to("item/tool/call").await;
    assert_eq!(question["params"]["tool"], tool);
    client.reply(&question["id"], open()).await;
}

async fn found_tools_are_listed_and_called(stage: Stage) {
    let (mut client, thread) = stage.thread_with(deferring()).await;
    let arguments = json!({ "subject": "it broke" });
    stage.play([
        calls("tool_search", json!({ "query": "report tickets" })),
        calls("openTicket", arguments.clone()),
        json!({ "text": "reported" }),
    ]);
    say(&mut client, &thread, "report it").await;
    answer(&mut client, "openTicket").await;
    let messages = client.until("turn/completed").await;
    assert_eq!(status(&messages), "completed");
    let item = completed(&messages, "dynamicToolCall")[0];
    assert_eq!(
        (&item["status"], &item["arguments"]),
        (&json!("completed"), &arguments)
    );

    let [before, after, last] = &listed(&stage, 3)[..] else {
        panic!("three requests")
    };
    assert!(has(before, "tool_search") && has(before, "clock"));
    assert!(!has(before, "openTicket") && !has(before, "send_mail"));
    assert!(has(after, "openTicket") && !has(after, "send_mail"));
    assert_eq!(after, last);
    let sent = stage.last_request();
    assert!(
        sent.contains("openTicket: Reports a defect to the team."),
        "{sent}"
    );
    assert!(sent.contains(r#"\"subject\""#), "the schema: {sent}");

    stage.play([json!({ "text": "bye" })]);
    run(&mut client, &thread, "thanks").await;
    assert_eq!(listed(&stage, 1)[0], *after, "in later turns, too");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deferred_tool_is_found_then_listed_then_called() {
    found_tools_are_listed_and_called(Stage::new().await).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn tools_are_found_through_chat_completions() {
    found_tools_are_listed_and_called(Stage::speaking("chat", "").await).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_found_is_listed_after_a_restart_and_in_a_fork() {
    let mut stage = Stage::new().await;
    let (mut client, thread) = stage.thread_with(deferring()).await;
    stage.play([
        calls("tool_search", json!({ "query": "mail" })),
        json!({ "text": "found" }),
    ]);
    run(&mut client, &thread, "look").await;
    drop(client);
    stage.restart().await;
    let mut client = stage.client().await;
    for method in ["thread/resume", "thread/fork"] {
        let opened = client.call(method, json!({ "threadId": thread })).await;
        let opened = text(&opened["thread"]["id"]);
        stage.play([calls("send_mail", json!({})), json!({ "text": "sent" })]);
        say(&mut client, &opened, "send it").await;
        answer(&mut client, "send_mail").await;
        assert_eq!(status(&client.until("turn/completed").await), "completed");
        let listed = &listed(&stage, 2)[0];
        assert!(
            has(listed, "send_mail") && !has(listed, "openTicket"),
            "{method}: {listed:?}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_found_stays_after_a_compaction() {
    let stage = Stage::new().await;
    let (mut client, thread) = stage.thread_with(deferring()).await;
    stage.play([
        calls("tool_search", json!({ "query": "mail" })),
        json!({ "text": "found" }),
    ]);
    run(&mut client, &thread, "look").await;
    stage.play([json!({ "text": "a summary" })]);
    client
        .call("thread/compact/start", json!({ "threadId": thread }))
        .await;
    client.until("turn/completed").await;
    stage.play([json!({ "text": "yes" })]);
    run(&mut client, &thread, "still there?").await;
    let sent = stage.last_request();
    assert!(
        !sent.contains("function_call"),
        "the search is summed up: {sent}"
    );
    assert!(has(&listed(&stage, 1)[0], "send_mail"));
}

/// Models choose badly among hundreds of tools, and pay for each of them in every request.
#[tokio::test(flavor = "multi_thread")]
async fn the_tools_of_mcp_servers_beyond_a_number_are_found_by_search() {
    let settings = format!("mcp_listed_tools = 2\n{}", crate::mcp::server("s", "", ""));
    let mut stage = Stage::with(&settings).await;
    let (mut client, thread) = stage.thread().await;
    stage.play([
        calls("tool_search", json!({ "query": "echo", "limit": 1 })),
        calls("mcp__s__echo", json!({ "b": "q" })),
        json!({ "text": "done" }),
    ]);
    let messages = run(&mut client, &thread, "go").await;
    assert_eq!(status(&messages), "completed");
    let item = completed(&messages, "mcpToolCall")[0];
    assert_eq!(item["status"], "completed");
    let of_server = |tools: &[String]| -> Vec<String> {
        let tools = tools.iter().filter(|it| it.starts_with("mcp__"));
        tools.cloned().collect()
    };
    let [before, after, _] = &listed(&stage, 3)[..] else {
        panic!("three requests")
    };
    assert_eq!(of_server(before).len(), 2);
    assert!(has(before, "tool_search") && !has(before, "mcp__s__echo"));
    assert_eq!(of_server(after).len(), 3);
    assert!(has(after, "mcp__s__echo"));

    // What was found is offered after a restart, and what was not can be called by whoever knows its name.
    drop(client);
    stage.restart().await;
    let mut client = stage.client().await;
    let resume = json!({ "threadId": thread });
    client.call("thread/resume", resume).await;
    stage.play([json!({ "text": "yes" })]);
    run(&mut client, &thread, "still there?").await;
    assert_eq!(of_server(&listed(&stage, 1)[0]), of_server(after));
}

#[tokio::test(flavor = "multi_thread")]
async fn bad_searches_are_reported_to_the_model_and_change_nothing() {
    let stage = Stage::new().await;
    let (mut client, thread) = stage.thread_with(deferring()).await;
    let searches = [
        (json!({ "query": "weather" }), "No tool matches `weather`"),
        (json!({ "query": "clock" }), "No tool matches `clock`"),
        (
            json!({ "query": " _ " }),
            "query must have at least one word",
        ),
        (
            json!({ "query": "mail", "limit": 0 }),
            "limit must be greater than zero",
        ),
        (
            json!({ "query": "mail", "limit": -1 }),
            "failed to parse function arguments: ",
        ),
        (
            json!({ "words": "mail" }),
            "failed to parse function arguments: ",
        ),
    ];
    for (arguments, words) in searches {
        stage.play([calls("tool_search", arguments), json!({ "text": "hm" })]);
        let messages = run(&mut client, &thread, "look").await;
        assert_eq!(status(&messages), "completed");
        let requests = stage.model.requests();
        let input = requests.last().unwrap().body["input"].as_array().unwrap();
        assert!(
            text(&input.last().unwrap()["output"]).contains(words),
            "{words}"
        );
        let [before, after] = &listed(&stage, 2)[..] else {
            panic!("two requests")
        };
        assert_eq!(before, after);
        assert!(!has(after, "send_mail"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn without_deferred_tools_there_is_no_search() {
    let stage = Stage::new().await;
    let (mut client, thread) = stage.thread_with(crate::stage::gate()).await;
    stage.play([
        calls("tool_search", json!({ "query": "gate" })),
        json!({ "text": "hm" }),
    ]);
    assert_eq!(
        status(&run(&mut client, &thread, "look").await),
        "completed"
    );
    assert!(!has(&listed(&stage, 2)[0], "tool_search"));
    assert!(
        stage
            .last_request()
            .contains("unsupported call: tool_search")
    );
}
