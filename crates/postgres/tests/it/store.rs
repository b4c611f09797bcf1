//! What is written is read back, found and listed, by this node and by others.

use std::path::Path;

use quipu_journal::{Error, GitInfo, Query, SessionMeta, Store, StoreOptions};

use crate::support::{database, id, meta, turn, user};

const HOME: &str = "/home";

fn turns(store: &Store, path: &Path) -> Vec<String> {
    let replay = store.replay(path).unwrap();
    replay.turns.into_iter().map(|turn| turn.id).collect()
}

#[test]
fn what_one_node_flushed_every_node_reads() {
    let Some(database) = database() else { return };
    let (one, other) = (
        database.node(Path::new(HOME)),
        database.node(Path::new("/elsewhere")),
    );
    let (one, other) = (one.store(), other.store());
    let mut log = one.create(meta(id(1))).unwrap();
    assert!(!log.is_materialized());
    assert_eq!(one.find(id(1)).unwrap(), None);
    log.flush().unwrap();
    assert!(log.is_materialized());
    // Nothing was said, so there is nothing to list.
    assert_eq!(one.list(&Query::default()).unwrap().threads, []);
    log.append(&turn("A", "hello \0 there", "1")).unwrap();
    log.flush().unwrap();
    let found = other.find(id(1)).unwrap().unwrap();
    assert!(found.starts_with("/elsewhere/sessions/2026/11/15"));
    assert_eq!(turns(&other, &found), ["A"]);
    let page = other.list(&Query::default()).unwrap();
    assert_eq!(page.threads.len(), 1);
    assert_eq!(page.threads[0].preview, "hello \u{fffd} there");
    assert_eq!(page.threads, [other.summary(id(1)).unwrap().unwrap()]);
    log.append(&turn("B", "more", "2")).unwrap();
    log.sync().unwrap();
    assert_eq!(turns(&one, log.path()), ["A", "B"]);
    // The bytes are those that a file would have.
    drop(log);
    let (replay, mut log) = one.resume(&one.find(id(1)).unwrap().unwrap()).unwrap();
    assert_eq!(replay.warnings.count, 0);
    log.append(&turn("C", "again", "3")).unwrap();
    log.close().unwrap();
    let history = other.replay(&found).unwrap().history;
    assert_eq!(other.history(&history, &found).unwrap().items.len(), 6);
}

#[test]
fn a_batch_larger_than_any_chunk_is_read_back_whole() {
    let Some(database) = database() else { return };
    let store = database.node(Path::new(HOME)).store();
    let mut log = store.create(meta(id(1))).unwrap();
    let long: String = (0..2_000_000)
        .map(|n| char::from(b'a' + (n % 23) as u8))
        .collect();
    log.append(&turn("A", &long, "1")).unwrap();
    log.append(&turn("B", "b", "2")).unwrap();
    log.flush().unwrap();
    log.append(&turn("C", &long, "3")).unwrap();
    log.flush().unwrap();
    let replay = store.replay(log.path()).unwrap();
    assert_eq!(replay.turns.len(), 3);
    assert_eq!(replay.warnings.count, 0);
    let items = store.history(&replay.history, log.path()).unwrap().items;
    assert!(items[0].get().contains(&long) && items[4].get().contains(&long));
    assert_eq!(
        database.value("SELECT max(octet_length(bytes)) FROM quipu.chunks"),
        "262144"
    );
}

#[test]
fn archive_delete_names_and_git_facts() {
    let Some(database) = database() else { return };
    let store = database.node(Path::new(HOME)).store();
    let git = |branch: &str| GitInfo {
        branch: Some(branch.into()),
        ..GitInfo::default()
    };
    let recorded = SessionMeta {
        git: Some(git("recorded")),
        ..meta(id(1))
    };
    let mut log = store.create(recorded).unwrap();
    log.append(&turn("A", "a", "1")).unwrap();
    log.flush().unwrap();
    let summary = || store.summary(id(1)).unwrap().unwrap();
    assert_eq!(
        (summary().git, summary().name),
        (Some(git("recorded")), None)
    );
    store.set_name(id(1), "first").unwrap();
    store.set_name(id(1), "Another \"name\"").unwrap();
    store.set_git(id(1), &git("set")).unwrap();
    assert_eq!(summary().git, Some(git("set")));
    assert_eq!(summary().name.as_deref(), Some("Another \"name\""));
    store.set_git(id(1), &GitInfo::default()).unwrap();
    assert_eq!(summary().git, None);

    let live = log.path().to_owned();
    let archived = store.archive(id(1)).unwrap();
    let name = live.file_name().unwrap();
    assert_eq!(
        archived,
        Path::new(HOME).join("archived_sessions").join(name)
    );
    assert_eq!(store.find(id(1)).unwrap(), None);
    assert_eq!(store.find_archived(id(1)).unwrap(), Some(archived.clone()));
    assert!(matches!(store.archive(id(1)), Err(Error::NotFound(_))));
    assert!(summary().archived);
    // A turn that was running when its thread was archived is still recorded.
    log.append(&turn("B", "b", "2")).unwrap();
    log.flush().unwrap();
    assert_eq!(turns(&store, &archived), ["A", "B"]);
    assert_eq!(store.unarchive(id(1)).unwrap(), live);
    assert!(matches!(store.unarchive(id(1)), Err(Error::NotArchived(_))));
    assert_eq!(store.list(&Query::default()).unwrap().threads, [summary()]);

    drop(log);
    store.delete(id(1)).unwrap();
    assert!(matches!(store.delete(id(1)), Err(Error::NotFound(_))));
    assert!(matches!(store.replay(&live), Err(Error::Io { .. })));
    assert_eq!(database.value("SELECT count(*) FROM quipu.chunks"), "0");
}

