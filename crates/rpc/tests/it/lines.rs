//! Properties of newline framing: any bytes, cut anywhere.

use proptest::collection::vec;
use proptest::prelude::*;
use quipu_rpc::{Line, Lines};

const LIMIT: usize = 16;

fn cut(chunks: &[&[u8]]) -> Vec<Line> {
    let mut lines = Lines::new(LIMIT);
    let mut found = Vec::new();
    for chunk in chunks {
        let mut rest = *chunk;
        while let Some(line) = lines.next(&mut rest) {
            found.push(line);
        }
        assert!(rest.is_empty());
    }
    found.extend(lines.finish());
    found
}

/// The same thing said without regard for reads, memory or copies.
fn model(stream: &[u8]) -> Vec<Line> {
    stream
        .split(|byte| *byte == b'\n')
        .filter_map(|line| {
            if line.len() > LIMIT {
                let length = line.len() as u64;
                return Some(Line::Oversized { length });
            }
            let text = line.strip_suffix(b"\r").unwrap_or(line);
            (!text.is_empty()).then(|| Line::Text(text.to_vec().into()))
        })
        .collect()
}

/// Bytes that make lines of all lengths around the limit, with all the bytes that matter.
fn stream() -> impl Strategy<Value = Vec<u8>> {
    let byte = prop_oneof![
        2 => Just(b'\n'),
        1 => Just(b'\r'),
        12 => any::<u8>(),
    ];
    vec(byte, 0..200)
}

fn text(line: &'static str) -> Line {
    Line::Text(line.into())
}

proptest! {
    #[test]
    fn cuts_make_no_difference(chunks in vec(stream(), 0..12)) {
        let parts: Vec<&[u8]> = chunks.iter().map(Vec::as_slice).collect();
        let whole = parts.concat();
        prop_assert_eq!(cut(&parts), model(&whole));
        prop_assert_eq!(cut(&[&whole]), model(&whole));
    }

    #[test]
    fn a_good_line_after_anything_arrives(noise in stream()) {
        let mut lines = Lines::new(LIMIT);
        let mut rest = noise.as_slice();
        while lines.next(&mut rest).is_some() {}
        let mut good: &[u8] = b"\ngood\n";
        let mut last = None;
        while let Some(line) = lines.next(&mut good) {
            last = Some(line);
        }
        prop_assert_eq!(last, Some(text("good")));
        prop_assert_eq!(lines.finish(), None);
    }
}

#[test]
fn both_line_ends_and_empty_lines() {
    assert_eq!(
        cut(&[b"a\r", b"\n\n\r\nb\n\r", b"\nc\rd"]),
        [text("a"), text("b"), text("c\rd")]
    );
}

#[test]
fn the_limit_itself_is_allowed() {
    let oversized = Line::Oversized { length: 17 };
    assert_eq!(
        cut(&[b"0123456789abcdef\n0123456789abcdefg\nnext\n0123456789abcdefg"]),
        [
            text("0123456789abcdef"),
            oversized.clone(),
            text("next"),
            oversized
        ]
    );
}
