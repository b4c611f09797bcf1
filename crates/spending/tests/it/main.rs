//! The ledger as files, and budgets over it.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::io::Write as _;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use chrono::{DateTime, NaiveDate};
use proptest::prelude::*;
use quipu_spending::{
    Amount, Budget, Entry, Ledger, LedgerFiles, Limit, Measure, Meter, Scope, Verdict,
};
use tempfile::TempDir;

fn now() -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    i64::try_from(now.as_secs()).unwrap()
}

fn entry(cwd: &str, total: u64, dollars: Option<f64>) -> Entry {
    Entry {
        at: now(),
        thread: "t".to_owned(),
        cwd: cwd.to_owned(),
        total,
        dollars,
        ..Entry::default()
    }
}

fn today() -> NaiveDate {
    DateTime::from_timestamp(now(), 0).unwrap().date_naive()
}

fn meter(home: &TempDir, thread: &str) -> Meter {
    Meter::new(
        Arc::new(LedgerFiles::new(home.path())),
        thread.to_owned(),
        today(),
    )
}

#[test]
fn processes_see_what_others_used_today() {
    let home = tempfile::tempdir().unwrap();
    let (one, two) = (LedgerFiles::new(home.path()), LedgerFiles::new(home.path()));
    assert_eq!(one.today("/a"), (Amount::default(), Amount::default()));
    one.add(&entry("/a", 10, Some(0.5))).unwrap();
    two.add(&entry("/b", 5, None)).unwrap();
    for ledger in [&one, &two] {
        let (all, there) = ledger.today("/a");
        assert_eq!((all.tokens, there.tokens, there.dollars), (15, 10, 0.5));
    }
}

#[test]
fn broken_and_unfinished_lines_are_left_out() {
    let home = tempfile::tempdir().unwrap();
    let ledger = LedgerFiles::new(home.path());
    ledger.add(&entry("/a", 1, None)).unwrap();
    let path = home.path().join("usage").join(format!("{}.jsonl", today()));
    let mut file = std::fs::OpenOptions::new().append(true).open(path).unwrap();
    file.write_all(b"not json\n").unwrap();
    file.write_all(&vec![b'x'; 200_000]).unwrap();
    file.write_all(b"\n").unwrap();
    let line = serde_json::to_vec(&entry("/a", 2, None)).unwrap();
    let (first, second) = line.split_at(20);
    file.write_all(first).unwrap();
    assert_eq!(ledger.today("/a").0.tokens, 1);
    file.write_all(second).unwrap();
    file.write_all(b"\n").unwrap();
    assert_eq!(ledger.today("/a").0.tokens, 3);
    assert_eq!(ledger.entries(today()).count(), 2);
}

#[test]
fn a_thread_remembers_what_it_used_before_a_restart() {
    let home = tempfile::tempdir().unwrap();
    let budget = Budget {
        thread: Limit {
            tokens: Some(25),
            ..Limit::default()
        },
        ..Budget::default()
    };
    let first = meter(&home, "t");
    first.begin_turn();
    assert_eq!(first.count(entry("/a", 10, None)).tokens, 10);
    assert_eq!(
        first.check(&budget, "/a"),
        Verdict::Allowed { near: Vec::new() }
    );
    let second = meter(&home, "t");
    assert_eq!(second.count(entry("/a", 10, None)).tokens, 20);
    // Warned once, from four fifths on.
    assert!(matches!(second.check(&budget, "/a"), Verdict::Allowed { near } if near.len() == 1));
    assert_eq!(
        second.check(&budget, "/a"),
        Verdict::Allowed { near: Vec::new() }
    );
    second.count(entry("/a", 5, None));
    let Verdict::Exceeded(spent) = second.check(&budget, "/a") else {
        panic!("allowed")
    };
    assert_eq!(
        (spent.scope, spent.measure),
        (Scope::Thread, Measure::Tokens)
    );
    assert_eq!(
        spent.to_string(),
        "25 of 25 tokens in this thread (`budget.thread.tokens`)"
    );
    assert_eq!(
        meter(&home, "other").check(&budget, "/a"),
        Verdict::Allowed { near: Vec::new() }
    );
}

#[test]
fn time_is_limited_by_what_is_left_of_the_tightest_limit() {
    let home = tempfile::tempdir().unwrap();
    let seconds = |seconds| Limit {
        seconds: Some(seconds),
        ..Limit::default()
    };
    let budget = Budget {
        turn: seconds(100),
        day: seconds(50),
        ..Budget::default()
    };
    let meter = meter(&home, "t");
    meter.begin_turn();
    let (left, spent) = meter.time_left(&budget, "/a").unwrap();
    assert_eq!(spent.scope, Scope::Day);
    assert!(
        left <= Duration::from_secs(50) && left > Duration::from_secs(40),
        "{left:?}"
    );
    assert_eq!(meter.time_left(&Budget::default(), "/a"), None);
}

proptest! {
    /// Whatever is counted in whatever order by several meters of several processes, the sums agree.
    #[test]
    fn sums_agree(uses in proptest::collection::vec((0usize..3, 0u64..1000, 0usize..2), 0..40)) {
        let home = tempfile::tempdir().unwrap();
        let meters: Vec<Meter> = ["t0", "t1", "t2"].map(|it| meter(&home, it)).into();
        let mut expected = [0u64; 3];
        let mut by_directory = [0u64; 2];
        for (thread, tokens, directory) in uses {
            expected[thread] += tokens;
            by_directory[directory] += tokens;
            let total = meters[thread].count(entry(["/a", "/b"][directory], tokens, None));
            prop_assert_eq!(total.tokens, expected[thread]);
        }
        let ledger = LedgerFiles::new(home.path());
        let (all, there) = ledger.today("/b");
        prop_assert_eq!(all.tokens, expected.iter().sum::<u64>());
        prop_assert_eq!(there.tokens, by_directory[1]);
        for (thread, expected) in expected.into_iter().enumerate() {
            prop_assert_eq!(ledger.thread(&format!("t{thread}"), today()).tokens, expected);
        }
    }
}

/// A day's ledger may have a hundred thousand lines.
#[test]
fn the_ledger_is_not_read_for_a_new_thread() {
    let home = tempfile::tempdir().unwrap();
    let ledger: Arc<dyn Ledger> = Arc::new(LedgerFiles::new(home.path()));
    ledger.add(&entry("/a", 10, Some(0.5))).unwrap();
    let counted = |meter: Meter| meter.count(entry("/a", 1, None)).tokens;
    let known = Meter::new(Arc::clone(&ledger), "t".to_owned(), today());
    assert_eq!(counted(known), 11);
    let new = Meter::new_thread(Arc::clone(&ledger), "t".to_owned());
    assert_eq!(counted(new), 1);
}
