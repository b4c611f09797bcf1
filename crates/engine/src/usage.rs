//! What the thread has used.

use quipu_wire::{RateLimitSnapshot, ThreadTokenUsage, TokenUsageBreakdown};

/// Token counts and rate limits as last known.
#[derive(Debug, Clone, PartialEq)]
pub struct Usage {
    /// `None` until the provider or the log has told any.
    tokens: Option<ThreadTokenUsage>,
    pub rate_limits: RateLimitSnapshot,
}

impl Usage {
    pub fn new(tokens: Option<ThreadTokenUsage>) -> Usage {
        Usage {
            tokens,
            rate_limits: unknown_limits(),
        }
    }

    pub fn tokens(&self) -> Option<&ThreadTokenUsage> {
        self.tokens.as_ref()
    }

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
        });
    }

    /// The history filled the window.
    pub fn fill(&mut self, window: i64) {
        self.estimate(window, Some(window));
        if let Some(tokens) = &mut self.tokens {
            tokens.total.total_tokens = window;
        }
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
