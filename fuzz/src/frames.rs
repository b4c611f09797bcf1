//! What must hold for any bytes on a line-framed connection. The fuzz target and a plain test of
//! quipu-rpc both run this.

use quipu_rpc::{Frame, Line, Lines, write};

/// Small, so that inputs reach it.
const LIMIT: usize = 64;

/// Panics if a law of the frame reader is broken.
pub fn check(data: &[u8]) {
    let whole = lines(&[data]);
    let (front, back) = data.split_at(data.len() / 2);
    assert_eq!(whole, lines(&[front, back]), "cut in the middle");
    let bytes: Vec<&[u8]> = data.chunks(1).collect();
    assert_eq!(whole, lines(&bytes), "cut everywhere");

    let mut followed = data.to_vec();
    followed.extend_from_slice(b"\n{\"method\":\"good\"}\n");
    let last = lines(&[&followed]).pop();
    assert_eq!(
        last,
        Some(Line::Text("{\"method\":\"good\"}".into())),
        "a good line got lost"
    );

    for line in whole {
        match line {
            Line::Oversized { length } => assert!(length > LIMIT as u64),
            Line::Text(text) => {
                assert!(!text.is_empty() && text.len() <= LIMIT);
                check_frame(text);
            }
        }
    }
    // A websocket frame may hold line breaks and be longer than a line.
    check_frame(data.to_vec().into());
}

/// A frame that can be read can be written on one line and reads back the same.
fn check_frame(message: bytes::Bytes) {
    let Ok(frame) = Frame::parse(message) else {
        return;
    };
    let written = write::frame(&frame).expect("raw parts are valid JSON");
    assert!(
        !written.iter().any(|byte| matches!(byte, b'\n' | b'\r')),
        "more than one line"
    );
    let again = Frame::parse(written.clone()).expect("what we write we can read");
    assert_eq!(write::frame(&again).expect("as above"), written);
}

fn lines(chunks: &[&[u8]]) -> Vec<Line> {
    let mut lines = Lines::new(LIMIT);
    let mut found = Vec::new();
    for chunk in chunks {
        let mut rest = *chunk;
        while let Some(line) = lines.next(&mut rest) {
            found.push(line);
        }
        assert!(rest.is_empty(), "bytes left over without a line");
    }
    found.extend(lines.finish());
    found
}
