//! What is added to a thread of the newer official program: numbered lines, in both forms, whatever happened
//! to the file before; and rollouts whose beginnings are not where they should be.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use quipu_journal::event::{ErrorEvent, ErrorInfo, ReasoningText, TurnAborted};
use quipu_journal::{Event, Query, Record, SessionMeta, Store};
use quipu_wire::Turn;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::paginated::{SECOND_FORK, SEGMENT, THREAD, find, home, said, turns_of, uuid};
use crate::support::{
    completed, declined_did_not_run, fixture, id, item, meta, resume, started, store, turn, user,
};

/// The lines of a file that are JSON.
fn lines(path: &Path) -> Vec<Value> {
    let bytes = fs::read(path).unwrap();
    let lines = bytes.split(|byte| *byte == b'\n');
    lines
        .filter_map(|line| serde_json::from_slice(line).ok())
        .collect()
}

/// Checks that the numbers of a file only grow; how many lines have none.
fn check_ordinals(path: &Path) -> usize {
    let mut last = None;
    let mut bare = 0;
    for line in lines(path) {
        match line["ordinal"].as_u64() {
            Some(ordinal) => {
                assert!(
                    last.is_none_or(|last| ordinal > last),
                    "{ordinal} after {last:?}"
                );
                last = Some(ordinal);
            }
            None => bare += 1,
        }
    }
    bare
}

/// A home with one paginated thread in which nothing has happened, and its rollout.
fn fresh() -> (TempDir, Store, PathBuf) {
    let home = tempfile::tempdir().unwrap();
    let meta = SessionMeta {
        history_mode: Some("paginated".into()),
        ..meta(id(1))
    };
    let store = store(home.path());
    let mut log = store.create(meta).unwrap();
    log.flush().unwrap();
    let path = log.path().to_owned();
    (home, store, path)
}

fn thought(text: &str) -> Record {
    Event::AgentReasoning(ReasoningText { text: text.into() }).into()
}

