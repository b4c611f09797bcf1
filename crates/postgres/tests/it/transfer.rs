//! Homes move into the database and out again without loss.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use quipu_journal::{Before, Error, KeyedRequest, Query, Replay, Store, StoreOptions};

use crate::support::{database, id, meta, turn};

/// All rollouts of a home with their times.
fn rollouts(home: &Path) -> BTreeMap<PathBuf, (Vec<u8>, SystemTime)> {
    let mut found = BTreeMap::new();
    let mut left = vec![home.join("sessions"), home.join("archived_sessions")];
    while let Some(directory) = left.pop() {
        for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                left.push(path);
                continue;
            }
            let time = entry.metadata().unwrap().modified().unwrap();
            let relative = path.strip_prefix(home).unwrap().to_owned();
            found.insert(relative, (fs::read(&path).unwrap(), time));
        }
    }
    found
}

/// A home with threads of both generations: forked, reverted, archived, named, torn.
fn home() -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    let recorded =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../journal/tests/fixtures/paginated");
    let day = home.path().join("sessions/2026/11/16");
    fs::create_dir_all(&day).unwrap();
    for file in fs::read_dir(recorded).unwrap().flatten() {
        let name = file.file_name().into_string().unwrap();
        if name.starts_with("rollout-") {
            fs::copy(file.path(), day.join(name)).unwrap();
        }
    }
    let store = Store::open(home.path(), StoreOptions::default());
    for number in 1..=3 {
        let mut log = store.create(meta(id(number))).unwrap();
        log.append(&turn("A", "words", "answer")).unwrap();
        log.flush().unwrap();
        if number == 3 {
            let mut torn = fs::read(log.path()).unwrap();
            torn.extend(b"{\"timestamp\":\"20\xff");
            fs::write(log.path(), torn).unwrap();
        }
    }
    store.archive(id(2)).unwrap();
    store.set_name(id(1), "old").unwrap();
    store.set_name(id(1), "new \"name\"").unwrap();
    let git = quipu_journal::GitInfo {
        branch: Some("main".into()),
        ..Default::default()
    };
    store.set_git(id(2), &git).unwrap();
    store.goal(id(1)).write(&"win").unwrap();
    store.queue(id(2)).write(&["next"]).unwrap();
    home
}

#[test]
fn a_home_goes_in_and_out_without_loss() {
    let Some(database) = database() else { return };
    let home = home();
    let node = database.node(home.path());
    let before = rollouts(home.path());
    let counts = node.import(home.path()).unwrap();
    assert_eq!((counts.copied, counts.same), (before.len() as u64, 0));
    let again = node.import(home.path()).unwrap();
    assert_eq!((again.copied, again.same), (0, before.len() as u64));
    assert!(node.check().unwrap().damaged.is_empty());

    // Everything reads as it does from the files.
    let (files, stored) = (
        Store::open(home.path(), StoreOptions::default()),
        node.store(),
    );
    for archived in [false, true] {
        let query = Query {
            archived,
            limit: 100,
            ..Query::default()
        };
        let listed = files.list(&query).unwrap().threads;
        assert!(!listed.is_empty());
        assert_eq!(stored.list(&query).unwrap().threads, listed);
        for thread in listed {
            let (ours, theirs) = (stored.replay(&thread.path), files.replay(&thread.path));
            let (ours, theirs) = (ours.unwrap(), theirs.unwrap());
            assert_eq!(ours.turns, theirs.turns);
            assert_eq!(ours.warnings.count, theirs.warnings.count);
            let items =
                |store: &Store, history| store.history(history, &thread.path).unwrap().items;
            assert_eq!(
                items(&stored, &ours.history),
                items(&files, &theirs.history)
            );
        }
    }

    let out = tempfile::tempdir().unwrap();
    let exported = node.export(out.path()).unwrap();
    assert_eq!(exported.copied, before.len() as u64);
    assert_eq!(rollouts(out.path()), before);
    assert_eq!(node.export(out.path()).unwrap().same, before.len() as u64);
    let copy = Store::open(out.path(), StoreOptions::default());
    assert_eq!(copy.goal(id(1)).read::<String>().unwrap(), "win");
    assert_eq!(copy.queue(id(2)).read::<Vec<String>>().unwrap(), ["next"]);
    for number in [1, 2] {
        let (copied, original) = (copy.summary(id(number)), files.summary(id(number)));
        let (copied, original) = (copied.unwrap().unwrap(), original.unwrap().unwrap());
        assert_eq!((copied.name, copied.git), (original.name, original.git));
    }
}

