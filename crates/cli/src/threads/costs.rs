//! What stored sessions cost, from the ledger.

use std::collections::HashMap;

use chrono::DateTime;
use quipu_client::wire::Thread;
use quipu_spending::{Amount, Ledger};

/// What each of these sessions has used, as far as the ledger knows.
pub fn of(ledger: &dyn Ledger, threads: &[Thread]) -> HashMap<String, Amount> {
    let first = threads.iter().map(|it| it.created_at).min();
    let first = first.and_then(|it| DateTime::from_timestamp(it, 0));
    let ids: Vec<String> = threads.iter().map(|it| it.id.clone()).collect();
    first.map_or_else(HashMap::new, |first| {
        ledger.threads(&ids, first.date_naive())
    })
}

/// An amount of money for a person, empty if there is none.
pub fn shown(dollars: f64) -> String {
    match dollars > 0.0 {
        true => format!("${dollars:.4}"),
        false => String::new(),
    }
}
