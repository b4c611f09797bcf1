//! What evaluations cost, in tokens and in money, and how much they may.

use std::collections::BTreeMap;
use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign};
use std::str::FromStr;
use std::sync::Arc;
use std::time::Instant;

use parking_lot::Mutex;
use quipu_client::wire::TokenUsageBreakdown;
use serde::{Deserialize, Serialize};
use tokio::sync::watch;

/// Numbers of tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// What the model read, cached tokens included.
    pub input: u64,
    /// The part of the input that the provider had cached.
    pub cached_input: u64,
    /// What the model wrote, its thoughts included.
    pub output: u64,
    /// The part of the output that was thoughts.
    pub reasoning_output: u64,
    /// All of them, as the server counts.
    pub total: u64,
}

impl Usage {
    /// What was used since an earlier count.
    #[must_use]
    pub fn since(self, earlier: Usage) -> Usage {
        Usage {
            input: self.input.saturating_sub(earlier.input),
            cached_input: self.cached_input.saturating_sub(earlier.cached_input),
            output: self.output.saturating_sub(earlier.output),
            reasoning_output: self
                .reasoning_output
                .saturating_sub(earlier.reasoning_output),
            total: self.total.saturating_sub(earlier.total),
        }
    }
}

impl From<&TokenUsageBreakdown> for Usage {
    fn from(reported: &TokenUsageBreakdown) -> Usage {
        let count = |tokens: i64| u64::try_from(tokens).unwrap_or(0);
        Usage {
            input: count(reported.input_tokens),
            cached_input: count(reported.cached_input_tokens),
            output: count(reported.output_tokens),
            reasoning_output: count(reported.reasoning_output_tokens),
            total: count(reported.total_tokens),
        }
    }
}

impl Add for Usage {
    type Output = Usage;

    fn add(self, other: Usage) -> Usage {
        Usage {
            input: self.input.saturating_add(other.input),
            cached_input: self.cached_input.saturating_add(other.cached_input),
            output: self.output.saturating_add(other.output),
            reasoning_output: self.reasoning_output.saturating_add(other.reasoning_output),
            total: self.total.saturating_add(other.total),
        }
    }
}

impl AddAssign for Usage {
    fn add_assign(&mut self, other: Usage) {
        *self = *self + other;
    }
}

impl Sum for Usage {
    fn sum<I: Iterator<Item = Usage>>(all: I) -> Usage {
        all.fold(Usage::default(), Add::add)
    }
}

/// An amount in the currency of the prices, exact to a millionth.
///
/// ```
/// use quipu_adapter::Money;
///
/// let amount: Money = "1.25".parse().unwrap();
/// assert_eq!(amount, Money::from_millionths(1_250_000));
/// assert_eq!(amount.to_string(), "1.25");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Money(u64);

impl Money {
    /// An amount in millionths.
    #[must_use]
    pub const fn from_millionths(millionths: u64) -> Money {
        Money(millionths)
    }

    /// The amount in millionths.
    #[must_use]
    pub const fn millionths(self) -> u64 {
        self.0
    }

    /// The sum of what is known of two amounts.
    pub(crate) fn sum_known(one: Option<Money>, other: Option<Money>) -> Option<Money> {
        match (one, other) {
            (Some(one), Some(other)) => Some(one + other),
            (one, other) => one.or(other),
        }
    }
}

impl Add for Money {
    type Output = Money;

    fn add(self, other: Money) -> Money {
        Money(self.0.saturating_add(other.0))
    }
}

impl Sum for Money {
    fn sum<I: Iterator<Item = Money>>(all: I) -> Money {
        all.fold(Money::default(), Add::add)
    }
}

impl fmt::Display for Money {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = format!("{:06}", self.0 % 1_000_000);
        let digits = digits.trim_end_matches('0');
        write!(f, "{}.{digits:0<2}", self.0 / 1_000_000)
    }
}

