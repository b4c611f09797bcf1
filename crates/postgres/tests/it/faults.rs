//! The database is killed, restarted and away; nothing that was reported as stored is lost, and nothing is stored twice.

use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use quipu_journal::Error;
use quipu_postgres::{Options, Postgres};

use crate::cluster::{Cluster, within};
use crate::support::{database, id, meta, turn};

fn node(cluster: &Cluster, database: &str, patience: Duration) -> Arc<Postgres> {
    let options = Options {
        patience,
        ..Options::default()
    };
    Postgres::new("/home", cluster.address(database).parse(), options)
}

#[test]
fn a_killed_database_loses_nothing_and_repeats_nothing() {
    let Some(mut cluster) = Cluster::start() else {
        return;
    };
    let name = cluster.database();
    let node = node(&cluster, &name, Duration::from_secs(100));
    node.migrate().unwrap();
    let store = node.store();
    let (written, stop) = (
        Arc::new(AtomicUsize::new(0)),
        Arc::new(AtomicBool::new(false)),
    );
    let writer = {
        let mut log = store.create(meta(id(1))).unwrap();
        let (written, stop) = (Arc::clone(&written), Arc::clone(&stop));
        std::thread::spawn(move || {
            while !stop.load(Ordering::SeqCst) {
                let number = written.load(Ordering::SeqCst);
                log.append(&turn(&number.to_string(), "words", "answer"))
                    .unwrap();
                log.flush().unwrap();
                written.fetch_add(1, Ordering::SeqCst);
            }
            log.path().to_owned()
        })
    };
    for _ in 0..3 {
        let enough = written.load(Ordering::SeqCst) + 20;
        assert!(within(
            || written.load(Ordering::SeqCst) >= enough || writer.is_finished()
        ));
        cluster.kill();
        cluster.launch();
    }
    let enough = written.load(Ordering::SeqCst) + 20;
    assert!(within(
        || written.load(Ordering::SeqCst) >= enough || writer.is_finished()
    ));
    stop.store(true, Ordering::SeqCst);
    let path = writer.join().unwrap();
    let replay = store.replay(&path).unwrap();
    let ids: Vec<_> = replay.turns.iter().map(|turn| turn.id.clone()).collect();
    let expected: Vec<_> = (0..written.load(Ordering::SeqCst))
        .map(|n| n.to_string())
        .collect();
    assert_eq!(ids, expected);
    assert_eq!(replay.warnings.count, 0);
    assert!(node.check().unwrap().damaged.is_empty());
}

#[test]
fn a_database_that_stays_away_is_an_error_in_words_and_the_records_wait() {
    let Some(mut cluster) = Cluster::start() else {
        return;
    };
    let name = cluster.database();
    let node = node(&cluster, &name, Duration::from_millis(300));
    node.migrate().unwrap();
    let store = node.store();
    let mut log = store.create(meta(id(1))).unwrap();
    log.append(&turn("A", "a", "1")).unwrap();
    log.flush().unwrap();
    cluster.kill();
    log.append(&turn("B", "b", "2")).unwrap();
    for _ in 0..2 {
        let error = log.flush().unwrap_err();
        let text = error.to_string();
        assert!(matches!(error, Error::Database(_)), "{text}");
        assert!(text.contains("cannot be reached"), "{text}");
        log.append(&turn("C", "c", "3")).unwrap();
    }
    let error = store.find(id(1)).unwrap_err().to_string();
    assert!(
        error.contains("try again when PostgreSQL is back"),
        "{error}"
    );
    cluster.launch();
    log.flush().unwrap();
    let turns = store.replay(log.path()).unwrap().turns;
    let ids: Vec<_> = turns.iter().map(|turn| turn.id.as_str()).collect();
    assert_eq!(ids, ["A", "B", "C", "C"]);
}

/// Stands between a node and the server, and can lose an answer with its connection.
struct Proxy {
    directory: tempfile::TempDir,
    /// How many answers are to be lost.
    lost: Arc<AtomicUsize>,
}

