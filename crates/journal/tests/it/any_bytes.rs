//! What must hold for any bytes as the rest of a rollout. The fuzz target `rollout` and a plain test
//! both run this.

use std::io::Cursor;
use std::path::Path;

use quipu_journal::Replay;

const META: &[u8] = br#"{"timestamp":"2026-11-15T07:05:35.648Z","type":"session_meta","payload":{"id":"01a1de06-9491-7e71-ac1f-03e96ae2351f","timestamp":"2026-11-15T07:05:35.648Z","cwd":"/project"}}
"#;
const TURN: &[u8] = br#"
{"timestamp":"t","type":"event_msg","payload":{"type":"task_started","turn_id":"the last one"}}
{"timestamp":"t","type":"response_item","payload":{"type":"message","role":"user","content":[]}}
{"timestamp":"t","type":"event_msg","payload":{"type":"user_message","message":"still here"}}
"#;

/// Panics if a law of reading rollouts is broken.
pub fn check(data: &[u8]) {
    if let Ok(replay) = Replay::read(Cursor::new(data), Path::new("any")) {
        replay
            .history
            .read(Cursor::new(data))
            .expect("memory can be read");
    }
    let bytes = [META, data, TURN].concat();
    let read = || Replay::read(Cursor::new(&bytes), Path::new("any"));
    let replay = read().expect("a file that says whose it is can be read");
    let last = replay.turns.last().expect("a good turn got lost");
    assert_eq!((last.id.as_str(), last.items.len()), ("the last one", 1));
    assert_eq!(replay.open_turn(), Some("the last one"));
    let loaded = replay
        .history
        .read(Cursor::new(&bytes))
        .expect("memory can be read");
    assert!(
        loaded
            .items
            .last()
            .is_some_and(|item| item.get().contains("user"))
    );
    assert_eq!(read().expect("as before").turns, replay.turns);
}
