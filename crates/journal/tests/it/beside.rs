//! What is stored beside rollouts: what threads keep, their numbered events, requests with keys.

use quipu_journal::{Before, Error, KeyedRequest};
use serde_json::json;

use crate::support::{id, store};

#[test]
fn changes_at_the_same_time_all_count() {
    let home = tempfile::tempdir().unwrap();
    let store = store(home.path());
    let add = |number: u32| {
        let change = |all: &mut Vec<u32>| {
            all.push(number);
            Ok::<_, Error>(all.len())
        };
        store.attachments(id(1)).change(|error| error, change)
    };
    std::thread::scope(|scope| {
        for writer in 0..4 {
            scope.spawn(move || {
                for number in 0..10 {
                    add(writer * 10 + number).unwrap();
                }
            });
        }
    });
    let mut all: Vec<u32> = store.attachments(id(1)).read().unwrap();
    all.sort_unstable();
    assert_eq!(all, (0..40).collect::<Vec<_>>());
    assert_eq!(store.attached_threads().unwrap(), [id(1)]);
    assert!(store.attachments(id(1)).remove().unwrap());
    assert!(!store.attachments(id(1)).remove().unwrap());
    assert!(store.attached_threads().unwrap().is_empty());
}

#[test]
fn what_cannot_be_read_is_not_replaced() {
    let home = tempfile::tempdir().unwrap();
    let store = store(home.path());
    store.sections().write(&json!({ "not": "a list" })).unwrap();
    let change = |all: &mut Vec<u32>| {
        all.push(1);
        Ok(())
    };
    let changed = store.sections().change(|error| error, change);
    assert!(matches!(changed, Err(Error::Kept(..))), "{changed:?}");
    let kept: serde_json::Value = store.sections().read().unwrap();
    assert_eq!(kept["not"], "a list");
    // What is as it was is not stored.
    let none = |_: &mut Vec<u32>| Ok::<_, Error>(());
    store
        .attachments(id(1))
        .change(|error| error, none)
        .unwrap();
    assert!(store.attached_threads().unwrap().is_empty());
}

fn event(seq: u64, padding: usize) -> String {
    let event = json!({ "method": "error", "params": { "text": "x".repeat(padding) }, "quipu": { "seq": seq } });
    format!("{event}\n")
}

#[test]
fn events_are_read_back_and_the_oldest_go_first() {
    let home = tempfile::tempdir().unwrap();
    let store = store(home.path());
    let mut log = store.create(crate::support::meta(id(1))).unwrap();
    log.flush().unwrap();
    let mut numbers = store.next_epoch(id(1), 0).unwrap();
    let mut events = store.events(id(1));
    assert!(!events.exists().unwrap() && events.read().unwrap().is_none());
    events.begin(Before {
        after: numbers.last,
        turn: "before".to_owned(),
        is_open: false,
    });
    let first = numbers.take().unwrap();
    events.append(event(first, 0).as_bytes()).unwrap();
    for _ in 0..40 {
        let seq = numbers.take().unwrap();
        events.append(event(seq, 48 << 10).as_bytes()).unwrap();
    }
    events.rest().unwrap();
    let mut again = store.events(id(1));
    assert!(again.exists().unwrap());
    let stored = again.read().unwrap().unwrap();
    assert!(stored.before.after > first && stored.events.len() < 40);
    assert_eq!(stored.last(), numbers.last);
    assert_eq!(stored.events[0].seq, stored.before.after + 1);
    // A thread that is loaded again has numbers above all that it had, whatever is known of those.
    let later = store.next_epoch(id(1), 0).unwrap();
    assert!(later.last > numbers.last);
    assert!(store.next_epoch(id(1), u64::MAX).is_err());
    assert!(store.next_epoch(id(1), 0).is_ok());
    drop(log);
    store.delete(id(1)).unwrap();
    assert!(!store.events(id(1)).exists().unwrap());
}

#[test]
fn a_request_acts_once_for_all_who_send_it() {
    let home = tempfile::tempdir().unwrap();
    let store = store(home.path());
    let request = |made: &str, at: i64| KeyedRequest {
        key: "key \u{1F511}".to_owned(),
        digest: "digest".to_owned(),
        made: made.to_owned(),
        done: false,
        at,
    };
    let made = std::thread::scope(|scope| {
        let begin = |number: u32| {
            let request = request(&number.to_string(), 100);
            let store = &store;
            scope.spawn(move || store.begin_request(request))
        };
        let begun: Vec<_> = (0..4).map(begin).collect();
        let begun = begun.into_iter().map(|it| it.join().unwrap().unwrap().made);
        begun.collect::<std::collections::BTreeSet<_>>()
    });
    assert_eq!(made.len(), 1, "{made:?}");
    let made = made.first().unwrap();
    store.request_done(request(made, 100)).unwrap();
    let known = store.begin_request(request("other", 200)).unwrap();
    assert!(known.done && known.made == *made);
    // A day later the key is free.
    let late = request("other", 100 + 24 * 60 * 60 + 1);
    assert_eq!(store.begin_request(late.clone()).unwrap(), late);
}