#[test]
fn a_fork_begins_with_all_its_parent_holds() {
    let Some(database) = database() else { return };
    let store = database.node(Path::new(HOME)).store();
    let mut parent = store.create(meta(id(1))).unwrap();
    parent.append(&turn("A", "a", "1")).unwrap();
    parent.flush().unwrap();
    let of = SessionMeta {
        forked_from_id: Some(id(1)),
        ..meta(id(2))
    };
    let mut fork = store.fork(parent.path(), of).unwrap();
    assert!(fork.is_materialized());
    fork.append(&turn("B", "b", "2")).unwrap();
    fork.sync().unwrap();
    assert_eq!(turns(&store, fork.path()), ["A", "B"]);
    assert_eq!(turns(&store, parent.path()), ["A"]);
    assert_eq!(store.summary(id(2)).unwrap().unwrap().preview, "a");
    let missing = Path::new(HOME).join("missing.jsonl");
    store.fork(&missing, meta(id(3))).unwrap_err();
    assert_eq!(store.find(id(3)).unwrap(), None);
}

#[test]
fn a_log_whose_thread_was_deleted_says_so_and_paths_elsewhere_are_refused() {
    let Some(database) = database() else { return };
    let store = database.node(Path::new(HOME)).store();
    let mut log = store.create(meta(id(1))).unwrap();
    log.append(&[user("hi")]).unwrap();
    log.flush().unwrap();
    store.delete(id(1)).unwrap();
    log.append(&turn("A", "a", "1")).unwrap();
    assert!(matches!(log.flush(), Err(Error::Vanished { .. })));
    let error = store.replay(Path::new("/etc/passwd")).unwrap_err();
    assert_eq!(error.reason(), "No such file or directory (os error 2)");
    // A second thread of the same name is refused, and the first is untouched.
    let mut first = store.create(meta(id(2))).unwrap();
    first.append(&turn("A", "a", "1")).unwrap();
    first.flush().unwrap();
    let mut second = store.create(meta(id(2))).unwrap();
    second.append(&turn("B", "b", "2")).unwrap();
    assert!(matches!(second.flush(), Err(Error::Exists { .. })));
    assert_eq!(turns(&store, first.path()), ["A"]);
}

#[test]
fn a_store_without_tables_says_what_to_do() {
    let Some(cluster) = crate::cluster::shared() else {
        return;
    };
    let address = cluster.address(&cluster.database()).parse();
    let node = quipu_postgres::Postgres::new(HOME, address, Default::default());
    let error = node.store().find(id(1)).unwrap_err().to_string();
    assert!(error.contains("run `quipu store migrate`"), "{error}");
    assert_eq!(node.migrate().unwrap(), (0, 2));
    assert_eq!(node.migrate().unwrap(), (2, 2));
    assert_eq!(node.store().find(id(1)).unwrap(), None);
    let report = node.check().unwrap();
    assert_eq!((report.live, report.damaged.len()), (0, 0));
    assert!(report.has_search_index);
    let invalid = quipu_postgres::Postgres::new(HOME, "nowhere".parse(), Default::default());
    let error = invalid.store().find(id(1)).unwrap_err().to_string();
    assert!(error.contains("must begin with postgres://"), "{error}");
}

#[test]
fn newer_tables_are_used_if_they_say_that_this_program_can() {
    let Some(database) = database() else { return };
    let find = || {
        let found = database.node(Path::new(HOME)).store().find(id(1));
        found.map_err(|error| error.to_string())
    };
    database.value("INSERT INTO quipu.migrations (version, oldest) VALUES (3, 2)");
    assert_eq!(find(), Ok(None));
    database.value("INSERT INTO quipu.migrations (version) VALUES (4)");
    let error = find().unwrap_err();
    assert!(error.contains("use a newer program"), "{error}");
}

/// The same calls on files give the same rollout, byte for byte, but for the times in it.
#[test]
fn both_places_store_the_same_lines() {
    let Some(database) = database() else { return };
    let home = tempfile::tempdir().unwrap();
    let node = database.node(home.path());
    let files = Store::open(home.path(), StoreOptions::default());
    let lines = |store: &Store| {
        let mut log = store.create(meta(id(1))).unwrap();
        for name in ["A", "B", "C"] {
            log.append(&turn(name, "words", "answer")).unwrap();
            log.flush().unwrap();
        }
        log.path().to_owned()
    };
    let path = lines(&node.store());
    let out = tempfile::tempdir().unwrap();
    node.export(out.path()).unwrap();
    let stored = std::fs::read_to_string(out.path().join(path.strip_prefix(home.path()).unwrap()));
    let written = std::fs::read_to_string(lines(&files)).unwrap();
    let without_times = |text: &str| -> Vec<String> {
        let cut = "{\"timestamp\":\"2026-11-15T07:05:35.648Z\"".len();
        text.lines().map(|line| line[cut..].to_owned()).collect()
    };
    assert_eq!(without_times(&stored.unwrap()), without_times(&written));
}
