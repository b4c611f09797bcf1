//! What people and programs read when a run of `quipu exec` cannot begin, fails or is interrupted.

use std::process::Stdio;

use quipu_testkit::client::within;
use quipu_testkit::process::Signal;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};

use crate::exec::{Place, call, script, send, text};
use crate::exec_flags::with_model;

#[tokio::test]
async fn a_failure_is_said_once() {
    let place = Place::new();
    let steps = script(json!([{ "fail": 400, "body": { "error": { "message": "no luck" } } }]));
    let output = place.run(&[&steps]).await;
    assert_eq!(output.status.code(), Some(1));
    let printed = text(&output.stderr);
    let errors: Vec<&str> = printed.lines().filter(|it| !it.starts_with("> ")).collect();
    let errors = errors.iter().filter(|it| it.contains("no luck")).count();
    assert_eq!(errors, 1, "{printed}");
    assert!(printed.contains("\nerror: "), "{printed}");
}

#[tokio::test]
async fn a_retry_is_no_error_and_says_its_reason() {
    let (place, model) = with_model().await;
    model.queue_json(json!({ "text": "half", "cut": true }));
    model.queue_json(json!({ "text": "whole" }));
    let output = place.run(&["hi"]).await;
    assert!(output.status.success(), "{output:?}");
    let printed = text(&output.stderr);
    let retry = printed
        .lines()
        .find(|it| it.contains("Reconnecting... 1/5"));
    let retry = retry.unwrap();
    assert!(
        retry.starts_with("Reconnecting... 1/5 (stream disconnected"),
        "{printed}"
    );
    assert!(!printed.contains("\nerror:"), "{printed}");
}

/// A run that cannot begin: nothing of the protocol in the words, and an event for programs.
#[tokio::test]
async fn a_run_that_cannot_begin_says_why_in_plain_words() {
    let place = Place::new();
    let home = place.directory.path().join(".quipu");
    std::fs::write(
        home.join("config.toml"),
        "model_provider = \"offline\"\nmodel = 3\n",
    )
    .unwrap();
    for (args, why) in [
        (&["hi"][..], "config.toml:2:9: "),
        (&["resume", "nobody", "hi"], "config.toml:2:9: "),
        (&["--output-schema", "nowhere.json", "hi"], "nowhere.json"),
        (&["-i", "nowhere.png", "hi"], "nowhere.png"),
        (&["-c", "model", "hi"], "missing '='"),
    ] {
        let output = place.run(args).await;
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        let printed = text(&output.stderr);
        assert_eq!(printed.matches(why).count(), 1, "{printed}");
        for word in ["defaults", "thread/", "-326", "ERROR"] {
            assert!(!printed.contains(word), "{word}: {printed}");
        }
        let lines = place.lines(args, 1).await;
        assert_eq!(lines.len(), 1, "{lines:?}");
        assert_eq!(lines[0]["type"], "error");
        let message = lines[0]["message"].as_str().unwrap();
        assert!(message.contains(why), "{message}");
    }
}

/// The server sends its warnings right after the handshake; none may be lost, nor be said twice.
#[tokio::test]
async fn warnings_about_the_configuration_are_always_shown_once() {
    let place = Place::new();
    let home = place.directory.path().join(".quipu");
    std::fs::write(
        home.join("config.toml"),
        "model_provider = \"offline\"\nmodle = \"x\"\n",
    )
    .unwrap();
    for _ in 0..20 {
        let output = place.run(&["hi"]).await;
        let printed = text(&output.stderr);
        assert_eq!(printed.matches("modle").count(), 1, "{printed}");
        assert!(printed.contains("\nwarning: Ignoring unknown"), "{printed}");
    }
}

#[tokio::test]
async fn an_interrupted_run_says_how_to_continue() {
    let place = Place::new();
    let steps = script(json!([call("echo up; sleep 1000"), { "text": "never" }]));
    let mut child = place.command(&[&steps]).spawn().unwrap();
    drop(child.stdin.take());
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let mut printed = Vec::new();
    while let Some(line) = within("a line", lines.next_line()).await.unwrap() {
        if line.starts_with("$ ") {
            send(&child, Signal::INT);
        }
        printed.push(line);
    }
    let id = printed[1].strip_prefix("thread: ").unwrap();
    let expected = format!("error: interrupted; `quipu exec resume {id}` continues");
    assert!(printed.contains(&expected), "{printed:?}");
}

#[tokio::test]
async fn input_that_never_begins_is_not_waited_for() {
    let place = Place::new();
    let steps = script(json!([{ "text": "went on" }]));
    // The pipe stays open and silent until the run has ended.
    let mut child = place.command(&[&steps]).spawn().unwrap();
    let held = child.stdin.take();
    let output = within("the end of a run", child.wait_with_output());
    let output = output.await.unwrap();
    drop(held);
    assert_eq!(text(&output.stdout), "went on\n", "{output:?}");
    let printed = text(&output.stderr);
    assert!(
        printed.contains("nothing arrived within 5 seconds"),
        "{printed}"
    );
}

#[tokio::test]
async fn input_that_has_begun_is_read_to_its_end() {
    let (place, model) = with_model().await;
    let mut child = place.command(&["look at this"]).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let line = within("a line", lines.next_line()).await.unwrap();
    assert_eq!(line.unwrap(), "Reading additional input from stdin...");
    // A producer that is slow to begin, and slow to end.
    stdin.write_all(b"first ").await.unwrap();
    stdin.flush().await.unwrap();
    stdin.write_all(b"and last").await.unwrap();
    drop(stdin);
    let status = within("the end of a run", child.wait()).await.unwrap();
    assert!(status.success());
    let asked = model.requests().last().unwrap().body.to_string();
    let block = r"look at this\n\n<stdin>\nfirst and last\n</stdin>";
    assert!(asked.contains(block), "{asked}");
    // Without a pipe there is nothing to wait for.
    let mut command = place.command(&["hi"]);
    let run = command.stdin(Stdio::null()).output();
    let output = within("the end of a run", run).await.unwrap();
    assert!(
        !text(&output.stderr).contains("nothing arrived"),
        "{output:?}"
    );
    let last: Value = model.requests().last().unwrap().body.clone();
    assert!(!last["input"].to_string().contains("<stdin>"), "{last}");
}

