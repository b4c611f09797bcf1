//! Tokens that a program prints: `[model_providers.NAME.auth]`.

use serde_json::{Value, json};

use crate::stage::{Stage, calls, completed, run, status, text};

/// A stage whose provider has tokens from a program of the test, `tok-12345-N` at its Nth run.
async fn stage(more: &str) -> Stage {
    let count =
        "n=$(($(cat count 2>/dev/null || echo 0) + 1)); echo $n > count; echo \"  tok-12345-$n\"";
    printing(count, more).await
}

async fn printing(script: &str, more: &str) -> Stage {
    let directory = tempfile::tempdir().unwrap();
    let place = directory.path().to_str().unwrap().to_owned();
    let auth = format!(
        "[model_providers.scripted.auth]\ncommand = \"sh\"\nargs = [\"-c\", {}]\ncwd = {place:?}\n{more}",
        Value::from(script),
    );
    Stage::in_directory(directory, &auth).await
}

/// What the requests so far showed as their token.
fn shown(stage: &Stage) -> Vec<String> {
    let requests = stage.model.requests();
    let shown = requests.iter().map(|it| it.headers.get("authorization"));
    shown.map(|it| it.cloned().unwrap_or_default()).collect()
}

fn tokens(numbers: &[u32]) -> Vec<String> {
    let of = |it: &u32| format!("Bearer tok-12345-{it}");
    numbers.iter().map(of).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_is_kept_until_its_time_is_over() {
    let stage = stage("").await;
    let (mut client, thread) = stage.thread().await;
    for _ in 0..2 {
        assert_eq!(status(&run(&mut client, &thread, "hi").await), "completed");
    }
    assert_eq!(shown(&stage), tokens(&[1, 1]));

    let stage = self::stage("refresh_interval_ms = 1").await;
    let (mut client, thread) = stage.thread().await;
    run(&mut client, &thread, "hi").await;
    run(&mut client, &thread, "hi").await;
    let shown = shown(&stage);
    assert_ne!(shown[0], shown[1]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refused_token_is_renewed_once() {
    let stage = stage("").await;
    let (mut client, thread) = stage.thread().await;
    stage.play([json!({ "fail": 401 }), json!({ "text": "welcome" })]);
    assert_eq!(status(&run(&mut client, &thread, "hi").await), "completed");
    assert_eq!(shown(&stage), tokens(&[1, 2]));
    stage.play([json!({ "fail": 401 }), json!({ "fail": 401 })]);
    assert_eq!(status(&run(&mut client, &thread, "hi").await), "failed");
    assert_eq!(shown(&stage), tokens(&[1, 2, 2, 3]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_that_fails_fails_the_turn_and_says_why() {
    for (script, more, why) in [
        (
            "echo tok-12345; echo 'log in first: tok-12345' >&2; exit 3",
            "",
            "exited with status 3: log in first: [redacted]",
        ),
        ("true", "", "produced an empty token"),
        ("exec sleep 600", "timeout_ms = 1", "timed out after 1 ms"),
        ("kill -9 $$", "", "was ended by signal 9"),
        ("exec yes", "", "printed more than 65536 bytes"),
    ] {
        let stage = printing(script, more).await;
        let (mut client, thread) = stage.thread().await;
        let messages = run(&mut client, &thread, "hi").await;
        let error = &messages.last().unwrap()["params"]["turn"]["error"];
        assert_eq!(
            text(&error["message"]),
            format!("provider auth command `sh` {why}")
        );
        assert_eq!(shown(&stage), [""; 0], "nothing is asked without a token");
    }
}

/// A command can run the program too, so the token must be hidden in what it prints.
#[tokio::test(flavor = "multi_thread")]
async fn a_printed_token_is_hidden_from_the_model() {
    let stage = stage("").await;
    let (mut client, thread) = stage.thread().await;
    let print = "printf 'tok-12345-%s' 1";
    stage.play([
        calls("shell_command", json!({ "command": print })),
        json!({ "text": "done" }),
    ]);
    let messages = run(&mut client, &thread, "hi").await;
    let command = completed(&messages, "commandExecution");
    assert_eq!(command[0]["aggregatedOutput"], "[redacted]");
    assert!(!stage.last_request().contains("tok-12345-1"));
}
