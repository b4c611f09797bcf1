//! Threads: kept, listed, read, joined, copied, taken back, put away.

use std::path::{Path, PathBuf};

use quipu_testkit::conversation::Conversation;
use serde_json::{Value, json};

use crate::stage::{Stage, calls, gate, open, order, run, say, status, text};

/// Where a thread is stored.
pub async fn rollout(client: &mut Conversation, thread: &str) -> PathBuf {
    let read = client
        .call("thread/read", json!({ "threadId": thread }))
        .await;
    PathBuf::from(text(&read["thread"]["path"]))
}

/// The turns of a thread, as they are read.
async fn turns(client: &mut Conversation, thread: &str) -> Vec<Value> {
    let read = client
        .call(
            "thread/read",
            json!({ "threadId": thread, "includeTurns": true }),
        )
        .await;
    read["thread"]["turns"].as_array().unwrap().clone()
}

async fn listed(client: &mut Conversation, mut params: Value) -> Vec<String> {
    if params.get("modelProviders").is_none() {
        params["modelProviders"] = json!([]);
    }
    let page = client.call("thread/list", params).await;
    page["data"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| text(&it["id"]))
        .collect()
}

/// The kinds of items of a turn.
fn kinds(turn: &Value) -> Vec<String> {
    turn["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| text(&it["type"]))
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_thread_survives_a_restart_with_all_its_items() {
    let mut stage = Stage::new().await;
    let (mut client, thread) = stage.thread_with(gate()).await;
    let all = json!({ "reasoning": "Hm.", "text": "working", "calls": [
        { "name": "exec_command", "arguments": { "cmd": "echo hi" } },
        { "name": "gate", "arguments": {} },
    ] });
    let patch = json!({ "patch": "*** Begin Patch\n*** Add File: n\n+x\n*** End Patch" });
    stage.play([all, patch, json!({ "text": "done" })]);
    say(&mut client, &thread, "do all").await;
    let question = client.skip_to("item/tool/call").await;
    client.reply(&question["id"], open()).await;
    client.skip_to("turn/completed").await;
    let before = turns(&mut client, &thread).await;
    let mut found = kinds(&before[0]);
    found.sort();
    let wanted = [
        "agentMessage",
        "agentMessage",
        "commandExecution",
        "dynamicToolCall",
        "fileChange",
        "reasoning",
        "userMessage",
    ];
    assert_eq!(found, wanted);

    stage.restart().await;
    let mut client = stage.client().await;
    assert_eq!(
        turns(&mut client, &thread).await,
        before,
        "read without loading"
    );
    let resumed = client
        .call("thread/resume", json!({ "threadId": thread }))
        .await;
    assert_eq!(resumed["thread"]["turns"], json!(before));
    stage.play([json!({ "text": "yes" })]);
    let messages = run(&mut client, &thread, "still there?").await;
    assert_eq!(status(&messages), "completed");
    let sent = stage.last_request();
    for words in ["do all", "echo hi", "working", "Begin Patch"] {
        assert!(sent.contains(words), "{words}");
    }
    assert!(
        sent.contains("\"gate\""),
        "tools of the client are remembered"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn lists_find_threads_by_what_they_are() {
    let stage = Stage::new().await;
    let (mut client, first) = stage.thread().await;
    assert!(
        listed(&mut client, json!({})).await.is_empty(),
        "a thread without words is not listed"
    );
    let directory = stage.directory().join("elsewhere");
    let ephemeral = client
        .call("thread/start", json!({ "ephemeral": true }))
        .await;
    let second = text(
        &client
            .call("thread/start", json!({ "cwd": directory }))
            .await["thread"]["id"],
    );
    stage.play([
        json!({ "text": "1" }),
        json!({ "text": "2" }),
        json!({ "text": "3" }),
    ]);
    run(&mut client, &first, "about Apples").await;
    run(&mut client, &second, "about pears").await;
    run(&mut client, &text(&ephemeral["thread"]["id"]), "secret").await;

    let mut all = listed(&mut client, json!({})).await;
    all.sort();
    assert_eq!(all, [first.clone(), second.clone()]);
    assert_eq!(
        listed(&mut client, json!({ "searchTerm": "Apples" })).await,
        std::slice::from_ref(&first)
    );
    assert_eq!(
        listed(&mut client, json!({ "cwd": directory })).await,
        std::slice::from_ref(&second)
    );
    assert_eq!(
        listed(&mut client, json!({ "cwd": directory.join("") })).await,
        [second],
        "a slash at the end does not make it another directory"
    );
    assert!(
        listed(&mut client, json!({ "modelProviders": ["other"] }))
            .await
            .is_empty()
    );
    assert!(
        listed(&mut client, json!({ "archived": true }))
            .await
            .is_empty()
    );
    assert_eq!(
        client
            .refused("thread/list", json!({ "cursor": "junk" }))
            .await,
        "invalid cursor: junk"
    );

    let page = client
        .call("thread/list", json!({ "limit": 1, "modelProviders": [] }))
        .await;
    let rest = listed(
        &mut client,
        json!({ "limit": 1, "cursor": page["nextCursor"] }),
    )
    .await;
    let mut paged = vec![text(&page["data"][0]["id"])];
    paged.extend(rest);
    paged.sort();
    assert_eq!(paged, all, "every thread is on one page");
    assert_eq!(page["data"][0]["status"]["type"], "idle");
    let loaded = client.call("thread/loaded/list", json!({})).await;
    assert_eq!(loaded["data"].as_array().unwrap().len(), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn joining_a_running_turn_shows_it_as_it_is() {
    let stage = Stage::new().await;
    let (mut first, thread) = stage.thread_with(gate()).await;
    let mut step = calls("gate", json!({}));
    step["text"] = json!("so far");
    stage.play([step, json!({ "deltas": 20 })]);
    let turn = say(&mut first, &thread, "begin").await;
    let question = first.skip_to("item/tool/call").await;

    let mut second = stage.client().await;
    assert_eq!(turns(&mut second, &thread).await[0]["status"], "inProgress");
    let joined = second
        .call(
            "thread/resume",
            json!({ "threadId": thread, "model": "ignored" }),
        )
        .await;
    assert_eq!(
        joined["model"], "scripted-model",
        "a loaded thread keeps its settings"
    );
    let live = &joined["thread"]["turns"][0];
    assert_eq!(
        (&live["id"], &live["status"]),
        (&json!(turn), &json!("inProgress"))
    );
    assert_eq!(
        kinds(live),
        ["userMessage", "agentMessage", "dynamicToolCall"]
    );
    assert_eq!(second.next().await["id"], question["id"]);
    first.reply(&question["id"], open()).await;
    let seen_by_first = first.until("turn/completed").await;
    let seen_by_second = second.until("turn/completed").await;
    assert_eq!(seen_by_first, seen_by_second);

    let wrong = json!({ "threadId": thread, "path": "/other.jsonl" });
    assert!(
        second
            .refused("thread/resume", wrong)
            .await
            .contains("mismatched path")
    );
    let history = json!({ "threadId": thread, "history": [{ "type": "other" }] });
    assert!(
        second
            .refused("thread/resume", history)
            .await
            .contains("while it is already running")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_history_makes_a_thread_that_is_kept() {
    let mut stage = Stage::new().await;
    let mut client = stage.client().await;
    let item = |role: &str, kind: &str, words: &str| json!({ "type": "message", "role": role, "content": [{ "type": kind, "text": words }] });
    let history = json!([
        item("user", "input_text", "from afar"),
        item("assistant", "output_text", "an old answer")
    ]);
    let empty = json!({ "threadId": "junk", "history": [] });
    assert_eq!(
        client.refused("thread/resume", empty).await,
        "history must not be empty"
    );
    let resumed = client
        .call(
            "thread/resume",
            json!({ "threadId": "junk", "history": history }),
        )
        .await;
    let thread = text(&resumed["thread"]["id"]);
    assert!(
        Path::new(&text(&resumed["thread"]["path"])).exists(),
        "it is stored at once"
    );
    assert_eq!(resumed["thread"]["preview"], "from afar");
    stage.restart().await;
    let mut client = stage.client().await;
    client
        .call("thread/resume", json!({ "threadId": thread }))
        .await;
    stage.play([json!({ "text": "of course" })]);
    run(&mut client, &thread, "remember?").await;
    let sent = stage.last_request();
    assert!(
        sent.contains("from afar") && sent.contains("an old answer"),
        "{sent}"
    );
}

/// Old programs did not store where a turn ends, so the last one may have been cut off. A copy goes on from there.
#[tokio::test(flavor = "multi_thread")]
async fn the_copy_of_an_old_rollout_ends_its_last_turn_as_interrupted() {
    let stage = Stage::new().await;
    let id = "0199a213-81c0-7800-8aa1-bbab2a035a53";
    let directory = stage.home().join("sessions/2025/10/02");
    std::fs::create_dir_all(&directory).unwrap();
    let says = |role: &str, words: &str| {
        let kind = if role == "user" {
            "input_text"
        } else {
            "output_text"
        };
        [
            json!({ "type": "response_item", "payload": { "type": "message", "role": role,
                "content": [{ "type": kind, "text": words }] } }),
            json!({ "type": "event_msg", "payload": { "type": format!("{}_message",
                if role == "user" { "user" } else { "agent" }), "message": words } }),
        ]
    };
    let meta = json!({ "type": "session_meta", "payload": { "id": id, "cwd": "/", "originator": "old",
        "timestamp": "2025-10-02T10:00:00.000Z", "cli_version": "0.42.0", "source": "cli" } });
    let lines = [
        says("user", "one"),
        says("assistant", "1"),
        says("user", "two"),
    ];
    let lines = [meta].into_iter().chain(lines.into_iter().flatten());
    let text: String = lines
        .map(|mut line| {
            line["timestamp"] = json!("2025-10-02T10:00:00.000Z");
            format!("{line}\n")
        })
        .collect();
    let file = directory.join(format!("rollout-2025-10-02T10-00-00-{id}.jsonl"));
    std::fs::write(file, text).unwrap();
    let mut client = stage.client().await;
    let forked = client.call("thread/fork", json!({ "threadId": id })).await;
    let states = |turns: &Value| -> Vec<String> {
        let turns = turns.as_array().unwrap().iter();
        turns
            .map(|turn| crate::stage::text(&turn["status"]))
            .collect()
    };
    let copied = &forked["thread"]["turns"];
    assert_eq!(states(copied), ["completed", "interrupted"]);
    let copy = crate::stage::text(&forked["thread"]["id"]);
    assert_eq!(json!(turns(&mut client, &copy).await), *copied);
    stage.play([json!({ "text": "new" })]);
    run(&mut client, &copy, "go on").await;
    assert!(stage.last_request().contains("<turn_aborted>"));
    let read = json!({ "threadId": id, "includeTurns": true });
    for method in ["thread/read", "thread/resume", "thread/read"] {
        let original = client.call(method, read.clone()).await;
        let original = &original["thread"]["turns"];
        assert_eq!(states(original), ["completed", "completed"], "{method}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_copy_of_a_running_thread_shows_the_turn_as_interrupted() {
    let stage = Stage::new().await;
    let (mut client, thread) = stage.thread_with(gate()).await;
    assert_eq!(
        client
            .refused("thread/fork", json!({ "threadId": thread }))
            .await,
        format!("no rollout found for thread id {thread}")
    );
    stage.play([calls("gate", json!({})), json!({ "text": "done" })]);
    let turn = say(&mut client, &thread, "begin").await;
    let question = client.skip_to("item/tool/call").await;
    let forked = client
        .call("thread/fork", json!({ "threadId": thread }))
        .await;
    let copy = text(&forked["thread"]["id"]);
    let copied = &forked["thread"]["turns"][0];
    assert_eq!(
        (&copied["id"], &copied["status"]),
        (&json!(turn), &json!("interrupted"))
    );
    let ephemeral = client
        .call(
            "thread/fork",
            json!({ "threadId": thread, "ephemeral": true }),
        )
        .await;
    assert_eq!(ephemeral["thread"]["path"], Value::Null);
    client.reply(&question["id"], open()).await;
    loop {
        let messages = client.until("turn/completed").await;
        if messages.last().unwrap()["params"]["threadId"] == json!(thread) {
            assert_eq!(status(&messages), "completed", "the source goes on");
            break;
        }
    }
    stage.play([json!({ "text": "new" }), json!({ "text": "newer" })]);
    assert_eq!(
        status(&run(&mut client, &copy, "in the copy").await),
        "completed"
    );
    assert!(stage.last_request().contains("<turn_aborted>"));
    let short = text(&ephemeral["thread"]["id"]);
    assert_eq!(
        status(&run(&mut client, &short, "in the other").await),
        "completed"
    );
    let read = json!({ "threadId": short, "includeTurns": true });
    assert_eq!(
        client.refused("thread/read", read).await,
        "ephemeral threads do not support includeTurns"
    );
    assert_eq!(turns(&mut client, &thread).await.len(), 1);
    assert_eq!(turns(&mut client, &copy).await.len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn turns_can_be_taken_back() {
    let mut stage = Stage::new().await;
    let (mut client, thread) = stage.thread_with(gate()).await;
    stage.play([json!({ "text": "one" }), json!({ "text": "two" })]);
    run(&mut client, &thread, "first").await;
    run(&mut client, &thread, "second").await;
    let back = |turns: u32| json!({ "threadId": thread, "numTurns": turns });
    assert_eq!(
        client.refused("thread/rollback", back(0)).await,
        "numTurns must be >= 1"
    );
    stage.play([calls("gate", json!({})), json!({ "text": "three" })]);
    say(&mut client, &thread, "third").await;
    let question = client.skip_to("item/tool/call").await;
    assert_eq!(
        client.refused("thread/rollback", back(1)).await,
        "Cannot rollback while a turn is in progress."
    );
    client.reply(&question["id"], open()).await;
    client.skip_to("turn/completed").await;

    let rolled = client.call("thread/rollback", back(2)).await;
    assert_eq!(rolled["thread"]["turns"].as_array().unwrap().len(), 1);
    stage.play([json!({ "text": "other" })]);
    run(&mut client, &thread, "instead").await;
    let sent = stage.last_request();
    assert!(
        sent.contains("first") && !sent.contains("second") && !sent.contains("third"),
        "{sent}"
    );
    stage.restart().await;
    let mut client = stage.client().await;
    let words = turns(&mut client, &thread).await;
    assert_eq!(words.len(), 2);
    let resumed = client
        .call("thread/resume", json!({ "threadId": thread }))
        .await;
    assert_eq!(resumed["thread"]["turns"], json!(words));
    let rolled = client.call("thread/rollback", back(9)).await;
    assert_eq!(rolled["thread"]["turns"], json!([]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_thread_can_be_put_away_and_brought_back() {
    let stage = Stage::new().await;
    let (mut client, thread) = stage.thread().await;
    let named = json!({ "threadId": thread });
    assert_eq!(
        client.refused("thread/archive", named.clone()).await,
        format!("no rollout found for thread id {thread}")
    );
    stage.play([
        json!({ "text": "hello" }),
        json!({ "text": "half", "stall": true }),
        json!({ "text": "back" }),
    ]);
    run(&mut client, &thread, "hi").await;
    say(&mut client, &thread, "work").await;
    client.skip_to("item/agentMessage/delta").await;
    let request = client.ask("thread/archive", named.clone()).await;
    let mut messages = client.until("thread/archived").await;
    messages.retain(|it| it["method"] != "item/completed");
    let wanted = [
        "status idle",
        "turn/completed interrupted",
        "status notLoaded",
        "answer",
        "thread/archived",
    ];
    assert_eq!(order(&messages), wanted);
    assert!(messages.iter().any(|it| it["id"] == request));

    assert!(listed(&mut client, json!({})).await.is_empty());
    assert_eq!(
        listed(&mut client, json!({ "archived": true })).await,
        std::slice::from_ref(&thread)
    );
    assert!(
        client
            .refused("thread/resume", named.clone())
            .await
            .starts_with("no rollout found")
    );
    assert_eq!(
        client.call("thread/loaded/list", json!({})).await["data"],
        json!([])
    );
    let back = client.call("thread/unarchive", named.clone()).await;
    assert_eq!(back["thread"]["status"]["type"], "notLoaded");
    assert!(
        client
            .refused("thread/unarchive", named.clone())
            .await
            .starts_with("no archived rollout found")
    );
    let resumed = client.call("thread/resume", named).await;
    assert_eq!(resumed["thread"]["turns"].as_array().unwrap().len(), 2);
    assert_eq!(
        status(&run(&mut client, &thread, "again").await),
        "completed"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn names_and_facts_can_be_set() {
    let stage = Stage::new().await;
    let (mut client, thread) = stage.thread().await;
    stage.play([json!({ "text": "hello" })]);
    run(&mut client, &thread, "hi").await;
    let name = |name: &str| json!({ "threadId": thread, "name": name });
    assert_eq!(
        client.refused("thread/name/set", name("  ")).await,
        "thread name must not be empty"
    );
    client.call("thread/name/set", name(" My name ")).await;
    let updated = client.skip_to("thread/name/updated").await;
    assert_eq!(updated["params"]["threadName"], "My name");
    let git = |git: Value| json!({ "threadId": thread, "gitInfo": git });
    assert!(
        client
            .refused("thread/metadata/update", git(json!({})))
            .await
            .contains("at least one field")
    );
    assert_eq!(
        client
            .refused("thread/metadata/update", git(json!({ "sha": " " })))
            .await,
        "gitInfo.sha must not be empty"
    );
    let updated = client
        .call(
            "thread/metadata/update",
            git(json!({ "branch": "b", "sha": "abc" })),
        )
        .await;
    assert_eq!(updated["thread"]["gitInfo"]["branch"], "b");
    let updated = client
        .call("thread/metadata/update", git(json!({ "branch": null })))
        .await;
    assert_eq!(updated["thread"]["gitInfo"]["sha"], "abc");
    let page = client
        .call("thread/list", json!({ "modelProviders": [] }))
        .await;
    assert_eq!(page["data"][0]["name"], "My name");
}

/// What is set before the first turn counts, and does not hide what the repository says of itself.
#[tokio::test(flavor = "multi_thread")]
async fn facts_can_be_set_before_anything_is_said() {
    let stage = Stage::new().await;
    let repository = stage.directory().join("repository");
    std::fs::create_dir_all(repository.join(".git")).unwrap();
    std::fs::write(repository.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
    let config = "[remote \"origin\"]\n\turl = https://example.com/x.git\n";
    std::fs::write(repository.join(".git/config"), config).unwrap();
    let (mut client, thread) = stage.thread_with(json!({ "cwd": repository })).await;
    let early = json!({ "threadId": thread, "gitInfo": { "branch": "early" } });
    let updated = client.call("thread/metadata/update", early).await;
    let messages = json!({ "sha": null, "branch": "early", "originUrl": null });
    assert_eq!(updated["thread"]["gitInfo"], messages);
    let named = json!({ "threadId": thread });
    let read = client.call("thread/read", named.clone()).await;
    assert_eq!(read["thread"]["gitInfo"], messages);
    let more = json!({ "threadId": thread, "gitInfo": { "sha": "abc" } });
    let updated = client.call("thread/metadata/update", more).await;
    let both = json!({ "sha": "abc", "branch": "early", "originUrl": null });
    assert_eq!(updated["thread"]["gitInfo"], both);
    stage.play([json!({ "text": "hello" })]);
    run(&mut client, &thread, "hi").await;
    let read = client.call("thread/read", named).await;
    let known =
        json!({ "sha": "abc", "branch": "early", "originUrl": "https://example.com/x.git" });
    assert_eq!(read["thread"]["gitInfo"], known);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_thread_in_which_nothing_was_said_leaves_nothing_behind() {
    let stage = Stage::new().await;
    let (mut client, thread) = stage.thread().await;
    let named = json!({ "threadId": thread });
    client.call("thread/unsubscribe", named.clone()).await;
    client.skip_to("thread/closed").await;
    assert_eq!(
        client.refused("thread/resume", named).await,
        format!("no rollout found for thread id {thread}")
    );
    assert!(!stage.home().join("sessions").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_thread_that_its_last_client_leaves_is_closed() {
    let stage = Stage::new().await;
    let (mut client, thread) = stage.thread().await;
    let mut watcher = stage.client().await;
    stage.play([
        json!({ "text": "hello" }),
        json!({ "text": "half", "stall": true }),
    ]);
    run(&mut client, &thread, "hi").await;
    let named = json!({ "threadId": thread });
    let left = watcher.call("thread/unsubscribe", named.clone()).await;
    assert_eq!(left["status"], "notSubscribed");
    say(&mut client, &thread, "work").await;
    client.skip_to("item/agentMessage/delta").await;
    let left = client.call("thread/unsubscribe", named.clone()).await;
    assert_eq!(left["status"], "unsubscribed");
    let messages = watcher.until("thread/closed").await;
    assert!(
        order(&messages).contains(&"status notLoaded".to_owned()),
        "{:?}",
        order(&messages)
    );
    for _ in 0..20 {
        let resumed = watcher.call("thread/resume", named.clone()).await;
        assert_eq!(resumed["thread"]["turns"][1]["status"], "interrupted");
        assert_eq!(
            watcher.call("thread/unsubscribe", named.clone()).await["status"],
            "unsubscribed"
        );
        watcher.skip_to("thread/closed").await;
    }
    assert_eq!(
        watcher.call("thread/unsubscribe", named.clone()).await["status"],
        "notLoaded"
    );
    assert_eq!(
        watcher
            .refused("turn/start", crate::stage::input(&thread, "x"))
            .await,
        format!("thread not found: {thread}")
    );
}

/// Rollouts of the official program, put into the home or given by their path.
#[tokio::test(flavor = "multi_thread")]
async fn threads_of_the_official_program_go_on_here() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../journal/tests/fixtures");
    let stage = Stage::new().await;
    let mut client = stage.client().await;
    for name in ["one-command", "every-tool-once", "long-session"] {
        let lines = std::fs::read_to_string(fixtures.join(format!("{name}.jsonl"))).unwrap();
        let lines = lines.replace("$CWD", stage.directory().to_str().unwrap());
        let meta: Value = serde_json::from_str(lines.lines().next().unwrap()).unwrap();
        let id = text(&meta["payload"]["id"]);
        let directory = stage.home().join("sessions/2026/11/15");
        std::fs::create_dir_all(&directory).unwrap();
        std::fs::write(
            directory.join(format!("rollout-2026-11-15T07-05-35-{id}.jsonl")),
            lines,
        )
        .unwrap();
        let params = json!({ "threadId": id, "cwd": stage.directory(), "model": "scripted-model", "modelProvider": "scripted" });
        let resumed = client.call("thread/resume", params).await;
        let before = resumed["thread"]["turns"].as_array().unwrap().len();
        assert!(before > 0, "{name}");
        stage.play([json!({ "text": "hello from here" })]);
        let messages = run(&mut client, &id, "go on").await;
        assert_eq!(status(&messages), "completed", "{name}");
        assert_eq!(turns(&mut client, &id).await.len(), before + 1, "{name}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rollout_from_anywhere_can_be_resumed_by_its_path() {
    let stage = Stage::new().await;
    let (mut client, thread) = stage.thread().await;
    stage.play([json!({ "text": "hello" }), json!({ "text": "again" })]);
    run(&mut client, &thread, "hi").await;
    let path = rollout(&mut client, &thread).await;
    client
        .call("thread/unsubscribe", json!({ "threadId": thread }))
        .await;
    client.skip_to("thread/closed").await;
    let moved = stage.directory().join(path.file_name().unwrap());
    std::fs::rename(&path, &moved).unwrap();
    let resumed = client
        .call(
            "thread/resume",
            json!({ "threadId": "junk", "path": moved }),
        )
        .await;
    assert_eq!(resumed["thread"]["id"], json!(thread));
    assert_eq!(resumed["thread"]["turns"].as_array().unwrap().len(), 1);
    assert_eq!(
        status(&run(&mut client, &thread, "go on").await),
        "completed"
    );
    let missing = client
        .refused(
            "thread/resume",
            json!({ "threadId": "junk", "path": "/no/such.jsonl" }),
        )
        .await;
    assert_eq!(
        missing,
        "failed to load rollout `/no/such.jsonl`: No such file or directory (os error 2)"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn broken_lines_of_a_rollout_cost_only_themselves() {
    let stage = Stage::new().await;
    let (mut client, thread) = stage.thread().await;
    stage.play([json!({ "text": "hello" }), json!({ "text": "again" })]);
    run(&mut client, &thread, "hi").await;
    let path = rollout(&mut client, &thread).await;
    client
        .call("thread/unsubscribe", json!({ "threadId": thread }))
        .await;
    client.skip_to("thread/closed").await;
    let mut bytes = std::fs::read(&path).unwrap();
    bytes.extend_from_slice(b"{\"timestamp\":\"x\",\"type\":\"unheard_of\",\"payload\":{}}\n\0\0\0\n{{{\n\xff\xfe\n{\"timestamp\":\"2026");
    std::fs::write(&path, bytes).unwrap();
    let resumed = client
        .call("thread/resume", json!({ "threadId": thread }))
        .await;
    assert_eq!(resumed["thread"]["turns"].as_array().unwrap().len(), 1);
    assert_eq!(
        status(&run(&mut client, &thread, "go on").await),
        "completed"
    );
    assert_eq!(
        turns(&mut client, &thread).await.len(),
        2,
        "what comes after a torn line is read"
    );
}
