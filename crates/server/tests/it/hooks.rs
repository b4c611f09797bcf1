//! Hooks: what they are given, what they change, and that a turn ends whatever they do.

use std::fs;
use std::path::Path;

use quipu_testkit::conversation::Conversation;
use quipu_testkit::process_table;
use serde_json::{Value, json};

use crate::stage::{Stage, calls, completed, order, run, say, status, text};

const ON: &str = "[features]\ncodex_hooks = true";

/// Writes the hooks of a directory: pairs of an event and a command.
fn write(directory: &Path, hooks: &[(&str, &str)]) {
    write_whole(
        directory,
        hooks
            .iter()
            .map(|(event, command)| (*event, json!({ "type": "command", "command": command }))),
    );
}

fn write_whole<'a>(directory: &Path, hooks: impl IntoIterator<Item = (&'a str, Value)>) {
    let mut events = json!({});
    for (event, hook) in hooks {
        let groups = events[event].take();
        let mut groups = groups.as_array().cloned().unwrap_or_default();
        groups.push(json!({ "hooks": [hook] }));
        events[event] = groups.into();
    }
    fs::create_dir_all(directory).unwrap();
    let file = json!({ "hooks": events }).to_string();
    fs::write(directory.join("hooks.json"), file).unwrap();
}

/// A stage whose user has these hooks.
async fn stage(hooks: &[(&str, &str)]) -> Stage {
    let stage = Stage::with(ON).await;
    write(stage.home(), hooks);
    stage
}

/// Prints this to stdout.
fn says(said: &Value) -> String {
    format!("cat >/dev/null; cat <<'END'\n{said}\nEND\n")
}

/// Keeps its stdin in a file.
fn keeps(file: &str) -> String {
    format!("cat >> {file}.json; echo >> {file}.json")
}

fn kept(stage: &Stage, file: &str) -> Vec<Value> {
    let text =
        fs::read_to_string(stage.directory().join(format!("{file}.json"))).unwrap_or_default();
    let lines = text.lines();
    lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// The runs that ended: status and entries of each.
fn runs(received: &[Value]) -> Vec<(String, Value)> {
    let ended = received
        .iter()
        .filter(|it| it["method"] == "hook/completed");
    ended
        .map(|it| &it["params"]["run"])
        .map(|run| (text(&run["status"]), run["entries"].clone()))
        .collect()
}

/// The messages of the last request that are no context of the turn.
fn messages(stage: &Stage) -> Vec<String> {
    let request: Value = serde_json::from_str(&stage.last_request()).unwrap();
    let input = request["input"].as_array().unwrap().iter();
    let messages = input.filter(|it| it["type"] == "message").map(|it| {
        format!(
            "{}: {}",
            text(&it["role"]),
            it["content"][0]["text"].as_str().unwrap_or("")
        )
    });
    let is_context =
        |it: &String| it.contains("<permissions") || it.contains("<environment_context");
    messages.filter(|it| !is_context(it)).collect()
}

/// The output of the last tool, as the model reads it.
fn output(stage: &Stage) -> String {
    let request: Value = serde_json::from_str(&stage.last_request()).unwrap();
    let mut input = request["input"].as_array().unwrap().iter().rev();
    let output = input.find(|it| it["type"] == "function_call_output");
    text(&output.unwrap()["output"])
}

fn echo() -> Value {
    calls("exec_command", json!({ "cmd": "echo hi", "login": false }))
}

fn rollout(stage: &Stage) -> String {
    fn files(directory: &Path, found: &mut String) {
        for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
            match entry.file_type().unwrap().is_dir() {
                true => files(&entry.path(), found),
                false => found.push_str(&fs::read_to_string(entry.path()).unwrap()),
            }
        }
    }
    let mut found = String::new();
    files(&stage.home().join("sessions"), &mut found);
    found
}

