//! Clients of every age on one server: what later versions of the protocol added is always there, and nothing of it
//! harms earlier ones.

use quipu_testkit::conversation::Conversation;
use serde_json::{Value, json};

use crate::stage::{Stage, gate, open, run, say, status, text};

/// A thread with some finished turns, each with one message of the user and one of the model.
async fn thread_with_turns(stage: &Stage, count: usize) -> (Conversation, String, Vec<String>) {
    let (mut client, thread) = stage.thread().await;
    let mut turns = Vec::new();
    for number in 0..count {
        stage.play([json!({ "text": format!("answer {number} needle") })]);
        turns.push(say(&mut client, &thread, &format!("question {number}")).await);
        client.until("turn/completed").await;
    }
    (client, thread, turns)
}

fn ids(page: &Value) -> Vec<String> {
    let turns = page["data"].as_array().unwrap().iter();
    turns.map(|turn| text(&turn["id"])).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn members_that_later_versions_require_are_always_sent() {
    let stage = Stage::new().await;
    let mut client = stage.client().await;
    let started = client.call("thread/start", json!({})).await;
    let thread = text(&started["thread"]["id"]);
    assert_eq!(started["thread"]["sessionId"], *thread);
    assert_eq!(started["thread"]["projectId"], Value::Null);
    let told = client.skip_to("thread/started").await;
    assert_eq!(told["params"]["thread"]["sessionId"], *thread);
    stage.play([json!({ "text": "hello" })]);
    let messages = run(&mut client, &thread, "hi").await;
    let mut items = 0;
    for message in messages.iter().filter(|it| it.get("method").is_some()) {
        assert!(message["emittedAtMs"].as_i64().unwrap() > 1_700_000_000_000);
        let member = match message["method"].as_str().unwrap() {
            "item/started" => "startedAtMs",
            "item/completed" => "completedAtMs",
            _ => continue,
        };
        items += 1;
        assert!(message["params"][member].as_i64().unwrap() > 1_700_000_000_000);
    }
    assert_eq!(items, 4);
    let list = client.call("thread/list", json!({})).await;
    assert_eq!(list["data"][0]["sessionId"], *thread);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_interrupt_with_the_id_of_another_turn_ends_nothing() {
    let stage = Stage::new().await;
    let (mut client, thread) = stage.thread_with(gate()).await;
    stage.play([json!({ "text": "one" })]);
    let over = say(&mut client, &thread, "one").await;
    client.until("turn/completed").await;
    let held = json!({ "calls": [{ "name": "gate", "arguments": {} }] });
    stage.play([held, json!({ "text": "two" })]);
    let turn = say(&mut client, &thread, "two").await;
    let question = client.skip_to("item/tool/call").await;
    for other in [over.as_str(), "nope"] {
        let interrupt = json!({ "threadId": thread, "turnId": other });
        let refused = client.refused("turn/interrupt", interrupt).await;
        let expected = format!("expected active turn id {other} but found {turn}");
        assert_eq!(refused, expected);
    }
    client.reply(&question["id"], open()).await;
    assert_eq!(status(&client.until("turn/completed").await), "completed");
    let idle = json!({ "threadId": thread, "turnId": turn });
    client.call("turn/interrupt", idle).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn words_of_one_version_are_used_towards_those_who_use_them() {
    let stage = Stage::new().await;
    let mut old = stage.client().await;
    let params =
        json!({ "approvalPolicy": "on-failure", "config": { "model_reasoning_effort": "max" } });
    let started = old.call("thread/start", params).await;
    assert_eq!(started["approvalPolicy"], "on-failure");
    assert_eq!(started["reasoningEffort"], "max");
    let mut new = stage.client().await;
    let params = json!({ "approvalsReviewer": "auto_review" });
    let started = new.call("thread/start", params).await;
    assert_eq!(started["approvalsReviewer"], "guardian_subagent");
    let write =
        json!({ "keyPath": "approval_policy", "value": "on-failure", "mergeStrategy": "replace" });
    old.call("config/value/write", write).await;
    let policy = |answer: Value| answer["config"]["approval_policy"].clone();
    let read = json!({ "includeLayers": false });
    assert_eq!(
        policy(old.call("config/read", read.clone()).await),
        "on-failure"
    );
    assert_eq!(policy(new.call("config/read", read).await), "on-request");
}

#[tokio::test(flavor = "multi_thread")]
async fn any_effort_and_tier_reach_the_model_and_only_clients_that_know_such_words() {
    let stage = Stage::new().await;
    let (mut new, thread) = stage.thread().await;
    stage.play([json!({ "text": "hello" })]);
    let turn = json!({
        "threadId": thread, "input": [{ "type": "text", "text": "hi" }],
        "model": "gpt-5.2", "effort": "galactic", "serviceTier": "wow",
    });
    new.call("turn/start", turn).await;
    new.until("turn/completed").await;
    let request = &stage.model.requests()[0].body;
    assert_eq!(request["reasoning"]["effort"], "galactic");
    assert_eq!(request["service_tier"], "wow");
    let mut old = stage.client().await;
    let resume = json!({ "threadId": thread });
    let words = |answer: Value| json!([answer["reasoningEffort"], answer["serviceTier"]]);
    let seen = words(old.call("thread/resume", resume.clone()).await);
    assert_eq!(seen, json!(["xhigh", null]));
    let seen = words(new.call("thread/resume", resume).await);
    assert_eq!(seen, json!(["galactic", "wow"]));
    let settings = json!({ "threadId": thread, "effort": "", "serviceTier": "flex" });
    let refused = new.refused("thread/settings/update", settings).await;
    assert_eq!(
        refused,
        "Invalid request: reasoning_effort must not be empty"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn any_effort_and_tier_of_the_settings_reach_the_model() {
    let settings = "model_reasoning_effort = \"galactic\"\n\
                    plan_mode_reasoning_effort = \"vast\"\nservice_tier = \"wow\"\n";
    let stage = Stage::with(settings).await;
    let (mut client, thread) = stage.thread_with(json!({ "model": "gpt-5.2" })).await;
    stage.play([json!({ "text": "hello" })]);
    say(&mut client, &thread, "hi").await;
    client.until("turn/completed").await;
    let request = &stage.model.requests()[0].body;
    assert_eq!(request["reasoning"]["effort"], "galactic");
    assert_eq!(request["service_tier"], "wow");
    let read = async |client: &mut Conversation| {
        let read = client.call("config/read", json!({})).await;
        let modes = client.call("collaborationMode/list", json!({})).await;
        let [effort, tier] =
            ["model_reasoning_effort", "service_tier"].map(|it| &read["config"][it]);
        json!([effort, tier, modes["data"][0]["reasoning_effort"]])
    };
    let common = json!(["xhigh", null, "xhigh"]);
    assert_eq!(read(&mut client).await, common);
    for (key, word) in [
        ("profiles.p.model_reasoning_effort", "far"),
        ("service_tier", "so"),
    ] {
        let write = json!({ "keyPath": key, "value": word, "mergeStrategy": "replace" });
        client.call("config/value/write", write).await;
    }
    assert_eq!(read(&mut client).await, json!(["galactic", "so", "vast"]));
}

#[tokio::test(flavor = "multi_thread")]
async fn turns_are_listed_in_pages_both_ways() {
    let stage = Stage::new().await;
    let (mut client, thread, turns) = thread_with_turns(&stage, 4).await;
    let list = |more: Value| {
        let mut params = json!({ "threadId": thread, "limit": 3 });
        params
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        params
    };
    let newest = client.call("thread/turns/list", list(json!({}))).await;
    assert_eq!(ids(&newest), [&*turns[3], &turns[2], &turns[1]]);
    let items = newest["data"][0]["items"].as_array().unwrap();
    assert_eq!(newest["data"][0]["itemsView"], "summary");
    assert_eq!(items.len(), 2);
    let next = list(json!({ "cursor": newest["nextCursor"], "itemsView": "notLoaded" }));
    let last = client.call("thread/turns/list", next).await;
    assert_eq!(ids(&last), [&*turns[0]]);
    assert_eq!(last["data"][0]["items"], json!([]));
    assert_eq!(last["nextCursor"], Value::Null);
    let back = list(json!({ "cursor": last["backwardsCursor"], "sortDirection": "asc" }));
    let back = client.call("thread/turns/list", back).await;
    assert_eq!(ids(&back), [&*turns[0], &turns[1], &turns[2]]);
    for cursor in ["garbage", "{}"] {
        let params = list(json!({ "cursor": cursor }));
        let refused = client.refused("thread/turns/list", params).await;
        assert_eq!(refused, format!("invalid cursor: {cursor}"));
    }
    let (mut other, ephemeral) = stage.thread_with(json!({ "ephemeral": true })).await;
    let params = json!({ "threadId": ephemeral });
    let refused = other.refused("thread/turns/list", params).await;
    assert_eq!(
        refused,
        "ephemeral threads do not support thread/turns/list"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn items_are_listed_read_and_found() {
    let stage = Stage::new().await;
    let (mut client, thread, turns) = thread_with_turns(&stage, 2).await;
    let all = client
        .call("thread/items/list", json!({ "threadId": thread }))
        .await;
    let all = all["data"].as_array().unwrap();
    let kinds: Vec<_> = all.iter().map(|it| text(&it["item"]["type"])).collect();
    assert_eq!(
        kinds,
        ["userMessage", "agentMessage", "userMessage", "agentMessage"]
    );
    let first = &all[0]["item"]["id"];
    let anchored = json!({ "threadId": thread, "turnId": turns[0], "cursor": { "type": "item", "itemId": first } });
    let rest = client.call("thread/items/list", anchored).await;
    assert_eq!(rest["data"].as_array().unwrap()[..], all[1..2]);
    let read = json!({ "threadId": thread, "turnId": turns[1], "itemIds": [all[3]["item"]["id"]] });
    let read = client.call("thread/items/read", read).await;
    assert_eq!(read["data"].as_array().unwrap()[..], all[3..]);

    let found = client
        .call("thread/search", json!({ "searchTerm": "NEEDLE" }))
        .await;
    assert_eq!(found["data"][0]["thread"]["id"], *thread);
    assert_eq!(found["data"][0]["snippet"], "answer 0 needle");
    let none = client
        .call("thread/search", json!({ "searchTerm": "absent" }))
        .await;
    assert_eq!(none["data"], json!([]));
    let places = json!({ "threadId": thread, "searchTerm": "needle", "limit": 1 });
    let places = client.call("thread/searchOccurrences", places).await;
    assert_eq!(
        places["data"][0]["snippetMatchRange"],
        json!({ "start": 9, "end": 15 })
    );
    assert_eq!(places["nextCursor"], "1");
    let turn = json!({ "threadId": thread, "cursor": places["data"][0]["turnCursor"] });
    let turn = client.call("thread/turns/list", turn).await;
    assert_eq!(ids(&turn)[0], turns[0]);
    let empty = client
        .refused("thread/search", json!({ "searchTerm": "" }))
        .await;
    assert_eq!(empty, "thread/search requires a non-empty searchTerm");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fork_may_end_before_the_last_turn() {
    let stage = Stage::new().await;
    let (mut client, thread, turns) = thread_with_turns(&stage, 3).await;
    for (cut, ephemeral) in [
        (json!({ "lastTurnId": turns[0] }), false),
        (json!({ "beforeTurnId": turns[1] }), true),
    ] {
        let mut params = json!({ "threadId": thread, "ephemeral": ephemeral });
        params
            .as_object_mut()
            .unwrap()
            .extend(cut.as_object().unwrap().clone());
        let fork = client.call("thread/fork", params).await;
        let copied = fork["thread"]["turns"].as_array().unwrap();
        assert_eq!(copied.len(), 1);
        let id = text(&fork["thread"]["id"]);
        stage.play([json!({ "text": "forked" })]);
        run(&mut client, &id, "go on").await;
        let sent = stage.last_request();
        assert!(sent.contains("answer 0") && !sent.contains("answer 1"));
    }
    let params = json!({ "threadId": thread, "excludeTurns": true });
    let fork = client.call("thread/fork", params).await;
    assert_eq!(fork["thread"]["turns"], json!([]));
    let params = json!({ "threadId": thread, "lastTurnId": "nope" });
    let refused = client.refused("thread/fork", params).await;
    assert_eq!(refused, "turn not found: nope");
    let params = json!({ "threadId": thread, "excludeTurns": true });
    let resumed = client.call("thread/resume", params).await;
    assert_eq!(resumed["thread"]["turns"], json!([]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deleted_thread_is_gone_for_good() {
    let stage = Stage::new().await;
    let (mut client, thread, _) = thread_with_turns(&stage, 1).await;
    let named = json!({ "threadId": thread });
    client.call("thread/delete", named.clone()).await;
    let told = client.skip_to("thread/deleted").await;
    assert_eq!(told["params"]["threadId"], *thread);
    let list = client.call("thread/list", json!({})).await;
    assert_eq!(list["data"], json!([]));
    let again = client.refused("thread/delete", named.clone()).await;
    assert_eq!(again, format!("no rollout found for thread id {thread}"));
    let sessions = stage.home().join("sessions");
    assert_eq!(files(&sessions), 0);
    let refused = client.refused("thread/resume", named).await;
    assert_eq!(refused, format!("no rollout found for thread id {thread}"));
}

fn files(directory: &std::path::Path) -> usize {
    let entries = std::fs::read_dir(directory).unwrap().map(Result::unwrap);
    let count = |entry: std::fs::DirEntry| match entry.path().is_dir() {
        true => files(&entry.path()),
        false => 1,
    };
    entries.map(count).sum()
}

#[tokio::test(flavor = "multi_thread")]
async fn threads_are_listed_by_the_keys_of_later_versions() {
    let stage = Stage::new().await;
    let (mut client, first, _) = thread_with_turns(&stage, 1).await;
    let (_, second, _) = thread_with_turns(&stage, 1).await;
    let listed = async |client: &mut Conversation, params: Value| {
        ids(&client.call("thread/list", params).await)
    };
    let by = json!({ "sortKey": "recency_at", "sortDirection": "asc", "useStateDbOnly": true });
    assert_eq!(listed(&mut client, by).await, [&*first, &second]);
    let without = json!({ "excludedThreadIds": [second] });
    assert_eq!(listed(&mut client, without).await, [&*first]);
    let here = json!({ "cwd": ["/nowhere", stage.directory()] });
    assert_eq!(listed(&mut client, here).await.len(), 2);
    let pinned = json!({ "sectionId": "01984de2-8f74-7c91-a3b2-5c5e937cf318", "sortKey": "section_position" });
    assert_eq!(listed(&mut client, pinned).await.len(), 0);
    assert_eq!(
        listed(&mut client, json!({ "sectionId": null }))
            .await
            .len(),
        2
    );
    assert_eq!(
        listed(&mut client, json!({ "parentThreadId": first }))
            .await
            .len(),
        0
    );
    let refused = client
        .refused("thread/list", json!({ "originators": ["x"] }))
        .await;
    assert_eq!(
        refused,
        "originator filtering is not supported by the local app-server"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn permission_profiles_are_listed() {
    let stage = Stage::with("").await;
    let mut client = stage.client().await;
    let list = client.call("permissionProfile/list", json!({})).await;
    let built_in = |id: &str| json!({ "id": id, "description": null, "allowed": true });
    let all = [":read-only", ":workspace", ":danger-full-access"].map(built_in);
    assert_eq!(list, json!({ "data": all, "nextCursor": null }));
    let page = client
        .call("permissionProfile/list", json!({ "limit": 1 }))
        .await;
    assert_eq!(page["nextCursor"], "1");
}

#[tokio::test(flavor = "multi_thread")]
async fn turns_are_reverted_by_their_id() {
    let stage = Stage::new().await;
    let (mut client, thread, turns) = thread_with_turns(&stage, 3).await;
    let revert = |before: &str| json!({ "threadId": thread, "beforeTurnId": before });
    let refused = client.refused("thread/revert", revert("nope")).await;
    assert_eq!(refused, "turn not found: nope");
    let reverted = client.call("thread/revert", revert(&turns[1])).await;
    assert_eq!(reverted["thread"]["turns"], json!([]));
    client.skip_to("thread/reverted").await;
    let list = json!({ "threadId": thread, "cursor": reverted["turnsBackwardsCursor"] });
    let left = client.call("thread/turns/list", list).await;
    assert_eq!(ids(&left), [&*turns[0]]);
    stage.play([json!({ "text": "on" })]);
    run(&mut client, &thread, "go on").await;
    let sent = stage.last_request();
    assert!(sent.contains("answer 0") && !sent.contains("answer 1"));
}

#[tokio::test(flavor = "multi_thread")]
async fn injected_items_reach_the_model_and_no_client() {
    let stage = Stage::new().await;
    let (mut client, thread, _) = thread_with_turns(&stage, 1).await;
    let item = json!({ "type": "message", "role": "user",
        "content": [{ "type": "input_text", "text": "a secret hint" }] });
    let inject = |item: Value| json!({ "threadId": thread, "items": [item] });
    client.call("thread/inject_items", inject(item)).await;
    let refused = client
        .refused("thread/inject_items", inject(json!({ "type": "nope" })))
        .await;
    assert!(
        refused.starts_with("items[0] is not a valid response item"),
        "{refused}"
    );
    stage.play([json!({ "text": "on" })]);
    let messages = run(&mut client, &thread, "go on").await;
    assert!(stage.last_request().contains("a secret hint"));
    let shown = serde_json::to_string(&messages).unwrap();
    assert!(!shown.contains("a secret hint"));
}

#[tokio::test(flavor = "multi_thread")]
async fn settings_are_changed_between_turns_and_told() {
    let stage = Stage::new().await;
    let (mut client, thread) = stage.thread().await;
    let update = json!({ "threadId": thread, "model": "other", "effort": "high" });
    client.call("thread/settings/update", update.clone()).await;
    let told = client.skip_to("thread/settings/updated").await;
    let settings = &told["params"]["threadSettings"];
    assert_eq!(settings["model"], "other");
    assert_eq!(
        settings["collaborationMode"]["settings"]["reasoning_effort"],
        "high"
    );
    // What changes nothing is not told.
    client.call("thread/settings/update", update).await;
    stage.play([json!({ "text": "hello" })]);
    let messages = run(&mut client, &thread, "hi").await;
    let told = |it: &&Value| it["method"] == "thread/settings/updated";
    assert_eq!(messages.iter().filter(told).count(), 0);
    assert!(stage.last_request().contains(r#""model":"other""#));
    let bad = json!({ "threadId": thread, "disabledPluginIds": ["x"] });
    client.refused("thread/settings/update", bad).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn background_terminals_are_listed_and_ended() {
    let stage = Stage::new().await;
    let (mut client, thread) = stage.thread().await;
    let sleep = json!({ "cmd": "exec sleep 1000", "yield_time_ms": 250 });
    let call = json!({ "calls": [{ "name": "exec_command", "arguments": sleep }] });
    stage.play([call, json!({ "text": "it runs" })]);
    run(&mut client, &thread, "start").await;
    let named = json!({ "threadId": thread });
    let list = client
        .call("thread/backgroundTerminals/list", named.clone())
        .await;
    let process = text(&list["data"][0]["processId"]);
    assert!(text(&list["data"][0]["command"]).contains("sleep 1000"));
    let end = json!({ "threadId": thread, "processId": process });
    let ended = client
        .call("thread/backgroundTerminals/terminate", end.clone())
        .await;
    assert_eq!(ended, json!({ "terminated": true }));
    let list = client.call("thread/backgroundTerminals/list", named).await;
    assert_eq!(list["data"], json!([]));
    let again = client
        .call("thread/backgroundTerminals/terminate", end)
        .await;
    assert_eq!(again, json!({ "terminated": false }));
}

#[tokio::test(flavor = "multi_thread")]
async fn extra_roots_bring_skills_and_hooks_are_listed() {
    let stage = Stage::with("[features]\ncodex_hooks = true").await;
    let (mut client, _) = stage.thread().await;
    let root = stage.directory().join("more");
    std::fs::create_dir_all(root.join("brew")).unwrap();
    let skill = "---\nname: brew\ndescription: makes tea\n---\nboil";
    std::fs::write(root.join("brew/SKILL.md"), skill).unwrap();
    client
        .call("skills/extraRoots/set", json!({ "extraRoots": [root] }))
        .await;
    client.skip_to("skills/changed").await;
    let list = client.call("skills/list", json!({})).await;
    let names = list["data"][0]["skills"].as_array().unwrap().iter();
    assert!(names.clone().any(|it| it["name"] == "brew"), "{list}");
    let hooks =
        json!({ "hooks": { "Stop": [{ "hooks": [{ "type": "command", "command": "true" }] }] } });
    std::fs::write(stage.home().join("hooks.json"), hooks.to_string()).unwrap();
    let list = client.call("hooks/list", json!({})).await;
    let hook = &list["data"][0]["hooks"][0];
    assert_eq!(hook["command"], "true");
    assert_eq!(hook["source"], "user");
    assert_eq!(hook["timeoutSec"], 600);
}

#[tokio::test(flavor = "multi_thread")]
async fn methods_that_are_not_there_say_why() {
    let stage = Stage::new().await;
    let mut client = stage.client().await;
    let error = client
        .try_call("project/list", json!({}))
        .await
        .unwrap_err();
    assert_eq!(error["code"], -32601);
    let said = text(&error["message"]);
    assert!(
        said.starts_with("project/list is not supported: "),
        "{said}"
    );
    let error = client.try_call("no/method", json!({})).await.unwrap_err();
    assert_eq!(error["code"], -32600);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_announced_version_is_a_setting() {
    for (setting, expected) in [
        ("announced_version = \"0.118.0\"", "0.118.0"),
        ("announced_version = \"none\"", "0.166.0"),
    ] {
        let stage = Stage::with(setting).await;
        let mut client = stage.client().await;
        let started = client.call("thread/start", json!({})).await;
        assert_eq!(started["thread"]["cliVersion"], expected);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_thread_that_was_named_can_be_read_before_its_first_turn() {
    let stage = Stage::new().await;
    let (mut client, thread) = stage.thread().await;
    let read = json!({ "threadId": thread, "includeTurns": true });
    client.refused("thread/read", read.clone()).await;
    let name = json!({ "threadId": thread, "name": "mine" });
    client.call("thread/name/set", name).await;
    let answer = client.call("thread/read", read).await;
    assert_eq!(answer["thread"]["turns"], json!([]));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_stored_with_a_thread_is_refused_for_one_in_memory() {
    let stage = Stage::new().await;
    let (mut client, thread) = stage.thread_with(json!({ "ephemeral": true })).await;
    let input = json!([{ "type": "text", "text": "x" }]);
    let goals = format!("ephemeral thread does not support goals: {thread}");
    let queue = format!("ephemeral thread does not support queued submissions: {thread}");
    let section = format!("ephemeral thread does not support section moves: {thread}");
    let delete = format!("thread is not persisted and cannot be deleted: {thread}");
    let revert = "ephemeral threads do not support thread/revert";
    let cases = [
        ("thread/goal/set", json!({ "objective": "x" }), &*goals),
        ("thread/goal/get", json!({}), &goals),
        ("thread/goal/clear", json!({}), &goals),
        (
            "thread/queue/add",
            json!({ "input": input, "clientUserMessageId": "c" }),
            &queue,
        ),
        ("thread/queue/list", json!({}), &queue),
        (
            "thread/section/move",
            json!({ "sectionId": null }),
            &section,
        ),
        ("thread/revert", json!({ "beforeTurnId": "x" }), revert),
        ("thread/delete", json!({}), &delete),
    ];
    for (method, mut params, expected) in cases {
        params["threadId"] = json!(thread);
        assert_eq!(client.refused(method, params).await, expected, "{method}");
    }
    // It is still there.
    stage.play([json!({ "text": "hello" })]);
    assert_eq!(status(&run(&mut client, &thread, "hi").await), "completed");
}

#[tokio::test(flavor = "multi_thread")]
async fn faulty_requests_are_refused_in_the_words_of_later_versions() {
    let stage = Stage::new().await;
    let (mut client, thread, turns) = thread_with_turns(&stage, 1).await;
    let anchor = json!({ "type": "item", "itemId": "none" });
    let cases = [
        (
            "thread/items/list",
            json!({ "turnId": turns[0], "cursor": anchor }),
            "cursor.itemId does not identify an item in the requested history scope",
        ),
        (
            "thread/goal/set",
            json!({ "objective": "x".repeat(4_001) }),
            "goal objective must be at most 4000 characters",
        ),
        (
            "thread/section/move",
            json!({}),
            "Invalid request: missing field `sectionId`",
        ),
        (
            "thread/backgroundTerminals/terminate",
            json!({ "processId": "x" }),
            "invalid background terminal process id: invalid digit found in string",
        ),
        (
            "thread/searchOccurrences",
            json!({ "searchTerm": " " }),
            "thread/searchOccurrences requires a non-empty searchTerm",
        ),
        (
            "thread/readState/update",
            json!({}),
            "Invalid request: missing field `operation`",
        ),
    ];
    for (method, mut params, expected) in cases {
        params["threadId"] = json!(thread);
        assert_eq!(client.refused(method, params).await, expected, "{method}");
    }
    let originators = json!({ "originators": ["x"] });
    let refused = client.try_call("thread/list", originators).await;
    assert_eq!(refused.unwrap_err()["code"], -32602);
    let found = client
        .call("thread/search", json!({ "searchTerm": " needle " }))
        .await;
    assert_eq!(found["data"][0]["thread"]["id"], *thread);
}
