//! Settings that change what the model is sent and what clients see.

use quipu_testkit::conversation::Conversation;
use serde_json::{Value, json};

use crate::stage::{Stage, completed, input, run, text};

/// The names or types of the tools that the model was offered last.
fn tools(stage: &Stage) -> Vec<String> {
    let requests = stage.model.requests();
    let tools = requests.last().unwrap().body["tools"].as_array().unwrap();
    let name = |tool: &Value| text(tool.get("name").unwrap_or(&tool["type"]));
    tools.iter().map(name).collect()
}

async fn one_turn(settings: &str) -> Stage {
    let stage = Stage::with(settings).await;
    let (mut client, thread) = stage.thread().await;
    run(&mut client, &thread, "hello").await;
    stage
}

#[tokio::test(flavor = "multi_thread")]
async fn tools_are_offered_as_configured() {
    let plain = tools(&one_turn("").await);
    assert!(
        plain.contains(&"view_image".to_owned()) && !plain.contains(&"image_generation".to_owned())
    );
    let blind = "[tools]\nview_image = false\n";
    assert!(!tools(&one_turn(blind).await).contains(&"view_image".to_owned()));
    let in_profile = "profile = \"p\"\n[profiles.p]\ntools_view_image = false\n";
    assert!(!tools(&one_turn(in_profile).await).contains(&"view_image".to_owned()));
    let painter = tools(&one_turn("features.image_generation = true\n").await);
    assert!(painter.contains(&"image_generation".to_owned()));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tool_that_is_not_offered_does_not_run() {
    let stage = Stage::with("tools.view_image = false\n").await;
    std::fs::write(stage.directory().join("a.png"), "no image").unwrap();
    let (mut client, thread) = stage.thread().await;
    stage.play([
        crate::stage::calls("view_image", json!({ "path": "a.png" })),
        json!({ "text": "done" }),
    ]);
    run(&mut client, &thread, "look").await;
    assert!(
        stage
            .last_request()
            .contains("unsupported call: view_image")
    );
}

/// What a client gets of the model's reasoning: messages while it follows the turn, and items later.
async fn reasoning(settings: &str) -> (Vec<String>, Vec<Value>) {
    let mut stage = Stage::with(settings).await;
    let (mut client, thread) = stage.thread().await;
    stage.play([json!({ "reasoning": "short", "raw_reasoning": "long", "text": "done" })]);
    let received = run(&mut client, &thread, "think").await;
    let about = |it: &&Value| {
        it["params"].to_string().contains("easoning") || text(&it["method"]).contains("easoning")
    };
    let mut methods: Vec<String> = received
        .iter()
        .filter(|it| it["method"] != "thread/tokenUsage/updated")
        .filter(about)
        .map(|it| text(&it["method"]))
        .collect();
    methods.dedup();
    assert_eq!(completed(&received, "agentMessage").len(), 1);
    drop(client);
    stage.restart().await;
    let mut client = stage.client().await;
    let read = json!({ "threadId": thread, "includeTurns": true });
    let items = client.call("thread/read", read).await["thread"]["turns"][0]["items"].clone();
    let items = items.as_array().unwrap().iter();
    let kept = items.filter(|item| item["type"] == "reasoning");
    (methods, kept.cloned().collect())
}

#[tokio::test(flavor = "multi_thread")]
async fn reasoning_is_shown_and_kept_as_configured() {
    let (received, kept) = reasoning("").await;
    assert!(
        received.contains(&"item/reasoning/summaryTextDelta".to_owned()),
        "{received:?}"
    );
    assert!(
        received.contains(&"item/reasoning/textDelta".to_owned()),
        "{received:?}"
    );
    assert_eq!(
        (&kept[0]["summary"], &kept[0]["content"]),
        (&json!(["short"]), &json!([]))
    );
    let (same, kept) = reasoning("show_raw_agent_reasoning = true\n").await;
    assert_eq!(same, received);
    assert_eq!(
        (&kept[0]["summary"], &kept[0]["content"]),
        (&json!(["short"]), &json!(["long"]))
    );
    let hidden = reasoning("hide_agent_reasoning = true\n").await;
    assert_eq!(hidden, (vec![], vec![]));
}

/// Most providers show nothing of what their models think. That they thought is seen live, and read back.
#[tokio::test(flavor = "multi_thread")]
async fn reasoning_of_which_nothing_is_shown_is_read_back() {
    let mut stage = Stage::new().await;
    let (mut client, thread) = stage.thread().await;
    let thought =
        json!({ "type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "secret" });
    stage.play([json!({ "items": [thought], "text": "done" })]);
    let received = run(&mut client, &thread, "think").await;
    let empty = |item: &Value| json!([item["summary"], item["content"]]) == json!([[], []]);
    let live = completed(&received, "reasoning");
    assert!(live.len() == 1 && empty(live[0]), "{live:?}");
    drop(client);
    stage.restart().await;
    let mut client = stage.client().await;
    let read = json!({ "threadId": thread, "includeTurns": true });
    let read = client.call("thread/read", read).await;
    let items = read["thread"]["turns"][0]["items"].as_array().unwrap();
    let kinds: Vec<String> = items.iter().map(|it| text(&it["type"])).collect();
    assert_eq!(kinds, ["userMessage", "agentMessage", "reasoning"]);
    assert!(empty(&items[2]), "{}", items[2]);
}

#[tokio::test(flavor = "multi_thread")]
async fn hidden_reasoning_still_reaches_the_model_again() {
    let stage = Stage::with("hide_agent_reasoning = true\n").await;
    let (mut client, thread) = stage.thread().await;
    stage.play([
        json!({ "reasoning": "short", "text": "one" }),
        json!({ "text": "two" }),
    ]);
    run(&mut client, &thread, "think").await;
    run(&mut client, &thread, "again").await;
    assert!(stage.last_request().contains("short"));
}

/// The effort of a turn in plan mode for which the client chose one, or none.
async fn plan_effort(
    stage: &Stage,
    client: &mut Conversation,
    thread: &str,
    chosen: Value,
) -> Value {
    let mut params = input(thread, "plan");
    params["collaborationMode"] = json!({ "mode": "plan", "settings": {
        "model": "gpt-5.2", "reasoning_effort": chosen, "developer_instructions": null } });
    client.call("turn/start", params).await;
    client.skip_to("turn/completed").await;
    stage.model.requests().last().unwrap().body["reasoning"]["effort"].clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn plan_mode_has_an_effort_of_its_own() {
    let stage = Stage::with("plan_mode_reasoning_effort = \"high\"\n").await;
    let (mut client, thread) = stage.thread().await;
    let modes = client.call("collaborationMode/list", json!({})).await;
    assert_eq!(modes["data"][0]["reasoning_effort"], "high");
    assert_eq!(
        plan_effort(&stage, &mut client, &thread, Value::Null).await,
        "high"
    );
    assert_eq!(
        plan_effort(&stage, &mut client, &thread, json!("low")).await,
        "low"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn commits_name_a_co_author_when_that_is_switched_on() {
    let author = "commit_attribution = \"Ada <ada@example.org>\"\n";
    let trailer = "Co-authored-by: Ada <ada@example.org>";
    assert!(!one_turn(author).await.last_request().contains(trailer));
    let both = format!("{author}features.codex_git_commit = true\n");
    assert!(one_turn(&both).await.last_request().contains(trailer));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_standard_service_tier_is_no_tier() {
    let stage = Stage::with("service_tier = \"flex\"\n").await;
    let mut client = stage.client().await;
    let standard = json!({ "serviceTier": "default" });
    let started = client.call("thread/start", standard).await;
    assert_eq!(started["serviceTier"], Value::Null);
    let thread = text(&started["thread"]["id"]);
    for (tier, sent) in [("flex", json!("flex")), ("default", Value::Null)] {
        let mut turn = input(&thread, "hello");
        turn["serviceTier"] = json!(tier);
        client.call("turn/start", turn).await;
        client.until("turn/completed").await;
        let requests = stage.model.requests();
        assert_eq!(requests.last().unwrap().body["service_tier"], sent);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn features_that_change_requests_do() {
    let tier = async |settings: &str| {
        let stage = one_turn(settings).await;
        stage.model.requests()[0].body["service_tier"].clone()
    };
    assert_eq!(tier("service_tier = \"fast\"\n").await, "priority");
    let slow = "service_tier = \"fast\"\nfeatures.fast_mode = false\n";
    assert_eq!(tier(slow).await, Value::Null);
    let below = "AGENTS.md files of their own";
    assert!(!one_turn("").await.last_request().contains(below));
    let received = one_turn("features.child_agents_md = true\n").await;
    assert!(received.last_request().contains(below));
    let instructions = async |settings: &str| {
        let stage = Stage::with(settings).await;
        let (mut client, thread) = stage.thread_with(json!({ "model": "gpt-5.3-codex" })).await;
        run(&mut client, &thread, "hello").await;
        text(&stage.model.requests()[0].body["instructions"])
    };
    let friendly = instructions("personality = \"friendly\"\n").await;
    let without = instructions("personality = \"friendly\"\nfeatures.personality = false\n").await;
    let none = instructions("personality = \"none\"\n").await;
    assert_ne!(friendly, none);
    assert_eq!(without, none);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_index_lies_where_the_settings_say() {
    let elsewhere = tempfile::tempdir().unwrap();
    let settings = format!("sqlite_home = {:?}\n", elsewhere.path());
    let stage = one_turn(&settings).await;
    let mut client = stage.client().await;
    let list = client.call("thread/list", json!({})).await;
    assert_eq!(list["data"].as_array().unwrap().len(), 1);
    assert!(std::fs::read_dir(elsewhere.path()).unwrap().count() > 0);
    let is_index = |it: std::io::Result<std::fs::DirEntry>| {
        it.unwrap().file_name().to_string_lossy().contains("sqlite")
    };
    assert!(!std::fs::read_dir(stage.home()).unwrap().any(is_index));
}

#[tokio::test(flavor = "multi_thread")]
async fn clients_are_warned_of_settings_that_do_nothing() {
    let stage = Stage::with(
        "zsh_path = \"/bin/zsh\"\nfeatures.child_agents_md = true\nfeatures.js_repl = true\ntui.theme = \"dark\"\n",
    )
    .await;
    let mut client = stage.client().await;
    let useless = client.skip_to("configWarning").await;
    assert_eq!(
        useless["params"]["summary"],
        "Settings without effect in this program: `features.js_repl`, `zsh_path`."
    );
    assert!(useless["params"]["range"].is_object());
    let unstable = client.skip_to("configWarning").await;
    let unstable = text(&unstable["params"]["summary"]);
    assert!(unstable.starts_with("Features under development are on: child_agents_md."));
}
