//! A thread has one writer among all nodes, and one that lost its lease can write nothing.

use std::path::Path;

use quipu_journal::{Error, Log, Store};

use crate::cluster::within;
use crate::support::{database, id, meta, turn};

/// The log of a new thread with a turn.
fn with_a_turn(store: &Store) -> Log {
    let mut log = store.create(meta(id(1))).unwrap();
    log.append(&turn("A", "a", "1")).unwrap();
    log.flush().unwrap();
    log
}

#[test]
fn a_thread_has_one_writer_among_all_nodes() {
    let Some(database) = database() else { return };
    let [one, other] = ["/a", "/b"].map(|home| database.node(Path::new(home)).store());
    let mut log = with_a_turn(&one);
    let path = other.find(id(1)).unwrap().unwrap();
    assert!(matches!(other.resume(&path), Err(Error::ActiveWriter(_))));
    assert!(matches!(other.archive(id(1)), Err(Error::ActiveWriter(_))));
    assert!(matches!(other.delete(id(1)), Err(Error::ActiveWriter(_))));
    assert!(one.goal(id(1)).write(&"win").is_ok());
    assert!(matches!(
        other.goal(id(1)).write(&"lose"),
        Err(Error::ActiveWriter(_))
    ));
    assert!(matches!(
        other.goal(id(1)).remove(),
        Err(Error::ActiveWriter(_))
    ));
    assert_eq!(other.goal(id(1)).read::<String>().unwrap(), "win");
    // The same node may have it twice; the first that ends does not take it from the second.
    let second = one.resume(log.path()).unwrap().1;
    log.close().unwrap();
    assert!(matches!(other.resume(&path), Err(Error::ActiveWriter(_))));
    drop(second);
    let (replay, mut log) = other.resume(&path).unwrap();
    assert_eq!(replay.turns.len(), 1);
    log.append(&turn("B", "b", "2")).unwrap();
    log.flush().unwrap();
    assert!(other.goal(id(1)).remove().unwrap());
    assert!(!other.goal(id(1)).remove().unwrap());
}

#[test]
fn a_node_that_was_taken_for_dead_can_write_nothing() {
    let Some(database) = database() else { return };
    let [one, other] = ["/a", "/b"].map(|home| database.node(Path::new(home)).store());
    let mut log = with_a_turn(&one);
    // The node gives no sign of life for too long; it renews itself a moment later, which must not matter.
    database.value("UPDATE quipu.nodes SET expires = now() - interval '1 second'");
    let path = other.find(id(1)).unwrap().unwrap();
    let taken = within(|| {
        database.value("UPDATE quipu.nodes SET expires = now() - interval '1 second'");
        other.resume(&path).is_ok()
    });
    assert!(taken);
    let mut theirs = other.resume(&path).unwrap().1;
    log.append(&turn("late", "late", "late")).unwrap();
    assert!(matches!(log.flush(), Err(Error::LostLease(_))));
    theirs.append(&turn("B", "b", "2")).unwrap();
    theirs.flush().unwrap();
    assert!(matches!(log.flush(), Err(Error::LostLease(_))));
    let turns = other.replay(&path).unwrap().turns;
    let ids: Vec<_> = turns.iter().map(|turn| turn.id.as_str()).collect();
    assert_eq!(ids, ["A", "B"]);
}

#[test]
fn a_turn_that_nobody_runs_is_found() {
    let Some(database) = database() else { return };
    let other = database.node(Path::new("/b")).store();
    let node = database.node(Path::new("/a"));
    let (mut log, lines) = (
        node.store().create(meta(id(1))).unwrap(),
        turn("A", "a", "1"),
    );
    log.append(&lines[..3]).unwrap();
    log.flush().unwrap();
    // It runs.
    assert!(other.orphans().unwrap().is_empty());
    drop((log, node));
    assert_eq!(other.orphans().unwrap(), [id(1)]);
    let path = other.find(id(1)).unwrap().unwrap();
    let (replay, mut log) = other.resume(&path).unwrap();
    assert_eq!(replay.open_turn(), Some("A"));
    assert!(other.orphans().unwrap().is_empty());
    log.append(&lines[3..]).unwrap();
    drop(log);
    assert!(other.orphans().unwrap().is_empty());
    // A thread that was marked although nothing runs in it.
    database.value("UPDATE quipu.rollouts SET running = true");
    assert_eq!(other.orphans().unwrap(), [id(1)]);
    let log = other.resume(&path).unwrap().1;
    other.not_orphaned(id(1)).unwrap();
    drop(log);
    assert!(other.orphans().unwrap().is_empty());
}

#[test]
fn what_several_threads_keep_is_read_at_once() {
    let Some(database) = database() else { return };
    let store = database.node(Path::new("/a")).store();
    store.read_state(id(1)).write_lightly(&"one").unwrap();
    store.read_state(id(3)).write_lightly(&"three").unwrap();
    store.read_state(id(3)).write_lightly(&"3").unwrap();
    store.goal(id(2)).write(&"other").unwrap();
    let mut read = store.read_states(&[id(1), id(2), id(3)]).unwrap();
    read.sort();
    let expected = [(id(1), "\"one\"".to_owned()), (id(3), "\"3\"".to_owned())];
    assert_eq!(read, expected);
}

#[test]
fn a_node_that_ends_leaves_nothing_behind() {
    let Some(database) = database() else { return };
    let node = database.node(Path::new("/a"));
    let mut log = node.store().create(meta(id(1))).unwrap();
    log.flush().unwrap();
    assert_eq!(database.value("SELECT count(*) FROM quipu.leases"), "1");
    assert_eq!(database.value("SELECT count(*) FROM quipu.nodes"), "1");
    drop((log, node));
    assert_eq!(database.value("SELECT count(*) FROM quipu.leases"), "0");
    assert_eq!(database.value("SELECT count(*) FROM quipu.nodes"), "0");
}
