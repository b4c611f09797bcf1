//! `quipu exec` as a shell and as a program that drives it see it, with the offline model.

use std::path::PathBuf;
use std::process::{Output, Stdio};

use quipu_testkit::client::within;
use quipu_testkit::process::Signal;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::{Child, Command};

use crate::support::QUIPU;

/// A home directory, and a repository to work in.
pub struct Place {
    pub directory: TempDir,
}

impl Place {
    pub fn new() -> Place {
        let directory = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(directory.path().join("work/.git")).unwrap();
        let home = directory.path().join(".quipu");
        std::fs::create_dir(&home).unwrap();
        std::fs::write(home.join("config.toml"), "model_provider = \"offline\"\n").unwrap();
        Place { directory }
    }

    pub fn work(&self) -> PathBuf {
        self.directory.path().join("work")
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "the program under test, killed on drop"
    )]
    pub fn quipu(&self, args: &[&str]) -> Command {
        let mut command = Command::new(QUIPU);
        command
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.directory.path())
            .current_dir(self.work())
            .args(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        command
    }

    pub fn command(&self, args: &[&str]) -> Command {
        self.quipu(&[&["exec"], args].concat())
    }

    pub async fn run_with(&self, args: &[&str], input: &str) -> Output {
        let mut child = self.command(args).spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(input.as_bytes()).await.unwrap();
        drop(stdin);
        within("the end of a run", child.wait_with_output())
            .await
            .unwrap()
    }

    pub async fn run(&self, args: &[&str]) -> Output {
        self.run_with(args, "").await
    }

    /// What is stored of the only thread.
    /// What comes of `quipu` with these arguments and no input.
    pub async fn outcome(&self, args: &[&str]) -> Output {
        let output = self.quipu(args).stdin(Stdio::null()).output();
        within("the end of a command", output).await.unwrap()
    }

    /// What `quipu` prints when it succeeds.
    pub async fn ok(&self, args: &[&str]) -> String {
        let output = self.outcome(args).await;
        assert!(output.status.success(), "{args:?}: {output:?}");
        text(&output.stdout).to_owned()
    }

    /// The error that `quipu` prints when it fails.
    pub async fn fails(&self, args: &[&str]) -> String {
        let output = self.outcome(args).await;
        assert!(!output.status.success(), "{args:?}: {output:?}");
        text(&output.stderr).to_owned()
    }

    pub fn rollout(&self) -> String {
        let mut path = self.directory.path().join(".quipu/sessions");
        while path.is_dir() {
            let mut entries = std::fs::read_dir(&path).unwrap();
            path = entries.next().unwrap().unwrap().path();
        }
        std::fs::read_to_string(path).unwrap()
    }

    /// The lines of a run with `--json`.
    pub async fn lines(&self, args: &[&str], code: i32) -> Vec<Value> {
        let output = self.run(&[&["--json"], args].concat()).await;
        assert_eq!(output.status.code(), Some(code), "{output:?}");
        let lines = std::str::from_utf8(&output.stdout).unwrap().lines();
        lines
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }
}

pub fn script(steps: Value) -> String {
    json!({ "script": steps }).to_string()
}

pub fn call(command: &str) -> Value {
    json!({ "calls": [{ "name": "exec_command", "arguments": { "cmd": command } }] })
}

pub fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