#[test]
fn threads_go_on_where_they_were_whatever_form_they_have() {
    let Some(database) = database() else { return };
    let home = home();
    let node = database.node(home.path());
    node.import(home.path()).unwrap();
    let (files, stored) = (
        Store::open(home.path(), StoreOptions::default()),
        node.store(),
    );
    let threads = files.list(&Query::default()).unwrap().threads;
    for thread in &threads {
        for store in [&files, &stored] {
            let mut log = store.resume(&thread.path).unwrap().1;
            log.append(&turn("Z", "more", "end")).unwrap();
            log.close().unwrap();
        }
        let (ours, theirs) = (stored.replay(&thread.path), files.replay(&thread.path));
        let (ours, theirs) = (ours.unwrap(), theirs.unwrap());
        // Items that are stored anew have new ids.
        let shape = |replay: &Replay| -> Vec<(String, usize)> {
            let turns = replay.turns.iter();
            turns
                .map(|turn| (turn.id.clone(), turn.items.len()))
                .collect()
        };
        assert_eq!(shape(&ours), shape(&theirs));
        assert_eq!(ours.turns.last().unwrap().id, "Z");
        assert_eq!(ours.warnings.count, theirs.warnings.count);
    }
    let out = tempfile::tempdir().unwrap();
    node.export(out.path()).unwrap();
    let lengths = |home: &Path| -> Vec<usize> {
        rollouts(home)
            .values()
            .map(|(bytes, _)| bytes.len())
            .collect()
    };
    assert_eq!(lengths(out.path()), lengths(home.path()));
}

#[test]
fn what_differs_is_never_overwritten() {
    let Some(database) = database() else { return };
    let home = home();
    let node = database.node(home.path());
    node.import(home.path()).unwrap();
    let out = tempfile::tempdir().unwrap();
    node.export(out.path()).unwrap();
    let first = rollouts(home.path()).into_keys().next().unwrap();
    for place in [home.path(), out.path()] {
        let mut bytes = fs::read(place.join(&first)).unwrap();
        bytes.extend(b"{}\n");
        fs::write(place.join(&first), bytes).unwrap();
    }
    assert!(matches!(
        node.import(home.path()),
        Err(Error::Exists { .. })
    ));
    assert!(matches!(node.export(out.path()), Err(Error::Exists { .. })));
}

#[test]
fn what_is_beside_rollouts_goes_in_and_out() {
    let Some(database) = database() else { return };
    let (home, out) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let files = Store::open(home.path(), StoreOptions::default());
    files.goal(id(1)).write(&"goal").unwrap();
    files.attachments(id(1)).write(&["attached"]).unwrap();
    files.sections().write(&["section"]).unwrap();
    let numbers = files.next_epoch(id(1), 0).unwrap();
    let mut events = files.events(id(1));
    events.begin(Before {
        after: numbers.last,
        turn: "t".to_owned(),
        is_open: false,
    });
    events.append(b"").unwrap();
    let request = KeyedRequest {
        key: "key".to_owned(),
        digest: "digest".to_owned(),
        made: "made".to_owned(),
        done: false,
        at: SystemTime::UNIX_EPOCH.elapsed().unwrap().as_secs() as i64,
    };
    files.begin_request(request.clone()).unwrap();
    files.request_done(request.clone()).unwrap();
    let node = database.node(Path::new("/home"));
    // A second time changes nothing.
    for _ in 0..2 {
        node.import(home.path()).unwrap();
        node.export(out.path()).unwrap();
    }
    let later = Store::open(out.path(), StoreOptions::default());
    for store in [&node.store(), &later] {
        assert_eq!(store.goal(id(1)).read::<String>().unwrap(), "goal");
        let attached: Vec<String> = store.attachments(id(1)).read().unwrap();
        assert_eq!(attached, ["attached"]);
        let sections: Vec<String> = store.sections().read().unwrap();
        assert_eq!(sections, ["section"]);
        let stored = store.events(id(1)).read().unwrap().unwrap();
        assert_eq!(stored.before.after, numbers.last);
        assert!(store.next_epoch(id(1), 0).unwrap().last > numbers.last);
        let known = store.begin_request(request.clone()).unwrap();
        assert!(known.done && known.made == "made");
    }
}
