//! A thread that was never compacted and comes back in a new process: in each turn its model has seen a
//! megabyte that clients do not see.

use std::fs::OpenOptions;
use std::io::{BufWriter, Write as _};
use std::path::Path;
use std::time::Instant;

use futures_util::future::BoxFuture;
use serde_json::{Value, json};

use super::Curve;
use crate::Result;
use crate::ground::Ground;
use crate::rows::{Values, ms};
use crate::stock::{first_rollout, threads};

pub struct LongThread;

impl Curve for LongThread {
    fn size_of(&self) -> &'static str {
        "MB in one rollout"
    }

    fn sizes(&self) -> &'static [usize] {
        &[10, 100, 1000]
    }

    fn figures(&self) -> &'static [(&'static str, &'static str)] {
        &[
            ("first page with a long thread in it", "ms"),
            ("resume of a long thread", "ms"),
            ("most memory while a long thread is resumed", "MB"),
        ]
    }

    fn prepare<'a>(&'a self, ground: &'a Ground<'a>, size: usize) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            threads(ground, 1).await?;
            let rollout = first_rollout(&ground.stock().join("sessions"))?;
            lengthen(&rollout.ok_or("no thread was stored")?, size)
        })
    }

    fn measure<'a>(&'a self, ground: &'a Ground<'a>, size: usize) -> Values<'a> {
        Box::pin(async move {
            let session = ground.start_stocked().await?;
            let start = Instant::now();
            let page = session.call("thread/list", &json!({})).await?;
            let listed = start.elapsed();
            let params = json!({"threadId": page["data"][0]["id"]});
            let start = Instant::now();
            let answer = session.call("thread/resume", &params).await?;
            let resumed = start.elapsed();
            let turns = answer["thread"]["turns"].as_array().map_or(0, Vec::len);
            if turns <= size {
                return Err(format!("the thread came back with {turns} turns").into());
            }
            Ok(vec![ms(listed), ms(resumed), session.peak_memory()?])
        })
    }
}

/// Adds turns to a rollout, each with an output of a megabyte.
fn lengthen(rollout: &Path, turns: usize) -> Result<()> {
    let mut file = BufWriter::new(OpenOptions::new().append(true).open(rollout)?);
    let output = "x".repeat(1_000_000);
    for turn in 0..turns {
        let id = format!("turn-{turn}");
        let lines = [
            ("event_msg", json!({"type": "task_started", "turn_id": id})),
            ("event_msg", json!({"type": "user_message", "message": id})),
            (
                "response_item",
                json!({"type": "function_call_output", "call_id": id, "output": output}),
            ),
            ("event_msg", json!({"type": "task_complete", "turn_id": id})),
        ];
        for (kind, payload) in lines {
            writeln!(file, "{}", line(kind, &payload))?;
        }
    }
    Ok(file.flush()?)
}

fn line(kind: &str, payload: &Value) -> Value {
    json!({"timestamp": "2026-01-02T10:00:00.000Z", "type": kind, "payload": payload})
}