#[tokio::test]
async fn json_lines_are_those_that_programs_read() {
    let place = Place::new();
    // What five steps cost unless they say otherwise.
    let usage = json!({ "input_tokens": 500, "cached_input_tokens": 50, "output_tokens": 100 });
    let plan = |status: &str| {
        let plan =
            json!([{ "step": "look", "status": status }, { "step": "act", "status": "pending" }]);
        json!({ "calls": [{ "name": "update_plan", "arguments": { "plan": plan } }] })
    };
    let patch = "*** Begin Patch\n*** Add File: new.txt\n+hello\n*** End Patch";
    let steps = script(json!([
        { "reasoning": "Hm.", "calls": plan("in_progress")["calls"] },
        plan("completed"),
        call("echo hi; exit 3"),
        { "patch": patch },
        { "deltas": ["All ", "done."] },
    ]));
    let lines = place.lines(&["-s", "workspace-write", &steps], 0).await;
    let thread = lines[0]["thread_id"].as_str().unwrap();
    assert_eq!(thread.len(), 36, "{thread}");
    let todo = |completed: bool| {
        let items = json!([{ "text": "look", "completed": completed }, { "text": "act", "completed": false }]);
        json!({ "id": "item_1", "type": "todo_list", "items": items })
    };
    let command = lines[5]["item"]["command"].as_str().unwrap();
    assert!(command.contains("echo hi; exit 3"), "{command}");
    let ran = |output: &str, code: Value, status: &str| {
        json!({ "id": "item_2", "type": "command_execution", "command": command,
            "aggregated_output": output, "exit_code": code, "status": status })
    };
    let path = place.work().canonicalize().unwrap().join("new.txt");
    let changed = |status: &str| {
        json!({ "id": "item_3", "type": "file_change", "status": status,
            "changes": [{ "path": path, "kind": "add" }] })
    };
    let expected = [
        json!({ "type": "thread.started", "thread_id": thread }),
        json!({ "type": "turn.started" }),
        json!({ "type": "item.completed", "item": { "id": "item_0", "type": "reasoning", "text": "Hm." } }),
        json!({ "type": "item.started", "item": todo(false) }),
        json!({ "type": "item.updated", "item": todo(true) }),
        json!({ "type": "item.started", "item": ran("", Value::Null, "in_progress") }),
        json!({ "type": "item.completed", "item": ran("hi\n", json!(3), "failed") }),
        json!({ "type": "item.started", "item": changed("in_progress") }),
        json!({ "type": "item.completed", "item": changed("completed") }),
        json!({ "type": "item.completed", "item": { "id": "item_4", "type": "agent_message", "text": "All done." } }),
        json!({ "type": "item.completed", "item": todo(true) }),
        json!({ "type": "turn.completed", "usage": usage }),
    ];
    assert_eq!(lines, expected);
    assert_eq!(std::fs::read_to_string(path).unwrap(), "hello\n");
}

#[tokio::test]
async fn a_failed_turn_says_why_and_fails_the_command() {
    let place = Place::new();
    let steps = script(json!([{ "fail": 400, "body": { "error": { "message": "no luck" } } }]));
    let lines = place.lines(&[&steps], 1).await;
    let message = lines[2]["message"].as_str().unwrap();
    assert!(message.contains("no luck"), "{message}");
    let failed = json!({ "type": "turn.failed", "error": { "message": message } });
    assert_eq!(lines[3], failed);
    assert_eq!(lines.len(), 4);
}

#[tokio::test]
async fn people_read_words_and_pipes_the_last_message() {
    let place = Place::new();
    let steps = script(json!([call("seq 100"), { "text": "Counted." }]));
    let output = place.run(&[&steps]).await;
    assert!(output.status.success(), "{output:?}");
    assert_eq!(text(&output.stdout), "Counted.\n");
    let printed = text(&output.stderr);
    for part in [
        "seq 100",
        "\n1\n",
        "… 60 more lines …",
        "\n100\n",
        "sandbox: read-only",
    ] {
        assert!(printed.contains(part), "{part:?} is not in {printed}");
    }
    assert!(!printed.contains('\x1b'), "{printed}");
}

#[tokio::test]
async fn prompts_come_from_arguments_and_pipes() {
    let place = Place::new();
    let hello = script(json!([{ "text": "from a pipe" }]));
    for args in [&["-"][..], &[]] {
        let output = place.run_with(args, &hello).await;
        assert_eq!(text(&output.stdout), "from a pipe\n", "{output:?}");
    }
    let both = place.run_with(&["look at this"], "some input").await;
    let printed = text(&both.stderr);
    let block = "look at this\n\n<stdin>\nsome input\n</stdin>\n";
    assert!(printed.contains(block), "{printed}");
    let none = place.run(&[]).await;
    assert_eq!(none.status.code(), Some(1));
    assert!(text(&none.stderr).contains("No prompt provided via stdin."));
}

