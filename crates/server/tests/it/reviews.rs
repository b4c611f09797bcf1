//! Reviews: in the thread, beside it, and cut short.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::stage::{Stage, calls, completed, order, run, status, text};

fn review(thread: &str, delivery: &str) -> Value {
    json!({ "threadId": thread, "delivery": delivery, "target": { "type": "custom", "instructions": " look at it " } })
}

fn verdict() -> Value {
    let finding = json!({ "title": "[P1] Prefer x", "body": "line one\nline two", "confidence_score": 0.5, "priority": 1,
        "code_location": { "absolute_file_path": "/tmp/f.rs", "line_range": { "start": 10, "end": 20 } } });
    json!({ "findings": [finding], "overall_correctness": "patch is incorrect",
        "overall_explanation": "Looks solid overall.", "overall_confidence_score": 0.8 })
}

const SHOWN: &str = "Looks solid overall.\n\nReview comment:\n\n- [P1] Prefer x — /tmp/f.rs:10-20\n  line one\n  line two";

#[tokio::test(flavor = "multi_thread")]
async fn a_review_in_the_thread_ends_with_its_words() {
    let stage = Stage::new().await;
    let (mut client, thread) = stage
        .thread_with(json!({ "approvalPolicy": "untrusted" }))
        .await;
    stage.play([
        calls("exec_command", json!({ "cmd": "touch looked" })),
        json!({ "text": verdict().to_string() }),
    ]);
    let answer = client.call("review/start", review(&thread, "inline")).await;
    assert_eq!(answer["reviewThreadId"], json!(thread));
    assert_eq!(
        answer["turn"]["items"][0]["content"][0]["text"],
        "look at it"
    );
    let messages = client.until("turn/completed").await;
    assert_eq!(status(&messages), "completed");
    assert_eq!(
        messages.last().unwrap()["params"]["turn"]["id"],
        answer["turn"]["id"]
    );
    assert_eq!(
        completed(&messages, "enteredReviewMode")[0]["review"],
        "look at it"
    );
    assert_eq!(completed(&messages, "exitedReviewMode")[0]["review"], SHOWN);
    assert_eq!(
        completed(&messages, "agentMessage").last().unwrap()["text"],
        SHOWN
    );
    assert!(
        !messages
            .iter()
            .any(|it| it["method"] == "item/commandExecution/requestApproval"),
        "a reviewer asks nobody"
    );

    stage.play([json!({ "text": "thanks" })]);
    let messages = run(&mut client, &thread, "and now?").await;
    assert_eq!(status(&messages), "completed");
    let sent = stage.last_request();
    assert!(
        sent.contains("Prefer x"),
        "the thread knows what the review found"
    );
    assert!(!sent.contains("touch looked"), "but not how");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_detached_review_has_a_thread_of_its_own() {
    let stage = Stage::new().await;
    let (mut client, thread) = stage.thread().await;
    let refused = client
        .refused("review/start", review(&thread, "detached"))
        .await;
    assert_eq!(
        refused,
        "error creating detached review thread: No such file or directory (os error 2)"
    );
    stage.play([
        json!({ "text": "hello" }),
        json!({ "text": verdict().to_string() }),
    ]);
    run(&mut client, &thread, "hi").await;
    let answer = client
        .call("review/start", review(&thread, "detached"))
        .await;
    let other = text(&answer["reviewThreadId"]);
    assert_ne!(other, thread);
    let messages = client.until("turn/completed").await;
    assert_eq!(status(&messages), "completed");
    let threads = messages
        .iter()
        .filter_map(|it| it["params"]["threadId"].as_str());
    assert!(
        threads.into_iter().all(|it| it == other),
        "{:?}",
        order(&messages)
    );
    let read = client
        .call(
            "thread/read",
            json!({ "threadId": thread, "includeTurns": true }),
        )
        .await;
    assert_eq!(
        read["thread"]["turns"].as_array().unwrap().len(),
        1,
        "the parent has nothing of it"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_review_takes_no_input_and_can_be_interrupted() {
    let stage = Stage::new().await;
    let (mut client, thread) = stage.thread().await;
    stage.play([json!({ "stall": true })]);
    let answer = client.call("review/start", review(&thread, "inline")).await;
    let turn = text(&answer["turn"]["id"]);
    stage.model.received(1).await;
    let steer = json!({ "threadId": thread, "expectedTurnId": turn, "input": [{ "type": "text", "text": "x" }] });
    let error = client.try_call("turn/steer", steer).await.unwrap_err();
    assert_eq!(error["message"], "cannot steer a review turn");
    assert_eq!(
        error["data"]["codexErrorInfo"]["activeTurnNotSteerable"]["turnKind"],
        "review"
    );
    client
        .call(
            "turn/interrupt",
            json!({ "threadId": thread, "turnId": turn }),
        )
        .await;
    let messages = client.until("turn/completed").await;
    assert_eq!(status(&messages), "interrupted");
    stage.play([json!({ "text": "fine" })]);
    assert_eq!(
        status(&run(&mut client, &thread, "next").await),
        "completed"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_joins_during_a_review_sees_how_far_it_is() {
    let stage = Stage::new().await;
    let (mut client, thread) = stage.thread().await;
    stage.play([json!({ "text": "hello" }), json!({ "stall": true })]);
    run(&mut client, &thread, "hi").await;
    let answer = client.call("review/start", review(&thread, "inline")).await;
    let turn = text(&answer["turn"]["id"]);
    stage.model.received(2).await;

    let mut other = stage.client().await;
    let joined = other
        .call("thread/resume", json!({ "threadId": thread }))
        .await;
    assert_eq!(joined["thread"]["status"]["type"], "active");
    let turns = joined["thread"]["turns"].as_array().unwrap();
    assert_eq!(turns.len(), 2, "the running turn is told once");
    assert_eq!(
        (&turns[1]["id"], &turns[1]["status"]),
        (&json!(turn), &json!("inProgress"))
    );
    let kinds: Vec<&Value> = turns[1]["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| &item["type"])
        .collect();
    assert_eq!(kinds, ["enteredReviewMode", "userMessage"]);

    client
        .call(
            "turn/interrupt",
            json!({ "threadId": thread, "turnId": turn }),
        )
        .await;
    let messages = other.until("turn/completed").await;
    assert_eq!(status(&messages), "interrupted");
    assert_eq!(completed(&messages, "exitedReviewMode").len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_review_takes_the_place_of_a_running_turn() {
    let stage = Stage::new().await;
    let (mut client, thread) = stage.thread().await;
    stage.play([
        json!({ "text": "half", "stall": true }),
        json!({ "text": "no JSON at all" }),
    ]);
    let turn = crate::stage::say(&mut client, &thread, "work").await;
    client.skip_to("item/agentMessage/delta").await;
    client.call("review/start", review(&thread, "inline")).await;
    let first = client.until("turn/completed").await;
    assert_eq!(
        (
            status(&first),
            &first.last().unwrap()["params"]["turn"]["id"]
        ),
        ("interrupted".into(), &json!(turn))
    );
    let second = client.until("turn/completed").await;
    assert_eq!(status(&second), "completed");
    assert_eq!(
        completed(&second, "exitedReviewMode")[0]["review"],
        "no JSON at all"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn targets_without_content_are_refused() {
    let stage = Stage::new().await;
    let (mut client, thread) = stage.thread().await;
    let targets = [
        (
            json!({ "type": "custom", "instructions": " " }),
            "instructions must not be empty",
        ),
        (
            json!({ "type": "baseBranch", "branch": "" }),
            "branch must not be empty",
        ),
        (
            json!({ "type": "commit", "sha": " " }),
            "sha must not be empty",
        ),
    ];
    for (target, words) in targets {
        let params = json!({ "threadId": thread, "target": target });
        assert_eq!(client.refused("review/start", params).await, words);
    }
}

fn git(directory: &Path, arguments: &[&str]) -> String {
    #[expect(clippy::disallowed_methods, reason = "a review needs a repository")]
    let done = Command::new("git")
        .args([
            "-c",
            "user.name=a",
            "-c",
            "user.email=a@b",
            "-c",
            "init.defaultBranch=main",
        ])
        .args(arguments)
        .current_dir(directory)
        .output()
        .unwrap();
    assert!(done.status.success(), "{done:?}");
    String::from_utf8(done.stdout).unwrap().trim().to_owned()
}

/// Every target has a prompt of its own; of a branch it names the commit where the two parted.
#[tokio::test(flavor = "multi_thread")]
async fn the_reviewer_learns_what_to_look_at() {
    let stage = Stage::new().await;
    let directory = stage.directory();
    git(directory, &["init", "-q"]);
    git(directory, &["commit", "-q", "--allow-empty", "-m", "one"]);
    let parted = git(directory, &["rev-parse", "HEAD"]);
    git(directory, &["branch", "feature"]);
    git(directory, &["commit", "-q", "--allow-empty", "-m", "two"]);
    git(directory, &["checkout", "-q", "feature"]);
    git(directory, &["commit", "-q", "--allow-empty", "-m", "three"]);
    let (mut client, thread) = stage.thread_with(json!({ "cwd": directory })).await;
    let targets = [
        (
            json!({ "type": "uncommittedChanges" }),
            "current changes",
            "not committed yet",
        ),
        (
            json!({ "type": "baseBranch", "branch": "main" }),
            "changes against 'main'",
            parted.as_str(),
        ),
        (
            json!({ "type": "baseBranch", "branch": "--help" }),
            "changes against '--help'",
            "git merge-base HEAD --help",
        ),
        (
            json!({ "type": "commit", "sha": "1234567890", "title": "T" }),
            "commit 1234567: T",
            "1234567890",
        ),
    ];
    for (target, label, words) in targets {
        stage.play([json!({ "text": "fine" })]);
        let params = json!({ "threadId": thread, "target": target });
        let answer = client.call("review/start", params).await;
        assert_eq!(answer["turn"]["items"][0]["content"][0]["text"], label);
        let messages = client.until("turn/completed").await;
        let prompt = text(&completed(&messages, "userMessage")[0]["content"][0]["text"]);
        assert!(prompt.contains(words), "{prompt}");
        assert!(stage.last_request().contains(words));
    }
}
