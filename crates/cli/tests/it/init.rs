//! `quipu init` on a terminal, and what it finds on this machine.

use std::fs::{self, File};
use std::io::{Read as _, Write as _};

use quipu_testkit::client::within;
use quipu_testkit::model::{ModelServer, Stop, Then};
use serde_json::{from_value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, BufReader};

use crate::exec::Place;
use crate::exec_terminal::terminal;

/// A person who answers each prompt once; what the screen showed in the end.
fn converse(mut screen: File, answers: &[(&str, &str)]) -> String {
    let mut seen = String::new();
    let mut answers = answers.iter();
    let mut next = answers.next();
    let mut bytes = [0; 4096];
    // Reading fails when nobody has the other end any more.
    while let Ok(count @ 1..) = screen.read(&mut bytes) {
        seen += &String::from_utf8_lossy(&bytes[..count]);
        if let Some((prompt, answer)) = next
            && seen.ends_with(prompt)
        {
            screen.write_all(answer.as_bytes()).unwrap();
            screen.write_all(b"\n").unwrap();
            next = answers.next();
        }
    }
    assert!(next.is_none(), "nobody asked {next:?}: {seen}");
    seen
}

/// Runs `quipu init` on a terminal; whether it succeeded, and what was seen.
async fn init(
    place: &Place,
    vars: &[(&str, &str)],
    answers: &'static [(&'static str, &'static str)],
) -> (bool, String) {
    let (person, program) = terminal();
    let mut command = place.quipu(&["init", "--no-test"]);
    command
        .envs(vars.iter().copied())
        .stdin(program.try_clone().unwrap())
        .stdout(program.try_clone().unwrap())
        .stderr(program);
    let mut child = command.spawn().unwrap();
    // The program's end must not stay open here.
    drop(command);
    let talking = tokio::task::spawn_blocking(move || converse(person, answers));
    let seen = within("the end of init", talking).await.unwrap();
    let status = within("its status", child.wait()).await.unwrap();
    (status.success(), seen)
}

fn fresh() -> Place {
    let place = Place::new();
    fs::remove_dir_all(place.directory.path().join(".quipu")).unwrap();
    place
}

fn config(place: &Place) -> String {
    let file = place.directory.path().join(".quipu/config.toml");
    fs::read_to_string(file).unwrap_or_default()
}

const KEYS: [(&str, &str); 2] = [("ANTHROPIC_API_KEY", "k"), ("GROQ_API_KEY", "k")];

#[tokio::test]
async fn a_person_picks_one_of_several_providers() {
    for (answers, provider) in [
        (&[("default 1] ", "2")], "groq"),
        (&[("default 1] ", "")], "anthropic"),
    ] {
        let place = fresh();
        let (done, seen) = init(&place, &KEYS, answers).await;
        assert!(done, "{seen}");
        assert!(
            seen.contains("1. anthropic: ANTHROPIC_API_KEY is set"),
            "{seen}"
        );
        assert_eq!(config(&place), format!("model_provider = \"{provider}\"\n"));
    }
    let place = fresh();
    let (done, seen) = init(&place, &KEYS, &[("default 1] ", "x")]).await;
    assert!(
        !done && seen.contains("`x` is not a number from 1 to "),
        "{seen}"
    );
    assert_eq!(config(&place), "");
}

#[tokio::test]
async fn the_home_of_the_official_program_is_shared_only_on_a_yes() {
    for (answers, shared) in [(&[("[y/N] ", "y")], true), (&[("[y/N] ", "")], false)] {
        let place = fresh();
        let theirs = place.directory.path().join(".codex");
        fs::create_dir(&theirs).unwrap();
        fs::write(theirs.join("config.toml"), "model_provider = \"groq\"\n").unwrap();
        let (done, seen) = init(&place, &KEYS[..1], answers).await;
        assert!(done, "{seen}");
        let own = place.directory.path().join(".quipu");
        assert_eq!(own.is_symlink(), shared, "{seen}");
        let provider = if shared { "groq" } else { "anthropic" };
        assert_eq!(config(&place), format!("model_provider = \"{provider}\"\n"));
    }
}

#[tokio::test]
async fn a_local_server_is_found_by_its_port() {
    let model = ModelServer::start().await.unwrap();
    model.set_models(json!({ "data": [{ "id": "tiny" }] }));
    let url = model.base_url();
    let place = fresh();
    let vars = [("CODEX_OSS_BASE_URL", url.as_str())];
    // Both programs that listen at this address are offered.
    let (done, seen) = init(&place, &vars, &[("default 1] ", "")]).await;
    assert!(done, "{seen}");
    let found = format!("1. ollama: a server listens at {url}");
    assert!(seen.contains(&found), "{seen}");
    assert_eq!(
        config(&place),
        "model_provider = \"ollama\"\nmodel = \"tiny\"\n"
    );
    drop(model);
    let (done, seen) = init(&fresh(), &vars, &[]).await;
    assert!(!done && !seen.contains(&found), "{seen}");
}

