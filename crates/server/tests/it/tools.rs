//! What tools do for the model, and what they do when they cannot.

use serde_json::{Value, json};

use crate::reading::IMAGE;
use crate::stage::{Stage, calls, completed, order, run, say, status, text};

/// The number of a background process, as the model was told it.
pub fn session_id(stage: &Stage) -> u64 {
    let sent = stage.last_request();
    let (_, rest) = sent
        .split_once("session ID ")
        .unwrap_or_else(|| panic!("no session in {sent}"));
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().unwrap()
}

/// A command that goes on until it reads a line.
fn waits() -> Value {
    calls(
        "exec_command",
        json!({ "cmd": "echo ready; read line; echo got $line", "tty": true, "yield_time_ms": 250 }),
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_goes_on_between_calls() {
    let stage = Stage::new().await;
    let (mut client, thread) = stage.thread().await;
    stage.play([waits(), json!({ "text": "it waits" })]);
    let messages = run(&mut client, &thread, "start it").await;
    assert_eq!(status(&messages), "completed");
    assert!(
        completed(&messages, "commandExecution").is_empty(),
        "it still runs: {:?}",
        order(&messages)
    );
    let started = messages
        .iter()
        .find(|it| it["params"]["item"]["type"] == "commandExecution")
        .unwrap();
    let item = text(&started["params"]["item"]["id"]);

    let id = session_id(&stage);
    stage.play([
        calls(
            "write_stdin",
            json!({ "session_id": id, "chars": "hello\n", "yield_time_ms": 10_000 }),
        ),
        json!({ "text": "it ended" }),
    ]);
    let messages = run(&mut client, &thread, "go on").await;
    let ended = completed(&messages, "commandExecution");
    assert_eq!(ended.len(), 1, "{:?}", order(&messages));
    assert_eq!(ended[0]["id"], item);
    assert_eq!(ended[0]["exitCode"], 0);
    assert!(text(&ended[0]["aggregatedOutput"]).contains("got hello"));
    assert!(stage.last_request().contains("Process exited with code 0"));
    assert!(
        messages
            .iter()
            .any(|it| it["method"] == "item/commandExecution/terminalInteraction")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_background_process_survives_an_interrupt_and_ends_when_cleaned() {
    let stage = Stage::new().await;
    let (mut client, thread) = stage.thread().await;
    stage.play([
        calls(
            "exec_command",
            json!({ "cmd": "echo up; sleep 1000", "yield_time_ms": 250 }),
        ),
        json!({ "stall": true, "text": "never" }),
    ]);
    let turn = say(&mut client, &thread, "start").await;
    client.skip_to("item/agentMessage/delta").await;
    client
        .call(
            "turn/interrupt",
            json!({ "threadId": thread, "turnId": turn }),
        )
        .await;
    let messages = client.until("turn/completed").await;
    assert_eq!(status(&messages), "interrupted");
    assert!(
        completed(&messages, "commandExecution").is_empty(),
        "the process lives: {:?}",
        order(&messages)
    );
    client
        .call(
            "thread/backgroundTerminals/clean",
            json!({ "threadId": thread }),
        )
        .await;
    let ended = client.skip_to("item/completed").await;
    assert_eq!(ended["params"]["item"]["status"], "failed");
    assert_eq!(
        ended["params"]["turnId"],
        json!(turn),
        "under the turn that started it"
    );
    stage.play([json!({ "text": "fine" })]);
    assert_eq!(
        status(&run(&mut client, &thread, "next").await),
        "completed"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn an_interrupt_ends_the_process_that_its_call_waits_for() {
    let stage = Stage::new().await;
    let (mut client, thread) = stage.thread().await;
    stage.play([calls(
        "exec_command",
        json!({ "cmd": "echo up; sleep 1000", "yield_time_ms": 30_000 }),
    )]);
    let turn = say(&mut client, &thread, "start").await;
    client.skip_to("item/commandExecution/outputDelta").await;
    let named = json!({ "threadId": thread, "turnId": turn });
    client.ask("turn/interrupt", named).await;
    let messages = client.until("turn/completed").await;
    assert_eq!(status(&messages), "interrupted");
    let ended = completed(&messages, "commandExecution");
    assert_eq!(ended.len(), 1, "{:?}", order(&messages));
    assert_eq!(ended[0]["status"], "failed");
    assert_eq!(ended[0]["aggregatedOutput"], "up\n");
    stage.play([json!({ "text": "fine" })]);
    run(&mut client, &thread, "next").await;
    assert!(stage.last_request().contains("aborted by user after"));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_interrupt_ends_a_plain_command_and_its_children() {
    let stage = Stage::new().await;
    let (mut client, thread) = stage.thread().await;
    let fifo = "mkfifo f; (trap '' TERM; exec 3<>f; echo up >&3; sleep 1000) & cat f";
    stage.play([calls("shell_command", json!({ "command": fifo }))]);
    let turn = say(&mut client, &thread, "start").await;
    client.skip_to("item/commandExecution/outputDelta").await;
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
async fn long_outputs_are_cut_everywhere() {
    let stage = Stage::new().await;
    let (mut client, thread) = stage.thread().await;
    for (tool, argument) in [("exec_command", "cmd"), ("shell_command", "command")] {
        let script = "echo first; head -c 3000000 /dev/zero | tr '\\0' x; echo last";
        stage.play([
            calls(tool, json!({ argument: script })),
            json!({ "text": "long" }),
        ]);
        let messages = run(&mut client, &thread, "talk").await;
        assert_eq!(status(&messages), "completed");
        let output = text(&completed(&messages, "commandExecution")[0]["aggregatedOutput"]);
        assert!(output.len() <= (1 << 20) + 100, "{tool}: {}", output.len());
        assert!(output.starts_with("first"), "{tool}");
        let requests = stage.model.requests();
        let sent = requests.last().unwrap().body["input"]
            .as_array()
            .unwrap()
            .last()
            .unwrap()
            .to_string();
        assert!(sent.len() < 100_000, "{tool}: {}", sent.len());
    }
    let rollout = crate::threads::rollout(&mut client, &thread).await;
    let stored = std::fs::metadata(rollout).unwrap().len();
    assert!(stored < 600_000, "{stored}");
}

/// Nothing that a model calls can end more than its call.
#[tokio::test(flavor = "multi_thread")]
async fn calls_that_cannot_work_are_reported_to_the_model() {
    let stage = Stage::new().await;
    let (mut client, thread) = stage.thread().await;
    let custom = |name: &str, input: &str| json!({ "calls": [{ "name": name, "arguments": input, "custom": true }] });
    let cases = [
        (
            calls("no_such_tool", json!({})),
            "unsupported call: no_such_tool",
        ),
        (
            custom("no_such_tool", "x"),
            "unsupported custom tool call: no_such_tool",
        ),
        (
            calls("exec_command", json!("{\"cmd\": ")),
            "failed to parse function arguments",
        ),
        (
            calls("exec_command", json!({ "cmd": 7 })),
            "failed to parse function arguments",
        ),
        (
            calls(
                "exec_command",
                json!({ "cmd": "true", "workdir": "/no/such/directory" }),
            ),
            "exec_command failed",
        ),
        (
            calls("shell", json!({ "command": [] })),
            "command args are empty",
        ),
        (
            calls("shell", json!("[]")),
            "with 7 elements at line 1 column 2",
        ),
        (
            calls(
                "shell_command",
                json!(r#"{"command":"true","timeout_ms":"x"}"#),
            ),
            "expected u64 at line 1 column 34",
        ),
        (
            calls("shell", json!({ "command": ["/no/such/program"] })),
            "execution error",
        ),
        (
            calls(
                "shell_command",
                json!({ "command": "sleep 1000", "timeout_ms": 50 }),
            ),
            "timed out",
        ),
        (
            calls("write_stdin", json!({ "session_id": 1, "chars": "" })),
            "Unknown process id 1",
        ),
        (
            custom("apply_patch", "no patch"),
            "apply_patch verification failed",
        ),
        (
            calls("update_plan", json!({ "plan": "none" })),
            "failed to parse function arguments",
        ),
        (
            calls("view_image", json!({ "path": "/no/such/picture.png" })),
            "/no/such/picture.png",
        ),
        (
            calls("request_user_input", json!({ "questions": [] })),
            "unavailable in Default mode",
        ),
    ];
    for (call, words) in cases {
        stage.play([call.clone(), json!({ "text": "I see" })]);
        let messages = run(&mut client, &thread, "try").await;
        assert_eq!(status(&messages), "completed", "{call}");
        let requests = stage.model.requests();
        let sent = requests.last().unwrap().body["input"]
            .as_array()
            .unwrap()
            .last()
            .unwrap()
            .to_string();
        assert!(sent.contains(words), "{call}: {sent}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_patch_is_a_file_change_however_it_is_called() {
    let stage = Stage::new().await;
    let (mut client, thread) = stage.thread().await;
    let patch =
        |name: &str| format!("*** Begin Patch\n*** Add File: {name}\n+hello\n*** End Patch");
    let heredoc = |name: &str| format!("apply_patch <<'EOF'\n{}\nEOF\n", patch(name));
    let steps = [
        json!({ "patch": patch("a") }),
        calls("apply_patch", json!({ "input": patch("b") })),
        calls("exec_command", json!({ "cmd": heredoc("c") })),
        calls("shell_command", json!({ "command": heredoc("d") })),
        calls("shell", json!({ "command": ["apply_patch", patch("e")] })),
    ];
    for (step, name) in steps.into_iter().zip(["a", "b", "c", "d", "e"]) {
        stage.play([step, json!({ "text": "written" })]);
        let messages = run(&mut client, &thread, "write").await;
        assert_eq!(status(&messages), "completed");
        let items = completed(&messages, "fileChange");
        assert_eq!(items.len(), 1, "{name}: {:?}", order(&messages));
        assert_eq!(items[0]["status"], "completed");
        assert!(
            completed(&messages, "commandExecution").is_empty(),
            "{name}"
        );
        let diff = messages
            .iter()
            .find(|it| it["method"] == "turn/diff/updated")
            .unwrap();
        assert!(text(&diff["params"]["diff"]).contains("+hello"));
        assert_eq!(
            std::fs::read_to_string(stage.directory().join(name)).unwrap(),
            "hello\n"
        );
    }
}

/// A link looks as if it stayed inside. That it does not is a failure of the patch, told as one.
#[tokio::test(flavor = "multi_thread")]
async fn a_patch_does_not_follow_a_link_out_of_the_workspace() {
    let settings =
        "[sandbox_workspace_write]\nexclude_slash_tmp = true\nexclude_tmpdir_env_var = true\n";
    let stage = Stage::with(settings).await;
    let (mut client, thread) = stage
        .thread_with(json!({ "sandbox": "workspace-write" }))
        .await;
    let outside = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(outside.path(), stage.directory().join("link")).unwrap();
    let patch = "*** Begin Patch\n*** Add File: link/made\n+x\n*** End Patch";
    stage.play([json!({ "patch": patch }), json!({ "text": "I see" })]);
    let messages = run(&mut client, &thread, "write").await;
    assert_eq!(status(&messages), "completed");
    let items = completed(&messages, "fileChange");
    assert_eq!(items.len(), 1, "{:?}", order(&messages));
    assert_eq!(items[0]["status"], "failed");
    assert!(!outside.path().join("made").exists());
    let requests = stage.model.requests();
    let input = requests.last().unwrap().body["input"].as_array().unwrap();
    let read = text(&input.last().unwrap()["output"]);
    assert!(read.contains("Failed to write file link/made"), "{read}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_picture_is_shown_under_its_plain_path() {
    let stage = Stage::new().await;
    let (mut client, thread) = stage.thread().await;
    std::fs::write(stage.directory().join("a.png"), IMAGE).unwrap();
    for path in ["a.png", "./a.png", "no/../a.png"] {
        stage.play([
            calls("view_image", json!({ "path": path })),
            json!({ "text": "nice" }),
        ]);
        let messages = run(&mut client, &thread, "look").await;
        let items = completed(&messages, "imageView");
        assert_eq!(items.len(), 1, "{path}: {:?}", order(&messages));
        assert_eq!(
            items[0]["path"],
            json!(stage.directory().join("a.png")),
            "{path}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn plans_are_reported_and_leave_no_item() {
    let stage = Stage::new().await;
    let (mut client, thread) = stage.thread().await;
    let plan =
        json!({ "explanation": "why", "plan": [{ "step": "one", "status": "in_progress" }] });
    stage.play([calls("update_plan", plan), json!({ "text": "planned" })]);
    let messages = run(&mut client, &thread, "plan").await;
    let updated = messages
        .iter()
        .find(|it| it["method"] == "turn/plan/updated")
        .unwrap();
    assert_eq!(
        updated["params"]["plan"],
        json!([{ "step": "one", "status": "inProgress" }])
    );
    let items: Vec<_> = order(&messages)
        .into_iter()
        .filter(|it| it.starts_with("item/completed"))
        .collect();
    assert_eq!(
        items,
        ["item/completed userMessage", "item/completed agentMessage"]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_of_one_answer_run_beside_each_other() {
    let stage = Stage::new().await;
    let (mut client, thread) = stage.thread().await;
    // Each waits for the other: one after the other they would wait for ever.
    let meet = |mine: &str, other: &str| {
        let script =
            format!("mkfifo {mine} {other} 2>/dev/null; echo {mine} > {mine} & cat {other}");
        json!({ "name": "exec_command", "arguments": { "cmd": script, "yield_time_ms": 20_000 } })
    };
    stage.play([
        json!({ "calls": [meet("p1", "p2"), meet("p2", "p1")] }),
        json!({ "text": "met" }),
    ]);
    let messages = run(&mut client, &thread, "meet").await;
    assert_eq!(status(&messages), "completed");
    let ended = completed(&messages, "commandExecution");
    assert_eq!(ended.len(), 2);
    assert!(ended.iter().all(|it| it["exitCode"] == 0), "{ended:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_users_own_command_is_a_turn_or_joins_one() {
    let stage = Stage::new().await;
    let (mut client, thread) = stage.thread_with(crate::stage::gate()).await;
    client
        .call(
            "thread/shellCommand",
            json!({ "threadId": thread, "command": " echo mine; exit 3 " }),
        )
        .await;
    let messages = client.until("turn/completed").await;
    assert_eq!(status(&messages), "completed");
    let item = completed(&messages, "commandExecution")[0];
    assert_eq!(
        (&item["source"], &item["exitCode"], &item["status"]),
        (&json!("userShell"), &json!(3), &json!("failed"))
    );

    stage.play([
        calls("gate", json!({})),
        json!({ "text": "seen" }),
        json!({ "text": "seen" }),
    ]);
    let turn = say(&mut client, &thread, "begin").await;
    assert!(stage.last_request().is_empty() || stage.last_request().contains("echo mine"));
    let question = client.skip_to("item/tool/call").await;
    client
        .call(
            "thread/shellCommand",
            json!({ "threadId": thread, "command": "echo beside" }),
        )
        .await;
    let ended = loop {
        let ended = client.skip_to("item/completed").await;
        if ended["params"]["item"]["type"] == "commandExecution" {
            break ended;
        }
    };
    assert_eq!(ended["params"]["turnId"], json!(turn));
    client.reply(&question["id"], crate::stage::open()).await;
    assert_eq!(status(&client.until("turn/completed").await), "completed");
    let sent = stage.last_request();
    assert!(
        sent.contains("<user_shell_command>") && sent.contains("beside") && sent.contains("mine"),
        "{sent}"
    );
    assert_eq!(
        client
            .refused(
                "thread/shellCommand",
                json!({ "threadId": thread, "command": "  " })
            )
            .await,
        "command must not be empty"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn the_users_own_command_can_be_interrupted() {
    let stage = Stage::new().await;
    let (mut client, thread) = stage.thread().await;
    client
        .call(
            "thread/shellCommand",
            json!({ "threadId": thread, "command": "echo up; sleep 1000" }),
        )
        .await;
    client.skip_to("item/commandExecution/outputDelta").await;
    client
        .call(
            "turn/interrupt",
            json!({ "threadId": thread, "turnId": "" }),
        )
        .await;
    // The answer may come before or after the item's end.
    stage.play([json!({ "text": "next" })]);
    let messages = client.until("turn/completed").await;
    assert_eq!(status(&messages), "interrupted");
    let messages = run(&mut client, &thread, "go on").await;
    assert_eq!(status(&messages), "completed");
}
