//! 17.3 Issue tracker adapter: the directory of Markdown files.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use quipu_runner::tracker::{self, Issue, Tracker, TrackerErrorKind};
use serde_json::json;
use tempfile::TempDir;

use super::support::{config, env};

fn directory() -> (TempDir, Arc<dyn Tracker>) {
    let directory = TempDir::new().unwrap();
    fs::create_dir(directory.path().join("issues")).unwrap();
    let config = config("").unwrap();
    let tracker = tracker::open(&config.tracker, &env(directory.path())).unwrap();
    (directory, tracker)
}

fn put(directory: &Path, name: &str, text: &str) {
    fs::write(directory.join("issues").join(name), text).unwrap();
}

fn states(names: &[&str]) -> Vec<String> {
    names.iter().map(|it| (*it).to_owned()).collect()
}

async fn one(tracker: &Arc<dyn Tracker>, id: &str) -> Issue {
    let mut found = tracker.issues_by_id(&states(&[id])).await.unwrap();
    assert_eq!(found.len(), 1);
    found.remove(0)
}

#[tokio::test]
async fn candidate_fetch_applies_states_and_normalizes() {
    let (directory, tracker) = directory();
    put(
        directory.path(),
        "A.md",
        "---\ntitle: First\nstate: ' todo'\npriority: 2\nlabels: [Bug, bug, ' ', UI]\ncreated_at: 2026-02-24T20:15:30Z\nassignee: me\nbranch: a-1\n---\nText\n",
    );
    put(
        directory.path(),
        "B.md",
        "---\nstate: Done\n---\n# Heading\n",
    );
    put(
        directory.path(),
        "C.md",
        "---\npriority: high\ncreated_at: yesterday\nlabels: 7\n---\n# From the heading\n",
    );
    put(
        directory.path(),
        "README.md",
        "Not an issue: no front matter.",
    );
    put(directory.path(), ".hidden.md", "---\nstate: Todo\n---\n");
    let found = tracker.issues_in_states(&states(&["TODO"])).await.unwrap();
    let names: Vec<&str> = found.iter().map(|it| it.identifier.as_str()).collect();
    assert_eq!(names, ["A", "C"]);
    let first = &found[0];
    assert_eq!(
        (first.title.as_str(), first.state.as_str()),
        ("First", "todo")
    );
    assert_eq!(first.labels, ["bug", "ui"]);
    assert_eq!(
        (first.priority, first.branch_name.as_deref()),
        (Some(2), Some("a-1"))
    );
    assert_eq!(first.description.as_deref(), Some("Text"));
    assert_eq!(first.created_at, tracker_time("2026-02-24T20:15:30Z"));
    assert!(first.updated_at.is_some() && first.dispatchable && first.native_ref.is_none());
    // What is optional and cannot be used is empty; the issue is there all the same.
    let odd = &found[1];
    assert_eq!(
        (odd.priority, odd.created_at, odd.labels.len()),
        (None, None, 0)
    );
    assert_eq!(odd.title, "From the heading");
}

fn tracker_time(text: &str) -> Option<i64> {
    quipu_runner::time::parse(text)
}

#[tokio::test]
async fn empty_lists_are_answered_without_looking() {
    let (directory, tracker) = directory();
    fs::remove_dir_all(directory.path().join("issues")).unwrap();
    assert!(tracker.issues_in_states(&[]).await.unwrap().is_empty());
    assert!(tracker.issues_by_id(&[]).await.unwrap().is_empty());
    let error = tracker
        .issues_in_states(&states(&["Todo"]))
        .await
        .unwrap_err();
    assert_eq!(error.category, TrackerErrorKind::Request);
    let error = tracker.issues_by_id(&states(&["A"])).await.unwrap_err();
    assert_eq!(
        error.category,
        TrackerErrorKind::Request,
        "a missing directory is not a missing issue"
    );
}

