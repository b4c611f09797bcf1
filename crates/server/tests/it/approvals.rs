//! Questions to the user: every answer, no answer, and many who could answer.

use quipu_testkit::conversation::Conversation;
use serde_json::{Value, json};

use crate::stage::{Stage, calls, completed, gate, open, order, run, say, status, text};

const COMMAND: &str = "item/commandExecution/requestApproval";
const PATCH: &str = "item/fileChange/requestApproval";

/// A thread that asks before it does anything.
async fn asking(stage: &Stage) -> (Conversation, String) {
    stage
        .thread_with(json!({ "approvalPolicy": "untrusted" }))
        .await
}

fn touch(tool: &str) -> Value {
    match tool {
        "exec_command" => calls(tool, json!({ "cmd": "touch made" })),
        "shell_command" => calls(tool, json!({ "command": "touch made" })),
        _ => json!({ "patch": "*** Begin Patch\n*** Add File: made\n+x\n*** End Patch" }),
    }
}

fn question_of(tool: &str) -> &'static str {
    if tool == "apply_patch" {
        PATCH
    } else {
        COMMAND
    }
}

/// What the client says, whether the thing is then done, the status of the item, the end of the turn.
fn answers() -> [(Option<Value>, bool, &'static str, &'static str); 5] {
    [
        (
            Some(json!({ "decision": "accept" })),
            true,
            "completed",
            "completed",
        ),
        (
            Some(json!({ "decision": "decline" })),
            false,
            "declined",
            "completed",
        ),
        (
            Some(json!({ "decision": "cancel" })),
            false,
            "declined",
            "interrupted",
        ),
        (
            Some(json!({ "nonsense": 1 })),
            false,
            "declined",
            "completed",
        ),
        (None, false, "failed", "completed"),
    ]
}

/// A command that did not run is read back with the output, exit code and duration that it was sent with.
#[tokio::test(flavor = "multi_thread")]
async fn commands_that_did_not_run_are_read_back_as_they_were_sent() {
    let mut stage = Stage::new().await;
    let (mut client, thread) = asking(&stage).await;
    let mut sent = Vec::new();
    for tool in ["exec_command", "shell_command"] {
        for (answer, _, status, end) in answers().into_iter().skip(1) {
            stage.play([touch(tool)]);
            if end == "completed" {
                stage.play([json!({ "text": "noted" })]);
            }
            say(&mut client, &thread, "do it").await;
            let question = client.skip_to(COMMAND).await["id"].clone();
            match answer {
                Some(answer) => client.reply(&question, answer).await,
                None => client.refuse(&question).await,
            }
            let messages = client.until("turn/completed").await;
            let item = completed(&messages, "commandExecution")[0].clone();
            assert_eq!(item["status"], status);
            sent.push(item);
        }
    }
    stage.restart().await;
    let mut client = stage.client().await;
    let params = json!({ "threadId": thread, "includeTurns": true });
    let read = client.call("thread/read", params).await;
    let turns = read["thread"]["turns"].as_array().unwrap().iter();
    let items = turns.flat_map(|turn| turn["items"].as_array().unwrap());
    let commands = items.filter(|item| item["type"] == "commandExecution");
    assert_eq!(commands.cloned().collect::<Vec<_>>(), sent);
}