/// A status is named once in each notice, with the provider's own words.
#[tokio::test]
async fn a_retry_names_its_reason_once() {
    let (place, model) = with_model().await;
    let broken = json!({ "fail": 500, "body": { "error": { "message": "the GPU is gone" } } });
    model.queue_json(broken.clone());
    // Before anybody hears of it, the same request is sent again.
    for _ in 0..4 {
        model.queue_json(broken.clone());
    }
    model.queue_json(json!({ "text": "back" }));
    let output = place.run(&["hi"]).await;
    assert!(output.status.success(), "{output:?}");
    let printed = text(&output.stderr);
    let retry = printed.lines().find(|it| it.starts_with("Reconnecting"));
    let retry = retry.unwrap();
    assert_eq!(retry.matches("500 Internal").count(), 1, "{retry}");
    assert_eq!(retry.matches("the GPU is gone").count(), 1, "{retry}");
}

/// The message is the same for every server; only its own words tell how large its window is.
#[tokio::test]
async fn an_overflow_comes_with_the_words_of_the_server() {
    let (place, model) = with_model().await;
    let words = "the request exceeds the available context size (1024 tokens)";
    let refusal = json!({ "fail": 400, "body": { "error": { "message": words } } });
    model.queue_json(refusal.clone());
    let output = place.run(&["hi"]).await;
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let printed = text(&output.stderr);
    assert_eq!(printed.matches(words).count(), 1, "{printed}");
    let message = "The prompt does not fit the model's context window. ";
    assert_eq!(printed.matches(message).count(), 1, "{printed}");
    model.queue_json(refusal);
    let lines = place.lines(&["hi"], 1).await;
    let failed = lines.last().unwrap();
    assert_eq!(failed["type"], "turn.failed", "{lines:?}");
    assert!(failed.to_string().contains(words), "{failed}");
}

/// What cannot be used is known before a model is asked, and paid.
#[tokio::test]
async fn paths_that_cannot_be_used_are_refused_before_the_turn() {
    let (place, model) = with_model().await;
    std::fs::write(place.work().join("note.txt"), "no image").unwrap();
    for (args, why) in [
        (
            ["-o", "nowhere/last.txt"],
            "cannot write the last message to nowhere/last.txt: the directory nowhere does not exist",
        ),
        (["-o", ".git"], ".git: it is a directory"),
        (["--add-dir", "nowhere"], "nowhere writable: No such file"),
        (
            ["--add-dir", "note.txt"],
            "note.txt writable: not a directory",
        ),
        (["-C", "nowhere"], "cannot work in nowhere: No such file"),
        (
            ["-i", "note.txt"],
            "note.txt: it is not a complete PNG, JPEG, GIF or WebP image",
        ),
    ] {
        let output = place.run(&[&args[..], &["hi"]].concat()).await;
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        assert!(text(&output.stderr).contains(why), "{output:?}");
    }
    assert!(model.requests().is_empty());
}

/// A script must not take an answer for complete that never reached its file.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn output_that_cannot_be_written_fails_the_run() {
    let place = Place::new();
    let steps = script(json!([{ "text": "an answer" }]));
    for args in [&[&*steps][..], &["--json", &steps]] {
        let full = std::fs::File::options().write(true).open("/dev/full");
        let mut command = place.command(args);
        command.stdin(Stdio::null()).stdout(full.unwrap());
        let child = command.spawn().unwrap();
        let output = within("the end of a run", child.wait_with_output());
        let output = output.await.unwrap();
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        let printed = text(&output.stderr);
        let why = "error: cannot write to standard output: No space left";
        assert_eq!(printed.matches(why).count(), 1, "{printed}");
    }
    let output = place.run(&["-o", "/dev/full", &steps]).await;
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let why = "cannot write the last message to /dev/full";
    assert!(text(&output.stderr).contains(why), "{output:?}");
}

/// Files that the settings and the environment name, each with what is wrong with it.
#[tokio::test]
async fn files_that_cannot_be_used_are_named() {
    let (place, model) = with_model().await;
    std::fs::write(place.work().join("empty.pem"), "no certificate").unwrap();
    let mut command = place.command(&["hi"]);
    command
        .env("CODEX_CA_CERTIFICATE", "empty.pem")
        .stdin(Stdio::null());
    let output = within("the end of a run", command.output()).await.unwrap();
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let why = "CODEX_CA_CERTIFICATE from empty.pem: the file holds no certificate in PEM form";
    assert!(text(&output.stderr).contains(why), "{output:?}");

    let missing = place.run(&["-c", "model_catalog_json=\"/nowhere.json\"", "hi"]);
    let missing = missing.await;
    let why = "Error: failed to read model_catalog_json path `/nowhere.json`: No such file";
    assert!(text(&missing.stderr).contains(why), "{missing:?}");
    assert!(model.requests().is_empty());

    // The turn is done when it shows, so it does not fail.
    let output = place.run(&["-c", "notify=[\"/nowhere\"]", "hi"]).await;
    assert!(output.status.success(), "{output:?}");
    let why = "failed to start notify program program=\"/nowhere\"";
    assert!(text(&output.stderr).contains(why), "{output:?}");
}
