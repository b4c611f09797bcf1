//! Writing rollouts: when files appear, what they hold, and who else may touch them.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;

use quipu_journal::{Error, Record, Replay};
use quipu_wire::Json;

use crate::support::{completed, id, item, meta, resume, started, store, turn, user};

#[test]
fn the_file_appears_with_the_first_flush() {
    let home = tempfile::tempdir().unwrap();
    let mut log = store(home.path()).create(meta(id(1))).unwrap();
    log.append(&turn("A", "hello", "hi")).unwrap();
    assert!(!log.is_materialized());
    assert!(!home.path().join("sessions").exists());

    log.flush().unwrap();
    assert!(log.is_materialized());
    let lines = fs::read_to_string(log.path()).unwrap();
    assert_eq!(lines.lines().count(), 6);
    assert!(lines.starts_with("{\"timestamp\":\""));
    assert!(
        lines
            .lines()
            .next()
            .unwrap()
            .contains("\"type\":\"session_meta\"")
    );
}

#[test]
fn files_are_private_and_lie_where_the_official_program_looks() {
    let home = tempfile::tempdir().unwrap();
    let mut log = store(home.path()).create(meta(id(1))).unwrap();
    log.sync().unwrap();
    let name = log.path().file_name().unwrap().to_str().unwrap();
    assert!(name.starts_with("rollout-2026-11-1"), "{name}");
    assert!(name.ends_with(&format!("-{}.jsonl", id(1))), "{name}");
    let day = log.path().parent().unwrap();
    assert_eq!(
        day.strip_prefix(home.path()).unwrap().components().count(),
        4
    );
    assert_eq!(
        fs::metadata(log.path()).unwrap().permissions().mode() & 0o777,
        0o600
    );
    assert_eq!(
        fs::metadata(day).unwrap().permissions().mode() & 0o777,
        0o700
    );
}

#[test]
fn a_log_that_never_flushed_leaves_nothing() {
    let home = tempfile::tempdir().unwrap();
    let mut log = store(home.path()).create(meta(id(1))).unwrap();
    log.append(&turn("A", "hello", "hi")).unwrap();
    log.rest().unwrap();
    drop(log);
    assert_eq!(fs::read_dir(home.path()).unwrap().count(), 0);
}

#[test]
fn a_log_on_disk_is_flushed_when_it_is_dropped() {
    let home = tempfile::tempdir().unwrap();
    let mut log = store(home.path()).create(meta(id(1))).unwrap();
    log.flush().unwrap();
    log.append(&turn("A", "hello", "hi")).unwrap();
    let path = log.path().to_owned();
    drop(log);
    assert_eq!(Replay::open(&path).unwrap().turns.len(), 1);
}

#[test]
fn a_resumed_log_goes_on_in_the_same_file_and_opening_it_changes_nothing() {
    let home = tempfile::tempdir().unwrap();
    let store = store(home.path());
    let mut log = store.create(meta(id(1))).unwrap();
    log.append(&turn("A", "a", "1")).unwrap();
    log.sync().unwrap();
    log.rest().unwrap();
    let path = log.path().to_owned();
    let before = fs::metadata(&path).unwrap().modified().unwrap();

    let mut resumed = resume(&store, &path);
    assert_eq!(fs::metadata(&path).unwrap().modified().unwrap(), before);
    resumed.append(&turn("B", "b", "2")).unwrap();
    resumed.flush().unwrap();
    log.append(&turn("C", "c", "3")).unwrap();
    log.flush().unwrap();
    let ids: Vec<_> = Replay::open(&path)
        .unwrap()
        .turns
        .into_iter()
        .map(|turn| turn.id)
        .collect();
    assert_eq!(ids, ["A", "B", "C"]);
}

#[test]
fn a_torn_tail_is_completed_before_the_next_line() {
    let home = tempfile::tempdir().unwrap();
    let store = store(home.path());
    let mut log = store.create(meta(id(1))).unwrap();
    log.append(&[started("A"), user("a")]).unwrap();
    log.flush().unwrap();
    let mut foreign = OpenOptions::new().append(true).open(log.path()).unwrap();
    for torn in [
        "{\"timestamp\":\"2026-11-15T07:0",
        "{\"timestamp\":\"t\",\"type\":\"event_msg\",\"payload\":{\"type\":\"agent_message\",\"message\":\"whole\"}}",
    ] {
        foreign.write_all(torn.as_bytes()).unwrap();
        log.append(&[item("assistant", "next")]).unwrap();
        log.flush().unwrap();
    }
    log.append(&[completed("A")]).unwrap();
    log.flush().unwrap();
    let replay = Replay::open(log.path()).unwrap();
    assert_eq!(replay.warnings.count, 1);
    assert_eq!(replay.turns[0].items.len(), 2);
    assert_eq!(replay.history.load(log.path()).unwrap().items.len(), 2);
}

#[test]
fn a_deleted_rollout_is_not_written_into_the_void() {
    let home = tempfile::tempdir().unwrap();
    let mut log = store(home.path()).create(meta(id(1))).unwrap();
    log.flush().unwrap();
    fs::remove_file(log.path()).unwrap();
    log.append(&turn("A", "a", "1")).unwrap();
    assert!(matches!(log.flush(), Err(Error::Vanished { .. })));
    log.rest().unwrap_err();
}

#[test]
fn a_record_over_the_limit_is_refused_and_the_others_of_its_batch_with_it() {
    let home = tempfile::tempdir().unwrap();
    let mut log = store(home.path()).create(meta(id(1))).unwrap();
    let huge = Record::ResponseItem(Json::new(&"x".repeat(quipu_journal::MAX_RECORD)).unwrap());
    let error = log.append(&[started("A"), huge]).unwrap_err();
    assert!(matches!(error, Error::RecordTooLarge { .. }));
    log.append(&turn("B", "b", "2")).unwrap();
    log.flush().unwrap();
    let ids: Vec<_> = Replay::open(log.path())
        .unwrap()
        .turns
        .into_iter()
        .map(|turn| turn.id)
        .collect();
    assert_eq!(ids, ["B"]);
}
