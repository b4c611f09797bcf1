//! `quipu eval`: a directory goes in, a report comes out.

use quipu_testkit::client::within;
use quipu_testkit::process::Signal;
use quipu_testkit::process_table::{appeared, left, marker};
use serde_json::{Value, json};

use crate::exec::{Place, send};

/// Two prompts, of which one answers with the case's answer and the other fails.
fn fill(place: &Place) {
    let directory = place.work().join("capitals");
    std::fs::create_dir_all(directory.join("prompts")).unwrap();
    let put = |name: &str, text: &str| std::fs::write(directory.join(name), text).unwrap();
    put(
        "prompts/good.md",
        "{\"script\": [{\"text\": \"{{answer}}\", \"usage\": {\"input\": 90, \"output\": 10}}]}",
    );
    put(
        "prompts/poor.md",
        "{\"script\": [{\"fail\": 400, \"body\": \"no {{answer}}\"}]}",
    );
    let case = |name: &str, answer: &str, expected: &str| {
        json!({ "name": name, "input": { "answer": answer }, "expected": expected }).to_string()
    };
    put(
        "cases.jsonl",
        &[
            case("Peru", "Lima", "Lima"),
            case("Ecuador", "Quito", "quito"),
        ]
        .join("\n"),
    );
    put(
        "eval.toml",
        "scores = [\"exact\", \"contains\"]\nconcurrency = 2\n[budget]\ntokens = 10000\n\
         [prices.offline]\ninput = \"1.00\"\noutput = \"10.00\"\n",
    );
}

#[tokio::test]
async fn a_directory_becomes_a_report() {
    let place = Place::new();
    fill(&place);
    let done = within("the end", place.quipu(&["eval", "capitals"]).output())
        .await
        .unwrap();
    let stderr = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{stderr}");
    let said = String::from_utf8(done.stdout).unwrap();
    assert!(
        said.contains("| good | 0.500 ± 0.980 | 1.000 ± 0.000 | 0 of 2 | 200 | 0.00038 |"),
        "{said}"
    );
    assert!(
        said.contains("| poor | 0.000 ± 0.000 | 0.000 ± 0.000 | 2 of 2 |"),
        "{said}"
    );
    let report = place.work().join("capitals/report");
    let read = |name: &str| std::fs::read_to_string(report.join(name)).unwrap();
    assert!(read("report.md").contains("| Peru | 1.00 | 1.00 | Lima |"));
    assert!(read("scores.svg").starts_with("<svg "));
    let json: Value = serde_json::from_str(&read("report.json")).unwrap();
    assert_eq!(
        json["variants"][1]["cases"][0]["failure"]["phase"],
        "request"
    );
}

#[tokio::test]
async fn what_is_wrong_with_a_directory_is_named() {
    let place = Place::new();
    fill(&place);
    let directory = place.work().join("capitals");
    for (name, text, complaint) in [
        ("cases.jsonl", "{\"input\": {}}\nno", "cases.jsonl, line 2"),
        ("eval.toml", "speed = 1", "unknown field `speed`"),
        (
            "eval.toml",
            "scores = [\"bleu\"]",
            "there is no score `bleu`",
        ),
        ("eval.toml", "timeout_seconds = 0", "`timeout_seconds` is 0"),
        ("eval.toml", "scores = [", "TOML parse error at line 1"),
        (
            "eval.toml",
            "[budget]\nmoney = \"a lot\"",
            "an amount is a number",
        ),
        ("schema.json", "{", "schema.json: EOF"),
        ("schema.json", "[]", "schema.json: invalid type"),
        ("cases.jsonl", "\n", "cases.jsonl has no cases"),
        ("prompts", "", "prompts has no prompts"),
    ] {
        if name == "prompts" {
            std::fs::remove_dir_all(directory.join(name)).unwrap();
            std::fs::create_dir(directory.join(name)).unwrap();
        } else {
            std::fs::write(directory.join(name), text).unwrap();
        }
        let done = within("the end", place.quipu(&["eval", "capitals"]).output())
            .await
            .unwrap();
        let stderr = String::from_utf8(done.stderr).unwrap();
        assert!(
            !done.status.success() && stderr.contains(complaint),
            "{name}: {stderr}"
        );
        assert!(!directory.join("report").exists(), "{name}");
        std::fs::remove_dir_all(&directory).unwrap();
        fill(&place);
    }
}

/// A run of which nothing came is a failure that says why. Its report is there all the same.
#[tokio::test]
async fn a_run_without_an_answer_fails() {
    let place = Place::new();
    fill(&place);
    let directory = place.work().join("capitals");
    std::fs::remove_file(directory.join("prompts/good.md")).unwrap();
    let done = within("the end", place.quipu(&["eval", "capitals"]).output())
        .await
        .unwrap();
    assert_eq!(done.status.code(), Some(1));
    let stderr = String::from_utf8(done.stderr).unwrap();
    assert!(stderr.contains("no evaluation has an answer"), "{stderr}");
    assert!(stderr.contains("no Lima"), "{stderr}");
    assert!(directory.join("report/report.md").exists());
}

/// Ctrl-C ends what runs, and what is done is reported. One evaluation runs at a time, so that the second prompt
/// begins when the first is done.
#[tokio::test]
async fn a_run_that_is_stopped_writes_its_report() {
    let (place, mark) = (Place::new(), marker());
    fill(&place);
    let directory = place.work().join("capitals");
    let command = format!("sleep {mark} # {{{{answer}}}}");
    let call = json!({ "name": "exec_command", "arguments": { "cmd": command } });
    let steps = json!({ "script": [{ "calls": [call] }, { "text": "late" }] });
    std::fs::write(directory.join("prompts/poor.md"), steps.to_string()).unwrap();
    let child = place
        .quipu(&["eval", "capitals", "--concurrency", "1"])
        .spawn()
        .unwrap();
    appeared(&mark).await;
    send(&child, Signal::INT);
    let done = within("the end", child.wait_with_output()).await.unwrap();
    let signal = std::os::unix::process::ExitStatusExt::signal(&done.status);
    assert_eq!(signal, Some(2), "{done:?}");
    let said = String::from_utf8(done.stdout).unwrap();
    assert!(said.contains("| good | 0.500"), "{said}");
    assert!(said.contains("2 evaluations are missing"), "{said}");
    let report = std::fs::read_to_string(directory.join("report/report.json")).unwrap();
    let report: Value = serde_json::from_str(&report).unwrap();
    assert_eq!(report["missing"], 2);
    let cases = |variant: usize| {
        let cases = &report["variants"][variant]["cases"];
        cases.as_array().unwrap().len()
    };
    assert_eq!((cases(0), cases(1)), (2, 0));
    assert_eq!(left(&mark).await, [""; 0]);
}
