//! What answers cost, counted by all nodes together.

use std::path::Path;

use quipu_spending::{Entry, Ledger};

use crate::support::database;

fn entry(thread: &str, cwd: &str, total: u64, seconds: f64) -> Entry {
    let now = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap();
    Entry {
        at: now.as_secs() as i64,
        thread: thread.to_owned(),
        cwd: cwd.to_owned(),
        total,
        dollars: Some(0.5),
        seconds,
        ..Entry::default()
    }
}

#[test]
fn nodes_see_what_others_used_today_and_an_answer_counts_once() {
    let Some(database) = database() else { return };
    let (one, two) = (
        database.node(Path::new("/home")),
        database.node(Path::new("/elsewhere")),
    );
    let first = entry("a", "/x", 10, 1.25);
    one.add(&first).unwrap();
    // As if the answer of the database had been lost.
    one.add(&first).unwrap();
    two.add(&entry("a", "/y", 5, 1.0)).unwrap();
    two.add(&entry("b", "/x", 3, 1.0)).unwrap();
    for node in [&one, &two] {
        let (all, there) = node.today("/x");
        assert_eq!((all.tokens, there.tokens), (18, 13));
        assert_eq!((all.dollars, there.dollars), (1.5, 1.0));
        let since = first.day();
        assert_eq!(node.thread("a", since).tokens, 15);
        assert_eq!(node.thread("none", since).tokens, 0);
        assert_eq!(node.days(), [since]);
        let mut entries: Vec<Entry> = node.entries(since).collect();
        entries.sort_by_key(|it| it.total);
        assert_eq!(entries.len(), 3);
        assert_eq!(entries[2], first);
    }
}
