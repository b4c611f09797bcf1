//! What stored sessions cost, from the ledger of the home.

use std::collections::HashMap;
use std::path::Path;

use chrono::DateTime;
use quipu_client::wire::Thread;
use quipu_spending::{Amount, Ledger};

/// What each of these sessions has used, as far as the ledger knows.
pub fn of(home: &Path, threads: &[Thread]) -> HashMap<String, Amount> {
    let mut sums: HashMap<String, Amount> = threads
        .iter()
        .map(|it| (it.id.clone(), Amount::default()))
        .collect();
    let first = threads.iter().map(|it| it.created_at).min();
    let first = first.and_then(|it| DateTime::from_timestamp(it, 0));
    let Some(first) = first.map(|it| it.date_naive()) else {
        return sums;
    };
    let ledger = Ledger::new(home);
    for day in ledger.days().into_iter().filter(|day| *day >= first) {
        for entry in ledger.entries(day) {
            if let Some(sum) = sums.get_mut(&entry.thread) {
                *sum += entry.amount();
            }
        }
    }
    sums
}

/// An amount of money for a person, empty if there is none.
pub fn shown(dollars: f64) -> String {
    match dollars > 0.0 {
        true => format!("${dollars:.4}"),
        false => String::new(),
    }
}
