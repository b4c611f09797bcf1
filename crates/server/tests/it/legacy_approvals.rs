//! Questions in the form of the first protocol version, for threads that are opened with `legacy_approvals`.

use quipu_testkit::conversation::Conversation;
use serde_json::{Value, json};

use crate::stage::{Stage, calls, completed, order, run, say, status, text};

const COMMAND: &str = "execCommandApproval";
const PATCH: &str = "applyPatchApproval";

async fn asking(stage: &Stage) -> (Conversation, String) {
    let params = json!({ "approvalPolicy": "untrusted", "config": { "legacy_approvals": true } });
    stage.thread_with(params).await
}

fn touch() -> Value {
    calls(
        "shell_command",
        json!({ "command": "touch made", "login": false }),
    )
}

fn patch(body: &str) -> Value {
    json!({ "patch": format!("*** Begin Patch\n{body}\n*** End Patch") })
}

#[tokio::test(flavor = "multi_thread")]
async fn each_answer_has_its_effect() {
    let stage = Stage::new().await;
    let (mut client, thread) = asking(&stage).await;
    let made = stage.directory().join("made");
    let answers = [
        (json!("approved"), true, "completed", "completed"),
        (json!("denied"), false, "declined", "completed"),
        (json!("abort"), false, "declined", "interrupted"),
        (json!("accept"), false, "declined", "completed"),
    ];
    let add = patch("*** Add File: made\n+x");
    let questions = [
        (COMMAND, touch(), "commandExecution"),
        (PATCH, add, "fileChange"),
    ];
    for (method, step, kind) in questions {
        for (decision, done, item, end) in &answers {
            let case = format!("{method} {decision}");
            stage.play([step.clone()]);
            if *end == "completed" {
                stage.play([json!({ "text": "noted" })]);
            }
            say(&mut client, &thread, "do it").await;
            let mut messages = client.until(method).await;
            let question = messages.last().unwrap()["id"].clone();
            client
                .reply(&question, json!({ "decision": decision }))
                .await;
            messages.extend(client.until("turn/completed").await);
            assert_eq!(status(&messages), *end, "{case}: {:?}", order(&messages));
            let ends: Vec<String> = completed(&messages, kind)
                .iter()
                .map(|it| text(&it["status"]))
                .collect();
            assert_eq!(ends, [*item], "{case}");
            let resolved = messages
                .iter()
                .find(|it| it["method"] == "serverRequest/resolved");
            assert_eq!(resolved.unwrap()["params"]["requestId"], question, "{case}");
            assert_eq!(made.exists(), *done, "{case}");
            if *done {
                std::fs::remove_file(&made).unwrap();
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_questions_say_what_the_old_form_says() {
    let stage = Stage::new().await;
    let (mut client, thread) = asking(&stage).await;
    let path = |name: &str| stage.directory().join(name).to_string_lossy().into_owned();
    std::fs::write(path("old"), "a\nb\n").unwrap();
    std::fs::write(path("gone"), "g\n").unwrap();
    let body = "*** Add File: new\n+n\n*** Delete File: gone\n*** Update File: old\n*** Move to: moved\n@@\n-b\n+c";
    stage.play([touch(), patch(body), json!({ "text": "both refused" })]);
    say(&mut client, &thread, "try").await;

    let asked = client.skip_to(COMMAND).await;
    let mut params = asked["params"].clone();
    let argv = params["command"].take();
    assert_eq!(argv[2], "touch made", "{argv}");
    let call = text(&params["callId"]);
    assert_eq!(
        params,
        json!({
            "conversationId": thread, "callId": call, "approvalId": null, "command": null,
            "cwd": text(&json!(stage.directory())), "reason": null,
            "parsedCmd": [{ "type": "unknown", "cmd": "touch made" }],
        })
    );
    client
        .reply(&asked["id"], json!({ "decision": "denied" }))
        .await;

    let asked = client.skip_to(PATCH).await;
    let call = text(&asked["params"]["callId"]);
    assert_eq!(
        asked["params"],
        json!({
            "conversationId": thread, "callId": call, "reason": null, "grantRoot": null,
            "fileChanges": {
                path("new"): { "type": "add", "content": "n\n" },
                path("gone"): { "type": "delete", "content": "g\n" },
                path("old"): {
                    "type": "update", "unified_diff": "@@ -1,2 +1,2 @@\n a\n-b\n+c\n",
                    "move_path": path("moved"),
                },
            },
        })
    );
    client
        .reply(&asked["id"], json!({ "decision": "denied" }))
        .await;
    let messages = client.until("turn/completed").await;
    assert_eq!(status(&messages), "completed", "{:?}", order(&messages));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_approved_for_longer_is_not_asked_again() {
    let stage = Stage::new().await;
    let (mut client, thread) = asking(&stage).await;
    let amended =
        json!({ "approved_execpolicy_amendment": { "proposed_execpolicy_amendment": ["touch"] } });
    for decision in [json!("approved_for_session"), amended] {
        let target = format!(
            "touch {}",
            if decision.is_string() {
                "made"
            } else {
                "other"
            }
        );
        let step = calls(
            "shell_command",
            json!({ "command": target, "login": false }),
        );
        stage.play([step.clone(), step.clone(), json!({ "text": "twice" })]);
        say(&mut client, &thread, "twice").await;
        let question = client.skip_to(COMMAND).await;
        client
            .reply(&question["id"], json!({ "decision": decision }))
            .await;
        let messages = client.until("turn/completed").await;
        assert_eq!(
            completed(&messages, "commandExecution").len(),
            2,
            "{:?}",
            order(&messages)
        );
        assert!(
            !messages.iter().any(|it| it["method"] == COMMAND),
            "{decision}: asked again"
        );
    }
    let saved = std::fs::read_to_string(stage.home().join("rules/default.rules")).unwrap();
    assert_eq!(
        saved,
        "prefix_rule(pattern=[\"touch\"], decision=\"allow\")\n"
    );

    stage.play([
        patch("*** Add File: kept\n+x"),
        patch("*** Delete File: kept"),
        json!({ "text": "twice" }),
    ]);
    say(&mut client, &thread, "twice").await;
    let question = client.skip_to(PATCH).await;
    client
        .reply(
            &question["id"],
            json!({ "decision": "approved_for_session" }),
        )
        .await;
    let messages = client.until("turn/completed").await;
    assert_eq!(
        completed(&messages, "fileChange").len(),
        2,
        "{:?}",
        order(&messages)
    );

    let (mut plain, thread) = stage
        .thread_with(json!({ "approvalPolicy": "untrusted" }))
        .await;
    stage.play([
        calls("shell_command", json!({ "command": "mkdir d" })),
        json!({ "text": "no" }),
    ]);
    say(&mut plain, &thread, "once").await;
    let question = plain.skip_to("item/commandExecution/requestApproval").await;
    plain
        .reply(&question["id"], json!({ "decision": "decline" }))
        .await;
    plain.until("turn/completed").await;
    stage.play([json!({ "text": "still there" })]);
    assert_eq!(status(&run(&mut plain, &thread, "on").await), "completed");
}
