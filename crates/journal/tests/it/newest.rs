//! The newest rollouts of other programs are listed without indexing the rest.

use std::fs;
use std::path::Path;

use quipu_journal::{Page, Query};
use quipu_wire::ThreadSortKey;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::support::store;

/// Writes a rollout of a day, that many seconds after its first, with an id and a name that tell the time.
fn write_at(home: &Path, day: u64, second: u64, message: &str) -> Uuid {
    let midnight = 1_794_700_800 + day * 86_400;
    let id = Uuid::new_v7(uuid::Timestamp::from_unix_time(midnight + second, 0, 0, 0));
    let (hour, minute, rest) = (second / 3600, second / 60 % 60, second % 60);
    let day = format!("2026-11-{:02}", 15 + day);
    let stamp = format!("{day}T{hour:02}:{minute:02}:{rest:02}.648Z");
    let meta = json!({
        "id": id, "timestamp": stamp, "cwd": "/", "originator": "test", "cli_version": "0.118.0",
        "source": "vscode", "model_provider": "mock",
    });
    let said = json!({ "type": "user_message", "message": message });
    let line = |kind: &str, payload: &Value| {
        json!({ "timestamp": stamp, "type": kind, "payload": payload }).to_string() + "\n"
    };
    let text = line("session_meta", &meta) + &line("event_msg", &said);
    let directory = home.join("sessions").join(day.replace('-', "/"));
    fs::create_dir_all(&directory).unwrap();
    let name = format!("rollout-{day}T{hour:02}-{minute:02}-{rest:02}-{id}.jsonl");
    fs::write(directory.join(name), text).unwrap();
    id
}

/// How many rollouts have rows in the index, and of how many the head was read.
fn rows(home: &Path) -> (i64, i64) {
    let index = rusqlite::Connection::open(home.join("quipu_index_1.sqlite")).unwrap();
    let sql = "SELECT count(*), sum(state <> 0) FROM threads";
    let count = index.query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?)));
    count.unwrap()
}

#[test]
fn the_first_page_needs_only_the_newest_rollouts_of_others() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    // The order in which they are made is not that of their times.
    let mut ids: Vec<(u64, Uuid)> = Vec::new();
    for number in 0..600 {
        let at = number * 7 % 600;
        let (day, second) = (at / 300, 40_000 + at % 300 * 10);
        ids.push((at, write_at(home, day, second, &format!("thread {at}."))));
    }
    ids.sort_unstable_by_key(|it| std::cmp::Reverse(it.0));
    let ids: Vec<Uuid> = ids.into_iter().map(|it| it.1).collect();
    let listed = |page: &Page| page.threads.iter().map(|it| it.id).collect::<Vec<_>>();

    let first = store(home).list(&Query::default()).unwrap();
    assert_eq!(listed(&first), ids[..25]);
    let (known, read) = rows(home);
    assert!(known <= 200 && read <= 64, "{known} rows, {read} heads");

    // Every other question finds the rest, from any state of the index.
    let oldest = ids[599];
    assert!(store(home).find(oldest).unwrap().is_some());
    let query = Query {
        search: Some("thread 17.".to_owned()),
        ..Query::default()
    };
    let found = store(home).list(&query).unwrap();
    assert_eq!((listed(&found), found.next), (vec![ids[582]], None));
}

#[test]
fn pages_of_rollouts_of_others_follow_each_other_without_gaps() {
    for sort in [ThreadSortKey::CreatedAt, ThreadSortKey::UpdatedAt] {
        let home = tempfile::tempdir().unwrap();
        for number in 0..400 {
            write_at(home.path(), number % 3, 50_000 + number / 7, "hi");
        }
        let mut after = None;
        let mut paged = Vec::new();
        loop {
            let limit = 30;
            let query = Query {
                limit,
                sort,
                after,
                ..Query::default()
            };
            // Each page is asked of a new process, and others go on writing.
            let page = store(home.path()).list(&query).unwrap();
            paged.extend(page.threads);
            write_at(home.path(), 4, paged.len() as u64, "newer");
            match page.next {
                Some(next) => after = Some(next),
                None => break,
            }
        }
        assert_eq!(paged.len(), 400, "{sort:?}");
        let all = Query {
            limit: 1_000,
            sort,
            ..Query::default()
        };
        let all = store(home.path()).list(&all).unwrap().threads;
        let old: Vec<_> = all.into_iter().filter(|it| it.preview == "hi").collect();
        assert_eq!(paged, old, "{sort:?}");
    }
}