/// A server of this machine with one model, and the variable that says where it is.
async fn local() -> (ModelServer, [(&'static str, String); 1]) {
    let model = ModelServer::start().await.unwrap();
    model.set_models(json!({ "data": [{ "id": "tiny" }] }));
    let url = model.base_url();
    (model, [("CODEX_OSS_BASE_URL", url)])
}

const OLLAMA: [&str; 3] = ["init", "--provider", "ollama"];
const WRITTEN: &str = "model_provider = \"ollama\"\nmodel = \"tiny\"\n";

#[tokio::test]
async fn a_slow_model_is_waited_for_and_the_user_knows() {
    let (model, vars) = local().await;
    let place = fresh();
    let step = from_value(json!({ "text": "ready at last" })).unwrap();
    let gate = model.queue_gated(step, Stop::BeforeAnswer);
    let mut command = place.quipu(&OLLAMA);
    let mut child = command.envs(vars).spawn().unwrap();
    let mut stderr = BufReader::new(child.stderr.take().unwrap());
    let mut seen = String::new();
    while !seen.contains("No answer after ") {
        let read = within("a reminder", stderr.read_line(&mut seen)).await;
        assert_ne!(read.unwrap(), 0, "{seen}");
    }
    assert!(seen.contains("waiting for up to 600"), "{seen}");
    gate.open(Then::Finish);
    let rest = within("the rest", stderr.read_to_string(&mut seen)).await;
    rest.unwrap();
    assert!(seen.contains("It answered: ready at last"), "{seen}");
    assert!(within("its end", child.wait()).await.unwrap().success());
}

#[tokio::test]
async fn a_model_that_does_not_answer_in_time_leaves_a_configuration_that_works() {
    let (model, vars) = local().await;
    let place = fresh();
    let step = from_value(json!({ "text": "too late" })).unwrap();
    let gate = model.queue_gated(step, Stop::BeforeAnswer);
    let mut command = place.quipu(&[&OLLAMA[..], &["--timeout", "1"]].concat());
    let output = within("its end", command.envs(vars.clone()).output()).await;
    let output = output.unwrap();
    drop(gate);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let seen = String::from_utf8(output.stderr).unwrap();
    for words in [
        "Error: no answer within 1 seconds",
        "The configuration is written",
        "--timeout SECONDS",
    ] {
        assert!(seen.contains(words), "{words}: {seen}");
    }
    assert_eq!(config(&place), WRITTEN);
    model.queue_json(json!({ "text": "now" }));
    let mut command = place.command(&["hi"]);
    let command = command.envs(vars).stdin(std::process::Stdio::null());
    let output = within("its end", command.output()).await.unwrap();
    assert_eq!(output.stdout, b"now\n", "{output:?}");
}

#[tokio::test]
async fn attempts_that_fail_are_shown_while_init_waits() {
    let (model, vars) = local().await;
    let place = fresh();
    model.queue_json(json!({ "text": "half", "cut": true }));
    model.queue_json(json!({ "text": "whole" }));
    let mut command = place.quipu(&OLLAMA);
    let output = within("its end", command.envs(vars).output()).await;
    let output = output.unwrap();
    let seen = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{seen}");
    assert!(seen.contains("\nReconnecting... 1/5 ("), "{seen}");
    assert!(seen.contains("It answered: whole"), "{seen}");
    assert!(
        seen.ends_with("Try: quipu exec \"explain this directory\"\n"),
        "{seen}"
    );
}

/// The advice is followed to the letter, also where there is no repository.
#[tokio::test]
async fn the_command_that_init_suggests_works() {
    let (model, vars) = local().await;
    let place = fresh();
    fs::remove_dir(place.work().join(".git")).unwrap();
    model.queue_json(json!({ "text": "ready" }));
    let mut command = place.quipu(&OLLAMA);
    let output = within("its end", command.envs(vars.clone()).output()).await;
    let seen = String::from_utf8(output.unwrap().stderr).unwrap();
    let (_, suggested) = seen.rsplit_once("Try: quipu ").unwrap();
    let args = suggested.trim().replace('"', "");
    let (args, prompt) = args.split_once(" explain").unwrap();
    let prompt = format!("explain{prompt}");
    let args: Vec<&str> = args.split(' ').chain([&*prompt]).collect();
    model.queue_json(json!({ "text": "an explanation" }));
    let mut command = place.quipu(&args);
    command.envs(vars).stdin(std::process::Stdio::null());
    let output = within("its end", command.output()).await.unwrap();
    assert_eq!(output.stdout, b"an explanation\n", "{output:?}");
}

#[tokio::test]
async fn nothing_is_written_for_a_provider_that_cannot_be_used() {
    for (provider, why) in [
        ("nobody", "`nobody` not found; there are: openai, "),
        ("azure", "model_providers.azure.base_url is not set"),
    ] {
        let place = fresh();
        let mut command = place.quipu(&["init", "--provider", provider]);
        let output = within("its end", command.output()).await.unwrap();
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        let seen = String::from_utf8(output.stderr).unwrap();
        assert!(seen.contains(why) && !seen.contains("Wrote"), "{seen}");
        assert_eq!(config(&place), "");
    }
}

#[tokio::test]
async fn a_limit_that_no_clock_can_count_is_refused() {
    let place = fresh();
    for limit in ["0", "86401", "18446744073709551615"] {
        let mut command = place.quipu(&["init", "--timeout", limit]);
        let output = within("its end", command.output()).await.unwrap();
        assert_eq!(output.status.code(), Some(2), "{output:?}");
    }
}

/// A key that is set is not reported as missing.
#[tokio::test]
async fn a_key_without_an_address_is_named() {
    let place = fresh();
    let (done, seen) = init(&place, &[("AZURE_OPENAI_API_KEY", "k")], &[]).await;
    // A model server of this machine would be taken.
    if !seen.contains("a server listens at") {
        assert!(!done, "{seen}");
        for words in [
            "AZURE_OPENAI_API_KEY is set",
            "[model_providers.azure]",
            "--provider azure --model NAME",
        ] {
            assert!(seen.contains(words), "{words}: {seen}");
        }
        assert_eq!(config(&place), "");
    }
}
