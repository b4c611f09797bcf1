//! Many models that talk at once: whether each client event still comes in time.

use std::time::Duration;

use super::{Figure, Goal, Row, Values, ms};
use crate::files;
use crate::ground::Ground;

const THREADS: usize = 1_000;
/// Deltas of each, and the pace at which the model sends them.
const DELTAS: usize = 20;
const PACE: Duration = Duration::from_millis(500);

pub struct Streaming;

impl Row for Streaming {
    fn name(&self) -> &'static str {
        "streaming"
    }

    fn figures(&self) -> &[Figure] {
        &[
            Figure {
                name: "latest of all deltas, 1,000 threads streaming at once",
                unit: "ms",
                goal: Goal::Limit(100.0),
            },
            Figure {
                name: "what a second such turn adds to memory",
                unit: "MB",
                goal: Goal::None,
            },
        ]
    }

    /// The official server does not start as many threads in a reasonable time.
    fn compares(&self) -> bool {
        false
    }

    fn lacks(&self) -> Option<&'static str> {
        let needed = 4 * THREADS as u64 + 200;
        (!files::allows(needed)).then_some("needs `ulimit -n` of at least 4200")
    }

    fn run<'a>(&'a self, ground: &'a Ground<'a>) -> Values<'a> {
        Box::pin(async {
            let mut session = ground.start().await?;
            let threads = session.threads(ground.count(THREADS)).await?;
            let pace = PACE.as_millis();
            let prompt = format!(r#"{{"mock":[{{"deltas":{DELTAS},"every":{pace}}}]}}"#);
            session.longest_gap(&threads, &prompt).await?;
            let before = session.memory().await?;
            let longest = session.longest_gap(&threads, &prompt).await?;
            let grown = session.memory().await? - before;
            Ok(vec![ms(longest.saturating_sub(PACE)), grown])
        })
    }
}
