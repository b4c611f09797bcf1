//! Names, git facts, archive, forks, and finding threads.

use std::fs;
use std::time::{Duration, SystemTime};

use quipu_journal::{Error, GitInfo, Query, Replay, SessionMeta};
use uuid::Uuid;

use crate::support::{fixture, id, meta, store, turn};

#[test]
fn threads_are_found_by_id_wherever_they_lie() {
    let home = tempfile::tempdir().unwrap();
    let writer = store(home.path());
    let old = Uuid::parse_str("0b7f5c0e-0000-4000-8000-000000000001").unwrap();
    for id in [id(1), old] {
        let mut log = writer.create(meta(id)).unwrap();
        log.flush().unwrap();
        assert_eq!(
            store(home.path()).find(id).unwrap().as_deref(),
            Some(log.path())
        );
        assert_eq!(store(home.path()).find_archived(id).unwrap(), None);
    }
    assert_eq!(store(home.path()).find(id(2)).unwrap(), None);
}

#[test]
fn archive_and_back() {
    let home = tempfile::tempdir().unwrap();
    let store = store(home.path());
    let mut log = store.create(meta(id(1))).unwrap();
    log.append(&turn("A", "a", "1")).unwrap();
    log.flush().unwrap();
    let live = log.path().to_owned();
    let long_ago = SystemTime::now() - Duration::from_secs(1000);
    fs::File::options()
        .append(true)
        .open(&live)
        .unwrap()
        .set_modified(long_ago)
        .unwrap();
    let changed = store.summary(id(1)).unwrap().unwrap().updated_at;

    let archived = store.archive(id(1)).unwrap();
    assert_eq!(
        archived,
        home.path()
            .join("archived_sessions")
            .join(live.file_name().unwrap())
    );
    assert!(!live.exists());
    assert_eq!(store.find(id(1)).unwrap(), None);
    assert!(matches!(store.archive(id(1)), Err(Error::NotFound(_))));
    let summary = store.summary(id(1)).unwrap().unwrap();
    assert_eq!((summary.archived, summary.updated_at), (true, changed));

    // A turn that was running when its thread was archived is still recorded.
    log.append(&turn("B", "b", "2")).unwrap();
    log.flush().unwrap();
    assert_eq!(Replay::open(&archived).unwrap().turns.len(), 2);

    fs::File::options()
        .append(true)
        .open(&archived)
        .unwrap()
        .set_modified(long_ago)
        .unwrap();
    assert_eq!(store.unarchive(id(1)).unwrap(), live);
    assert!(matches!(store.unarchive(id(1)), Err(Error::NotArchived(_))));
    let summary = store.summary(id(1)).unwrap().unwrap();
    assert!(!summary.archived && summary.updated_at > changed);
    assert_eq!(store.list(&Query::default()).unwrap().threads, [summary]);
}

#[test]
fn names_are_shared_with_the_official_program_and_the_last_wins() {
    let home = tempfile::tempdir().unwrap();
    let names = home.path().join("session_index.jsonl");
    fs::copy(fixture("session_index.jsonl"), &names).unwrap();
    let store = store(home.path());
    let named = Uuid::parse_str("01a1de06-978d-7802-ac6e-a69e59e16326").unwrap();
    let mut log = store.create(meta(named)).unwrap();
    log.append(&turn("A", "a", "1")).unwrap();
    log.flush().unwrap();
    let name = || store.summary(named).unwrap().unwrap().name;
    assert_eq!(name().as_deref(), Some("My name"));
    store.set_name(named, "Another \"name\"").unwrap();
    assert_eq!(name().as_deref(), Some("Another \"name\""));
    let lines = fs::read_to_string(&names).unwrap();
    assert_eq!(lines.lines().count(), 2);
    assert!(lines.lines().last().unwrap().starts_with(&format!(
        "{{\"id\":\"{named}\",\"thread_name\":\"Another \\\"name\\\"\",\"updated_at\":\""
    )));
    // Junk and a shorter file are no reason to fail.
    fs::write(&names, b"junk\n\xff\n{\"id\":1}\n").unwrap();
    assert_eq!(name(), None);
}

#[test]
fn git_facts_of_clients_replace_recorded_ones_and_outlive_the_index() {
    let home = tempfile::tempdir().unwrap();
    let git = |branch: &str| GitInfo {
        branch: Some(branch.into()),
        ..GitInfo::default()
    };
    let mut log = store(home.path())
        .create(SessionMeta {
            git: Some(git("recorded")),
            ..meta(id(1))
        })
        .unwrap();
    log.append(&turn("A", "a", "1")).unwrap();
    log.flush().unwrap();
    let read = || store(home.path()).summary(id(1)).unwrap().unwrap().git;
    assert_eq!(read(), Some(git("recorded")));
    store(home.path()).set_git(id(1), &git("set")).unwrap();
    fs::remove_file(home.path().join("quipu_index_1.sqlite")).unwrap();
    assert_eq!(read(), Some(git("set")));
    store(home.path())
        .set_git(id(1), &GitInfo::default())
        .unwrap();
    assert_eq!(read(), None);
}

#[test]
fn a_fork_begins_with_all_its_parent_holds() {
    let home = tempfile::tempdir().unwrap();
    let store = store(home.path());
    let mut parent = store.create(meta(id(1))).unwrap();
    parent.append(&turn("A", "a", "1")).unwrap();
    parent.flush().unwrap();
    let torn = [
        &fs::read(parent.path()).unwrap()[..],
        b"{\"timestamp\":\"2026",
    ]
    .concat();
    fs::write(parent.path(), &torn).unwrap();

    let mut fork = store
        .fork(
            parent.path(),
            SessionMeta {
                forked_from_id: Some(id(1)),
                ..meta(id(2))
            },
        )
        .unwrap();
    assert!(fork.is_materialized());
    fork.append(&turn("B", "b", "2")).unwrap();
    fork.sync().unwrap();
    let replay = Replay::open(fork.path()).unwrap();
    assert_eq!(
        (replay.meta.id, replay.meta.forked_from_id),
        (id(2), Some(id(1)))
    );
    let ids: Vec<_> = replay.turns.iter().map(|turn| turn.id.as_str()).collect();
    assert_eq!(ids, ["A", "B"]);
    assert_eq!(replay.warnings.count, 1);
    assert_eq!(fs::read(parent.path()).unwrap(), torn);
    assert_eq!(
        fs::read_dir(fork.path().parent().unwrap()).unwrap().count(),
        2
    );

    let missing = home.path().join("missing.jsonl");
    store.fork(&missing, meta(id(3))).unwrap_err();
    assert_eq!(
        fs::read_dir(fork.path().parent().unwrap()).unwrap().count(),
        2
    );
}

#[test]
fn unreadable_rollouts_are_refused_in_the_official_words() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("x.jsonl");
    let reason = || Replay::open(&path).unwrap_err().reason();
    assert_eq!(reason(), "No such file or directory (os error 2)");
    fs::write(&path, "").unwrap();
    assert_eq!(reason(), "empty session file");
    fs::write(&path, "junk\n").unwrap();
    assert_eq!(reason(), "failed to parse thread ID from rollout file");
    fs::write(
        &path,
        "{\"timestamp\":\"t\",\"type\":\"compacted\",\"payload\":{}}\n",
    )
    .unwrap();
    assert_eq!(reason(), "failed to parse thread ID from rollout file");
}
