//! Notes that outlive threads.

use serde::Deserialize;

use crate::snapshot::Snapshot;

/// `[memories]`. What is `None` is the program's choice.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Memories {
    /// Learn nothing from threads that used MCP or the web.
    pub no_memories_if_mcp_or_web_search: Option<bool>,
    /// Write memories.
    pub generate_memories: Option<bool>,
    /// Give memories to the model.
    pub use_memories: Option<bool>,
    /// How many notes are brought together at once.
    pub max_raw_memories_for_consolidation: Option<usize>,
    /// Forget what was not used for so many days.
    pub max_unused_days: Option<i64>,
    /// Learn only from threads younger than this.
    pub max_rollout_age_days: Option<i64>,
    /// How many threads are learnt from per start.
    pub max_rollouts_per_startup: Option<usize>,
    /// Learn only from threads idle for so long.
    pub min_rollout_idle_hours: Option<i64>,
    /// Model that takes notes.
    pub extract_model: Option<String>,
    /// Model that brings notes together.
    pub consolidation_model: Option<String>,
}

impl Snapshot {
    /// Notes that outlive threads.
    pub fn memories(&self) -> Memories {
        self.view().table("memories")
    }
}
