//! Lists answer as the official program's do.

use std::fs::{self, File};
use std::path::Path;
use std::time::{Duration, SystemTime};

use quipu_journal::{Cursor, GitInfo, Page, Query, Source, Summary};
use quipu_wire::{ThreadSortKey, ThreadSourceKind};
use serde_json::{Value, json};

use crate::support::{STAMP, id, store};

/// Writes a rollout by hand, as any program might.
fn write(home: &Path, number: u64, meta: Value, message: &str) {
    write_lines(
        home,
        number,
        meta,
        &[json!({"type": "user_message", "message": message})],
    );
}

fn write_lines(home: &Path, number: u64, meta: Value, events: &[Value]) {
    let mut payload = json!({
        "id": id(number), "timestamp": STAMP, "cwd": "/project", "originator": "test",
        "cli_version": "0.118.0", "source": "vscode", "model_provider": "mock",
    });
    payload
        .as_object_mut()
        .unwrap()
        .extend(meta.as_object().unwrap().clone());
    let mut lines =
        json!({"timestamp": STAMP, "type": "session_meta", "payload": payload}).to_string();
    for event in events {
        lines += &format!(
            "\n{}",
            json!({"timestamp": STAMP, "type": "event_msg", "payload": event})
        );
    }
    let day = home.join("sessions/2026/11/15");
    fs::create_dir_all(&day).unwrap();
    let name = format!("rollout-2026-11-15T07-05-35-{}.jsonl", id(number));
    fs::write(day.join(name), lines + "\n").unwrap();
}

fn numbers(page: &Page) -> Vec<u64> {
    page.threads.iter().map(number).collect()
}

fn number(summary: &Summary) -> u64 {
    summary.id.to_string()[24..].parse().unwrap()
}

#[track_caller]
fn check(home: &Path, query: Query, expected: &[u64]) {
    assert_eq!(numbers(&store(home).list(&query).unwrap()), expected);
}

fn of(sources: &[ThreadSourceKind]) -> Query {
    Query {
        sources: sources.to_vec(),
        ..Query::default()
    }
}

#[test]
fn sources_are_filtered_by_kind_and_interactive_by_default() {
    let home = tempfile::tempdir().unwrap();
    let sources = [
        json!("cli"),
        json!("vscode"),
        json!("exec"),
        json!("mcp"),
        json!("unknown"),
        json!({"custom": "atlas"}),
        json!({"custom": "chatgpt"}),
        json!({"custom": "zz"}),
        json!({"subagent": "review"}),
        json!({"subagent": "compact"}),
        json!({"subagent": "memory_consolidation"}),
        json!({"subagent": {"other": "guardian"}}),
        json!({"subagent": {"thread_spawn": {"parent_thread_id": "p", "depth": 1, "agent_nickname": "Euler", "agent_role": "worker"}}}),
        json!("wat"),
        json!({"weird": 1}),
    ];
    for (number, source) in sources.into_iter().enumerate() {
        write(home.path(), number as u64, json!({"source": source}), "hi");
    }
    check(home.path(), Query::default(), &[6, 5, 1, 0]);
    check(home.path(), of(&[ThreadSourceKind::Cli]), &[0]);
    check(
        home.path(),
        of(&[ThreadSourceKind::Exec, ThreadSourceKind::AppServer]),
        &[3, 2],
    );
    check(home.path(), of(&[ThreadSourceKind::Unknown]), &[14, 13, 4]);
    check(
        home.path(),
        of(&[ThreadSourceKind::SubAgent]),
        &[12, 11, 10, 9, 8],
    );
    check(home.path(), of(&[ThreadSourceKind::SubAgentReview]), &[8]);
    check(home.path(), of(&[ThreadSourceKind::SubAgentOther]), &[11]);
    let page = store(home.path())
        .list(&of(&[ThreadSourceKind::SubAgentThreadSpawn]))
        .unwrap();
    assert_eq!(page.threads[0].agent_nickname.as_deref(), Some("Euler"));
    assert_eq!(page.threads[0].agent_role.as_deref(), Some("worker"));
}

#[test]
fn previews_are_what_the_user_said_first_and_silent_threads_are_not_listed() {
    let home = tempfile::tempdir().unwrap();
    let said = |text: &str| json!({"type": "user_message", "message": text});
    let many = |first: usize| vec![json!({"type": "context_compacted"}); first];
    write(
        home.path(),
        1,
        json!({}),
        "## context\n## My request for Codex:\n  hello  ",
    );
    write_lines(
        home.path(),
        2,
        json!({}),
        &[json!({"type": "user_message", "message": " ", "images": ["http://x"]})],
    );
    write(home.path(), 3, json!({}), "   ");
    write_lines(home.path(), 4, json!({}), &[]);
    write_lines(
        home.path(),
        5,
        json!({}),
        &[many(300), vec![said("late")]].concat(),
    );
    write_lines(home.path(), 6, json!({}), &[said(" "), said("second")]);
    write(home.path(), 7, json!({}), &"é".repeat(100_000));
    let page = store(home.path()).list(&Query::default()).unwrap();
    assert_eq!(numbers(&page), [7, 6, 5, 2, 1]);
    let previews: Vec<_> = page.threads[1..]
        .iter()
        .map(|thread| thread.preview.as_str())
        .collect();
    assert_eq!(previews, ["second", "late", "[Image]", "hello"]);
    assert!(page.threads[0].preview.len() <= 16 << 10);
}

