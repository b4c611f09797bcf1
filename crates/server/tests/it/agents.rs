//! Agents that a model starts: threads of their own, which end with the thread they belong to.

use quipu_testkit::conversation::Conversation;
use quipu_testkit::wait::until;
use serde_json::{Value, json};

use crate::stage::{Stage, calls, completed, input, order, run, say, status, text};

/// A prompt that says what the model does when it reads it.
fn script(steps: &[Value]) -> String {
    json!({ "script": steps }).to_string()
}

/// A prompt to which the model just says something.
fn says(words: &str) -> String {
    script(&[json!({ "text": words })])
}

/// A prompt to which the model calls a tool, and then says `done`.
fn uses(tool: &str, arguments: Value) -> String {
    script(&[calls(tool, arguments), json!({ "text": "done" })])
}

/// A prompt to which the model runs a command that does not end by itself.
fn hangs() -> String {
    let command = json!({ "cmd": "echo $$ > pid; echo up; sleep 1000", "yield_time_ms": 30_000 });
    uses("exec_command", command)
}

/// Everything that is told until so many turns have ended.
async fn turns(client: &mut Conversation, count: usize) -> Vec<Value> {
    let mut messages = Vec::new();
    for _ in 0..count {
        messages.append(&mut client.until("turn/completed").await);
    }
    messages
}

/// Everything that is told until a turn of this thread has ended.
async fn turn_of(client: &mut Conversation, thread: &str) -> Vec<Value> {
    let mut messages = Vec::new();
    loop {
        messages.append(&mut client.until("turn/completed").await);
        if messages.last().unwrap()["params"]["threadId"] == thread {
            return messages;
        }
    }
}

/// The calls about agents that ended in a thread.
fn collab<'a>(messages: &'a [Value], thread: &str) -> Vec<&'a Value> {
    let items = completed(messages, "collabAgentToolCall").into_iter();
    items
        .filter(|item| item["senderThreadId"] == thread)
        .collect()
}

/// What the model of a thread was last sent.
fn read_by(stage: &Stage, thread: &str) -> Vec<Value> {
    let requests = stage.model.requests();
    let own = requests
        .iter()
        .rfind(|it| it.body["prompt_cache_key"] == thread);
    let input = own.map(|it| it.body["input"].as_array().cloned());
    input.flatten().unwrap_or_default()
}

/// What the model of a thread read last of its own calls.
fn last_output(stage: &Stage, thread: &str) -> String {
    let input = read_by(stage, thread);
    let outputs = input
        .iter()
        .rfind(|item| item["type"] == "function_call_output");
    text(&outputs.unwrap()["output"])
}

fn json_of(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| panic!("no JSON: {text}"))
}

/// Starts an agent with a prompt of its own; its id, and everything told until both are done.
async fn spawn(
    stage: &Stage,
    client: &mut Conversation,
    thread: &str,
    arguments: Value,
) -> (String, Vec<Value>) {
    say(client, thread, &uses("spawn_agent", arguments)).await;
    let received = turns(client, 2).await;
    let spawned = json_of(&last_output(stage, thread));
    (text(&spawned["agent_id"]), received)
}

/// Starts an agent that works on, and returns when it does.
async fn spawn_busy(
    stage: &Stage,
    client: &mut Conversation,
    thread: &str,
) -> (String, Vec<Value>) {
    let prompt = uses("spawn_agent", json!({ "message": hangs() }));
    say(client, thread, &prompt).await;
    let mut received = turn_of(client, thread).await;
    let is_up = |it: &Value| it["method"] == "item/commandExecution/outputDelta";
    while !received.iter().any(is_up) {
        received.push(client.next().await);
    }
    let spawned = json_of(&last_output(stage, thread));
    (text(&spawned["agent_id"]), received)
}

/// Uses a tool in a turn; what the model read, and everything told.
async fn call(
    stage: &Stage,
    client: &mut Conversation,
    thread: &str,
    tool: &str,
    arguments: Value,
) -> (String, Vec<Value>) {
    say(client, thread, &uses(tool, arguments)).await;
    let received = turn_of(client, thread).await;
    assert_eq!(status(&received), "completed", "{:?}", order(&received));
    (last_output(stage, thread), received)
}

async fn loaded(client: &mut Conversation) -> Vec<String> {
    let list = client.call("thread/loaded/list", json!({})).await;
    list["data"].as_array().unwrap().iter().map(text).collect()
}