#[tokio::test]
async fn a_run_goes_on_where_another_ended() {
    let place = Place::new();
    let first = place.lines(&[&script(json!([{ "text": "one" }]))], 0).await;
    let id = first[0]["thread_id"].as_str().unwrap();
    let next = script(json!([{ "text": "two" }]));
    for args in [&["resume", id, &next][..], &["resume", "--last", &next]] {
        let lines = place.lines(args, 0).await;
        assert_eq!(lines[0]["thread_id"], id);
        assert_eq!(lines[2]["item"]["text"], "two");
    }
    // As programs call it: flags first, the prompt on standard input.
    let args = [
        "--experimental-json",
        "--sandbox",
        "read-only",
        "resume",
        id,
    ];
    let output = place.run_with(&args, &next).await;
    assert!(text(&output.stdout).contains(id), "{output:?}");
    let unknown = place.run(&["resume", "nobody", "hi"]).await;
    assert_eq!(unknown.status.code(), Some(1));
    let printed = text(&unknown.stderr);
    assert!(
        printed.contains("no stored run has the id or name `nobody`"),
        "{printed}"
    );
    let kept_nothing = Place::new();
    kept_nothing.lines(&["--ephemeral", "hi"], 0).await;
    let latest = kept_nothing.run(&["resume", "--last", "hi"]).await;
    assert!(
        text(&latest.stderr).contains("no run is stored"),
        "{latest:?}"
    );
}

#[tokio::test]
async fn the_last_message_can_be_kept_and_must_fit_its_schema() {
    let place = Place::new();
    let schema = place.directory.path().join("schema.json");
    let wants = json!({ "type": "object", "properties": { "a": { "type": "integer" } },
        "required": ["a"], "additionalProperties": false });
    std::fs::write(&schema, wants.to_string()).unwrap();
    let kept = place.directory.path().join("last.txt");
    let (schema, kept_path) = (schema.to_str().unwrap(), kept.to_str().unwrap());
    let fitting = script(json!([{ "text": "{\"a\":1}" }]));
    let args = ["--output-schema", schema, "-o", kept_path, &fitting];
    place.lines(&args, 0).await;
    assert_eq!(std::fs::read_to_string(&kept).unwrap(), "{\"a\":1}");
    let other = script(json!([{ "text": "{\"b\":1}" }]));
    let strict = [
        "-c",
        "output_schema=strict",
        "--output-schema",
        schema,
        &other,
    ];
    let lines = place.lines(&strict, 1).await;
    let failed = lines.last().unwrap();
    assert_eq!(failed["type"], "turn.failed", "{failed}");
    let missing = place.run(&["--output-schema", "nowhere.json", "hi"]).await;
    assert_eq!(missing.status.code(), Some(1));
    assert!(text(&missing.stderr).contains("Failed to read output schema file nowhere.json"));
}

#[tokio::test]
async fn what_cannot_be_is_refused_before_anything_is_done() {
    let place = Place::new();
    std::fs::remove_dir(place.work().join(".git")).unwrap();
    let outside = place.run(&["hi"]).await;
    assert_eq!(outside.status.code(), Some(1));
    let printed = text(&outside.stderr);
    assert!(
        printed.contains("Not inside a trusted directory"),
        "{printed}"
    );
    assert!(!place.directory.path().join(".quipu/sessions").exists());
    place.lines(&["--skip-git-repo-check", "hi"], 0).await;
    let nowhere = place.run(&["-C", "/nowhere/at/all", "hi"]).await;
    assert!(text(&nowhere.stderr).contains("cannot work in /nowhere/at/all"));
    let unknown = place.run(&["--nonsense"]).await;
    assert_eq!(unknown.status.code(), Some(2));
}

