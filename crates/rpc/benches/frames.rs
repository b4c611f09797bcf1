//! What reading costs: bytes to frames, beside a tree of `serde_json::Value` from the same lines.
//!
//! `cargo bench -p quipu-rpc` prints the figures; without cargo's `--bench` flag (a test run) each
//! case runs once, to prove that it works.
#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a program that prints figures"
)]

use std::hint::black_box;
use std::time::{Duration, Instant};

use quipu_rpc::{Frame, Line, Lines};
use serde_json::{Value, json};

/// How long each case runs.
const RUN: Duration = Duration::from_secs(2);
/// As much as one read of a pipe gives.
const CHUNK: usize = 64 * 1024;

fn main() {
    let measured = std::env::args().any(|argument| argument == "--bench");
    let run = if measured { RUN } else { Duration::ZERO };
    println!("{:<28} {:>14} {:>12}", "", "frames/s", "MB/s");
    for (name, line, count) in [("small", small(), 5000), ("large", large(), 4)] {
        let stream = line.repeat(count);
        let length = line.len() - 1;
        measure(
            &format!("{name} ({length} B) as frames"),
            &stream,
            count,
            run,
            frames,
        );
        measure(
            &format!("{name} ({length} B) as Value"),
            &stream,
            count,
            run,
            values,
        );
    }
}

/// A delta, the most frequent message there is.
fn small() -> Vec<u8> {
    let params = json!({
        "threadId": "0199a213-81c0-7800-8aa1-bbab2a035a53",
        "turnId": "0199a213-81c0-7800",
        "itemId": "msg_1",
        "delta": " and",
    });
    message(&json!({"method": "item/agentMessage/delta", "params": params}))
}

/// A history of commands with their outputs.
fn large() -> Vec<u8> {
    let output = "warning: unused variable `x` --> src/main.rs:3:9\n\t\"help\"\n".repeat(30);
    let item = |number| {
        json!({
            "type": "commandExecution",
            "id": format!("call_{number}"),
            "command": "cargo check",
            "exitCode": 0,
            "durationMs": 1234,
            "aggregatedOutput": output,
        })
    };
    let mut items = Vec::new();
    let mut text = Vec::new();
    while text.len() < 1_000_000 {
        items.extend((0..50).map(item));
        text = message(&json!({"id": 1, "result": {"thread": {"turns": [{"items": items}]}}}));
    }
    text
}

fn message(value: &Value) -> Vec<u8> {
    let mut line = serde_json::to_vec(value).unwrap();
    line.push(b'\n');
    line
}

/// Runs one case for a while and prints its rates.
fn measure(name: &str, stream: &[u8], count: usize, run: Duration, case: fn(&[u8]) -> usize) {
    let start = Instant::now();
    let mut rounds = 0_u32;
    while rounds == 0 || start.elapsed() < run {
        assert_eq!(case(black_box(stream)), count);
        rounds += 1;
    }
    let seconds = start.elapsed().as_secs_f64() / f64::from(rounds);
    let frames = count as f64 / seconds;
    let megabytes = stream.len() as f64 / seconds / 1e6;
    println!("{name:<28} {frames:>14.0} {megabytes:>12.0}");
}

/// As a connection reads: framing, then one pass over each line.
fn frames(stream: &[u8]) -> usize {
    let mut lines = Lines::new(16 << 20);
    let mut count = 0;
    for mut chunk in stream.chunks(CHUNK) {
        while let Some(line) = lines.next(&mut chunk) {
            let Line::Text(text) = line else {
                panic!("no line is over the limit");
            };
            black_box(Frame::parse(text).unwrap());
            count += 1;
        }
    }
    count
}

/// The lines are given; only the trees are built.
fn values(stream: &[u8]) -> usize {
    let mut count = 0;
    for line in stream.split(|byte| *byte == b'\n') {
        if !line.is_empty() {
            black_box(serde_json::from_slice::<Value>(line).unwrap());
            count += 1;
        }
    }
    count
}
