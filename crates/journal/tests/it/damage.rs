//! Whatever happens to a file, reading it ends, does not panic, and loses only what is broken.

use std::fs;
use std::io::Cursor;
use std::path::Path;

use proptest::prelude::*;
use quipu_journal::{Error, Replay};

use crate::any_bytes;
use crate::support::fixture;

fn read(bytes: &[u8]) -> Result<Replay, Error> {
    Replay::read(Cursor::new(bytes), Path::new("test"))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn random_bytes_are_no_thread(bytes in prop::collection::vec(any::<u8>(), 0..2000)) {
        prop_assert!(matches!(read(&bytes), Err(Error::Empty | Error::NoSessionMeta)));
    }

    #[test]
    fn a_file_cut_anywhere_loses_at_most_one_record(at: prop::sample::Index) {
        let whole = fs::read(fixture("every-tool-once.jsonl")).unwrap();
        let cut = &whole[..at.index(whole.len())];
        let lines = cut.split_inclusive(|b| *b == b'\n').filter(|line| line.ends_with(b"\n")).count();
        match read(cut) {
            Ok(replay) => {
                prop_assert!(replay.warnings.count <= 1);
                let loaded = replay.history.read(Cursor::new(cut)).unwrap();
                prop_assert_eq!(loaded.warnings.count, 0);
            }
            Err(error) => prop_assert!(lines == 0, "{} after {} lines", error, lines),
        }
    }

    #[test]
    fn a_damaged_byte_costs_at_most_the_lines_it_touches(at: prop::sample::Index, byte: u8) {
        let mut bytes = fs::read(fixture("long-session.jsonl")).unwrap();
        let first = bytes.iter().position(|b| *b == b'\n').unwrap();
        let place = first + 1 + at.index(bytes.len() - first - 1);
        bytes[place] = byte;
        let replay = read(&bytes).unwrap();
        let loaded = replay.history.read(Cursor::new(&bytes)).unwrap();
        prop_assert!(replay.warnings.count + loaded.warnings.count <= 2);
    }

    #[test]
    fn junk_between_lines_costs_nothing_else(
        junk in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..50), 1..10),
        places in prop::collection::vec(any::<prop::sample::Index>(), 10),
    ) {
        let clean = fs::read(fixture("long-session.jsonl")).unwrap();
        let mut lines: Vec<Vec<u8>> = clean.split_inclusive(|b| *b == b'\n').map(<[u8]>::to_vec).collect();
        for (junk, place) in junk.into_iter().zip(places) {
            let junk = [&b"x"[..], &junk[..], b"\n"].concat();
            lines.insert(place.index(lines.len()), junk);
        }
        let read_back = read(&lines.concat()).unwrap();
        let expected = read(&clean).unwrap();
        prop_assert_eq!(read_back.turns.len(), expected.turns.len());
        let items = |replay: &Replay| replay.turns.iter().map(|turn| turn.items.len()).sum::<usize>();
        prop_assert_eq!(items(&read_back), items(&expected));
    }
}

#[test]
fn the_laws_hold_for_the_corpus_of_the_fuzzer() {
    let corpus = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus/rollout");
    let inputs: Vec<_> = fs::read_dir(corpus).unwrap().collect();
    assert!(!inputs.is_empty());
    for input in inputs {
        any_bytes::check(&fs::read(input.unwrap().path()).unwrap());
    }
}

#[test]
fn a_giant_line_costs_itself() {
    let mut bytes = fs::read(fixture("one-command.jsonl")).unwrap();
    let expected = read(&bytes).unwrap().turns;
    bytes.extend(b"{\"timestamp\":\"t\",\"type\":\"event_msg\",\"payload\":{\"type\":\"agent_message\",\"message\":\"");
    bytes.resize(bytes.len() + (50 << 20), b'x');
    bytes.extend(b"\"}}\n");
    let replay = read(&bytes).unwrap();
    assert_eq!(replay.warnings.count, 1);
    assert_eq!(replay.turns, expected);
}