/// Why a text is not an amount of money.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an amount is a number with at most six decimals, such as `1.25`")]
pub struct MoneyError;

impl FromStr for Money {
    type Err = MoneyError;

    fn from_str(text: &str) -> Result<Money, MoneyError> {
        let (whole, part) = text.split_once('.').unwrap_or((text, "0"));
        let is_number = |text: &str| !text.is_empty() && text.bytes().all(|it| it.is_ascii_digit());
        if !is_number(whole) || !is_number(part) || part.len() > 6 {
            return Err(MoneyError);
        }
        let whole: u64 = whole.parse().map_err(|_| MoneyError)?;
        let part: u64 = format!("{part:0<6}").parse().map_err(|_| MoneyError)?;
        let millionths = whole
            .checked_mul(1_000_000)
            .and_then(|it| it.checked_add(part));
        millionths.map(Money).ok_or(MoneyError)
    }
}

impl TryFrom<String> for Money {
    type Error = MoneyError;

    fn try_from(text: String) -> Result<Money, MoneyError> {
        text.parse()
    }
}

impl From<Money> for String {
    fn from(money: Money) -> String {
        money.to_string()
    }
}

/// What a model costs, each for a million tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Price {
    /// Input that the provider had not cached.
    pub input: Money,
    /// Input that the provider had cached; like other input if not given.
    #[serde(default)]
    pub cached_input: Option<Money>,
    /// Output, thoughts included.
    pub output: Money,
}

impl Price {
    /// What this usage costs, rounded up to a millionth.
    #[must_use]
    pub fn of(&self, usage: Usage) -> Money {
        let cached = usage.cached_input.min(usage.input);
        let cost = |tokens: u64, price: Money| u128::from(tokens) * u128::from(price.0);
        let sum = cost(usage.input - cached, self.input)
            + cost(cached, self.cached_input.unwrap_or(self.input))
            + cost(usage.output, self.output);
        Money(u64::try_from(sum.div_ceil(1_000_000)).unwrap_or(u64::MAX))
    }
}

/// Prices by model. The adapter knows none by itself: they change, and accounts differ.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Prices(BTreeMap<String, Price>);

impl Prices {
    /// No prices.
    #[must_use]
    pub fn new() -> Prices {
        Prices::default()
    }

    /// Adds the price of a model, by the name that the server gives it.
    #[must_use]
    pub fn with(mut self, model: impl Into<String>, price: Price) -> Prices {
        self.0.insert(model.into(), price);
        self
    }

    /// The price of a model.
    #[must_use]
    pub fn get(&self, model: &str) -> Option<Price> {
        self.0.get(model).copied()
    }
}

/// How much evaluations may use. All clones are one budget, so several evaluations, one after the
/// other or at once, can share it.
///
/// The server reports what was used after each request to the model, so a budget can be exceeded by one
/// request; then the evaluation is interrupted.
#[derive(Clone, Debug, Default)]
pub struct Budget {
    tokens: Option<u64>,
    money: Option<Money>,
    deadline: Option<Instant>,
    spent: Arc<Ledger>,
}

#[derive(Debug, Default)]
struct Ledger {
    spent: Mutex<Spent>,
    changed: watch::Sender<()>,
}

/// What was used of a budget.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spent {
    /// Tokens.
    pub usage: Usage,
    /// Money, as far as prices are known.
    pub money: Money,
}

impl Budget {
    /// A budget without limits, which counts.
    #[must_use]
    pub fn new() -> Budget {
        Budget::default()
    }

    /// At most so many tokens, input and output.
    #[must_use]
    pub fn tokens(mut self, most: u64) -> Budget {
        self.tokens = Some(most);
        self
    }

    /// At most so much money. The adapter must know the price of the model.
    #[must_use]
    pub fn money(mut self, most: Money) -> Budget {
        self.money = Some(most);
        self
    }