impl Proxy {
    fn start(server: PathBuf) -> Proxy {
        let directory = tempfile::tempdir_in("/tmp").unwrap();
        let listener = UnixListener::bind(directory.path().join(".s.PGSQL.5432")).unwrap();
        let lost = Arc::new(AtomicUsize::new(0));
        let losing = Arc::clone(&lost);
        std::thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let server = UnixStream::connect(&server).unwrap();
                let (from_client, to_server) =
                    (client.try_clone().unwrap(), server.try_clone().unwrap());
                let losing = Arc::clone(&losing);
                std::thread::spawn(move || forward(from_client, to_server, &AtomicUsize::new(0)));
                std::thread::spawn(move || forward(server, client, &losing));
            }
        });
        Proxy { directory, lost }
    }

    fn node(&self, database: &str, patience: Duration) -> Arc<Postgres> {
        let options = Options {
            patience,
            // No signs of life meanwhile: only answers to writes are lost.
            lease: Duration::from_secs(3600),
            ..Options::default()
        };
        let directory = self.directory.path().to_str().unwrap().replace('/', "%2F");
        let address = format!("postgres://quipu@{directory}/{database}");
        Postgres::new("/home", address.parse(), options)
    }
}

fn forward(mut from: UnixStream, mut to: UnixStream, lost: &AtomicUsize) {
    let mut buffer = [0; 1 << 16];
    while let Ok(count) = from.read(&mut buffer) {
        let less = |left: usize| left.checked_sub(1);
        let is_lost = lost
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, less)
            .is_ok();
        if count == 0 || is_lost || to.write_all(&buffer[..count]).is_err() {
            break;
        }
    }
    drop((from.shutdown(Shutdown::Both), to.shutdown(Shutdown::Both)));
}

/// The server has stored a batch, and nobody heard of it: it is not stored again, neither by trying again at once nor
/// by the next flush, which has more to store.
#[test]
fn a_batch_whose_answer_was_lost_counts_once() {
    let Some(database) = database() else { return };
    let proxy = Proxy::start(database.cluster.socket());
    for (number, patience) in [(1, Duration::from_secs(100)), (2, Duration::ZERO)] {
        let node = proxy.node(&database.name, patience);
        let store = node.store();
        let mut log = store.create(meta(id(number))).unwrap();
        for name in ["A", "B"] {
            log.append(&turn(name, "x", "y")).unwrap();
            log.flush().unwrap();
        }
        let stored = || database.value("SELECT max(length) FROM quipu.rollouts");
        let before = stored();
        proxy.lost.store(1, Ordering::SeqCst);
        log.append(&turn("C", "x", "y")).unwrap();
        let flushed = log.flush();
        assert_eq!(proxy.lost.load(Ordering::SeqCst), 0);
        assert_ne!(stored(), before);
        assert_eq!(flushed.is_ok(), !patience.is_zero(), "{flushed:?}");
        log.append(&turn("D", "x", "y")).unwrap();
        log.flush().unwrap();
        let turns = store.replay(log.path()).unwrap().turns;
        let ids: Vec<_> = turns.iter().map(|turn| turn.id.as_str()).collect();
        assert_eq!(ids, ["A", "B", "C", "D"]);
        drop(log);
        store.delete(id(number)).unwrap();
    }
}

/// Connections end while nobody uses them.
#[test]
fn connections_that_ended_are_replaced() {
    let Some(database) = database() else { return };
    let store = database.node(Path::new("/home")).store();
    let mut log = store.create(meta(id(1))).unwrap();
    let end_all = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid()";
    for name in ["A", "B", "C"] {
        log.append(&turn(name, "x", "y")).unwrap();
        log.flush().unwrap();
        database.value(end_all);
    }
    assert_eq!(store.replay(log.path()).unwrap().turns.len(), 3);
}
