//! The rows of the performance table, one file each.

mod adapter;
mod binary_size;
mod client;
mod cold_start;
mod command_exec;
mod deltas;
mod exec;
mod file_search;
mod history;
mod idle_memory;
mod large_patch;
mod list_cold;
mod list_stored;
mod loaded;
mod output_lines;
mod parallel;
mod read_file;
mod resume;
mod streaming;
mod telemetry;
mod thread_start;
mod tool_call;
mod turn;
mod typescript;
mod websockets;

use std::time::Duration;

use futures_util::future::BoxFuture;
use serde::{Deserialize, Serialize};

use crate::Result;
use crate::ground::Ground;
pub use output_lines::printing;

/// What one round of a row yields: a value for each of its figures, in their order.
pub type Values<'a> = BoxFuture<'a, Result<Vec<f64>>>;

/// One thing that is done to a server, and what is read off while it is done.
pub trait Row: Sync {
    /// For `--rows`.
    fn name(&self) -> &'static str;

    fn figures(&self) -> &[Figure];

    /// Whether peers are measured too.
    fn compares(&self) -> bool {
        true
    }

    /// Why it cannot be measured here, if so. It is then left out, unless it was asked for by name.
    fn lacks(&self) -> Option<&'static str> {
        None
    }

    /// Done once per server, before all rounds.
    fn prepare<'a>(&'a self, _ground: &'a Ground<'a>) -> BoxFuture<'a, Result<()>> {
        Box::pin(async { Ok(()) })
    }

    /// One round.
    fn run<'a>(&'a self, ground: &'a Ground<'a>) -> Values<'a>;
}

/// One line of the table.
#[derive(Debug)]
pub struct Figure {
    pub name: &'static str,
    pub unit: &'static str,
    /// What Quipu's figure, or its ratio to the first peer, should be.
    pub goal: Goal,
}

/// What is to be reached.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Goal {
    AtMost(f64),
    AtLeast(f64),
    /// What Quipu's own figure must not exceed, where there is nothing to compare it with.
    Limit(f64),
    /// Shown for what it tells, not to be reached.
    None,
}

/// Every row, in the table's order.
pub static ALL: [&dyn Row; 29] = [
    &cold_start::ColdStart,
    &idle_memory::IdleMemory,
    &thread_start::ThreadStart,
    &turn::Turn,
    &deltas::Deltas,
    &parallel::Parallel,
    &loaded::Loaded,
    &streaming::Streaming,
    &websockets::WebSockets,
    &tool_call::ToolCall,
    &command_exec::FREE,
    &command_exec::SANDBOXED,
    &output_lines::OutputLines,
    &large_patch::LargePatch,
    &read_file::ReadFile,
    &file_search::FileSearch,
    &history::SHORT,
    &history::LONG,
    &resume::Resume,
    &list_cold::ListCold,
    &list_stored::FEW,
    &list_stored::MANY,
    &list_stored::HUGE,
    &exec::Exec,
    &telemetry::Telemetry,
    &binary_size::BinarySize,
    &client::ClientCost,
    &adapter::AdapterCost,
    &typescript::TypeScript,
];

/// Milliseconds.
pub fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// The middle of the samples, or between the two middle ones.
pub fn median(samples: impl IntoIterator<Item = f64>) -> f64 {
    let mut sorted: Vec<f64> = samples.into_iter().collect();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.len() % 2 {
        _ if sorted.is_empty() => f64::NAN,
        0 => (sorted[middle - 1] + sorted[middle]) / 2.0,
        _ => sorted[middle],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians() {
        assert_eq!(median([3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median([4.0, 1.0, 2.0, 3.0]), 2.5);
        assert!(median([]).is_nan());
    }
}