#[tokio::test(flavor = "multi_thread")]
async fn each_answer_has_its_effect() {
    let stage = Stage::new().await;
    let (mut client, thread) = asking(&stage).await;
    let made = stage.directory().join("made");
    for tool in ["exec_command", "shell_command", "apply_patch"] {
        for (answer, done, item, end) in answers() {
            let case = format!("{tool} {answer:?}");
            stage.play([touch(tool)]);
            if end == "completed" {
                stage.play([json!({ "text": "noted" })]);
            }
            say(&mut client, &thread, "do it").await;
            let mut messages = client.until(question_of(tool)).await;
            let question = messages.last().unwrap()["id"].clone();
            let waiting = order(&messages).iter().rev().nth(1).cloned();
            assert_eq!(
                waiting.as_deref(),
                Some("status active waitingOnApproval"),
                "{case}"
            );
            match answer {
                Some(answer) => client.reply(&question, answer).await,
                None => client.refuse(&question).await,
            }
            messages.extend(client.until("turn/completed").await);
            assert_eq!(status(&messages), end, "{case}: {:?}", order(&messages));
            let kind = if tool == "apply_patch" {
                "fileChange"
            } else {
                "commandExecution"
            };
            let items = completed(&messages, kind);
            let ends: Vec<String> = items.iter().map(|it| text(&it["status"])).collect();
            assert_eq!(ends, [item], "{case}: an item completes once");
            let resolved: Vec<_> = messages
                .iter()
                .filter(|it| it["method"] == "serverRequest/resolved")
                .collect();
            assert_eq!(resolved.len(), 1, "{case}: {:?}", order(&messages));
            assert_eq!(resolved[0]["params"]["requestId"], question, "{case}");
            assert_eq!(made.exists(), done, "{case}");
            if done {
                std::fs::remove_file(&made).unwrap();
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_accepted_for_the_session_is_not_asked_again() {
    let stage = Stage::new().await;
    let (mut client, thread) = asking(&stage).await;
    for tool in ["exec_command", "apply_patch"] {
        let again = match tool {
            "exec_command" => touch(tool),
            _ => {
                json!({ "patch": "*** Begin Patch\n*** Update File: made\n@@\n-x\n+y\n*** End Patch" })
            }
        };
        stage.play([touch(tool), again, json!({ "text": "done twice" })]);
        say(&mut client, &thread, "twice").await;
        let question = client.skip_to(question_of(tool)).await;
        client
            .reply(&question["id"], json!({ "decision": "acceptForSession" }))
            .await;
        let messages = client.until("turn/completed").await;
        assert_eq!(status(&messages), "completed");
        assert!(
            !messages.iter().any(|it| it["method"] == question_of(tool)),
            "{tool}: {:?}",
            order(&messages)
        );
        std::fs::remove_file(stage.directory().join("made")).unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_allowed_prefix_holds_at_once_and_for_good() {
    let stage = Stage::new().await;
    let (mut client, thread) = asking(&stage).await;
    stage.play([
        touch("exec_command"),
        touch("exec_command"),
        json!({ "text": "done twice" }),
    ]);
    say(&mut client, &thread, "twice").await;
    let question = client.skip_to(COMMAND).await;
    let prefix = json!(["touch", "made"]);
    let allow = json!({ "acceptWithExecpolicyAmendment": { "execpolicy_amendment": prefix } });
    let params = &question["params"];
    assert_eq!(params["proposedExecpolicyAmendment"], prefix);
    assert_eq!(
        params["availableDecisions"],
        json!(["accept", allow, "cancel"])
    );
    client
        .reply(&question["id"], json!({ "decision": allow }))
        .await;
    let messages = client.until("turn/completed").await;
    assert!(
        !messages.iter().any(|it| it["method"] == COMMAND),
        "asked again"
    );
    assert!(
        stage
            .last_request()
            .contains("Approved command prefix saved:")
    );
    let saved = std::fs::read_to_string(stage.home().join("rules/default.rules")).unwrap();
    assert_eq!(
        saved,
        "prefix_rule(pattern=[\"touch\", \"made\"], decision=\"allow\")\n"
    );

    let (mut other, thread) = asking(&stage).await;
    stage.play([touch("exec_command"), json!({ "text": "done" })]);
    let messages = run(&mut other, &thread, "once").await;
    assert_eq!(status(&messages), "completed", "{:?}", order(&messages));
    assert!(
        !messages.iter().any(|it| it["method"] == COMMAND),
        "asked in another thread"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn rules_that_cannot_be_used_are_reported_with_the_thread_that_wants_them() {
    let stage = Stage::new().await;
    let mut client = stage.client().await;
    let rules = stage.home().join("rules");
    std::fs::create_dir_all(&rules).unwrap();
    std::fs::write(rules.join("bad.rules"), "prefix_rule(").unwrap();
    let good = "prefix_rule(pattern=[\"true\"], decision=\"forbidden\")";
    std::fs::write(rules.join("good.rules"), good).unwrap();
    let started = client.call("thread/start", json!({})).await;
    let warning = client.skip_to("configWarning").await;
    assert!(text(&warning["params"]["path"]).ends_with("bad.rules"));
    assert_eq!(warning["params"]["range"]["start"]["line"], 1);

    client.call("thread/start", json!({})).await;
    stage.play([
        calls("exec_command", json!({ "cmd": "true" })),
        json!({ "text": "no" }),
    ]);
    let messages = run(&mut client, &text(&started["thread"]["id"]), "try").await;
    assert!(
        !messages.iter().any(|it| it["method"] == "configWarning"),
        "a client hears of a problem once"
    );
    assert!(
        stage
            .last_request()
            .contains("policy forbids commands starting with")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn rules_of_the_administrator_are_in_force() {
    let stage = Stage::new().await;
    let etc = stage.directory().join("etc");
    std::fs::create_dir_all(&etc).unwrap();
    let rule = "[[rules.prefix_rules]]\npattern = [{ token = \"touch\" }]\ndecision = \"forbidden\"\njustification = \"leave no trace\"\n";
    std::fs::write(etc.join("requirements.toml"), rule).unwrap();
    let (mut client, thread) = stage.thread().await;
    stage.play([touch("exec_command"), json!({ "text": "no" })]);
    run(&mut client, &thread, "do it").await;
    assert!(stage.last_request().contains("rejected: leave no trace"));
    assert!(!stage.directory().join("made").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_outlives_the_client_that_was_asked() {
    let stage = Stage::new().await;
    let (mut first, thread) = asking(&stage).await;
    stage.play([touch("exec_command"), json!({ "text": "done" })]);
    let turn = say(&mut first, &thread, "do it").await;
    let question = first.skip_to(COMMAND).await;
    first.leave().await;

    let mut second = stage.client().await;
    let joined = second
        .call("thread/resume", json!({ "threadId": thread }))
        .await;
    let status_now = &joined["thread"]["status"];
    assert_eq!(
        *status_now,
        json!({ "type": "active", "activeFlags": ["waitingOnApproval"] })
    );
    let last = joined["thread"]["turns"]
        .as_array()
        .unwrap()
        .last()
        .unwrap();
    assert_eq!(
        (&last["id"], &last["status"]),
        (&json!(turn), &json!("inProgress"))
    );
    let again = second.next().await;
    assert_eq!(
        again, question,
        "the same question with the same id, right after the answer"
    );
    second
        .reply(&again["id"], json!({ "decision": "accept" }))
        .await;
    let messages = second.until("turn/completed").await;
    assert_eq!(status(&messages), "completed");
    assert!(stage.directory().join("made").exists());
}

/// A client that lost its view of a thread resumes it on the connection that it has.
#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_resumes_what_it_follows_is_asked_again() {
    let stage = Stage::new().await;
    for tool in ["exec_command", "shell_command", "apply_patch"] {
        let (mut client, thread) = asking(&stage).await;
        stage.play([touch(tool), json!({ "text": "done" })]);
        say(&mut client, &thread, "do it").await;
        let question = client.skip_to(question_of(tool)).await;
        for _ in 0..2 {
            let resume = json!({ "threadId": thread });
            client.call("thread/resume", resume).await;
            assert_eq!(client.skip_to(question_of(tool)).await, question, "{tool}");
        }
        let accept = json!({ "decision": "accept" });
        client.reply(&question["id"], accept).await;
        let messages = client.until("turn/completed").await;
        assert_eq!(status(&messages), "completed", "{tool}");
        let resolved = messages
            .iter()
            .filter(|it| it["method"] == "serverRequest/resolved");
        assert_eq!(resolved.count(), 1, "{tool}: one answer settles it");
        std::fs::remove_file(stage.directory().join("made")).unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_that_nobody_can_answer_is_declined_in_the_end() {
    let stage = Stage::with("question_timeout_ms = 1").await;
    for tool in ["exec_command", "shell_command", "apply_patch"] {
        let mut second = stage.client().await;
        let (mut first, thread) = asking(&stage).await;
        // The model tries once more, and is not made to wait for that.
        stage.play([touch(tool), touch(tool), json!({ "text": "so be it" })]);
        say(&mut first, &thread, "do it").await;
        first.skip_to(question_of(tool)).await;
        first.leave().await;
        loop {
            let changed = second.skip_to("thread/status/changed").await;
            if changed["params"]["status"]["type"] == "idle" {
                break;
            }
        }
        let resume = json!({ "threadId": thread });
        let joined = second.call("thread/resume", resume).await;
        let last = &joined["thread"]["turns"][0];
        assert_eq!(last["status"], "completed", "{tool}");
        let declined = last["items"].as_array().unwrap().iter();
        let declined = declined.filter(|it| it["status"] == "declined");
        assert_eq!(declined.count(), 2, "{tool}: {last}");
        assert!(!stage.directory().join("made").exists());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_interrupt_settles_what_was_asked() {
    let stage = Stage::new().await;
    for tool in ["exec_command", "shell_command", "apply_patch"] {
        let (mut client, thread) = asking(&stage).await;
        stage.play([touch(tool), json!({ "text": "next" })]);
        let turn = say(&mut client, &thread, "do it").await;
        let question = client.skip_to(question_of(tool)).await;
        let interrupt = client
            .ask(
                "turn/interrupt",
                json!({ "threadId": thread, "turnId": turn }),
            )
            .await;
        let mut messages = client.until("turn/completed").await;
        assert_eq!(status(&messages), "interrupted");
        assert!(
            messages.iter().any(|it| it["id"] == interrupt),
            "{tool}: {:?}",
            order(&messages)
        );
        messages.extend(client.until("serverRequest/resolved").await);
        assert_eq!(
            messages.last().unwrap()["params"]["requestId"],
            question["id"]
        );
        client
            .reply(&question["id"], json!({ "decision": "accept" }))
            .await;
        let messages = run(&mut client, &thread, "go on").await;
        assert_eq!(
            status(&messages),
            "completed",
            "{tool}: a late answer changes nothing"
        );
        let request = stage.last_request();
        assert!(request.contains("aborted by user"), "{tool}: {request}");
        assert!(!stage.directory().join("made").exists(), "{tool}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_first_answer_wins_and_all_see_the_same() {
    let stage = Stage::new().await;
    let (mut first, thread) = asking(&stage).await;
    stage.play([json!({ "text": "hello" })]);
    run(&mut first, &thread, "hi").await;
    let mut second = stage.client().await;
    second
        .call("thread/resume", json!({ "threadId": thread }))
        .await;

    stage.play([touch("exec_command"), json!({ "deltas": 50 })]);
    let start = first
        .ask("turn/start", crate::stage::input(&thread, "do it"))
        .await;
    let mut seen_by_first = first.until(COMMAND).await;
    let mut seen_by_second = second.until(COMMAND).await;
    let question = seen_by_first.last().unwrap()["id"].clone();
    second
        .reply(&question, json!({ "decision": "decline" }))
        .await;
    seen_by_second.extend(second.until("serverRequest/resolved").await);
    first
        .reply(&question, json!({ "decision": "accept" }))
        .await;
    seen_by_first.extend(first.until("turn/completed").await);
    seen_by_second.extend(second.until("turn/completed").await);
    seen_by_first.retain(|it| it["id"] != start);
    assert_eq!(
        seen_by_first, seen_by_second,
        "each event once, in one order"
    );
    assert!(
        !stage.directory().join("made").exists(),
        "the first answer was a decline"
    );
}

/// A patch that is declined tells the diff of what the turn changed before, like one that is applied.
#[tokio::test(flavor = "multi_thread")]
async fn the_diff_is_reported_after_a_declined_patch() {
    let stage = Stage::new().await;
    let (mut client, thread) = asking(&stage).await;
    let patch = |name: &str| json!({ "patch": format!("*** Begin Patch\n*** Add File: {name}\n+x\n*** End Patch") });
    stage.play([patch("a"), patch("b"), json!({ "text": "done" })]);
    say(&mut client, &thread, "go").await;
    for decision in ["accept", "decline"] {
        let question = client.skip_to(PATCH).await;
        let answer = json!({ "decision": decision });
        client.reply(&question["id"], answer).await;
    }
    let messages = order(&client.until("turn/completed").await);
    let declined = messages
        .iter()
        .position(|it| it == "item/completed fileChange declined");
    let next = &messages[declined.unwrap() + 1];
    assert_eq!(next, "turn/diff/updated", "{messages:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_tool_that_fails_is_an_answer_too() {
    let stage = Stage::new().await;
    let (mut client, thread) = stage.thread_with(gate()).await;
    let answers = [
        (Some(open()), "completed", "open"),
        (
            Some(json!({ "what": "is this" })),
            "failed",
            "dynamic tool response was invalid",
        ),
        (
            Some(json!({ "contentItems": [{ "type": "smell" }], "success": true })),
            "failed",
            "dynamic tool response was invalid",
        ),
        (None, "failed", "dynamic tool request failed"),
    ];
    for (answer, item, words) in answers {
        stage.play([calls("gate", json!({ "n": 1 })), json!({ "text": "ok" })]);
        say(&mut client, &thread, "ask").await;
        let question = client.skip_to("item/tool/call").await;
        assert_eq!(question["params"]["arguments"], json!({ "n": 1 }));
        match answer {
            Some(answer) => client.reply(&question["id"], answer).await,
            None => client.refuse(&question["id"]).await,
        }
        let messages = client.until("turn/completed").await;
        assert_eq!(status(&messages), "completed");
        assert_eq!(completed(&messages, "dynamicToolCall")[0]["status"], item);
        // One text is the output; several would be its parts.
        let requests = stage.model.requests();
        let input = requests.last().unwrap().body["input"].as_array().unwrap();
        assert_eq!(input.last().unwrap()["output"], words);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn questions_of_plan_mode_reach_the_user_and_plans_are_items() {
    let stage = Stage::new().await;
    let (mut client, thread) = stage.thread().await;
    let questions = json!({ "questions": [{
        "id": "q", "header": "H", "question": "Which?", "options": [{ "label": "A", "description": "a" }],
    }] });
    stage.play([
        calls("request_user_input", questions),
        json!({ "text": "Here:\n<proposed_plan>\n1. Do A\n</proposed_plan>\nAgreed?" }),
    ]);
    let mut params = crate::stage::input(&thread, "plan it");
    params["collaborationMode"] =
        json!({ "mode": "plan", "settings": { "model": "scripted-model" } });
    client.call("turn/start", params).await;
    let mut messages = client.until("item/tool/requestUserInput").await;
    assert!(order(&messages).contains(&"status active waitingOnUserInput".to_owned()));
    let question = messages.last().unwrap()["id"].clone();
    client
        .reply(
            &question,
            json!({ "answers": { "q": { "answers": ["A"] } } }),
        )
        .await;
    messages.extend(client.until("turn/completed").await);
    assert_eq!(status(&messages), "completed");
    assert!(
        completed(&messages, "plan")[0]["text"]
            .as_str()
            .unwrap()
            .contains("1. Do A")
    );
    let words = text(&completed(&messages, "agentMessage")[0]["text"]);
    assert!(
        words.contains("Here:") && words.contains("Agreed?") && !words.contains("Do A"),
        "{words}"
    );
}

/// An answer has no answer of its own, so its sender is told under no id.
#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_cannot_be_understood_is_named_to_its_sender() {
    let stage = Stage::new().await;
    let (mut client, thread) = asking(&stage).await;
    for (answer, problem) in [
        (
            json!({ "decision": "yes" }),
            "unknown variant `yes`, expected",
        ),
        (json!({}), "missing field `decision`"),
        (json!("accept"), "invalid type: string"),
    ] {
        stage.play([touch("exec_command"), json!({ "text": "noted" })]);
        say(&mut client, &thread, "do it").await;
        let question = client.skip_to(question_of("exec_command")).await["id"].clone();
        client.reply(&question, answer).await;
        let messages = client.until("turn/completed").await;
        let error = messages.iter().find(|it| it["error"].is_object());
        let error = error.unwrap_or_else(|| panic!("{:?}", order(&messages)));
        assert_eq!(
            (&error["id"], &error["error"]["code"]),
            (&json!(null), &json!(-32600))
        );
        let text = error["error"]["message"].as_str().unwrap();
        let expected = format!(
            "Invalid answer to request {question} (item/commandExecution/requestApproval): {problem}"
        );
        assert!(text.starts_with(&expected), "{text}");
        let commands = completed(&messages, "commandExecution");
        assert_eq!(commands[0]["status"], "declined");
    }
    assert!(!stage.directory().join("made").exists());
}
