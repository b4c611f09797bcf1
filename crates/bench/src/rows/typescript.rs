//! What the TypeScript client costs over a pipe, beside a loop that is written by hand, and what it weighs. The
//! measuring is done in Node, by `clients/typescript/bench/cost.mjs`, against a peer that costs next to nothing.

use std::path::Path;

use quipu_testkit::process::Launch;
use tokio::io::AsyncReadExt as _;

use super::{Figure, Goal, Row, Values};
use crate::Result;
use crate::ground::Ground;

const CALLS: usize = 20_000;
const EVENTS: usize = 100_000;

const PACKAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../clients/typescript");

pub struct TypeScript;

const fn figure(name: &'static str, unit: &'static str) -> Figure {
    Figure {
        name,
        unit,
        goal: Goal::None,
    }
}

impl Row for TypeScript {
    fn name(&self) -> &'static str {
        "typescript"
    }

    fn figures(&self) -> &[Figure] {
        const {
            &[
                figure("TypeScript, one call: client, pipe", "µs"),
                figure("TypeScript, one call: by hand, pipe", "µs"),
                figure("TypeScript, one call: what the client adds, CPU", "µs"),
                figure("TypeScript, one event: client, pipe", "µs"),
                figure("TypeScript, one event: by hand, pipe", "µs"),
                figure("TypeScript, one event: what the client adds, CPU", "µs"),
                figure("TypeScript, 20,000 deltas through a stream", "ms"),
                figure("TypeScript, package, minified", "kB"),
                figure("TypeScript, package for browsers, minified", "kB"),
            ]
        }
    }

    /// There is no server to compare: the peer is a few lines of JavaScript.
    fn compares(&self) -> bool {
        false
    }

    fn lacks(&self) -> Option<&'static str> {
        let needed = ["dist/index.js", "node_modules/.bin/bun"];
        let is_built = needed.map(|it| Path::new(PACKAGE).join(it).is_file());
        is_built
            .contains(&false)
            .then_some("it needs `npm ci && npm run build` in clients/typescript")
    }

    fn run<'a>(&'a self, ground: &'a Ground<'a>) -> Values<'a> {
        Box::pin(async {
            let [calls, events] = [CALLS, EVENTS].map(|most| ground.count(most).to_string());
            let program = format!("{PACKAGE}/bench/cost.mjs");
            let figures = output("node", &[&program, &calls, &events]).await?;
            let mut values: Vec<f64> = serde_json::from_str(&figures)?;
            for (entry, target) in [("index", "node"), ("websocket", "browser")] {
                values.push(minified(entry, target).await?);
            }
            Ok(values)
        })
    }
}

/// The kilobytes of all the code that an entry point leads to, without its types.
async fn minified(entry: &str, target: &str) -> Result<f64> {
    let bun = format!("{PACKAGE}/node_modules/.bin/bun");
    let source = format!("{PACKAGE}/dist/{entry}.js");
    let target = format!("--target={target}");
    let code = output(&bun, &["build", &source, "--minify", &target]).await?;
    Ok(code.len() as f64 / 1e3)
}

/// What a program prints.
async fn output(program: &str, args: &[&str]) -> Result<String> {
    let mut process = Launch::new(program).args(args.iter().copied()).start();
    drop(process.stdin.take());
    let mut text = String::new();
    if let Some(mut stdout) = process.stdout.take() {
        stdout.read_to_string(&mut text).await?;
    }
    let ended = process.exit().await;
    match ended.success() {
        true => Ok(text),
        false => Err(format!("{program} ended with {ended}: {}", process.stderr()).into()),
    }
}
