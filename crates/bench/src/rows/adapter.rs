//! What the adapter costs: an evaluation beside a turn made by hand, on a server of its own and on one that is
//! shared, one after the other and at once, and the memory of evaluations that wait.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};
use std::time::Instant;

use futures_util::future::try_join_all;
use quipu_adapter::{Adapter, Prompt, Section, Server, Session, Tool, ToolContext, ToolError};
use quipu_client::wire::ThreadStartParams;
use quipu_client::{Client, Options, prompt};
use serde_json::json;
use tokio::sync::Barrier;

use super::{Figure, Goal, Row, Values};
use crate::Result;
use crate::ground::Ground;
use crate::usage;

const EVALUATIONS: usize = 50;
/// Evaluations that run at once.
const AT_ONCE: usize = 16;
/// Evaluations whose memory is measured.
const WAITING: usize = 100;

pub struct AdapterCost;

const fn figure(name: &'static str, unit: &'static str) -> Figure {
    Figure {
        name,
        unit,
        goal: Goal::None,
    }
}

impl Row for AdapterCost {
    fn name(&self) -> &'static str {
        "adapter"
    }

    fn figures(&self) -> &[Figure] {
        const {
            &[
                figure("thread and turn by hand, on a running server", "ms"),
                figure("evaluation, pooled", "ms"),
                figure("process, thread and turn by hand", "ms"),
                figure("evaluation, a process each", "ms"),
                figure("16 evaluations at once, pooled: each", "ms"),
                figure("16 evaluations at once, a process each: each", "ms"),
                figure("server memory of a pooled evaluation that waits", "kB"),
            ]
        }
    }

    /// What differs is the adapter's way to the server, not the server.
    fn compares(&self) -> bool {
        false
    }

    fn run<'a>(&'a self, ground: &'a Ground<'a>) -> Values<'a> {
        Box::pin(async {
            let count = ground.count(EVALUATIONS);
            let alone = Adapter::new(server(ground, Arc::default()));
            let pooled = Adapter::new(server(ground, Arc::default()).pooled());
            let values = vec![
                by_hand(ground, count).await?,
                one_by_one(&pooled, count).await?,
                whole_by_hand(ground, count.div_ceil(5)).await?,
                one_by_one(&alone, count.div_ceil(5)).await?,
                at_once(&pooled).await?,
                at_once(&alone).await?,
                memory(ground).await?,
            ];
            pooled.close().await;
            Ok(values)
        })
    }
}

fn options(program: &Path, home: &Path) -> Options {
    Options::spawn(program)
        .env("QUIPU_HOME", home)
        .env("CODEX_HOME", home)
        .env("RUST_LOG", "error")
}

/// The program; its process id is noted.
fn server(ground: &Ground<'_>, pid: Arc<AtomicI32>) -> Server {
    let program = ground.subject().program.clone();
    let home = ground.stock().to_owned();
    Server::with(move |bridge| {
        let options = options(&program, &home).handler(bridge);
        let pid = Arc::clone(&pid);
        async move {
            let client = Client::connect(options).await?;
            let started = client.server_pid().and_then(|pid| pid.try_into().ok());
            pid.store(started.unwrap_or_default(), Ordering::Relaxed);
            Ok(client)
        }
    })
}

fn hello() -> Prompt<String> {
    Prompt::text("hello").section(Section::new("Task", "hello"))
}

/// Milliseconds of one, since `start`.
fn each(start: Instant, count: usize) -> f64 {
    start.elapsed().as_secs_f64() * 1e3 / count as f64
}

async fn by_hand(ground: &Ground<'_>, count: usize) -> Result<f64> {
    let client = Client::connect(options(&ground.subject().program, ground.stock())).await?;
    turn(&client).await?;
    let start = Instant::now();
    for _ in 0..count {
        turn(&client).await?;
    }
    let each = each(start, count);
    client.disconnect().await;
    Ok(each)
}

/// A thread and its turn, as little as there can be.
async fn turn(client: &Client) -> Result<()> {
    let thread = client.start_thread(ThreadStartParams::default()).await?;
    client.run_turn(prompt(&thread.id, "hello")).await?;
    Ok(())
}

/// The same with a process each, from its start to its end.
async fn whole_by_hand(ground: &Ground<'_>, count: usize) -> Result<f64> {
    let start = Instant::now();
    for _ in 0..count {
        let options = options(&ground.subject().program, ground.stock());
        let client = Client::connect(options).await?;
        turn(&client).await?;
        client.disconnect().await;
    }
    Ok(each(start, count))
}

async fn one_by_one(adapter: &Adapter, count: usize) -> Result<f64> {
    adapter.evaluate(&hello(), &Session::new()).await?;
    let start = Instant::now();
    for _ in 0..count {
        adapter.evaluate(&hello(), &Session::new()).await?;
    }
    Ok(each(start, count))
}

async fn at_once(adapter: &Adapter) -> Result<f64> {
    let start = Instant::now();
    let one = async |_| adapter.evaluate(&hello(), &Session::new()).await;
    try_join_all((0..AT_ONCE).map(one)).await?;
    Ok(each(start, AT_ONCE))
}

/// What the server holds more with evaluations that wait for a tool of the program.
async fn memory(ground: &Ground<'_>) -> Result<f64> {
    let pid = Arc::new(AtomicI32::new(0));
    let adapter = Adapter::new(server(ground, Arc::clone(&pid)).pooled());
    adapter.evaluate(&hello(), &Session::new()).await?;
    let resident = || usage::memory(pid.load(Ordering::Relaxed));
    let before = resident()?;
    let met = Arc::new(Barrier::new(WAITING + 1));
    let go_on = Arc::new(Barrier::new(WAITING + 1));
    let (meets, goes_on) = (Arc::clone(&met), Arc::clone(&go_on));
    let wait = Tool::new("wait", "Waits.", move |(), _: ToolContext| {
        let (meets, goes_on) = (Arc::clone(&meets), Arc::clone(&goes_on));
        async move {
            meets.wait().await;
            goes_on.wait().await;
            Ok::<_, ToolError>("done")
        }
    });
    let script = json!({ "script": [{ "calls": [{ "name": "wait", "arguments": {} }] }, { "text": "done" }] });
    let prompt = Prompt::text("wait")
        .section(Section::new("Task", script.to_string()))
        .tool(wait);
    let one = async |_| adapter.evaluate(&prompt, &Session::new()).await;
    let all = try_join_all((0..WAITING).map(one));
    let measure = async {
        met.wait().await;
        let waiting = resident();
        go_on.wait().await;
        waiting
    };
    let (done, waiting) = tokio::join!(all, measure);
    done?;
    adapter.close().await;
    Ok((waiting? - before) * 1000.0 / WAITING as f64)
}
