//! How much may be used.

use serde_json::Value;

use quipu_wire::ConfigLayerSource;

use crate::Table;
use crate::snapshot::Snapshot;

/// Limits of one table below `budget`; what is unset is not limited.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct BudgetLimit {
    /// Tokens, as providers count them.
    pub tokens: Option<u64>,
    /// US dollars.
    pub dollars: Option<f64>,
    /// Time in which turns run.
    pub seconds: Option<u64>,
}

/// The limits of `budget`.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Budget {
    /// Of one turn.
    pub turn: BudgetLimit,
    /// Of a thread, as long as it lives.
    pub thread: BudgetLimit,
    /// Of all threads in one working directory, on one day.
    pub directory: BudgetLimit,
    /// Of everything in the home, on one day.
    pub day: BudgetLimit,
}

impl Snapshot {
    /// How much may be used. A project can lower a limit, not raise it.
    pub fn budget(&self) -> Budget {
        let mut budget = Budget::default();
        for layer in self.stack().enabled() {
            let Some(Value::Object(tables)) = layer.config.get("budget") else {
                continue;
            };
            let is_project = matches!(layer.source, ConfigLayerSource::Project { .. });
            for (name, limit) in [
                ("turn", &mut budget.turn),
                ("thread", &mut budget.thread),
                ("directory", &mut budget.directory),
                ("day", &mut budget.day),
            ] {
                if let Some(Value::Object(table)) = tables.get(name) {
                    limit.lay_over(table, is_project);
                }
            }
        }
        budget
    }
}

impl BudgetLimit {
    /// Takes what a layer sets; from a project only what is lower.
    fn lay_over(&mut self, table: &Table, is_project: bool) {
        let whole = |key: &str| table.get(key).and_then(Value::as_u64);
        let dollars = table.get("dollars").and_then(Value::as_f64);
        choose(&mut self.tokens, whole("tokens"), is_project);
        choose(&mut self.dollars, dollars, is_project);
        choose(&mut self.seconds, whole("seconds"), is_project);
    }
}

fn choose<T: PartialOrd + Copy>(limit: &mut Option<T>, new: Option<T>, only_lower: bool) {
    let Some(new) = new else { return };
    let is_higher = limit.is_some_and(|limit| new > limit);
    if !(only_lower && is_higher) {
        *limit = Some(new);
    }
}