#[test]
fn what_is_added_is_numbered_and_stored_in_both_forms() {
    let home = home();
    let store = store(home.path());
    let path = find(&store, THREAD);
    let before = said(&turns_of(store.replay(&path).unwrap()));
    let mut log = resume(&store, &path);
    log.append(&[started("A"), item("user", "hello"), user("hello")])
        .unwrap();
    log.append(&[thought("so"), thought("and so")]).unwrap();
    log.append(&turn("B", "again", "yes")[..]).unwrap();
    log.flush().unwrap();
    let failure = Event::Error(ErrorEvent {
        turn_id: Some("C".into()),
        message: "no".into(),
        codex_error_info: Some(ErrorInfo::BadRequest),
    });
    log.append(&[started("C"), user("fail"), failure.into(), completed("C")])
        .unwrap();
    let aborted = Event::TurnAborted(TurnAborted {
        turn_id: Some("D".into()),
        reason: "interrupted".into(),
    });
    log.append(&[started("D"), user("stop"), aborted.into()])
        .unwrap();
    log.sync().unwrap();

    assert_eq!(check_ordinals(&path), 0);
    let turns = turns_of(store.replay(&path).unwrap());
    let said = said(&turns);
    assert_eq!(said[..before.len()], before);
    let added = [
        vec!["hello", "reasoning"],
        vec!["again"],
        vec!["fail"],
        vec!["stop"],
    ];
    assert_eq!(said[before.len()..], added);
    let statuses: Vec<_> = turns.as_array().unwrap()[before.len()..]
        .iter()
        .map(|turn| turn["status"].as_str().unwrap())
        .collect();
    // A turn that nobody ended counts as interrupted.
    assert_eq!(
        statuses,
        ["interrupted", "completed", "failed", "interrupted"]
    );

    let stored = lines(&path);
    let payloads = |tag: &str| {
        let found = stored.iter().filter(|line| line["payload"]["type"] == tag);
        found
            .map(|line| line["payload"].clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(payloads("user_message").len(), 4);
    let items = payloads("item_completed");
    let thoughts = items
        .iter()
        .find(|it| it["item"]["type"] == "Reasoning")
        .unwrap();
    assert_eq!(thoughts["item"]["summary_text"], json!(["so", "and so"]));
    assert_eq!(thoughts["thread_id"], THREAD);
    assert_eq!(thoughts["turn_id"], "A");
    assert!(thoughts["completed_at_ms"].is_i64() && thoughts["started_at_ms"].is_i64());
    let end = payloads("task_complete").pop().unwrap();
    assert_eq!(
        end["error"],
        json!({ "message": "no", "codex_error_info": "bad_request" })
    );
}

/// Every kind of item that was ever recorded, stored and read back by way of both forms.
#[test]
fn items_of_every_kind_come_back_from_both_forms() {
    let cases = fs::read_to_string(fixture("turns-read-by-codex.jsonl")).unwrap();
    let captured = fs::read_to_string(fixture("long-session.turns.json")).unwrap();
    let captured: Vec<Turn> = serde_json::from_str(&captured).unwrap();
    let cases = cases.lines().flat_map(|case| {
        let mut case: Value = serde_json::from_str(case).unwrap();
        serde_json::from_value::<Vec<Turn>>(case["turns"].take()).unwrap()
    });
    let (_home, store, path) = fresh();
    let mut log = resume(&store, &path);
    let mut expected = Vec::new();
    for (number, recorded) in cases.chain(captured).enumerate() {
        let id = format!("turn-{number}");
        let mut records = vec![started(&id)];
        let mut turns = json!([{ "items": recorded.items }]);
        declined_did_not_run(&mut turns);
        let mut items = turns[0]["items"].take();
        items.as_array_mut().unwrap().retain(|item| {
            // Prompts of hooks are items of the model. Of calls to agents only the ends are stored.
            let kind = item["type"].as_str().unwrap();
            kind != "hookPrompt" && item["status"] != "inProgress"
        });
        for item in recorded.items {
            let events = Event::of_item(item, "thread", &id);
            records.extend(events.into_iter().map(Record::from));
        }
        records.push(completed(&id));
        log.append(&records).unwrap();
        expected.push(items);
    }
    log.flush().unwrap();
    let found = |path: &Path| -> Vec<Value> {
        let turns = turns_of(store.replay(path).unwrap());
        let mut turns: Vec<_> = turns.as_array().unwrap().clone();
        turns.iter_mut().map(|turn| turn["items"].take()).collect()
    };
    let fork = store.fork(&path, meta(id(2))).unwrap();
    assert!(
        !fs::read_to_string(fork.path())
            .unwrap()
            .contains("UserMessage")
    );
    for read in [found(&path), found(fork.path())] {
        assert_eq!(read.len(), expected.len());
        for (mut read, mut expected) in read.into_iter().zip(expected.clone()) {
            read.as_array_mut()
                .unwrap()
                .retain(|item| item["status"] != "inProgress");
            for item in read.as_array_mut().unwrap() {
                item["id"] = Value::Null;
            }
            for item in expected.as_array_mut().unwrap() {
                item["id"] = Value::Null;
            }
            assert_eq!(read, expected);
        }
    }
}

#[test]
fn turns_of_a_program_that_knows_no_numbers_are_completed_once() {
    let (_home, store, path) = fresh();
    let mut log = resume(&store, &path);
    log.append(&turn("A", "one", "1")).unwrap();
    log.close().unwrap();
    let foreign = fs::read_to_string(fixture("every-tool-once.jsonl")).unwrap();
    let foreign: String = foreign
        .lines()
        .skip(1)
        .map(|line| format!("{line}\n"))
        .collect();
    let mut file = OpenOptions::new().append(true).open(&path).unwrap();
    file.write_all(foreign.as_bytes()).unwrap();
    let seen = turns_of(store.replay(&path).unwrap());
    assert_eq!(seen[1]["items"].as_array().unwrap().len(), 6);

    let mut log = resume(&store, &path);
    assert_eq!(turns_of(store.replay(&path).unwrap()), seen);
    let all = lines(&path);
    let added: Vec<_> = all
        .iter()
        .rev()
        .take_while(|line| line["ordinal"].is_u64())
        .collect();
    assert_eq!(added.len(), 7, "six items and the end of their turn");
    assert_eq!(added[0]["payload"]["type"], "task_complete");
    assert!(
        added
            .iter()
            .all(|line| line["payload"]["turn_id"] == seen[1]["id"])
    );
    check_ordinals(&path);
    log.close().unwrap();

    let len = fs::metadata(&path).unwrap().len();
    resume(&store, &path)
        .append(&turn("B", "two", "2"))
        .unwrap();
    assert!(fs::metadata(&path).unwrap().len() > len);
    let after = lines(&path)[all.len()..].to_vec();
    assert_eq!(
        after[0]["payload"]["type"], "task_started",
        "nothing is completed twice"
    );
    assert_eq!(said(&turns_of(store.replay(&path).unwrap())).len(), 3);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// Writers that are killed at any byte, and programs that write no numbers, in any order.
    #[test]
    fn numbers_only_grow_whatever_happens_to_the_file(
        steps in prop::collection::vec((0..4_u8, any::<prop::sample::Index>()), 1..12),
    ) {
        let (_home, store, path) = fresh();
        let head = fs::metadata(&path).unwrap().len();
        for (number, (step, place)) in steps.iter().enumerate() {
            let len = fs::metadata(&path).unwrap().len();
            match step {
                0 => {
                    let cut = head + place.index((len - head + 1) as usize) as u64;
                    OpenOptions::new().write(true).open(&path).unwrap().set_len(cut).unwrap();
                }
                1 => {
                    let foreign = b"{\"timestamp\":\"t\",\"type\":\"event_msg\",\"payload\":{\"type\":\"context_compacted\"}}\n";
                    let mut file = OpenOptions::new().append(true).open(&path).unwrap();
                    file.write_all(&foreign[..1 + place.index(foreign.len())]).unwrap();
                }
                _ => {
                    let mut log = resume(&store, &path);
                    let id = format!("turn-{number}");
                    log.append(&turn(&id, "hello", "hi")).unwrap();
                    log.flush().unwrap();
                    if *step == 3 {
                        log.append(&[started(&format!("{id}b"))]).unwrap();
                        log.flush().unwrap();
                    }
                    drop(log);
                    let replay = store.replay(&path).unwrap();
                    let added = replay.turns.iter().rev().find(|turn| turn.id == id).unwrap();
                    prop_assert_eq!(added.items.len(), 1);
                }
            }
            check_ordinals(&path);
        }
        let mut log = resume(&store, &path);
        log.append(&[completed("end")]).unwrap();
        log.flush().unwrap();
        prop_assert!(lines(&path).last().unwrap()["ordinal"].is_u64());
        check_ordinals(&path);
    }
}

/// Changes what the rollout of a thread says it begins with.
fn rebase(path: &Path, base: Value) {
    let text = fs::read_to_string(path).unwrap();
    let (first, rest) = text.split_once('\n').unwrap();
    let mut first: Value = serde_json::from_str(first).unwrap();
    first["payload"]["history_base"] = base;
    fs::write(path, format!("{first}\n{rest}")).unwrap();
}

#[test]
fn a_beginning_that_is_not_there_is_an_error_and_nothing_else() {
    let base = |thread: &str, ordinal: u64, offset: u64| json!({ "thread_id": thread, "end_ordinal_exclusive": ordinal, "end_byte_offset": offset });
    let missing = id(77).to_string();
    let (near, far) = (1_u64 << 40, u64::MAX);
    let cases = [
        (base(&missing, 5, 10), "is missing"),
        (
            base(SECOND_FORK, 5, 0),
            "is itself a continuation of this one",
        ),
        (
            base(THREAD, near, far),
            "is shorter than the part of it that is needed",
        ),
        (base(THREAD, near, 100), "ends inside a line"),
    ];
    for (base, why) in cases {
        let home = home();
        let store = store(home.path());
        let path = find(&store, SECOND_FORK);
        rebase(&path, base);
        for error in [
            store.replay(&path).unwrap_err(),
            store.resume(&path).unwrap_err(),
            store.fork(&path, meta(id(1))).unwrap_err(),
        ] {
            assert!(error.to_string().contains(why), "{error}");
        }
        // It is listed by what it says itself, and nobody else is touched.
        let page = store.list(&Query::default()).unwrap();
        assert_eq!(page.threads.len(), 3);
        assert_eq!(page.threads[0].preview, "in the second fork");
        store.replay(&find(&store, THREAD)).unwrap();
    }
}

#[test]
fn a_beginning_that_was_changed_since_is_not_taken_for_the_old_one() {
    let home = home();
    let store = store(home.path());
    let path = find(&store, SECOND_FORK);
    let segment = find(&store, THREAD);
    assert!(segment.to_str().unwrap().contains(SEGMENT));
    let text = fs::read_to_string(&segment).unwrap();
    let renumbered = text.replace("\"ordinal\":", "\"ordinal\":9");
    fs::write(&segment, &renumbered).unwrap();
    let error = store.replay(&path).unwrap_err().to_string();
    assert!(error.contains("was changed"), "{error}");
}

#[test]
fn a_chain_of_continuations_has_an_end() {
    let home = home();
    let store = store(home.path());
    let path = find(&store, THREAD);
    let day = path.parent().unwrap();
    let text = fs::read_to_string(&path).unwrap();
    let mut before = SEGMENT.to_owned();
    let count = 600_u64;
    for number in 0..count {
        let segment = id(1000 + number).to_string();
        let name = format!("rollout-2026-11-16T04-05-00-{THREAD}_{segment}.jsonl");
        fs::write(day.join(&name), &text).unwrap();
        let base = json!({ "thread_id": before, "end_ordinal_exclusive": 0, "end_byte_offset": 0 });
        rebase(&day.join(name), base);
        before = segment;
    }
    let newest = day.join(format!(
        "rollout-2026-11-16T04-05-00-{THREAD}_{before}.jsonl"
    ));
    let error = store.replay(&newest).unwrap_err().to_string();
    assert!(error.contains("one of too many"), "{error}");
    let summary = store.summary(uuid(THREAD)).unwrap().unwrap();
    assert_eq!(summary.id, uuid(THREAD));
}
