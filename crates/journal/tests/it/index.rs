//! The index is a cache: it follows the files, and nothing is lost with it.

use std::fs::{self, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use quipu_journal::{Query, Store, StoreOptions};
use quipu_wire::ThreadSortKey;
use uuid::Uuid;

use crate::support::{id, meta, resume, store, turn, user};

fn add(store: &Store, number: u64) -> PathBuf {
    let mut log = store.create(meta(id(number))).unwrap();
    log.append(&turn("A", &format!("thread {number}"), "ok"))
        .unwrap();
    log.flush().unwrap();
    log.path().to_owned()
}

fn list(store: &Store, archived: bool) -> Vec<Uuid> {
    let query = Query {
        archived,
        limit: 100,
        ..Query::default()
    };
    store
        .list(&query)
        .unwrap()
        .threads
        .into_iter()
        .map(|thread| thread.id)
        .collect()
}

fn index_file(home: &Path) -> PathBuf {
    home.join("quipu_index_1.sqlite")
}

#[test]
fn opening_a_store_touches_nothing() {
    let home = tempfile::tempdir().unwrap();
    let store = store(home.path());
    assert_eq!(fs::read_dir(home.path()).unwrap().count(), 0);
    assert!(list(&store, false).is_empty());
}

#[test]
fn threads_of_other_programs_appear_change_and_go() {
    let home = tempfile::tempdir().unwrap();
    let ours = store(home.path());
    let theirs = store(home.path());
    add(&ours, 1);
    assert_eq!(list(&ours, false), [id(1)]);
    let path = add(&theirs, 2);
    assert_eq!(list(&ours, false), [id(2), id(1)]);
    let archive = home.path().join("archived_sessions");
    fs::create_dir(&archive).unwrap();
    fs::rename(&path, archive.join(path.file_name().unwrap())).unwrap();
    assert_eq!(
        (list(&ours, false), list(&ours, true)),
        (vec![id(1)], vec![id(2)])
    );
    fs::remove_dir_all(home.path().join("sessions")).unwrap();
    assert!(list(&ours, false).is_empty());
    assert_eq!(ours.find(id(1)).unwrap(), None);
}

#[test]
fn a_thread_is_listed_once_something_was_said_in_it() {
    let home = tempfile::tempdir().unwrap();
    let store = store(home.path());
    let mut log = store.create(meta(id(1))).unwrap();
    log.flush().unwrap();
    assert!(list(&store, false).is_empty());
    log.append(&[user("hello")]).unwrap();
    log.flush().unwrap();
    assert_eq!(list(&store, false), [id(1)]);
}

#[test]
fn a_list_by_change_sees_what_this_process_wrote() {
    let home = tempfile::tempdir().unwrap();
    let store = store(home.path());
    let paths: Vec<_> = (1..=3).map(|number| add(&store, number)).collect();
    let past = std::time::SystemTime::now() - std::time::Duration::from_secs(60);
    for path in &paths {
        OpenOptions::new()
            .append(true)
            .open(path)
            .unwrap()
            .set_modified(past)
            .unwrap();
    }
    let query = Query {
        sort: ThreadSortKey::UpdatedAt,
        ..Query::default()
    };
    store.list(&query).unwrap();
    let mut log = resume(&store, &paths[0]);
    log.append(&turn("B", "more", "ok")).unwrap();
    log.flush().unwrap();
    let ids: Vec<_> = store
        .list(&query)
        .unwrap()
        .threads
        .into_iter()
        .map(|thread| thread.id)
        .collect();
    assert_eq!(ids, [id(1), id(3), id(2)]);
}

#[test]
fn a_deleted_or_damaged_index_is_built_anew() {
    let home = tempfile::tempdir().unwrap();
    for number in 1..=20 {
        add(&store(home.path()), number);
    }
    store(home.path()).set_name(id(7), "seven").unwrap();
    let expected = list(&store(home.path()), false);
    let index = index_file(home.path());
    let damage: [&dyn Fn(); 5] = [
        &|| fs::remove_file(&index).unwrap(),
        &|| fs::write(&index, "this is not a database, and never was one").unwrap(),
        &|| fs::write(&index, "").unwrap(),
        &|| {
            let mut file = OpenOptions::new().write(true).open(&index).unwrap();
            file.seek(SeekFrom::Start(4096)).unwrap();
            file.write_all(&[0x5a; 8192]).unwrap();
        },
        &|| {
            let len = fs::metadata(&index).unwrap().len();
            OpenOptions::new()
                .write(true)
                .open(&index)
                .unwrap()
                .set_len(len / 2)
                .unwrap();
        },
    ];
    for (number, damage) in damage.iter().enumerate() {
        damage();
        let store = store(home.path());
        assert_eq!(list(&store, false), expected, "damage {number}");
        assert_eq!(
            store.summary(id(7)).unwrap().unwrap().name.as_deref(),
            Some("seven")
        );
        assert_eq!(list(&crate::support::store(home.path()), false), expected);
    }
}

#[test]
fn an_index_damaged_while_open_is_built_anew() {
    let home = tempfile::tempdir().unwrap();
    let store = store(home.path());
    add(&store, 1);
    list(&store, false);
    for suffix in ["", "-wal"] {
        let file = home.path().join(format!("quipu_index_1.sqlite{suffix}"));
        if let Ok(file) = OpenOptions::new().write(true).open(file) {
            file.set_len(0).unwrap();
        }
    }
    add(&store, 2);
    assert_eq!(list(&store, false), [id(2), id(1)]);
}

#[test]
fn an_index_of_another_home_or_version_is_built_anew() {
    let (home, other, sqlite) = (
        tempfile::tempdir().unwrap(),
        tempfile::tempdir().unwrap(),
        tempfile::tempdir().unwrap(),
    );
    let open = |home: &Path| {
        Store::open(
            home,
            StoreOptions {
                sqlite_home: Some(sqlite.path().to_owned()),
            },
        )
    };
    add(&open(home.path()), 1);
    add(&open(other.path()), 2);
    assert_eq!(list(&open(home.path()), false), [id(1)]);
    assert_eq!(list(&open(other.path()), false), [id(2)]);
    assert!(!index_file(home.path()).exists());
    assert!(index_file(sqlite.path()).exists());
}

#[test]
fn the_directory_of_the_index_is_made() {
    let home = tempfile::tempdir().unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    let sqlite = elsewhere.path().join("not/yet");
    let options = StoreOptions {
        sqlite_home: Some(sqlite.clone()),
    };
    let store = Store::open(home.path(), options);
    add(&store, 1);
    assert_eq!(list(&store, false), [id(1)]);
    assert!(index_file(&sqlite).exists());
}

#[test]
fn stores_in_many_threads_agree() {
    let home = tempfile::tempdir().unwrap();
    std::thread::scope(|scope| {
        for worker in 0..4 {
            let home = home.path();
            scope.spawn(move || {
                let store = store(home);
                for number in 0..10 {
                    let id = id(worker * 100 + number);
                    add(&store, worker * 100 + number);
                    assert!(list(&store, false).contains(&id));
                    if number % 3 == 0 {
                        store.archive(id).unwrap();
                        assert!(list(&store, true).contains(&id));
                    }
                }
            });
        }
    });
    let store = store(home.path());
    assert_eq!(
        (list(&store, false).len(), list(&store, true).len()),
        (24, 16)
    );
}
