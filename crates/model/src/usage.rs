//! Tokens and what they cost.

use quipu_wire::TokenUsageBreakdown;
use serde::Deserialize;

/// The tokens of one response. `input` counts everything sent, cached or not.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// Tokens sent.
    pub input: i64,
    /// Those of them that the provider had in its cache.
    pub cached_input: i64,
    /// Those of them that the provider wrote into its cache, where that is priced.
    pub cache_write: i64,
    /// Tokens written by the model, reasoning included.
    pub output: i64,
    /// Those of them that were reasoning.
    pub reasoning_output: i64,
    /// Everything, as the provider counts it.
    pub total: i64,
}

impl Usage {
    /// The form clients get.
    pub fn breakdown(&self) -> TokenUsageBreakdown {
        TokenUsageBreakdown {
            total_tokens: self.total,
            input_tokens: self.input,
            cached_input_tokens: self.cached_input,
            output_tokens: self.output,
            reasoning_output_tokens: self.reasoning_output,
        }
    }
}

impl std::ops::AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        self.input += other.input;
        self.cached_input += other.cached_input;
        self.cache_write += other.cache_write;
        self.output += other.output;
        self.reasoning_output += other.reasoning_output;
        self.total += other.total;
    }
}

/// US dollars for a million tokens.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
pub struct Price {
    /// Sent and not cached.
    pub input: f64,
    /// Sent and found in the cache; like `input` when unset.
    pub cached_input: Option<f64>,
    /// Sent and written into the cache; like `input` when unset.
    pub cache_write: Option<f64>,
    /// Written by the model.
    pub output: f64,
}

impl Price {
    /// What a response cost in US dollars.
    pub fn cost(&self, usage: &Usage) -> f64 {
        let fresh = (usage.input - usage.cached_input - usage.cache_write).max(0);
        let cached = self.cached_input.unwrap_or(self.input);
        let written = self.cache_write.unwrap_or(self.input);
        (fresh as f64 * self.input
            + usage.cached_input as f64 * cached
            + usage.cache_write as f64 * written
            + usage.output as f64 * self.output)
            / 1_000_000.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cached_tokens_have_their_own_price() {
        let price = Price {
            input: 3.0,
            cached_input: Some(0.3),
            cache_write: Some(3.75),
            output: 15.0,
        };
        let usage = Usage {
            input: 1_000_000,
            cached_input: 500_000,
            cache_write: 100_000,
            output: 200_000,
            ..Usage::default()
        };
        let expected = 0.4 * 3.0 + 0.5 * 0.3 + 0.1 * 3.75 + 0.2 * 15.0;
        assert!((price.cost(&usage) - expected).abs() < 1e-9);
        let plain = Price {
            input: 1.0,
            cached_input: None,
            cache_write: None,
            output: 2.0,
        };
        assert!((plain.cost(&usage) - 1.4).abs() < 1e-9);
    }
}