#[tokio::test(flavor = "multi_thread")]
async fn each_event_runs_at_its_place_and_is_reported() {
    let events = [
        "PreToolUse",
        "PostToolUse",
        "SessionStart",
        "UserPromptSubmit",
        "Stop",
    ];
    let commands = events.map(keeps);
    let hooks: Vec<_> = events
        .into_iter()
        .zip(commands.iter().map(String::as_str))
        .collect();
    let stage = stage(&hooks).await;
    let (mut client, thread) = stage.thread().await;
    stage.play([echo(), json!({ "text": "done" })]);
    let turn = say(&mut client, &thread, "go").await;
    let received = client.until("turn/completed").await;
    let shown: Vec<String> = received
        .iter()
        .filter_map(|it| match it["method"].as_str()? {
            method @ ("hook/started" | "hook/completed") => {
                let run = &it["params"]["run"];
                Some(format!("{} {}", &method[5..], text(&run["eventName"])))
            }
            "item/started" => Some(text(&it["params"]["item"]["type"])),
            _ => None,
        })
        .collect();
    assert_eq!(
        shown,
        [
            "started sessionStart",
            "completed sessionStart",
            "started userPromptSubmit",
            "completed userPromptSubmit",
            "userMessage",
            "started preToolUse",
            "completed preToolUse",
            "commandExecution",
            "started postToolUse",
            "completed postToolUse",
            "agentMessage",
            "started stop",
            "completed stop",
        ]
    );
    let hook = received
        .iter()
        .find(|it| it["method"] == "hook/started")
        .unwrap();
    let path = stage.home().join("hooks.json").display().to_string();
    assert_eq!(hook["params"]["turnId"], json!(turn));
    assert_eq!(
        hook["params"]["run"]["id"],
        json!(format!("session-start:2:{path}"))
    );
    assert_eq!(hook["params"]["run"]["scope"], "thread");

    let [before] = &kept(&stage, "PreToolUse")[..] else {
        panic!()
    };
    assert_eq!(before["session_id"], json!(thread));
    assert_eq!(before["turn_id"], json!(turn));
    assert_eq!(before["cwd"], json!(stage.directory()));
    assert_eq!(before["model"], "scripted-model");
    assert_eq!(before["permission_mode"], "bypassPermissions");
    assert_eq!(before["tool_name"], "Bash");
    assert_eq!(before["tool_input"], json!({ "command": "echo hi" }));
    assert!(Path::new(&text(&before["transcript_path"])).is_file());
    assert_eq!(kept(&stage, "PostToolUse")[0]["tool_response"], "hi\n");
    assert_eq!(kept(&stage, "SessionStart")[0]["source"], "startup");
    assert_eq!(kept(&stage, "UserPromptSubmit")[0]["prompt"], "go");
    assert_eq!(kept(&stage, "Stop")[0]["last_assistant_message"], "done");

    // The session begins once, and again when it is resumed.
    run(&mut client, &thread, "again").await;
    assert_eq!(kept(&stage, "SessionStart").len(), 1);
    let mut stage = stage;
    client.leave().await;
    stage.restart().await;
    let mut client = stage.client().await;
    client
        .call("thread/resume", json!({ "threadId": thread }))
        .await;
    run(&mut client, &thread, "back").await;
    assert_eq!(kept(&stage, "SessionStart")[1]["source"], "resume");
}

