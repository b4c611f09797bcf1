//! A model in the user's place: what it decides is done, and whatever goes wrong with it is a denial.

use std::path::PathBuf;
use std::time::Duration;

use quipu_testkit::conversation::Conversation;
use serde_json::{Value, json};

use crate::stage::{Stage, calls, completed, gate, open, order, run, say, status, text};

const STARTED: &str = "item/autoApprovalReview/started";
const COMPLETED: &str = "item/autoApprovalReview/completed";

/// A thread in a directory of its own, around which nothing may be written without an approval.
async fn reviewed(stage: &Stage) -> (Conversation, String) {
    let work = stage.directory().join("work");
    std::fs::create_dir_all(&work).unwrap();
    let params = json!({
        "cwd": work, "approvalPolicy": "on-request", "sandbox": "workspace-write",
        "approvalsReviewer": "guardian_subagent",
    });
    stage.thread_with(params).await
}

async fn stage() -> Stage {
    let settings =
        "[sandbox_workspace_write]\nexclude_slash_tmp = true\nexclude_tmpdir_env_var = true";
    Stage::with(settings).await
}

/// The file that the agent wants to make outside its directory.
fn made(stage: &Stage) -> PathBuf {
    stage.directory().join("made")
}

fn touch(tool: &str) -> Value {
    let escalated = |mut arguments: Value| {
        arguments["login"] = false.into();
        arguments["sandbox_permissions"] = "require_escalated".into();
        arguments["justification"] = "it is needed".into();
        calls(tool, arguments)
    };
    match tool {
        "exec_command" => escalated(json!({ "cmd": "touch ../made" })),
        "shell_command" => escalated(json!({ "command": "touch ../made" })),
        _ => json!({ "patch": "*** Begin Patch\n*** Add File: ../made\n+x\n*** End Patch" }),
    }
}

fn verdict(level: &str, score: u32) -> Value {
    let answer =
        json!({ "risk_level": level, "risk_score": score, "rationale": "because", "evidence": [] });
    json!({ "text": answer.to_string() })
}

/// The reviews that were told, without what they were about.
fn reviews(messages: &[Value]) -> Vec<Value> {
    let of = |method: &'static str| messages.iter().filter(move |it| it["method"] == method);
    assert_eq!(of(STARTED).count(), of(COMPLETED).count());
    for (started, completed) in of(STARTED).zip(of(COMPLETED)) {
        let (started, completed) = (&started["params"], &completed["params"]);
        assert_eq!(
            started["review"],
            json!({ "status": "inProgress", "riskScore": null, "riskLevel": null, "rationale": null })
        );
        for member in ["threadId", "turnId", "targetItemId", "action"] {
            assert_eq!(started[member], completed[member]);
        }
    }
    of(COMPLETED)
        .map(|it| it["params"]["review"].clone())
        .collect()
}

