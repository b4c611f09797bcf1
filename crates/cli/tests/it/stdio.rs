//! Standard input and output: one JSON text per line, nothing else on standard output, and an end with
//! the input.

use std::time::{Duration, Instant};

use quipu_testkit::process::Signal;
use quipu_testkit::raw::Raw;
use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::support::{app_server, converse, initialize, list};

/// Everything a process writes for one input, and how it ended.
async fn pipe(input: &[u8]) -> (String, Option<i32>) {
    let mut process = app_server([]).env("RUST_LOG", "trace").start();
    let mut stdin = process.stdin.take().unwrap();
    let mut stdout = process.stdout.take().unwrap();
    let writing = async move {
        stdin.write_all(input).await.unwrap();
        drop(stdin);
    };
    let mut output = String::new();
    let (_, read) = tokio::join!(writing, stdout.read_to_string(&mut output));
    read.unwrap();
    (output, process.exit().await.code())
}

fn ids(output: &str) -> Vec<i64> {
    let lines = output
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let mut ids: Vec<_> = lines.filter_map(|line| line["id"].as_i64()).collect();
    ids.sort_unstable();
    ids
}

#[tokio::test]
async fn what_is_piped_in_is_answered_before_the_exit() {
    let mut input = initialize(0).to_string();
    for id in 1..=400 {
        input.push_str(&format!("\n{}", list(id)));
    }
    // The last line may lack its end.
    let (output, code) = pipe(input.as_bytes()).await;
    assert_eq!(code, Some(0));
    assert_eq!(ids(&output), (0..=400).collect::<Vec<_>>());
}

#[tokio::test]
async fn standard_output_carries_nothing_but_messages() {
    let input =
        b"\n\r\nnoise\n\xff\xfe\n[1]\n{\"id\":1,\"method\":\"x\"}\r\n{\"id\":2,\"result\":1}\n";
    let (output, code) = pipe(input).await;
    assert_eq!(code, Some(0));
    assert_eq!(ids(&output), [1]);
    let without_id = output.matches(r#""id":null}"#).count();
    assert_eq!((output.lines().count(), without_id), (4, 3), "{output}");
    assert!(output.ends_with('\n'), "{output}");
}

#[tokio::test]
async fn a_line_over_the_limit_is_answered_and_costs_only_itself() {
    let length = (256 << 20) + 1;
    let input = format!("{}\n{}\n{}\n", initialize(1), "x".repeat(length), list(2));
    let (output, code) = pipe(input.as_bytes()).await;
    assert_eq!((ids(&output), code), (vec![1, 2], Some(0)));
    let expected = r#"{"error":{"code":-32600,"message":"Message too long: the limit for a message is 268435456 bytes"},"id":null}"#;
    assert!(output.lines().any(|line| line == expected), "{output}");
}

/// A client that has not introduced itself may send a megabyte at once.
#[tokio::test]
async fn before_the_handshake_lines_are_short() {
    let long = "x".repeat(1 << 20);
    let input = format!(
        "{long}\n{long}x\n{}\n{{\"id\":2,\"method\":\"{long}\"}}\n",
        initialize(1)
    );
    let (output, code) = pipe(input.as_bytes()).await;
    assert_eq!(code, Some(0));
    let answers: Vec<Value> = output
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(answers[0]["error"]["code"], -32700);
    let text = answers[1]["error"]["message"].as_str().unwrap();
    assert!(text.ends_with("1048576 bytes"), "{text}");
    assert_eq!(
        (&answers[2]["id"], &answers[3]["id"]),
        (&1.into(), &2.into())
    );
}

#[tokio::test]
async fn long_lines_pass() {
    let padding = "x".repeat(30 << 20);
    let long = format!(r#"{{"id":7,"method":"thread/loaded/list","params":{{"x":"{padding}"}}}}"#);
    let input = format!("{}\n{long}\n", initialize(1));
    let (output, code) = pipe(input.as_bytes()).await;
    assert_eq!((ids(&output), code), (vec![1, 7], Some(0)));
}

#[tokio::test]
async fn the_end_of_input_ends_the_process_at_once() {
    let mut process = app_server([]).start();
    let mut raw = Raw::new(process.stdio());
    converse(&mut raw).await;
    let ended = Instant::now();
    raw.end().await;
    assert_eq!(raw.next().await, None);
    assert_eq!(process.exit().await.code(), Some(0));
    assert!(
        ended.elapsed() < Duration::from_secs(1),
        "{:?}",
        ended.elapsed()
    );
}

#[tokio::test]
async fn signals_end_the_process_in_good_order() {
    for signal in [Signal::TERM, Signal::INT] {
        let mut process = app_server([]).start();
        let mut raw = Raw::new(process.stdio());
        converse(&mut raw).await;
        process.signal(signal);
        assert_eq!(raw.next().await, None);
        assert_eq!(process.exit().await.code(), Some(0));
    }
}

/// The owner closed its reading end: nobody is left to serve.
#[tokio::test]
async fn a_closed_standard_output_ends_the_process() {
    let mut process = app_server([]).start();
    drop(process.stdout.take());
    let mut stdin = process.stdin.take().unwrap();
    stdin
        .write_all(format!("{}\n", initialize(1)).as_bytes())
        .await
        .unwrap();
    assert_eq!(process.exit().await.code(), Some(0));
}