#[tokio::test]
async fn a_sandboxed_run_cannot_write_and_asks_nobody() {
    let place = Place::new();
    let steps = script(json!([call("touch made"), { "text": "tried" }]));
    let lines = place.lines(&["-s", "read-only", &steps], 0).await;
    let done = lines.iter().find(|it| it["item"]["status"] == "failed");
    assert!(done.is_some(), "{lines:?}");
    assert!(!place.work().join("made").exists());
    let steps = script(json!([call("touch made"), { "text": "tried" }]));
    place.lines(&["--full-auto", &steps], 0).await;
    assert!(place.work().join("made").exists());
}

#[tokio::test]
async fn signals_interrupt_the_turn_and_end_the_process() {
    for signal in [Signal::INT, Signal::TERM] {
        let place = Place::new();
        let steps = script(json!([call("echo up; sleep 1000"), { "text": "never" }]));
        let mut child = place.command(&["--json", &steps]).spawn().unwrap();
        drop(child.stdin.take());
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        while let Some(line) = within("a line", lines.next_line()).await.unwrap() {
            if line.contains("item.started") {
                break;
            }
        }
        send(&child, signal);
        let mut rest = Vec::new();
        while let Some(line) = within("a line", lines.next_line()).await.unwrap() {
            rest.push(serde_json::from_str::<Value>(&line).unwrap());
        }
        // The sender of the signal knows; a failed turn would be news of something else.
        let ended = |it: &Value| {
            it["type"]
                .as_str()
                .is_some_and(|it| it.starts_with("turn."))
        };
        assert!(!rest.iter().any(ended), "{rest:?}");
        let status = within("the end", child.wait()).await.unwrap();
        use std::os::unix::process::ExitStatusExt as _;
        assert_eq!(status.signal(), Some(signal.as_raw()));
        // The turn is recorded as interrupted, and the next one goes on from there.
        let next = script(json!([{ "text": "again" }]));
        let args = ["--json", "resume", "--last", &next];
        let output = place.run(&args).await;
        assert!(output.status.success(), "{output:?}");
        let rollout = place.rollout();
        assert!(rollout.contains("turn_aborted"), "{rollout}");
    }
}

pub fn send(child: &Child, signal: Signal) {
    let pid = i32::try_from(child.id().unwrap()).unwrap();
    let pid = rustix::process::Pid::from_raw(pid).unwrap();
    rustix::process::kill_process(pid, signal).unwrap();
}

#[tokio::test]
async fn what_is_amiss_beside_the_turn_is_reported() {
    let place = Place::new();
    // A project that is trusted, with rules that cannot be read.
    let project = place
        .directory
        .path()
        .canonicalize()
        .unwrap()
        .join("project");
    for directory in [".git", ".codex/rules"] {
        std::fs::create_dir_all(project.join(directory)).unwrap();
    }
    std::fs::write(
        project.join(".codex/rules/bad.rules"),
        "prefix_rule(pattern=\n",
    )
    .unwrap();
    let project = project.to_str().unwrap();
    let home = place.directory.path().join(".quipu");
    let trusted = format!(
        "model_provider = \"offline\"\n[projects.{project:?}]\ntrust_level = \"trusted\"\n"
    );
    std::fs::write(home.join("config.toml"), trusted).unwrap();
    let lines = place.lines(&["-C", project, "hi"], 0).await;
    let noticed = lines.iter().find(|it| it["item"]["type"] == "error");
    let message = noticed.map(|it| it["item"]["message"].as_str().unwrap());
    assert!(
        message.is_some_and(|it| it.contains("bad.rules")),
        "{lines:?}"
    );
    assert_eq!(lines.last().unwrap()["type"], "turn.completed");
}

#[tokio::test]
async fn a_review_is_a_run_too() {
    let place = Place::new();
    let steps = script(json!([{ "text": "Looks fine." }]));
    let lines = place.lines(&["review", &steps], 0).await;
    let printed = lines
        .iter()
        .find(|it| it["item"]["type"] == "agent_message");
    assert!(printed.is_some(), "{lines:?}");
    let nothing = place.run(&["review"]).await;
    assert!(text(&nothing.stderr).contains("nothing selected for review"));
}