fn was_asked(messages: &[Value]) -> bool {
    messages
        .iter()
        .any(|it| text(&it["method"]).ends_with("requestApproval"))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reviewer_may_be_chosen_for_the_rest_of_a_turn() {
    let stage = stage().await;
    let work = stage.directory().join("work");
    std::fs::create_dir_all(&work).unwrap();
    let mut params = gate();
    params["cwd"] = json!(work);
    params["approvalPolicy"] = json!("on-request");
    params["sandbox"] = json!("workspace-write");
    let (mut client, thread) = stage.thread_with(params).await;
    let done = json!({ "text": "done" });
    let touch = touch("exec_command");
    let steps = [
        calls("gate", json!({})),
        touch.clone(),
        verdict("low", 1),
        done.clone(),
    ];
    stage.play(steps);
    let turn = say(&mut client, &thread, "make it").await;
    let held = client.skip_to("item/tool/call").await;
    let chosen = json!({ "threadId": thread, "turnId": turn, "approvalsReviewer": "auto_review" });
    client.call("turn/settings/update", chosen).await;
    client.reply(&held["id"], open()).await;
    let messages = client.until("turn/completed").await;
    assert_eq!(reviews(&messages).len(), 1);
    assert!(!was_asked(&messages) && made(&stage).exists());
    // The next turn asks the user again.
    stage.play([touch, done]);
    say(&mut client, &thread, "again").await;
    let asked = client
        .skip_to("item/commandExecution/requestApproval")
        .await;
    client
        .reply(&asked["id"], json!({ "decision": "decline" }))
        .await;
    client.until("turn/completed").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_reviewer_says_is_done() {
    let stage = stage().await;
    let (mut client, thread) = reviewed(&stage).await;
    for tool in ["exec_command", "shell_command", "apply_patch"] {
        for (score, approves) in [(79, true), (80, false)] {
            let case = format!("{tool} {score}");
            let done = json!({ "text": "done" });
            stage.play([touch(tool), verdict("medium", score), done]);
            let messages = run(&mut client, &thread, "make it").await;
            assert_eq!(status(&messages), "completed", "{case}");
            assert!(!was_asked(&messages), "{case}: {:?}", order(&messages));
            let outcome = if approves { "approved" } else { "denied" };
            let review = json!({ "status": outcome, "riskScore": score, "riskLevel": "medium", "rationale": "because" });
            assert_eq!(
                reviews(&messages),
                [review],
                "{case}: {:?}",
                order(&messages)
            );
            assert_eq!(made(&stage).exists(), approves, "{case}");
            let kind = if tool == "apply_patch" {
                "fileChange"
            } else {
                "commandExecution"
            };
            let items: Vec<String> = completed(&messages, kind)
                .iter()
                .map(|it| text(&it["status"]))
                .collect();
            match (approves, tool) {
                (true, _) => assert_eq!(items, ["completed"], "{case}"),
                (false, "exec_command") => assert!(items.is_empty(), "{case}: it never began"),
                (false, _) => assert_eq!(items, ["declined"], "{case}"),
            }
            if approves {
                std::fs::remove_file(made(&stage)).unwrap();
            } else {
                assert!(stage.last_request().contains("Reason: because"), "{case}");
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn clients_and_reviewers_see_the_action() {
    let stage = stage().await;
    let (mut client, thread) = reviewed(&stage).await;
    let work = stage.directory().join("work");
    for tool in ["exec_command", "shell_command", "apply_patch"] {
        stage.play([touch(tool), verdict("low", 5), json!({ "text": "done" })]);
        let messages = run(&mut client, &thread, "the wish of the person").await;
        let started = messages.iter().find(|it| it["method"] == STARTED).unwrap();
        let command = |tool: &str, source: &str| {
            json!({
                "tool": tool, "command": "/bin/bash -c 'touch ../made'", "cwd": work,
                "type": "command", "source": source,
            })
        };
        let shown = match tool {
            "exec_command" => command(tool, "unifiedExec"),
            "shell_command" => command("shell", "shell"),
            _ => json!({
                "tool": tool, "cwd": work, "files": [made(&stage)], "change_count": 1, "type": "applyPatch",
            }),
        };
        assert_eq!(started["params"]["action"], shown, "{tool}");

        let requests = stage.model.requests();
        let review = requests
            .iter()
            .rfind(|it| {
                it.headers
                    .get("x-openai-subagent")
                    .is_some_and(|it| it == "guardian")
            })
            .unwrap();
        assert_eq!(review.body["model"], "scripted-model");
        assert_eq!(
            review.body["text"]["format"]["schema"]["required"],
            json!(["risk_level", "risk_score", "rationale", "evidence"])
        );
        let case = review.body["input"].to_string();
        assert!(case.contains("[1] user: the wish of the person"), "{case}");
        let planned = match tool {
            "apply_patch" => "Add File: ../made",
            _ => "it is needed",
        };
        assert!(case.contains(planned), "{case}");
        std::fs::remove_file(made(&stage)).unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_review_that_fails_is_a_denial() {
    let mut stage = stage().await;
    stage.restart_with_review_limit(Duration::from_millis(300));
    let (mut client, thread) = reviewed(&stage).await;
    let cases = [
        (
            json!({ "text": "looks fine to me" }),
            "Automatic approval review failed: guardian assessment was not valid JSON",
        ),
        (
            json!({ "fail": 500 }),
            "Automatic approval review failed: unexpected status 500 Internal Server Error: scripted failure",
        ),
        (
            json!({ "cut": true, "text": "half" }),
            "Automatic approval review failed: ",
        ),
        (
            json!({ "hang": 60_000, "text": "late" }),
            "Automatic approval review timed out while evaluating the requested approval.",
        ),
    ];
    for (answer, why) in cases {
        stage.play([touch("exec_command"), answer, json!({ "text": "noted" })]);
        let messages = run(&mut client, &thread, "make it").await;
        assert_eq!(status(&messages), "completed", "{why}");
        let reviews = reviews(&messages);
        assert_eq!(reviews.len(), 1, "{why}");
        let review = &reviews[0];
        assert_eq!(review["status"], "denied", "{why}");
        assert_eq!(
            (&review["riskScore"], &review["riskLevel"]),
            (&json!(100), &json!("high"))
        );
        assert!(text(&review["rationale"]).starts_with(why), "{review}");
        assert!(!made(&stage).exists(), "{why}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_interrupt_ends_the_review_too() {
    let stage = stage().await;
    let (mut client, thread) = reviewed(&stage).await;
    stage.play([
        touch("exec_command"),
        json!({ "stall": true, "text": "never" }),
    ]);
    let turn = say(&mut client, &thread, "make it").await;
    let mut messages = client.until(STARTED).await;
    stage.model.received(2).await;
    let named = json!({ "threadId": thread, "turnId": turn });
    client.ask("turn/interrupt", named).await;
    messages.extend(client.until("turn/completed").await);
    assert_eq!(status(&messages), "interrupted");
    let aborted =
        json!({ "status": "aborted", "riskScore": null, "riskLevel": null, "rationale": null });
    assert_eq!(reviews(&messages), [aborted], "{:?}", order(&messages));
    stage.model.abandoned(1).await;
    assert!(!made(&stage).exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reviewer_may_look_but_not_touch() {
    let stage = stage().await;
    let (mut client, thread) = reviewed(&stage).await;
    std::fs::write(stage.directory().join("work/fact"), "a telling fact").unwrap();
    let look = calls(
        "exec_command",
        json!({ "cmd": "cat fact; touch touched", "login": false }),
    );
    stage.play([
        touch("exec_command"),
        look,
        verdict("low", 5),
        json!({ "text": "done" }),
    ]);
    let messages = run(&mut client, &thread, "make it").await;
    assert_eq!(reviews(&messages)[0]["status"], "approved");
    let second_look = stage.model.requests()[2].body["input"].to_string();
    assert!(second_look.contains("a telling fact"), "{second_look}");
    assert!(!stage.directory().join("work/touched").exists());
    assert_eq!(
        completed(&messages, "commandExecution").len(),
        1,
        "its own commands are shown to nobody"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn several_actions_are_reviewed_side_by_side() {
    let stage = stage().await;
    let (mut client, thread) = reviewed(&stage).await;
    let [one, two] = [touch("exec_command"), touch("exec_command")];
    let both = json!({ "calls": [one["calls"][0], two["calls"][0]] });
    stage.play([
        both,
        verdict("low", 5),
        verdict("high", 95),
        json!({ "text": "done" }),
    ]);
    let messages = run(&mut client, &thread, "make both").await;
    assert_eq!(status(&messages), "completed");
    let mut outcomes: Vec<String> = messages
        .iter()
        .filter(|it| it["method"] == COMPLETED)
        .map(|it| text(&it["params"]["review"]["status"]))
        .collect();
    outcomes.sort();
    assert_eq!(outcomes, ["approved", "denied"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn other_policies_ask_the_user() {
    let stage = stage().await;
    let params = json!({
        "approvalPolicy": "untrusted", "sandbox": "workspace-write",
        "approvalsReviewer": "guardian_subagent",
    });
    let (mut client, thread) = stage.thread_with(params).await;
    let call = calls(
        "exec_command",
        json!({ "cmd": "touch made", "login": false }),
    );
    stage.play([call, json!({ "text": "done" })]);
    say(&mut client, &thread, "make it").await;
    let mut messages = client.until("item/commandExecution/requestApproval").await;
    let question = messages.last().unwrap()["id"].clone();
    client
        .reply(&question, json!({ "decision": "accept" }))
        .await;
    messages.extend(client.until("turn/completed").await);
    assert!(reviews(&messages).is_empty());
    assert!(made(&stage).exists());
}