    /// The deadline of evaluations that are not given one of their own.
    #[must_use]
    pub fn deadline(mut self, deadline: Instant) -> Budget {
        self.deadline = Some(deadline);
        self
    }

    /// What was used so far.
    #[must_use]
    pub fn spent(&self) -> Spent {
        *self.spent.spent.lock()
    }

    pub(crate) fn end(&self) -> Option<Instant> {
        self.deadline
    }

    pub(crate) fn needs_price(&self) -> bool {
        self.money.is_some()
    }

    pub(crate) fn spend(&self, usage: Usage, money: Money) {
        let mut spent = self.spent.spent.lock();
        spent.usage += usage;
        spent.money = spent.money + money;
        drop(spent);
        self.spent.changed.send_replace(());
    }

    /// The limit that is exceeded, in words.
    pub(crate) fn exceeded(&self) -> Option<String> {
        let Spent { usage, money } = self.spent();
        let tokens = self.tokens.filter(|most| usage.total > *most);
        let tokens = tokens.map(|most| format!("{} tokens were used of {most}", usage.total));
        let money = self
            .money
            .filter(|most| money > *most)
            .map(|most| format!("{money} was spent of {most}"));
        tokens.or(money)
    }

    /// Whether nothing is left to start an evaluation with.
    pub(crate) fn exhausted(&self) -> Option<String> {
        let Spent { usage, money } = self.spent();
        let tokens = self.tokens.filter(|most| usage.total >= *most);
        let tokens = tokens.map(|most| format!("all {most} tokens are used"));
        let money = self.money.filter(|most| money >= *most);
        tokens.or(money.map(|most| format!("all of {most} is spent")))
    }

    /// Waits until a limit is exceeded.
    pub(crate) async fn exceeding(&self) -> String {
        let mut changed = self.spent.changed.subscribe();
        loop {
            if let Some(exceeded) = self.exceeded() {
                return exceeded;
            }
            // The sender lives as long as `self`.
            if changed.changed().await.is_err() {
                std::future::pending::<()>().await;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn money_is_read_and_written() {
        for (text, millionths) in [
            ("0", 0),
            ("1.5", 1_500_000),
            ("0.000001", 1),
            ("12", 12_000_000),
        ] {
            assert_eq!(text.parse(), Ok(Money(millionths)), "{text}");
        }
        for text in [
            "",
            "-1",
            "1,5",
            "1.",
            ".5",
            "0.0000001",
            "18446744073710",
            "1e3",
        ] {
            assert_eq!(text.parse::<Money>(), Err(MoneyError), "{text}");
        }
        assert_eq!(Money(0).to_string(), "0.00");
        assert_eq!(Money(1_500_000).to_string(), "1.50");
        assert_eq!(Money(1).to_string(), "0.000001");
    }

    #[test]
    fn cached_input_has_its_own_price_and_cents_round_up() {
        let price = Price {
            input: "2.00".parse().unwrap(),
            cached_input: Some("0.20".parse().unwrap()),
            output: "8.00".parse().unwrap(),
        };
        let usage = Usage {
            input: 1000,
            cached_input: 400,
            output: 100,
            reasoning_output: 0,
            total: 1100,
        };
        // 600 × 2 + 400 × 0.2 + 100 × 8, in millionths.
        assert_eq!(price.of(usage), Money(2080));
        let one = Usage {
            input: 1,
            cached_input: 1,
            ..Usage::default()
        };
        assert_eq!(price.of(one), Money(1));
    }

    #[test]
    fn clones_share_what_was_spent() {
        let budget = Budget::new().tokens(10);
        let used = |total| Usage {
            total,
            ..Usage::default()
        };
        budget.clone().spend(used(10), Money::default());
        assert_eq!(budget.exceeded(), None);
        assert!(budget.exhausted().is_some());
        budget.spend(used(1), Money::default());
        assert_eq!(
            budget.exceeded().as_deref(),
            Some("11 tokens were used of 10")
        );
    }
}