#[tokio::test]
async fn malformed_records_are_left_out_of_lists_and_fail_refreshes() {
    let (directory, tracker) = directory();
    put(directory.path(), "good.md", "---\nstate: Todo\n---\n");
    put(directory.path(), "bad.md", "---\nstate: [\n---\n");
    put(directory.path(), "worse.md", "---\nstate: { a: 1 }\n---\n");
    put(directory.path(), "empty.md", "");
    std::os::unix::fs::symlink("/dev/zero", directory.path().join("issues/zero.md")).unwrap();
    let found = tracker.issues_in_states(&states(&["Todo"])).await.unwrap();
    assert_eq!(found.len(), 1);
    for bad in ["bad", "worse", "zero", "empty"] {
        let error = tracker
            .issues_by_id(&states(&["good", bad]))
            .await
            .unwrap_err();
        assert_eq!(error.category, TrackerErrorKind::Response, "{bad}");
    }
    let gone = tracker
        .issues_by_id(&states(&["good", "gone", "../good", "good"]))
        .await
        .unwrap();
    assert_eq!(gone.len(), 1);
}

#[tokio::test]
async fn blockers_become_explicit_dispatchable() {
    let (directory, tracker) = directory();
    put(
        directory.path(),
        "first.md",
        "---\nstate: In Progress\n---\n",
    );
    put(
        directory.path(),
        "second.md",
        "---\nblocked_by: [first]\n---\n",
    );
    put(
        directory.path(),
        "third.md",
        "---\nblocked_by: nobody\n---\n",
    );
    let blocked = one(&tracker, "second").await;
    assert!(!blocked.dispatchable);
    assert_eq!(blocked.blocked_by[0].state.as_deref(), Some("In Progress"));
    assert!(
        !one(&tracker, "third").await.dispatchable,
        "an unknown blocker is not done"
    );
    put(directory.path(), "first.md", "---\nstate: done\n---\n");
    assert!(one(&tracker, "second").await.dispatchable);
}

#[tokio::test]
async fn blockers_that_yaml_takes_for_something_else_block_all_the_same() {
    let (directory, tracker) = directory();
    put(directory.path(), "7.md", "---\nstate: In Progress\n---\n");
    for written in ["[7]", "7", "['7']", "[true]", "{ a: 7 }", "[[7]]"] {
        let text = format!("---\nblocked_by: {written}\n---\n");
        put(directory.path(), "waits.md", &text);
        assert!(!one(&tracker, "waits").await.dispatchable, "{written}");
    }
    put(directory.path(), "waits.md", "---\nblocked_by: [7]\n---\n");
    put(directory.path(), "7.md", "---\nstate: Done\n---\n");
    assert!(one(&tracker, "waits").await.dispatchable);
    for nothing in ["", "[]", "[null]", "''"] {
        let text = format!("---\nblocked_by: {nothing}\n---\n");
        put(directory.path(), "waits.md", &text);
        assert!(one(&tracker, "waits").await.dispatchable, "{nothing}");
    }
}

#[tokio::test]
async fn files_of_other_systems_are_issues_too() {
    let (directory, tracker) = directory();
    put(
        directory.path(),
        "crlf.md",
        "---\r\ntitle: T\r\nstate: Todo\r\n---\r\nBody\r\n",
    );
    put(
        directory.path(),
        "bom.md",
        "\u{feff}---\ntitle: T\nstate: Todo\n---\nBody\n",
    );
    put(directory.path(), "日本 1.md", "---\ntitle: 題\n---\n");
    let found = tracker.issues_in_states(&states(&["Todo"])).await.unwrap();
    let names: Vec<&str> = found.iter().map(|it| it.identifier.as_str()).collect();
    assert_eq!(names, ["bom", "crlf", "日本 1"]);
    for (name, text) in [
        (
            "crlf",
            "---\r\ntitle: T\r\nstate: \"Done\"\r\n---\r\nBody\r\n",
        ),
        ("bom", "\u{feff}---\ntitle: T\nstate: \"Done\"\n---\nBody\n"),
        ("日本 1", "---\nstate: \"Done\"\ntitle: 題\n---\n"),
    ] {
        let tool = tracker.tools(&one(&tracker, name).await).remove(0);
        assert!(tool.call(json!({ "state": "Done" })).await.success);
        let path = directory.path().join(format!("issues/{name}.md"));
        assert_eq!(fs::read_to_string(path).unwrap(), text);
    }
}

