//! How long a long conversation takes to come back in a new process.

use std::time::Instant;

use futures_util::future::BoxFuture;
use serde_json::json;

use super::{Figure, Goal, Row, Values, ms};
use crate::Result;
use crate::ground::Ground;

pub struct Resume;

impl Row for Resume {
    fn name(&self) -> &'static str {
        "resume"
    }

    fn figures(&self) -> &[Figure] {
        &[Figure {
            name: "resume of 400 turns",
            unit: "ms",
            goal: Goal::AtMost(0.04),
        }]
    }

    fn prepare<'a>(&'a self, ground: &'a Ground<'a>) -> BoxFuture<'a, Result<()>> {
        Box::pin(async {
            let mut session = ground.start_stocked().await?;
            let thread = session.thread().await?;
            for _ in 0..ground.count(400) {
                session.turn(&thread, "hello").await?;
            }
            session.finish().await
        })
    }

    fn run<'a>(&'a self, ground: &'a Ground<'a>) -> Values<'a> {
        Box::pin(async {
            let session = ground.start_stocked().await?;
            let page = session.call("thread/list", &json!({})).await?;
            let id = &page["data"][0]["id"];
            let start = Instant::now();
            let answer = session
                .call("thread/resume", &json!({"threadId": id}))
                .await?;
            let time = start.elapsed();
            let turns = answer["thread"]["turns"].as_array().map_or(0, Vec::len);
            if turns < ground.count(400) {
                return Err(format!("the thread came back with {turns} turns").into());
            }
            session.finish().await?;
            Ok(vec![ms(time)])
        })
    }
}
