//! Which model runs, and how.

use quipu_wire::{Personality, ReasoningEffort, ReasoningSummary, ServiceTier, Verbosity};

use crate::snapshot::Snapshot;

/// Settings of the model. What is `None` is the provider's or the model's own choice.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelSettings {
    /// The model.
    pub model: Option<String>,
    /// The model for reviews; the thread's when absent.
    pub review_model: Option<String>,
    /// The id of the provider.
    pub provider: Option<String>,
    /// The local provider for `--oss`.
    pub oss_provider: Option<String>,
    /// How much it thinks.
    pub reasoning_effort: Option<ReasoningEffort>,
    /// How much it thinks in plan mode.
    pub plan_mode_reasoning_effort: Option<ReasoningEffort>,
    /// How its thoughts are summed up.
    pub reasoning_summary: Option<ReasoningSummary>,
    /// Whether it is one that sums up its thoughts.
    pub supports_reasoning_summaries: Option<bool>,
    /// How long its answers are.
    pub verbosity: Option<Verbosity>,
    /// Price and speed.
    pub service_tier: Option<ServiceTier>,
    /// Its tone.
    pub personality: Personality,
    /// Size of its context, in tokens.
    pub context_window: Option<i64>,
    /// The history is compacted above so many tokens.
    pub auto_compact_token_limit: Option<i64>,
    /// How much of a tool's output it sees, in tokens.
    pub tool_output_token_limit: Option<usize>,
}

impl Snapshot {
    /// Settings of the model.
    pub fn model(&self) -> ModelSettings {
        let view = self.view();
        ModelSettings {
            model: view.get("model"),
            review_model: view.get("review_model"),
            provider: view.get("model_provider"),
            oss_provider: view.get("oss_provider"),
            reasoning_effort: view.get("model_reasoning_effort"),
            plan_mode_reasoning_effort: view.get("plan_mode_reasoning_effort"),
            reasoning_summary: view.get("model_reasoning_summary"),
            supports_reasoning_summaries: view.get("model_supports_reasoning_summaries"),
            verbosity: view.get("model_verbosity"),
            service_tier: view.get("service_tier"),
            personality: view.get("personality").unwrap_or(Personality::Pragmatic),
            context_window: view.get("model_context_window"),
            auto_compact_token_limit: view.get("model_auto_compact_token_limit"),
            tool_output_token_limit: view.get("tool_output_token_limit"),
        }
    }
}