#[tokio::test]
async fn the_state_is_changed_however_it_is_written_and_nothing_else_is() {
    let (directory, tracker) = directory();
    for front in [
        "last_state: Todo\nstate: Todo\npriority: 2\n",
        "\"state\": Todo\npriority: 2\n",
        "{ priority: 2, state: Todo }\n",
        "priority: 2\nstate: >\n  Todo\nlabels: [a]\n",
        "priority: 2\nnotes: |\n  state: Todo\n",
        "priority: 2",
    ] {
        put(
            directory.path(),
            "A.md",
            &format!("---\n{front}\n---\nBody\n"),
        );
        let before = one(&tracker, "A").await;
        let tool = tracker.tools(&before).remove(0);
        let done = tool.call(json!({ "state": "Human: \"Review\"" })).await;
        assert!(done.success, "{front}: {:?}", done.output);
        let after = one(&tracker, "A").await;
        assert_eq!(after.state, "Human: \"Review\"", "{front}");
        let same = |it: &Issue| (it.priority, it.labels.clone(), it.description.clone());
        assert_eq!(same(&after), same(&before), "{front}");
        let text = fs::read_to_string(directory.path().join("issues/A.md")).unwrap();
        assert_eq!(
            text.contains("last_state: Todo"),
            front.contains("last_state"),
            "{text}"
        );
    }
}

#[tokio::test]
async fn the_agents_tool_changes_its_own_issue_only() {
    let (directory, tracker) = directory();
    let text = "---\n# a comment\ntitle: T\nstate: Todo # old\npriority: 1\n---\nBody\n";
    put(directory.path(), "A.md", text);
    let issue = one(&tracker, "A").await;
    let tools = tracker.tools(&issue);
    assert_eq!(tools.len(), 1);
    let tool = &tools[0];
    assert_eq!(tool.spec().name, "update_issue");
    let done = tool
        .call(json!({ "state": "Human Review", "comment": "Please look.\n---\nstate: x" }))
        .await;
    assert!(done.success, "{:?}", done.output);
    let changed = one(&tracker, "A").await;
    assert_eq!(
        (changed.state.as_str(), changed.priority),
        ("Human Review", Some(1))
    );
    assert!(changed.description.unwrap().contains("Please look."));
    let text = fs::read_to_string(directory.path().join("issues/A.md")).unwrap();
    assert!(text.starts_with("---\n# a comment\ntitle: T\n"), "{text}");
    for wrong in [
        json!({}),
        json!({ "state": 7 }),
        json!({ "state": "a\nb: c" }),
        json!(null),
    ] {
        let refused = tool.call(wrong.clone()).await;
        assert!(
            !refused.success && refused.output["error"].is_string(),
            "{wrong}"
        );
    }
    fs::remove_file(directory.path().join("issues/A.md")).unwrap();
    assert!(!tool.call(json!({ "state": "Done" })).await.success);
}

#[test]
fn unusable_settings_are_refused() {
    let directory = TempDir::new().unwrap();
    for (front, said) in [
        ("tracker: { provider: { path: 7 } }", "must be a path"),
        (
            "tracker: { provider: { path: nowhere } }",
            "is not a directory",
        ),
        ("tracker: { provider: { path: $UNSET } }", "is not set"),
    ] {
        let config = config(front).unwrap();
        let error = tracker::open(&config.tracker, &env(directory.path()))
            .err()
            .unwrap();
        assert_eq!(error.category, TrackerErrorKind::InvalidConfig);
        assert!(error.to_string().contains(said), "{error}");
    }
}
