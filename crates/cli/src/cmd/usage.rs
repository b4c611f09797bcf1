//! `quipu usage`: what answers of models cost, by day, model, directory or thread, with a plot of the days.

use std::collections::BTreeMap;
use std::process::ExitCode;

use chrono::{Days, NaiveDate, Utc};
use clap::{Args, ValueEnum};
use quipu_config::Env;
use quipu_server::open_storage;
use quipu_spending::Entry;
use serde_json::json;

use super::{app_server, print};
use crate::args::ConfigArgs;

/// Characters of the longest bar.
const BAR: usize = 30;

#[derive(Debug, Args)]
pub struct UsageArgs {
    #[command(flatten)]
    config: ConfigArgs,
    /// What to sum up by
    #[arg(long, value_name = "WHAT", default_value = "day")]
    by: By,
    /// How many days to look back, today included
    #[arg(long, value_name = "COUNT", default_value_t = 30)]
    days: u64,
    /// Print one JSON object per line
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum By {
    Day,
    Model,
    Directory,
    Thread,
}

/// A sum over some answers.
#[derive(Debug, Default, Clone, Copy, PartialEq)]
struct Sum {
    answers: u64,
    input: u64,
    cached: u64,
    output: u64,
    tokens: u64,
    dollars: f64,
    /// Answers of models without a known price.
    unpriced: u64,
}

impl Sum {
    fn add(&mut self, entry: &Entry) {
        self.answers += 1;
        self.input += entry.input;
        self.cached += entry.cached;
        self.output += entry.output;
        self.tokens += entry.total;
        self.dollars += entry.dollars.unwrap_or_default();
        self.unpriced += u64::from(entry.dollars.is_none());
    }
}

pub fn run(args: UsageArgs, common: &ConfigArgs) -> Result<ExitCode, String> {
    let overrides = common.overrides(&args.config)?;
    let config = app_server::unchecked(Env::from_process(), overrides)?;
    let ledger = open_storage(&config).ledger;
    let today = Utc::now().date_naive();
    let first = today.checked_sub_days(Days::new(args.days.saturating_sub(1)));
    let first = first.unwrap_or(NaiveDate::MIN);
    let mut sums: BTreeMap<String, Sum> = BTreeMap::new();
    for day in ledger.days().into_iter().filter(|day| *day >= first) {
        for entry in ledger.entries(day) {
            let key = match args.by {
                By::Day => day.to_string(),
                By::Model => format!("{}/{}", entry.provider, entry.model),
                By::Directory => entry.cwd.clone(),
                By::Thread => entry.thread.clone(),
            };
            sums.entry(key).or_default().add(&entry);
        }
    }
    let mut rows: Vec<(String, Sum)> = sums.into_iter().collect();
    if args.by != By::Day {
        rows.sort_by(|(_, a), (_, b)| {
            b.dollars
                .total_cmp(&a.dollars)
                .then(b.tokens.cmp(&a.tokens))
        });
    }
    if args.json {
        return print::lines(rows.iter().map(|(key, sum)| json_line(args.by, key, sum)));
    }
    if rows.is_empty() {
        eprintln!("nothing was used in the last {} day(s)", args.days);
    }
    print::lines(table(&rows))
}

fn json_line(by: By, key: &str, sum: &Sum) -> String {
    let name = match by {
        By::Day => "day",
        By::Model => "model",
        By::Directory => "directory",
        By::Thread => "thread",
    };
    let line = json!({
        name: key,
        "answers": sum.answers,
        "input_tokens": sum.input,
        "cached_input_tokens": sum.cached,
        "output_tokens": sum.output,
        "total_tokens": sum.tokens,
        "dollars": sum.dollars,
        "unpriced_answers": sum.unpriced,
    });
    line.to_string()
}

/// One line per row with a bar, then the total. Bars are by money, or by tokens where nothing has a price.
fn table(rows: &[(String, Sum)]) -> Vec<String> {
    let by_money = rows.iter().any(|(_, sum)| sum.dollars > 0.0);
    let size = |sum: &Sum| match by_money {
        true => sum.dollars,
        false => sum.tokens as f64,
    };
    let most = rows.iter().map(|(_, sum)| size(sum)).fold(0.0, f64::max);
    let width = rows
        .iter()
        .map(|(key, _)| key.chars().count())
        .max()
        .unwrap_or(0);
    let line = |key: &str, sum: &Sum, bar: String| {
        let note = match sum.unpriced {
            0 => String::new(),
            count => format!("  ({count} without a price)"),
        };
        format!(
            "{key:<width$}  {:>12} tokens  ${:>10.4}  {bar}{note}",
            sum.tokens, sum.dollars
        )
    };
    let mut total = Sum::default();
    let mut lines = Vec::new();
    for (key, sum) in rows {
        lines.push(line(key, sum, bar(size(sum), most)));
        total.tokens += sum.tokens;
        total.dollars += sum.dollars;
        total.unpriced += sum.unpriced;
    }
    if rows.len() > 1 {
        lines.push(line("total", &total, String::new()));
    }
    lines
}

fn bar(size: f64, most: f64) -> String {
    let share = if most > 0.0 { size / most } else { 0.0 };
    let length = (share * BAR as f64).ceil();
    // Between 0 and BAR.
    "█".repeat(length as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_as_long_as_their_share() {
        assert_eq!(bar(0.0, 0.0), "");
        assert_eq!(bar(1.0, 2.0).chars().count(), BAR / 2);
        assert_eq!(bar(0.001, 2.0).chars().count(), 1);
    }
}