/// Whether the process whose id the busy agent wrote down is still there.
fn is_alive(stage: &Stage) -> bool {
    let pid = std::fs::read_to_string(stage.directory().join("pid")).unwrap();
    std::path::Path::new("/proc").join(pid.trim()).exists()
}

/// Waits until that process is gone.
async fn dies(stage: &Stage) {
    until("the end of the process", || !is_alive(stage)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_works_in_a_thread_that_is_announced_first() {
    let stage = Stage::new().await;
    let (mut client, thread) = stage.thread().await;
    let order = json!({ "message": says("an answer"), "agent_type": "explorer" });
    let (agent, received) = spawn(&stage, &mut client, &thread, order).await;

    let about_agent = |it: &&Value| it.to_string().contains(&agent);
    let first = received.iter().find(about_agent).unwrap();
    assert_eq!(first["method"], "thread/started");
    let announced = &first["params"]["thread"];
    let nickname = text(&announced["agentNickname"]);
    assert_eq!(announced["agentRole"], "explorer");
    let origin = &announced["source"]["subAgent"]["thread_spawn"];
    assert_eq!(origin["parent_thread_id"], json!(thread));
    assert_eq!(
        (&origin["depth"], &origin["agent_nickname"]),
        (&json!(1), &json!(nickname))
    );

    let own = |it: &&Value| it["params"]["threadId"] == json!(agent);
    let ends: Vec<&Value> = received.iter().filter(own).collect();
    assert_eq!(
        ends.last().unwrap()["params"]["turn"]["status"],
        "completed"
    );
    let spawned = collab(&received, &thread)[0];
    assert_eq!(spawned["tool"], "spawnAgent");
    assert_eq!(spawned["status"], "completed");
    assert_eq!(spawned["receiverThreadIds"], json!([agent]));
    assert_eq!(spawned["prompt"], json!(says("an answer")));
    assert_eq!(
        (&spawned["model"], &spawned["reasoningEffort"]),
        (&json!("scripted-model"), &json!("medium"))
    );
    assert_eq!(
        json_of(&last_output(&stage, &thread)),
        json!({ "agent_id": agent, "nickname": nickname })
    );

    let requests = stage.model.requests();
    let child = requests
        .iter()
        .find(|it| it.body["prompt_cache_key"] == json!(agent))
        .unwrap();
    assert_eq!(child.headers["x-openai-subagent"], "collab_spawn");
    let tools = child.body["tools"].to_string();
    assert!(!tools.contains("spawn_agent") && !tools.contains("request_user_input"));
    assert!(
        !child.body.to_string().contains(&thread),
        "it is not told whose it is"
    );

    let (output, received) = call(
        &stage,
        &mut client,
        &thread,
        "wait_agent",
        json!({ "targets": [agent] }),
    )
    .await;
    let done = json!({ "completed": "an answer" });
    assert_eq!(
        json_of(&output),
        json!({ "status": { &agent: done }, "timed_out": false })
    );
    let waited = collab(&received, &thread)[0];
    assert_eq!(
        (&waited["tool"], &waited["status"]),
        (&json!("wait"), &json!("completed"))
    );
    assert_eq!(
        waited["agentsStates"],
        json!({ &agent: { "status": "completed", "message": "an answer" } })
    );

    let note = format!(
        "<subagent_notification>\n{{\"agent_path\":\"{agent}\",\"status\":{{\"completed\":\"an answer\"}}}}\n</subagent_notification>"
    );
    let read = json!(read_by(&stage, &thread)).to_string();
    let note = json!(note).to_string();
    assert_eq!(read.matches(note.trim_matches('"')).count(), 1, "{read}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_loses_the_rights_that_its_thread_loses() {
    let stage = Stage::new().await;
    let (mut client, thread) = stage.thread().await;
    let first = json!({ "message": says("one") });
    let (agent, _) = spawn(&stage, &mut client, &thread, first).await;
    let touch = json!({ "cmd": "touch made", "login": false });
    let more = json!({ "target": agent, "message": uses("exec_command", touch) });
    let mut params = input(&thread, &uses("send_input", more));
    params["sandboxPolicy"] = json!({ "type": "readOnly" });
    client.call("turn/start", params).await;
    turns(&mut client, 2).await;
    assert!(last_output(&stage, &agent).contains("Read-only file system"));
    assert!(!stage.directory().join("made").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_is_sent_more_closed_and_brought_back() {
    let stage = Stage::new().await;
    let (mut client, thread) = stage.thread().await;
    let (agent, _) = spawn(
        &stage,
        &mut client,
        &thread,
        json!({ "message": says("one") }),
    )
    .await;

    let more = json!({ "target": agent, "message": says("two") });
    say(&mut client, &thread, &uses("send_input", more)).await;
    turns(&mut client, 2).await;
    assert!(json_of(&last_output(&stage, &thread))["submission_id"].is_string());

    let (output, received) = call(
        &stage,
        &mut client,
        &thread,
        "close_agent",
        json!({ "target": agent }),
    )
    .await;
    assert_eq!(
        json_of(&output),
        json!({ "previous_status": { "completed": "two" } })
    );
    let unloaded = json!({ "threadId": agent, "status": { "type": "notLoaded" } });
    assert!(
        received.iter().any(|it| it["params"] == unloaded),
        "{:?}",
        order(&received)
    );
    assert_eq!(loaded(&mut client).await, [thread.as_str()]);

    let late = json!({ "target": agent, "message": "late" });
    let (output, received) = call(&stage, &mut client, &thread, "send_input", late).await;
    assert_eq!(output, format!("agent with id {agent} not found"));
    assert_eq!(collab(&received, &thread)[0]["status"], "failed");
    let (output, _) = call(
        &stage,
        &mut client,
        &thread,
        "wait_agent",
        json!({ "targets": [agent] }),
    )
    .await;
    assert_eq!(json_of(&output)["status"], json!({ &agent: "not_found" }));

    let (output, received) = call(
        &stage,
        &mut client,
        &thread,
        "resume_agent",
        json!({ "id": agent }),
    )
    .await;
    assert_eq!(json_of(&output), json!({ "status": "pending_init" }));
    assert!(received.iter().any(|it| it["method"] == "thread/started"));
    let more = json!({ "target": agent, "message": says("three") });
    say(&mut client, &thread, &uses("send_input", more)).await;
    turns(&mut client, 2).await;
    let remembered = json!(read_by(&stage, &agent)).to_string();
    assert!(
        remembered.contains("\"one\"") && remembered.contains("\"two\""),
        "{remembered}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn only_so_many_agents_and_only_so_deep() {
    let stage = Stage::with("[agents]\nmax_threads = 2\nmax_depth = 2\n").await;
    let (mut client, thread) = stage.thread().await;
    let grandchild = uses("spawn_agent", json!({ "message": says("deep") }));
    let order = uses("spawn_agent", json!({ "message": grandchild }));
    say(&mut client, &thread, &order).await;
    let received = turns(&mut client, 3).await;
    let child = text(&json_of(&last_output(&stage, &thread))["agent_id"]);
    let deep = text(&json_of(&last_output(&stage, &child))["agent_id"]);
    let announced = received
        .iter()
        .find(|it| it["params"]["thread"]["id"] == json!(deep))
        .unwrap();
    assert_eq!(
        announced["params"]["thread"]["source"]["subAgent"]["thread_spawn"]["depth"],
        2
    );

    let (output, received) = call(
        &stage,
        &mut client,
        &thread,
        "spawn_agent",
        json!({ "message": "one more" }),
    )
    .await;
    assert_eq!(
        output,
        "collab spawn failed: agent thread limit reached (max 2)"
    );
    let refused = collab(&received, &thread)[0];
    assert_eq!(
        (&refused["status"], &refused["receiverThreadIds"]),
        (&json!("failed"), &json!([]))
    );

    let deeper =
        json!({ "target": deep, "message": uses("spawn_agent", json!({ "message": "deeper" })) });
    say(&mut client, &thread, &uses("send_input", deeper)).await;
    turns(&mut client, 2).await;
    assert_eq!(last_output(&stage, &deep), "unsupported call: spawn_agent");

    call(
        &stage,
        &mut client,
        &thread,
        "close_agent",
        json!({ "target": child }),
    )
    .await;
    assert_eq!(
        loaded(&mut client).await,
        [thread.as_str()],
        "it takes its own agents with it"
    );
    spawn(
        &stage,
        &mut client,
        &thread,
        json!({ "message": says("room again") }),
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_fails_ends_nothing_but_its_own_turn() {
    let stage = Stage::new().await;
    let (mut client, thread) = stage.thread().await;
    let broken = script(&[json!({ "fail": 400, "body": { "error": { "message": "broken" } } })]);
    let (agent, received) = spawn(&stage, &mut client, &thread, json!({ "message": broken })).await;
    let ends: Vec<&Value> = received
        .iter()
        .filter(|it| it["method"] == "turn/completed")
        .collect();
    for end in ends {
        let expected = if end["params"]["threadId"] == json!(thread) {
            "completed"
        } else {
            "failed"
        };
        assert_eq!(end["params"]["turn"]["status"], expected);
    }
    let (output, received) = call(
        &stage,
        &mut client,
        &thread,
        "wait_agent",
        json!({ "targets": [agent] }),
    )
    .await;
    let errored = text(&json_of(&output)["status"][&agent]["errored"]);
    assert!(errored.contains("broken"), "{errored}");
    assert_eq!(collab(&received, &thread)[0]["status"], "failed");
    let again = json!({ "target": agent, "message": says("better") });
    say(&mut client, &thread, &uses("send_input", again)).await;
    turns(&mut client, 2).await;
    let (output, _) = call(
        &stage,
        &mut client,
        &thread,
        "wait_agent",
        json!({ "targets": [agent] }),
    )
    .await;
    assert_eq!(json_of(&output)["status"][&agent]["completed"], "better");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_interrupted_parent_leaves_its_agent_at_work_and_hears_of_it_later() {
    let stage = Stage::new().await;
    let (mut client, thread) = stage.thread().await;
    let (agent, received) = spawn_busy(&stage, &mut client, &thread).await;
    let of_agent =
        |it: &&Value| it["method"] == "turn/started" && it["params"]["threadId"] == json!(agent);
    let agent_turn = text(&received.iter().find(of_agent).unwrap()["params"]["turn"]["id"]);
    let turn = say(
        &mut client,
        &thread,
        &uses("wait_agent", json!({ "targets": [agent] })),
    )
    .await;
    client.skip_to("item/started").await;
    let waiting = client.skip_to("item/started").await;
    assert_eq!(waiting["params"]["item"]["tool"], "wait");
    client
        .call(
            "turn/interrupt",
            json!({ "threadId": thread, "turnId": turn }),
        )
        .await;
    let received = turn_of(&mut client, &thread).await;
    assert_eq!(status(&received), "interrupted");
    assert_eq!(
        collab(&received, &thread)[0]["status"],
        "failed",
        "the wait ends"
    );
    assert!(is_alive(&stage));

    client
        .call(
            "turn/interrupt",
            json!({ "threadId": agent, "turnId": agent_turn }),
        )
        .await;
    let received = turn_of(&mut client, &agent).await;
    assert_eq!(status(&received), "interrupted");
    let more = json!({ "target": agent, "message": says("late news") });
    let (_, received) = call(&stage, &mut client, &thread, "send_input", more).await;
    assert_eq!(collab(&received, &thread)[0]["status"], "completed");
    let seen = received
        .iter()
        .any(|it| it["method"] == "turn/completed" && it["params"]["threadId"] == json!(agent));
    if !seen {
        turn_of(&mut client, &agent).await;
    }
    run(&mut client, &thread, "anything new?").await;
    let read = json!(read_by(&stage, &thread)).to_string();
    assert!(
        read.contains("late news") && read.contains("<subagent_notification>"),
        "{read}"
    );
    assert!(read.contains("aborted by user after "), "{read}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_closed_agent_leaves_no_turn_and_no_process() {
    let stage = Stage::new().await;
    let (mut client, thread) = stage.thread().await;
    let (agent, _) = spawn_busy(&stage, &mut client, &thread).await;
    let (output, received) = call(
        &stage,
        &mut client,
        &thread,
        "close_agent",
        json!({ "target": agent }),
    )
    .await;
    assert_eq!(json_of(&output), json!({ "previous_status": "running" }));
    let ended =
        |it: &&Value| it["method"] == "turn/completed" && it["params"]["threadId"] == json!(agent);
    assert_eq!(
        received.iter().find(ended).unwrap()["params"]["turn"]["status"],
        "interrupted"
    );
    dies(&stage).await;
    run(&mut client, &thread, "what now?").await;
    let read = json!(read_by(&stage, &thread)).to_string();
    assert!(read.contains(r#"\"status\":\"shutdown\""#), "{read}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_ends_with_its_thread() {
    let stage = Stage::new().await;
    let (mut client, thread) = stage.thread().await;
    let (agent, _) = spawn_busy(&stage, &mut client, &thread).await;
    client
        .call("thread/unsubscribe", json!({ "threadId": thread }))
        .await;
    let received = client.until("thread/closed").await;
    let ended =
        |it: &&Value| it["method"] == "turn/completed" && it["params"]["threadId"] == json!(agent);
    assert_eq!(
        received.iter().find(ended).unwrap()["params"]["turn"]["status"],
        "interrupted"
    );
    assert!(loaded(&mut client).await.is_empty());
    dies(&stage).await;
    let read = client
        .call(
            "thread/read",
            json!({ "threadId": agent, "includeTurns": true }),
        )
        .await;
    assert_eq!(read["thread"]["turns"][0]["status"], "interrupted");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_an_agent_asks_goes_to_those_who_follow_its_parent() {
    let stage = Stage::new().await;
    let asking = json!({ "approvalPolicy": "untrusted", "sandbox": "workspace-write" });
    let (mut client, thread) = stage.thread_with(asking).await;
    let mut stranger = stage.client().await;
    let order = json!({ "message": uses("exec_command", json!({ "cmd": "touch made" })) });
    say(&mut client, &thread, &uses("spawn_agent", order)).await;
    let asked = client
        .skip_to("item/commandExecution/requestApproval")
        .await;
    let agent = text(&asked["params"]["threadId"]);
    assert_ne!(agent, thread);

    // Who joins the parent now is asked, too, and the first answer counts.
    let mut late = stage.client().await;
    late.call("thread/resume", json!({ "threadId": thread }))
        .await;
    let same = late.skip_to("item/commandExecution/requestApproval").await;
    assert_eq!(same["params"], asked["params"]);
    late.reply(&same["id"], json!({ "decision": "accept" }))
        .await;
    let received = turn_of(&mut late, &agent).await;
    assert_eq!(status(&received), "completed");
    assert!(stage.directory().join("made").exists());
    turn_of(&mut client, &agent).await;

    stranger.call("thread/loaded/list", json!({})).await;
    stranger.end().await;
    let heard = order_of_agent(&stranger.rest().await, &agent);
    assert!(
        heard
            .iter()
            .all(|it| it.starts_with("status") || it == "thread/started"),
        "{heard:?}"
    );
}

/// What was reported of an agent.
fn order_of_agent(messages: &[Value], agent: &str) -> Vec<String> {
    let own: Vec<Value> = messages
        .iter()
        .filter(|it| it.to_string().contains(agent))
        .cloned()
        .collect();
    order(&own)
}

#[tokio::test(flavor = "multi_thread")]
async fn parent_and_agent_come_back_after_a_restart() {
    let mut stage = Stage::new().await;
    let (mut client, thread) = stage.thread().await;
    let (agent, _) = spawn(
        &stage,
        &mut client,
        &thread,
        json!({ "message": says("before") }),
    )
    .await;
    client.leave().await;
    stage.restart().await;

    let mut client = stage.client().await;
    client
        .call("thread/resume", json!({ "threadId": thread }))
        .await;
    let read = client
        .call(
            "thread/read",
            json!({ "threadId": thread, "includeTurns": true }),
        )
        .await;
    let items = read["thread"]["turns"][0]["items"].as_array().unwrap();
    let spawned = items
        .iter()
        .find(|item| item["type"] == "collabAgentToolCall")
        .unwrap();
    assert_eq!(
        (&spawned["tool"], &spawned["receiverThreadIds"]),
        (&json!("spawnAgent"), &json!([agent]))
    );
    let (output, _) = call(
        &stage,
        &mut client,
        &thread,
        "wait_agent",
        json!({ "targets": [agent] }),
    )
    .await;
    assert_eq!(json_of(&output)["status"], json!({ &agent: "not_found" }));
    call(
        &stage,
        &mut client,
        &thread,
        "resume_agent",
        json!({ "id": agent }),
    )
    .await;
    let more = json!({ "target": agent, "message": says("after") });
    say(&mut client, &thread, &uses("send_input", more)).await;
    turns(&mut client, 2).await;
    assert!(
        json!(read_by(&stage, &agent))
            .to_string()
            .contains("before")
    );
    client.leave().await;
    stage.restart().await;

    let mut client = stage.client().await;
    let resumed = client
        .call("thread/resume", json!({ "threadId": agent }))
        .await;
    assert_eq!(
        resumed["thread"]["source"]["subAgent"]["thread_spawn"]["parent_thread_id"],
        json!(thread)
    );
    assert!(resumed["thread"]["agentNickname"].is_string());
    assert_eq!(resumed["thread"]["turns"].as_array().unwrap().len(), 2);
    assert_eq!(
        status(&run(&mut client, &agent, "go on").await),
        "completed"
    );
    client
        .call("thread/resume", json!({ "threadId": thread }))
        .await;
    call(
        &stage,
        &mut client,
        &thread,
        "resume_agent",
        json!({ "id": agent }),
    )
    .await;
    let more = json!({ "target": agent, "message": says("adopted") });
    say(&mut client, &thread, &uses("send_input", more)).await;
    turns(&mut client, 2).await;
    let (output, _) = call(
        &stage,
        &mut client,
        &thread,
        "wait_agent",
        json!({ "targets": [agent] }),
    )
    .await;
    assert_eq!(json_of(&output)["status"][&agent]["completed"], "adopted");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_can_know_what_its_parent_knows() {
    let stage = Stage::new().await;
    let (mut client, thread) = stage.thread().await;
    run(&mut client, &thread, "the secret word is quinoa").await;
    let order = json!({ "message": says("I know"), "fork_context": true });
    let (agent, _) = spawn(&stage, &mut client, &thread, order).await;
    let read = read_by(&stage, &agent);
    let last: Vec<String> = read.iter().rev().take(2).map(Value::to_string).collect();
    assert!(json!(read).to_string().contains("quinoa"));
    assert!(
        last[0].contains("I know"),
        "its task is the last word: {last:?}"
    );
    assert!(
        last[1].contains("You are the agent that this call started"),
        "{last:?}"
    );
    let listed = client
        .call(
            "thread/read",
            json!({ "threadId": agent, "includeTurns": true }),
        )
        .await;
    let turns = listed["thread"]["turns"].as_array().unwrap();
    assert_eq!(turns.last().unwrap()["status"], "completed");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_thread_reaches_no_agents_but_its_own() {
    let stage = Stage::new().await;
    let (mut client, thread) = stage.thread().await;
    let (agent, _) = spawn(
        &stage,
        &mut client,
        &thread,
        json!({ "message": says("mine") }),
    )
    .await;
    let (mut other, stranger) = stage.thread().await;
    run(&mut other, &stranger, "hello").await;
    for target in [&agent, &thread, &stranger] {
        for (tool, arguments) in [
            ("send_input", json!({ "target": target, "message": "psst" })),
            ("close_agent", json!({ "target": target })),
            ("resume_agent", json!({ "id": target })),
        ] {
            let (output, _) = call(&stage, &mut other, &stranger, tool, arguments).await;
            assert_eq!(
                output,
                format!("agent with id {target} not found"),
                "{tool}"
            );
        }
    }
    let mut all = vec![thread, agent, stranger];
    all.sort();
    assert_eq!(loaded(&mut client).await, all);
}

#[tokio::test(flavor = "multi_thread")]
async fn wrong_orders_are_reported_to_the_model() {
    let stage = Stage::new().await;
    let (mut client, thread) = stage.thread().await;
    let unparsed = "failed to parse function arguments: ";
    let cases = [
        ("spawn_agent", json!("no json"), unparsed),
        ("spawn_agent", json!({}), "Provide one of: message or items"),
        (
            "spawn_agent",
            json!({ "message": "a", "items": [] }),
            "Provide either message or items, but not both",
        ),
        (
            "spawn_agent",
            json!({ "message": " " }),
            "Empty message can't be sent to an agent",
        ),
        (
            "spawn_agent",
            json!({ "items": [] }),
            "Items can't be empty",
        ),
        (
            "spawn_agent",
            json!({ "items": [{ "type": "odd" }] }),
            unparsed,
        ),
        (
            "spawn_agent",
            json!({ "message": "a", "agent_type": "odd" }),
            "unknown agent_type 'odd'",
        ),
        (
            "spawn_agent",
            json!({ "message": "a", "model": "odd" }),
            "Unknown model `odd` for spawn_agent. Available models: ",
        ),
        (
            "spawn_agent",
            json!({ "message": "a", "reasoning_effort": "odd" }),
            unparsed,
        ),
        (
            "spawn_agent",
            json!({ "message": "a", "reasoning_effort": "low" }),
            "Reasoning effort `low` is not supported for model `scripted-model`.",
        ),
        ("send_input", json!({}), unparsed),
        (
            "send_input",
            json!({ "target": "x", "message": "a" }),
            "invalid agent id x: ",
        ),
        (
            "wait_agent",
            json!({ "targets": [] }),
            "agent ids must be non-empty",
        ),
        (
            "wait_agent",
            json!({ "targets": ["x"] }),
            "invalid agent id x: ",
        ),
        (
            "wait_agent",
            json!({ "targets": [thread], "timeout_ms": 0 }),
            "timeout_ms must be greater than zero",
        ),
        ("close_agent", json!({ "target": thread }), "agent with id "),
        ("resume_agent", json!({}), unparsed),
        ("resume_agent", json!({ "id": thread }), "agent with id "),
    ];
    for (tool, arguments, expected) in cases {
        let (output, received) = call(&stage, &mut client, &thread, tool, arguments.clone()).await;
        assert!(
            output.starts_with(expected),
            "{tool} {arguments} gave {output}"
        );
        let started = received.iter().filter(|it| it["method"] == "item/started");
        let ended = received
            .iter()
            .filter(|it| it["method"] == "item/completed");
        assert_eq!(started.count(), ended.count(), "{:?}", order(&received));
    }
    assert_eq!(loaded(&mut client).await, [thread]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_role_has_settings_and_names_of_its_own() {
    let directory = tempfile::tempdir().unwrap();
    let home = directory.path().join("home");
    std::fs::create_dir_all(&home).unwrap();
    let file = "model = \"gpt-5.2\"\nmodel_reasoning_effort = \"high\"\ndeveloper_instructions = \"Only test.\"\n\
        sandbox_mode = \"read-only\"\n";
    std::fs::write(home.join("tester.toml"), file).unwrap();
    let roles = "[agents.tester]\ndescription = \"Runs the tests.\"\nconfig_file = \"tester.toml\"\n\
        nickname_candidates = [\"Ada\"]\n";
    let file =
        "name = \"reader\"\ndescription = \"Reads.\"\ndeveloper_instructions = \"Only read.\"\n";
    std::fs::create_dir_all(home.join("agents")).unwrap();
    std::fs::write(home.join("agents/reader.toml"), file).unwrap();
    let stage = Stage::at(directory, home, roles).await;
    let (mut client, thread) = stage.thread().await;
    let order = || json!({ "message": says("tested"), "agent_type": "tester" });
    let (agent, received) = spawn(&stage, &mut client, &thread, order()).await;
    let spawned = collab(&received, &thread)[0];
    assert_eq!(
        (&spawned["model"], &spawned["reasoningEffort"]),
        (&json!("gpt-5.2"), &json!("high"))
    );
    let requests = stage.model.requests();
    let sent = |id: &str| {
        requests
            .iter()
            .find(|it| it.body["prompt_cache_key"] == id)
            .unwrap()
            .body
            .clone()
    };
    let body = sent(&agent);
    assert_eq!(
        (&body["model"], &body["reasoning"]["effort"]),
        (&json!("gpt-5.2"), &json!("high"))
    );
    assert!(body["input"].to_string().contains("Only test."));
    assert!(
        body["input"].to_string().contains("danger-full-access"),
        "it may do what its parent may"
    );
    assert!(
        sent(&thread)["tools"]
            .to_string()
            .contains("`tester`: Runs the tests. Always uses the model `gpt-5.2`. Always thinks with `high` effort.")
    );
    assert_eq!(json_of(&last_output(&stage, &thread))["nickname"], "Ada");
    spawn(&stage, &mut client, &thread, order()).await;
    assert_eq!(
        json_of(&last_output(&stage, &thread))["nickname"],
        "Ada the 2nd"
    );
    let order = json!({ "message": says("read"), "agent_type": "reader" });
    let (reader, _) = spawn(&stage, &mut client, &thread, order).await;
    assert!(
        read_by(&stage, &reader)[0]
            .to_string()
            .contains("Only read.")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn without_the_feature_there_are_no_agents() {
    let stage = Stage::with("[features]\nmulti_agent = false\n").await;
    let (mut client, thread) = stage.thread().await;
    let (output, _) = call(
        &stage,
        &mut client,
        &thread,
        "spawn_agent",
        json!({ "message": "a" }),
    )
    .await;
    assert_eq!(output, "unsupported call: spawn_agent");
    assert!(!stage.last_request().contains("wait_agent"));
}
