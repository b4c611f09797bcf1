//! `quipu eval`: a directory goes in, a report comes out.

use quipu_testkit::client::within;
use serde_json::{Value, json};

use crate::exec::Place;

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
        ("schema.json", "{", "schema.json: EOF"),
    ] {
        std::fs::write(directory.join(name), text).unwrap();
        let done = within("the end", place.quipu(&["eval", "capitals"]).output())
            .await
            .unwrap();
        let stderr = String::from_utf8(done.stderr).unwrap();
        assert!(
            !done.status.success() && stderr.contains(complaint),
            "{name}: {stderr}"
        );
        std::fs::remove_file(directory.join(name)).unwrap();
        fill(&place);
    }
}