#[tokio::test(flavor = "multi_thread")]
async fn hooks_add_to_what_the_model_knows() {
    let context = says(&json!({ "systemMessage": "S", "hookSpecificOutput": {
        "hookEventName": "UserPromptSubmit", "additionalContext": "second" } }));
    let stage = stage(&[
        ("SessionStart", "cat >/dev/null; echo first"),
        ("UserPromptSubmit", &context),
        ("UserPromptSubmit", "cat >/dev/null; echo third"),
    ])
    .await;
    let (mut client, thread) = stage.thread().await;
    let received = run(&mut client, &thread, "hi").await;
    assert_eq!(
        messages(&stage),
        [
            "developer: first",
            "user: hi",
            "developer: second",
            "developer: third"
        ]
    );
    assert_eq!(
        runs(&received)[1],
        (
            "completed".to_owned(),
            json!([{ "kind": "warning", "text": "S" }, { "kind": "context", "text": "second" }])
        )
    );
    assert!(rollout(&stage).contains(r#""text":"second""#));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_blocked_prompt_reaches_no_model_and_no_file() {
    let stage = stage(&[(
        "UserPromptSubmit",
        "if grep -q hunter2; then echo secret >&2; exit 2; fi",
    )])
    .await;
    let (mut client, thread) = stage.thread().await;
    let received = run(&mut client, &thread, "my password is hunter2").await;
    assert_eq!(status(&received), "completed");
    assert!(completed(&received, "userMessage").is_empty());
    assert_eq!(
        runs(&received),
        [(
            "blocked".to_owned(),
            json!([{ "kind": "feedback", "text": "secret" }])
        )]
    );
    assert!(stage.model.requests().is_empty());
    run(&mut client, &thread, "fine").await;
    assert_eq!(messages(&stage), ["user: fine"]);
    assert!(!rollout(&stage).contains("hunter2"));
}

#[tokio::test(flavor = "multi_thread")]
async fn input_that_hooks_have_not_seen_is_not_stored_when_its_turn_is_interrupted() {
    let stage = stage(&[("UserPromptSubmit", "sleep 1000")]).await;
    let (mut client, thread) = stage.thread().await;
    let turn = say(&mut client, &thread, "hunter2").await;
    client.skip_to("hook/started").await;
    let steer = json!({ "threadId": thread, "expectedTurnId": turn, "input": [{ "type": "text", "text": "hunter3" }] });
    client.call("turn/steer", steer).await;
    client
        .ask(
            "turn/interrupt",
            json!({ "threadId": thread, "turnId": turn }),
        )
        .await;
    assert_eq!(status(&client.until("turn/completed").await), "interrupted");
    let stored = rollout(&stage);
    assert!(
        stored.contains("turn_aborted") && !stored.contains("hunter"),
        "{stored}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn commands_are_blocked_whichever_tool_runs_them() {
    let stage = stage(&[
        ("PreToolUse", "echo not here >&2; exit 2"),
        ("PostToolUse", &keeps("after")),
    ])
    .await;
    let (mut client, thread) = stage.thread().await;
    for (tool, arguments, shown) in [
        ("exec_command", json!({ "cmd": "touch made" }), "touch made"),
        (
            "shell_command",
            json!({ "command": "touch made" }),
            "touch made",
        ),
        (
            "shell",
            json!({ "command": ["touch", "made now"] }),
            "touch 'made now'",
        ),
    ] {
        stage.play([calls(tool, arguments), json!({ "text": "so be it" })]);
        let received = run(&mut client, &thread, "go").await;
        assert!(completed(&received, "commandExecution").is_empty());
        assert_eq!(
            output(&stage),
            format!("Command blocked by PreToolUse hook: not here. Command: {shown}")
        );
    }
    // A reviewer's commands are commands, too.
    stage.play([
        calls("exec_command", json!({ "cmd": "touch made" })),
        json!({ "text": "{}" }),
    ]);
    let target = json!({ "type": "custom", "instructions": "look" });
    client
        .call(
            "review/start",
            json!({ "threadId": thread, "target": target }),
        )
        .await;
    let received = client.until("turn/completed").await;
    assert!(
        runs(&received)
            .iter()
            .any(|(status, _)| status == "blocked"),
        "{received:?}"
    );
    assert!(!stage.directory().join("made").exists());
    assert!(kept(&stage, "after").is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_model_reads_what_hooks_say_of_a_command() {
    let context = says(
        &json!({ "decision": "block", "reason": "look again", "hookSpecificOutput": {
        "hookEventName": "PostToolUse", "additionalContext": "it was slow" } }),
    );
    let stage = stage(&[
        ("PostToolUse", &context),
        ("PostToolUse", "echo and again >&2; exit 2"),
    ])
    .await;
    let (mut client, thread) = stage.thread().await;
    for (tool, arguments) in [
        ("exec_command", json!({ "cmd": "echo hi; exit 3" })),
        ("shell_command", json!({ "command": "echo hi; exit 3" })),
    ] {
        stage.play([calls(tool, arguments), json!({ "text": "done" })]);
        let received = run(&mut client, &thread, "go").await;
        assert_eq!(output(&stage), "look again\n\nand again");
        assert!(messages(&stage).contains(&"developer: it was slow".to_owned()));
        // Clients see what the command wrote.
        assert_eq!(
            completed(&received, "commandExecution")[0]["aggregatedOutput"],
            "hi\n"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_that_is_done_is_made_to_go_on() {
    let hook = r#"if grep -q '"stop_hook_active":true'; then exit 0; fi; echo 'run <all> tests' >&2; exit 2"#;
    let stage = stage(&[("Stop", hook)]).await;
    let (mut client, thread) = stage.thread().await;
    stage.play([json!({ "text": "done" }), json!({ "text": "really done" })]);
    let received = run(&mut client, &thread, "go").await;
    let id = format!("stop:0:{}", stage.home().join("hooks.json").display());
    let prompt =
        format!(r#"user: <hook_prompt hook_run_id="{id}">run &lt;all&gt; tests</hook_prompt>"#);
    assert_eq!(messages(&stage).last(), Some(&prompt));
    let fragments = json!([{ "text": "run <all> tests", "hookRunId": id }]);
    assert_eq!(
        completed(&received, "hookPrompt")[0]["fragments"],
        fragments
    );
    let read = json!({ "threadId": thread, "includeTurns": true });
    let read = client.call("thread/read", read).await;
    let items = read["thread"]["turns"][0]["items"].as_array().unwrap();
    let kinds: Vec<_> = items.iter().map(|it| text(&it["type"])).collect();
    assert_eq!(
        kinds,
        ["userMessage", "agentMessage", "hookPrompt", "agentMessage"]
    );
    assert_eq!(items[2]["fragments"], fragments);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_ends_whatever_its_hooks_do() {
    let mark = process_table::marker();
    for (event, command, error) in [
        (
            "UserPromptSubmit",
            format!("sleep {mark}"),
            "hook timed out after 1s",
        ),
        (
            "Stop",
            format!("trap '' TERM INT HUP; sleep {mark}"),
            "hook timed out after 1s",
        ),
        (
            "UserPromptSubmit",
            "kill -9 $$".to_owned(),
            "hook exited without a status code",
        ),
        (
            "Stop",
            "kill -9 0".to_owned(),
            "hook exited without a status code",
        ),
        (
            "PreToolUse",
            "yes".to_owned(),
            "hook wrote more than 1048576 bytes of output",
        ),
        (
            "PostToolUse",
            "yes >&2".to_owned(),
            "hook wrote more than 1048576 bytes of output",
        ),
        (
            "SessionStart",
            "head -c 5000 /dev/urandom; exit 9".to_owned(),
            "hook exited with code 9",
        ),
        (
            "Stop",
            "echo '{'".to_owned(),
            "hook returned invalid stop hook JSON output",
        ),
        (
            "UserPromptSubmit",
            format!("exec >&- 2>&-; sleep {mark}"),
            "hook timed out after 1s",
        ),
    ] {
        let stage = Stage::with(ON).await;
        let hook =
            json!({ "type": "command", "command": command, "timeout": 1, "statusMessage": "wait" });
        write_whole(stage.home(), [(event, hook)]);
        let (mut client, thread) = stage.thread().await;
        stage.play([echo(), json!({ "text": "done" })]);
        let received = run(&mut client, &thread, "go").await;
        assert_eq!(status(&received), "completed", "{command}");
        assert_eq!(
            runs(&received),
            [(
                "failed".to_owned(),
                json!([{ "kind": "error", "text": error }])
            )],
            "{command}"
        );
        assert_eq!(messages(&stage).last().unwrap(), "user: go", "{command}");
    }
    let left = process_table::left(&mark).await;
    assert!(left.is_empty(), "left behind: {left:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_hook_leaves_behind_ends_with_it() {
    let mark = process_table::marker();
    let daemon = format!("setsid sleep {mark} >/dev/null 2>&1 </dev/null & echo noted");
    let holder = format!("setsid sleep {mark} & echo noted");
    for command in [daemon, holder] {
        let stage = stage(&[("UserPromptSubmit", &command)]).await;
        let (mut client, thread) = stage.thread().await;
        run(&mut client, &thread, "go").await;
        assert_eq!(messages(&stage), ["user: go", "developer: noted"]);
        let left = process_table::left(&mark).await;
        assert!(left.is_empty(), "left behind: {left:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_interrupt_ends_a_hook_at_every_event() {
    let mark = process_table::marker();
    for event in [
        "SessionStart",
        "UserPromptSubmit",
        "PreToolUse",
        "PostToolUse",
        "Stop",
    ] {
        let stage = stage(&[(event, &format!("sleep {mark} & sleep {mark}"))]).await;
        let (mut client, thread) = stage.thread().await;
        stage.play([echo(), json!({ "text": "done" })]);
        let turn = say(&mut client, &thread, "go").await;
        client.skip_to("hook/started").await;
        client
            .ask(
                "turn/interrupt",
                json!({ "threadId": thread, "turnId": turn }),
            )
            .await;
        let received = client.until("turn/completed").await;
        assert_eq!(status(&received), "interrupted", "{event}");
        let left = process_table::left(&mark).await;
        assert!(left.is_empty(), "left behind: {left:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hook_need_not_read_and_may_be_given_much() {
    let stage = stage(&[
        ("UserPromptSubmit", "true"),
        ("UserPromptSubmit", "exec >&- 2>&-; wc -c > size"),
    ])
    .await;
    let (mut client, thread) = stage.thread().await;
    let received = run(&mut client, &thread, &"x".repeat(500_000)).await;
    assert_eq!(
        runs(&received),
        [
            ("completed".to_owned(), json!([])),
            ("completed".to_owned(), json!([]))
        ]
    );
    let size = fs::read_to_string(stage.directory().join("size")).unwrap();
    assert!(size.trim().parse::<usize>().unwrap() > 500_000, "{size}");
}

/// A project with hooks of its own.
async fn project(trust: &str, settings: &str) -> (Stage, Conversation, String) {
    let stage = Stage::with(settings).await;
    let directory = stage.directory().join("project");
    fs::create_dir_all(directory.join(".git")).unwrap();
    write(
        &directory.join(".codex"),
        &[("UserPromptSubmit", "echo from the project")],
    );
    let mut config = fs::read_to_string(stage.home().join("config.toml")).unwrap();
    config.push_str(&format!(
        "[projects.{:?}]\ntrust_level = \"{trust}\"\n",
        directory.display().to_string()
    ));
    fs::write(stage.home().join("config.toml"), config).unwrap();
    let (client, thread) = stage.thread_with(json!({ "cwd": directory })).await;
    (stage, client, thread)
}

#[tokio::test(flavor = "multi_thread")]
async fn hooks_of_a_project_run_if_it_is_trusted_and_the_feature_is_on() {
    for (trust, settings, expected) in [
        (
            "trusted",
            ON,
            vec!["user: hi", "developer: from the project"],
        ),
        ("untrusted", ON, vec!["user: hi"]),
        ("trusted", "", vec!["user: hi"]),
    ] {
        let (stage, mut client, thread) = project(trust, settings).await;
        run(&mut client, &thread, "hi").await;
        assert_eq!(messages(&stage), expected, "{trust} {settings}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_sandboxed_command_writes_does_not_become_a_hook() {
    let stage = Stage::with(ON).await;
    let directory = stage.directory().join("project");
    fs::create_dir_all(directory.join("sub/.codex")).unwrap();
    let (mut client, thread) = stage
        .thread_with(json!({ "cwd": directory, "sandbox": "workspace-write" }))
        .await;
    let home = stage.home().display();
    let script = format!(
        "mkdir -p .codex; for d in .codex {home}; do echo x > $d/hooks.json; done; touch allowed"
    );
    let patch = "*** Begin Patch\n*** Add File: .codex/hooks.json\n+x\n*** End Patch\n";
    stage.play([
        calls("exec_command", json!({ "cmd": script })),
        json!({ "calls": [{ "name": "apply_patch", "arguments": patch, "custom": true }] }),
        json!({ "text": "tried" }),
    ]);
    let received = run(&mut client, &thread, "go").await;
    assert!(directory.join("allowed").exists(), "{:?}", order(&received));
    assert!(!directory.join(".codex/hooks.json").exists());
    assert!(!stage.home().join("hooks.json").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn clients_learn_what_is_not_in_force() {
    let stage = Stage::with(ON).await;
    let hooks = json!({ "hooks": { "Stop": [{ "hooks": [{ "type": "prompt" }] }] } });
    fs::write(stage.home().join("hooks.json"), hooks.to_string()).unwrap();
    let mut client = stage.client().await;
    client.call("thread/start", json!({})).await;
    let mut warning = Value::Null;
    while warning["params"]["path"].is_null() {
        warning = client.skip_to("configWarning").await;
    }
    let path = stage.home().join("hooks.json").display().to_string();
    assert_eq!(warning["params"]["path"], json!(path));
    assert_eq!(
        warning["params"]["details"],
        json!(format!(
            "{path}: a hook in group 0 of stop is skipped: the type `prompt` is not supported yet"
        ))
    );
}

/// Accounts of services have no shell, or one that runs nothing.
#[tokio::test(flavor = "multi_thread")]
async fn hooks_run_whatever_the_users_shell_is() {
    for (shell, used) in [
        ("/bin/sh", "/bin/sh"),
        ("/nonexistent", "/bin/bash"),
        ("/bin/false", "/bin/bash"),
        ("bash", "/bin/bash"),
    ] {
        let mut stage = stage(&[("UserPromptSubmit", "echo $0 > shell.txt")]).await;
        stage.restart_with_env(&[("SHELL", shell)]);
        let (mut client, thread) = stage.thread().await;
        let received = run(&mut client, &thread, "hi").await;
        assert_eq!(runs(&received)[0].0, "completed", "{shell}");
        let kept = fs::read_to_string(stage.directory().join("shell.txt")).unwrap();
        assert_eq!(kept.trim(), used, "{shell}");
    }
}
