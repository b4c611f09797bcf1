//! How much was used.

use std::ops::AddAssign;
use std::time::Duration;

/// Tokens, money and time.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Amount {
    pub tokens: u64,
    /// US dollars, of answers whose price is known.
    pub dollars: f64,
    pub time: Duration,
}

impl AddAssign for Amount {
    fn add_assign(&mut self, other: Self) {
        self.tokens = self.tokens.saturating_add(other.tokens);
        self.dollars += other.dollars;
        self.time = self.time.saturating_add(other.time);
    }
}
