//! What telemetry costs: the same turns on two servers, one of which exports logs, traces and metrics to a collector in
//! this program. The servers take turns, so that a busy moment of the machine falls on both.

use std::time::Duration;

use quipu_testkit::collector::Collector;

use super::{Figure, Goal, Row, Values, ms};
use crate::Result;
use crate::ground::Ground;
use crate::session::Session;

/// Pairs of batches that are compared.
const BATCHES: usize = 20;
/// Turns of a batch, each on a thread of its own.
const TURNS: usize = 10;
/// A turn that calls a tool, as most do.
const PROMPT: &str =
    r#"{"mock":[{"calls":[{"name":"exec_command","arguments":{"cmd":"true"}}]},{"text":"done"}]}"#;
/// How long the last records may take to arrive.
const PATIENCE: Duration = Duration::from_secs(5);

pub struct Telemetry;

impl Row for Telemetry {
    fn name(&self) -> &'static str {
        "telemetry"
    }

    fn figures(&self) -> &[Figure] {
        &[
            Figure {
                name: "one tool call in a turn with telemetry, CPU",
                unit: "ms",
                goal: Goal::None,
            },
            Figure {
                name: "the same, times that without telemetry",
                unit: "×",
                goal: Goal::Limit(1.03),
            },
        ]
    }

    fn compares(&self) -> bool {
        false
    }

    fn run<'a>(&'a self, ground: &'a Ground<'a>) -> Values<'a> {
        Box::pin(async {
            let collector = Collector::start(200).await?;
            let url = collector.url("/");
            let mut off = Batch::start(ground, &[]).await?;
            let mut on = Batch::start(ground, &[("OTEL_EXPORTER_OTLP_ENDPOINT", &url)]).await?;
            for _ in 0..ground.count(BATCHES) {
                off.run().await?;
                on.run().await?;
            }
            // What is exported after the last turn is part of the cost.
            let exported = exported(&collector, on.turns);
            // A queue that was full has dropped some, which would be waited for in vain.
            tokio::time::timeout(PATIENCE, exported).await.ok();
            if turns(&collector) == 0 {
                return Err("the collector received no turns".into());
            }
            let (off, on) = (off.cpu()?, on.cpu()?);
            Ok(vec![on, on / off])
        })
    }
}

/// Waits until the spans of so many turns have arrived.
async fn exported(collector: &Collector, wanted: usize) {
    loop {
        let posted = collector.posted().len();
        if turns(collector) >= wanted {
            return;
        }
        collector.received(posted + 1).await;
    }
}

/// How many spans of turns have arrived. A name is text in protocol buffers too.
fn turns(collector: &Collector) -> usize {
    const NAME: &[u8] = b"invoke_agent quipu";
    let count = |body: &[u8]| body.windows(NAME.len()).filter(|it| *it == NAME).count();
    let posted = collector.posted();
    let spans = posted.iter().filter(|it| it.path == "/v1/traces");
    spans.map(|it| count(&it.body)).sum()
}

/// A server, and the turns that ran on it.
struct Batch {
    session: Session,
    threads: Vec<String>,
    before: Duration,
    turns: usize,
}

impl Batch {
    async fn start(ground: &Ground<'_>, env: &[(&str, &str)]) -> Result<Batch> {
        let session = ground.start_with(env).await?;
        let threads = session.threads(TURNS).await?;
        let before = session.cpu()?;
        Ok(Batch {
            session,
            threads,
            before,
            turns: 0,
        })
    }

    async fn run(&mut self) -> Result<()> {
        for thread in &self.threads {
            self.session.turn(thread, PROMPT).await?;
        }
        self.turns += self.threads.len();
        Ok(())
    }

    /// Processor time of one turn, in milliseconds.
    fn cpu(&self) -> Result<f64> {
        Ok(ms(self.session.cpu_since(self.before)?) / self.turns as f64)
    }
}