#[test]
fn filters_narrow_the_list() {
    let home = tempfile::tempdir().unwrap();
    write(
        home.path(),
        1,
        json!({"model_provider": "other"}),
        "Topic 1",
    );
    write(home.path(), 2, json!({"model_provider": null}), "Topic 2");
    write(home.path(), 3, json!({"cwd": "/elsewhere"}), "100% sure");
    write(
        home.path(),
        4,
        json!({"git": {"commit_hash": "abc", "branch": "b"}}),
        "topic 4",
    );
    let some = |providers: &[&str]| Some(providers.iter().map(|p| p.to_string()).collect());
    let search = |term: &str| Query {
        search: Some(term.into()),
        ..Query::default()
    };
    check(home.path(), Query::default(), &[4, 3, 2, 1]);
    check(
        home.path(),
        Query {
            providers: some(&["mock"]),
            ..Query::default()
        },
        &[4, 3, 2],
    );
    check(
        home.path(),
        Query {
            providers: some(&["mock", "other"]),
            ..Query::default()
        },
        &[4, 3, 2, 1],
    );
    check(
        home.path(),
        Query {
            cwds: Some(vec!["/elsewhere".into()]),
            ..Query::default()
        },
        &[3],
    );
    check(
        home.path(),
        Query {
            cwds: Some(vec!["/elsewhere/".into()]),
            ..Query::default()
        },
        &[],
    );
    check(home.path(), search("Topic"), &[2, 1]);
    check(home.path(), search("%"), &[3]);
    check(home.path(), search(""), &[4, 3, 2, 1]);
    let git = store(home.path())
        .summary(id(4))
        .unwrap()
        .unwrap()
        .git
        .unwrap();
    assert_eq!(
        git,
        GitInfo {
            commit_hash: Some("abc".into()),
            branch: Some("b".into()),
            repository_url: None
        }
    );
}

#[test]
fn pages_follow_each_other_without_gaps_in_both_orders() {
    let home = tempfile::tempdir().unwrap();
    for number in 0..57 {
        let second = number % 10;
        write(
            home.path(),
            number,
            json!({"timestamp": format!("2026-11-15T07:05:3{second}.648Z")}),
            "hi",
        );
    }
    for sort in [ThreadSortKey::CreatedAt, ThreadSortKey::UpdatedAt] {
        let store = store(home.path());
        let all = store
            .list(&Query {
                limit: 100,
                sort,
                ..Query::default()
            })
            .unwrap();
        assert_eq!((all.threads.len(), all.next), (57, None));
        let keys: Vec<_> = all
            .threads
            .iter()
            .map(|t| match sort {
                ThreadSortKey::CreatedAt => (t.created_at, t.id),
                _ => (t.updated_at, t.id),
            })
            .collect();
        assert!(keys.is_sorted_by(|a, b| a > b));
        let mut paged = Vec::new();
        let mut after = None;
        loop {
            let page = store
                .list(&Query {
                    limit: 10,
                    sort,
                    after,
                    ..Query::default()
                })
                .unwrap();
            paged.extend(page.threads);
            match page.next {
                Some(next) => after = Some(Cursor::parse(&next.to_string()).unwrap()),
                None => break,
            }
        }
        assert_eq!(paged, all.threads);
    }
}

#[test]
fn files_without_their_first_line_are_listed_by_name() {
    let home = tempfile::tempdir().unwrap();
    let day = home.path().join("sessions/2026/11/15");
    fs::create_dir_all(&day).unwrap();
    let line = json!({"timestamp": STAMP, "type": "event_msg", "payload": {"type": "user_message", "message": "hi"}});
    fs::write(
        day.join(format!("rollout-2026-11-15T07-05-35-{}.jsonl", id(9))),
        format!("{line}\n"),
    )
    .unwrap();
    fs::write(day.join("notes.txt"), "not a rollout").unwrap();
    let page = store(home.path()).list(&Query::default()).unwrap();
    assert_eq!(numbers(&page), [9]);
    let thread = &page.threads[0];
    assert_eq!(
        (thread.cwd.as_str(), &thread.source, thread.created_at),
        ("", &Source::VsCode, 1_794_726_335)
    );
}

#[test]
fn the_time_of_change_is_that_of_the_file() {
    let home = tempfile::tempdir().unwrap();
    for number in 1..=3 {
        write(home.path(), number, json!({}), "hi");
    }
    let by_change = || Query {
        sort: ThreadSortKey::UpdatedAt,
        ..Query::default()
    };
    let before = store(home.path());
    before.list(&by_change()).unwrap();
    let set = |number: u64, secs: u64| {
        let path = before.find(id(number)).unwrap().unwrap();
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(secs);
        File::options()
            .append(true)
            .open(path)
            .unwrap()
            .set_modified(time)
            .unwrap();
    };
    set(1, 1_900_000_003);
    set(2, 1_900_000_001);
    set(3, 1_900_000_002);
    let store = store(home.path());
    let page = store.list(&by_change()).unwrap();
    assert_eq!(numbers(&page), [1, 3, 2]);
    assert_eq!(page.threads[0].updated_at, 1_900_000_003);
    assert_eq!(
        store.summary(id(2)).unwrap().unwrap().updated_at,
        1_900_000_001
    );
}
