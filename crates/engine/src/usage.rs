//! The tokens that a thread has used, and the rate limits of its account.

use quipu_wire::{RateLimitSnapshot, ThreadTokenUsage, TokenUsageBreakdown};

/// Token counts and rate limits as last known.
#[derive(Debug, Clone, PartialEq)]
pub struct Usage {
    /// `None` until the provider or the log has reported any.
    tokens: Option<ThreadTokenUsage>,
    rate_limits: RateLimitSnapshot,
}

impl Usage {
    pub fn new(tokens: Option<ThreadTokenUsage>) -> Self {
        Self {
            tokens,
            rate_limits: unknown_limits(),
        }
    }

    pub fn tokens(&self) -> Option<&ThreadTokenUsage> {
        self.tokens.as_ref()
    }

    pub fn rate_limits(&self) -> &RateLimitSnapshot {
        &self.rate_limits
    }

    /// Adds what a response used.
    pub fn add(&mut self, last: TokenUsageBreakdown, window: Option<i64>) {
        let total = self.tokens.take().map_or(zero(), |tokens| tokens.total);
        let total = TokenUsageBreakdown {
            total_tokens: total.total_tokens.saturating_add(last.total_tokens),
            input_tokens: total.input_tokens.saturating_add(last.input_tokens),
            cached_input_tokens: total
                .cached_input_tokens
                .saturating_add(last.cached_input_tokens),
            output_tokens: total.output_tokens.saturating_add(last.output_tokens),
            reasoning_output_tokens: total
                .reasoning_output_tokens
                .saturating_add(last.reasoning_output_tokens),
        };
        self.tokens = Some(ThreadTokenUsage {
            total,
            last,
            model_context_window: window,
            cost: None,
        });
    }

    /// The last count is only an estimate of what the history takes now.
    pub fn estimate(&mut self, tokens: i64, window: Option<i64>) {
        let last = TokenUsageBreakdown {
            total_tokens: tokens,
            ..zero()
        };
        let total = self.tokens.take().map_or(zero(), |tokens| tokens.total);
        self.tokens = Some(ThreadTokenUsage {
            total,
            last,
            model_context_window: window,
            cost: None,
        });
    }

    /// The history filled the window: that is the total now, and the last request brought it there.
    pub fn fill(&mut self, window: i64) {
        let before = self
            .tokens
            .as_ref()
            .map_or(0, |tokens| tokens.total.total_tokens);
        let only = |total_tokens| TokenUsageBreakdown {
            total_tokens,
            ..zero()
        };
        self.tokens = Some(ThreadTokenUsage {
            total: only(window),
            last: only(window.saturating_sub(before).max(0)),
            model_context_window: Some(window),
            cost: None,
        });
    }

    /// Updates the rate limits; what the provider leaves out stays as it was.
    pub fn update_limits(&mut self, limits: RateLimitSnapshot) {
        let before = std::mem::replace(&mut self.rate_limits, limits);
        let now = &mut self.rate_limits;
        now.credits = now.credits.take().or(before.credits);
        now.plan_type = now.plan_type.take().or(before.plan_type);
    }
}

fn zero() -> TokenUsageBreakdown {
    TokenUsageBreakdown {
        total_tokens: 0,
        input_tokens: 0,
        cached_input_tokens: 0,
        output_tokens: 0,
        reasoning_output_tokens: 0,
    }
}

fn unknown_limits() -> RateLimitSnapshot {
    RateLimitSnapshot {
        limit_id: Some("codex".to_owned()),
        limit_name: None,
        primary: None,
        secondary: None,
        credits: None,
        plan_type: None,
    }
}
