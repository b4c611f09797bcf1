//! What answers of models cost: a ledger of all answers, and budgets that are checked against it.
//!
//! In a home, the ledger is one file of JSON lines per day (UTC), appended to by every process that uses the home, so a budget
//! of a day holds across restarts and across processes. It can be read with any tool; `quipu usage` sums it up.

mod amount;
mod ledger;
mod limits;
mod meter;

pub use amount::Amount;
pub use ledger::{Entry, Ledger, LedgerFiles};
pub use limits::{Budget, Limit, Measure, Scope, Spent};
pub use meter::{Meter, Paid, Verdict};
