//! The history a model continues from, after compactions and rollbacks.

use quipu_journal::{Compacted, Record, Replay};
use quipu_wire::Json;
use serde_json::json;

use crate::support::{
    completed, fixture, item, replay, rolled_back, rollout, started, texts, turn, user,
};

fn compacted(kept: Option<&[&str]>) -> Record {
    let said = |text: &&str| -> Json {
        json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}).into()
    };
    let replacement_history = kept.map(|texts| texts.iter().map(said).collect());
    Record::Compacted(Compacted {
        message: "sum".into(),
        replacement_history,
    })
}

fn compaction(id: &str, kept: Option<&[&str]>) -> Vec<Record> {
    vec![started(id), compacted(kept), completed(id)]
}

/// Checks which turns and which texts a rollout leaves.
#[track_caller]
fn check(records: &[Vec<Record>], turns: &[&str], history: &[&str]) {
    let bytes = rollout(&records.concat());
    let replay = replay(&bytes);
    let ids: Vec<_> = replay.turns.iter().map(|turn| turn.id.as_str()).collect();
    assert_eq!(ids, turns);
    assert_eq!(texts(&replay, &bytes), history);
}

#[test]
fn items_come_in_order() {
    check(
        &[turn("A", "a", "1"), turn("B", "b", "2")],
        &["A", "B"],
        &["user: a", "assistant: 1", "user: b", "assistant: 2"],
    );
}

#[test]
fn a_compaction_replaces_what_was_before() {
    check(
        &[
            turn("A", "a", "1"),
            compaction("K", Some(&["a", "sum"])),
            turn("B", "b", "2"),
        ],
        &["A", "K", "B"],
        &["user: a", "user: sum", "user: b", "assistant: 2"],
    );
}

#[test]
fn a_compaction_of_an_old_file_keeps_what_the_user_said() {
    let context = vec![
        item("user", "<environment_context>x"),
        item("developer", "x"),
    ];
    check(
        &[
            context,
            turn("A", "a", "1"),
            compaction("K", None),
            turn("B", "b", "2"),
            compaction("L", None),
        ],
        &["A", "K", "B", "L"],
        &["user: a", "user: sum", "user: b", "user: sum"],
    );
}

#[test]
fn a_rollback_takes_back_turns_and_history_alike() {
    let (a, b) = (turn("A", "a", "1"), turn("B", "b", "2"));
    check(
        &[a.clone(), b.clone(), vec![rolled_back(1)]],
        &["A"],
        &["user: a", "assistant: 1"],
    );
    check(&[a.clone(), b.clone(), vec![rolled_back(9)]], &[], &[]);
    let shell = vec![
        started("S"),
        item("user", "<user_shell_command>ls"),
        completed("S"),
    ];
    check(
        &[a.clone(), shell, vec![rolled_back(1)]],
        &["A"],
        &["user: a", "assistant: 1"],
    );
    let steered = [
        turn("B", "b", "2"),
        vec![item("user", "more"), user("more")],
    ]
    .concat();
    check(
        &[a.clone(), steered, vec![rolled_back(2)]],
        &["A"],
        &["user: a", "assistant: 1"],
    );
    check(
        &[
            a,
            b,
            vec![rolled_back(1)],
            turn("C", "c", "3"),
            vec![rolled_back(1)],
            turn("D", "d", "4"),
        ],
        &["A", "D"],
        &["user: a", "assistant: 1", "user: d", "assistant: 4"],
    );
}

#[test]
fn a_rollback_reaches_behind_a_compaction() {
    let kept: &[&str] = &["a", "b", "sum"];
    let thread = [
        turn("A", "a", "1"),
        turn("B", "b", "2"),
        compaction("K", Some(kept)),
        turn("C", "c", "3"),
    ];
    let after = |turns| [&thread[..], &[vec![rolled_back(turns)]]].concat();
    check(
        &after(1),
        &["A", "B", "K"],
        &["user: a", "user: b", "user: sum"],
    );
    check(
        &after(2),
        &["A", "B"],
        &["user: a", "assistant: 1", "user: b", "assistant: 2"],
    );
    check(&after(3), &["A"], &["user: a", "assistant: 1"]);
}

#[test]
fn a_rollback_takes_back_a_compaction_within_the_turn() {
    let mut b = turn("B", "b", "2");
    b.insert(3, compacted(Some(&["a", "b", "sum"])));
    check(
        &[turn("A", "a", "1"), b.clone()],
        &["A", "B"],
        &["user: a", "user: b", "user: sum", "assistant: 2"],
    );
    check(
        &[turn("A", "a", "1"), b, vec![rolled_back(1)]],
        &["A"],
        &["user: a", "assistant: 1"],
    );
}

#[test]
fn files_without_turn_events_roll_back_by_message() {
    let records = [
        item("user", "a"),
        user("a"),
        item("assistant", "1"),
        item("user", "b"),
        user("b"),
        item("assistant", "2"),
        rolled_back(1),
    ];
    let bytes = rollout(&records);
    let replay = replay(&bytes);
    assert_eq!(replay.turns.len(), 1);
    assert_eq!(texts(&replay, &bytes), ["user: a", "assistant: 1"]);
}

#[test]
fn an_unreadable_item_costs_itself() {
    let mut bytes = rollout(&turn("A", "a", "1"));
    bytes.extend(
        b"{\"timestamp\":\"t\",\"type\":\"response_item\",\"payload\":{\"type\":\"message\",}}\n",
    );
    bytes.extend(b"{\"timestamp\":\"t\",\"type\":\"response_item\",\"payload\":{\"type\":\"x\"},\"more\":1}\n");
    let loaded = replay(&bytes)
        .history
        .read(std::io::Cursor::new(&bytes))
        .unwrap();
    assert_eq!(loaded.items.len(), 3);
    assert_eq!(loaded.warnings.count, 1);
}

#[test]
fn a_real_session_has_the_items_that_were_sent() {
    let path = fixture("long-session.jsonl");
    let replay = Replay::open(&path).unwrap();
    let loaded = replay.history.load(&path).unwrap();
    assert_eq!(loaded.warnings.count, 0);
    let bytes = std::fs::read(&path).unwrap();
    let texts = texts(&replay, &bytes);
    assert_eq!(
        texts[5..],
        [
            "user: (summary)",
            "developer: (elided)(elided)(elided)",
            "user: <environment_context>(elided)",
            "user: after compact",
            "assistant: ok",
            "user: after rollback",
            "assistant: ok",
            "user: <user_action>(elided)",
            "assistant: Because\n\nReview comment:\n\n- [P1] Bug — /x/a.py:1-2\n  Bad",
            "user: last",
            "assistant: ok",
        ]
    );
}
