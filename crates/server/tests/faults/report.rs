//! The matrix as people read it: what was tried, what held, and why not.

use std::fmt::Write as _;

use crate::fault::{FAULTS, Fault};
use crate::moment::{MOMENTS, Moment};

/// What became of one cell.
#[derive(Debug, Clone)]
pub enum Outcome {
    /// The laws held; the client may have felt the fault.
    Held {
        felt: bool,
    },
    Broken(String),
    Skipped(String),
}

/// All that was tried.
#[derive(Default)]
pub struct Report {
    cells: Vec<(Fault, Moment, Outcome)>,
    /// Rounds of `kill -9`, and those that held.
    pub kills: (usize, usize),
    pub broken_kills: Vec<String>,
    /// What each run of chaos did, or how a law broke in it.
    pub chaos: Vec<Result<String, String>>,
}

impl Report {
    pub fn add(&mut self, fault: Fault, moment: Moment, outcome: Outcome) {
        self.cells.push((fault, moment, outcome));
    }

    fn of(&self, fault: Fault) -> impl Iterator<Item = &(Fault, Moment, Outcome)> {
        self.cells.iter().filter(move |it| it.0 == fault)
    }

    /// Cells that were tried, and those that held.
    pub fn counts(&self) -> (usize, usize) {
        count(self.cells.iter())
    }

    pub fn holds(&self) -> bool {
        let (tried, held) = self.counts();
        let chaos = self.chaos.iter().all(Result::is_ok);
        tried == held && self.kills.0 == self.kills.1 && chaos
    }

    /// The matrix as a table, with the moments numbered.
    pub fn table(&self) -> String {
        let mut out = String::from("| fault \\ moment |");
        for number in 1..=MOMENTS.len() {
            write!(out, " {number} |").unwrap_or_default();
        }
        out.push_str(" tried | held | felt |\n|---|");
        out.push_str(&"---|".repeat(MOMENTS.len() + 3));
        for fault in FAULTS
            .into_iter()
            .filter(|it| self.of(*it).next().is_some())
        {
            write!(out, "\n| {} |", fault.name()).unwrap_or_default();
            for moment in MOMENTS {
                let cell = self.of(fault).find(|it| it.1 == moment).map(|it| &it.2);
                let sign = match cell {
                    Some(Outcome::Held { .. }) => "✓",
                    Some(Outcome::Broken(_)) => "✗",
                    Some(Outcome::Skipped(_)) => "s",
                    None => " ",
                };
                write!(out, " {sign} |").unwrap_or_default();
            }
            let (tried, held) = count(self.of(fault));
            let felt =
                |it: &&(Fault, Moment, Outcome)| matches!(it.2, Outcome::Held { felt: true });
            let felt = self.of(fault).filter(felt).count();
            write!(out, " {tried} | {held} | {felt} |").unwrap_or_default();
        }
        out
    }

    /// What the numbers of the table mean, what was skipped and what broke.
    pub fn notes(&self) -> String {
        let mut out = String::from("Moments:");
        for (number, moment) in MOMENTS.iter().enumerate() {
            let comma = if number == 0 { "" } else { "," };
            write!(out, "{comma} {} {}", number + 1, moment.name()).unwrap_or_default();
        }
        out.push_str(".\n");
        for fault in FAULTS {
            if let Some((.., Outcome::Skipped(reason))) = self.of(fault).next() {
                writeln!(out, "\nSkipped: {}: {reason}", fault.name()).unwrap_or_default();
            }
        }
        for (fault, moment, outcome) in &self.cells {
            if let Outcome::Broken(reason) = outcome {
                writeln!(out, "\n✗ {} × {}: {reason}", fault.name(), moment.name())
                    .unwrap_or_default();
            }
        }
        for reason in &self.broken_kills {
            writeln!(out, "\n✗ kill -9: {reason}").unwrap_or_default();
        }
        for run in &self.chaos {
            match run {
                Ok(summary) => writeln!(out, "\n{summary}").unwrap_or_default(),
                Err(reason) => writeln!(out, "\n✗ {reason}").unwrap_or_default(),
            }
        }
        out
    }

    /// The counts in one line.
    pub fn summary(&self) -> String {
        let (tried, held) = self.counts();
        let (kills, survived) = self.kills;
        format!(
            "cells tried {tried}, held {held}; rounds of kill -9 tried {kills}, held {survived}"
        )
    }
}

fn count<'a>(cells: impl Iterator<Item = &'a (Fault, Moment, Outcome)>) -> (usize, usize) {
    cells.fold((0, 0), |(tried, held), (.., outcome)| match outcome {
        Outcome::Held { .. } => (tried + 1, held + 1),
        Outcome::Broken(_) => (tried + 1, held),
        Outcome::Skipped(_) => (tried, held),
    })
}
