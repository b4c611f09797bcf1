//! Samples become a table for people and JSON for the record.

use serde::{Deserialize, Serialize};

use crate::ground::Subject;
use crate::rows::{Figure, Goal, median};

/// The values of one row: by subject, round and figure.
pub struct Measured<'a> {
    figures: &'a [Figure],
    samples: Vec<Vec<Vec<f64>>>,
}

impl<'a> Measured<'a> {
    pub fn new(figures: &'a [Figure], subjects: usize) -> Measured<'a> {
        Measured {
            figures,
            samples: vec![Vec::new(); subjects],
        }
    }

    /// The rounds of each subject.
    pub fn samples_mut(&mut self) -> impl Iterator<Item = &mut Vec<Vec<f64>>> {
        self.samples.iter_mut()
    }
}

/// Everything that was measured.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    processors: usize,
    rounds: u16,
    /// Counts and sizes were a tenth of what the names say.
    quick: bool,
    pub subjects: Vec<String>,
    pub lines: Vec<Line>,
}

/// A figure and what came out for it.
#[derive(Serialize, Deserialize)]
pub struct Line {
    pub name: String,
    pub unit: String,
    pub goal: Goal,
    results: Vec<Summary>,
    /// Of each subject's median to that of the first peer; none without a peer's cost to compare with.
    pub ratios: Vec<f64>,
}

#[derive(Serialize, Deserialize)]
struct Summary {
    median: f64,
    min: f64,
    max: f64,
    samples: Vec<f64>,
}

impl Summary {
    fn new(samples: Vec<f64>) -> Summary {
        Summary {
            median: median(samples.iter().copied()),
            min: samples.iter().copied().fold(f64::INFINITY, f64::min),
            max: samples.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            samples,
        }
    }

    fn cell(&self) -> String {
        format!(
            "{} ({}–{})",
            short(self.median),
            short(self.min),
            short(self.max)
        )
    }
}

impl Report {
    pub fn new(subjects: &[Subject], rounds: u16, quick: bool) -> Report {
        Report {
            processors: std::thread::available_parallelism().map_or(0, Into::into),
            rounds,
            quick,
            subjects: subjects.iter().map(|it| it.name.clone()).collect(),
            lines: Vec::new(),
        }
    }

    pub fn add(&mut self, measured: Measured<'_>) {
        for (index, figure) in measured.figures.iter().enumerate() {
            let of = |rounds: &Vec<Vec<f64>>| rounds.iter().map(|it| rounded(it[index])).collect();
            let results: Vec<_> = measured.samples.iter().map(of).map(Summary::new).collect();
            let base = results.get(1).map(|it| it.median);
            let base = base.filter(|it| *it > 0.0);
            let ratios = base.map_or(Vec::new(), |base| {
                results.iter().map(|it| rounded(it.median / base)).collect()
            });
            self.lines.push(Line {
                name: figure.name.to_owned(),
                unit: figure.unit.to_owned(),
                goal: figure.goal,
                results,
                ratios,
            });
        }
    }

    /// A Markdown table: median, least and most of all rounds.
    pub fn table(&self) -> String {
        let mut out = String::new();
        let mut row = |cells: Vec<String>| {
            out.push_str("| ");
            out.push_str(&cells.join(" | "));
            out.push_str(" |\n");
        };
        let mut head = vec!["measure".to_owned(), "unit".to_owned()];
        head.extend(self.subjects.iter().cloned());
        let base = self.subjects.get(1);
        head.extend(base.map(|it| format!("ratio to {it}")));
        head.extend(base.map(|_| "goal".to_owned()));
        let columns = head.len();
        row(head);
        row(vec!["---".to_owned(); columns]);
        for line in &self.lines {
            let mut cells = vec![line.name.clone(), line.unit.clone()];
            cells.extend(line.results.iter().map(Summary::cell));
            cells.resize(2 + self.subjects.len(), "—".to_owned());
            if base.is_some() {
                let ratios: Vec<_> = others(&line.ratios).map(short).collect();
                cells.push(if ratios.is_empty() {
                    "—".to_owned()
                } else {
                    ratios.join(", ")
                });
                cells.push(goal(line));
            }
            row(cells);
        }
        if self.quick {
            out.push_str("\nA quick run: counts and sizes were a tenth of what the names say.\n");
        }
        out
    }
}

/// The ratios but that of the first peer, which is 1.
fn others(ratios: &[f64]) -> impl Iterator<Item = f64> {
    let is_base = |index: &usize| *index == 1;
    let all = ratios.iter().copied().enumerate();
    all.filter(move |(index, _)| !is_base(index))
        .map(|(_, it)| it)
}

/// The goal and whether it is met, in words.
pub fn goal(line: &Line) -> String {
    let (text, holds) = match (line.goal, line.ratios.first()) {
        (Goal::AtMost(goal), Some(ratio)) => (format!("≤ {goal}"), *ratio <= goal),
        (Goal::AtLeast(goal), Some(ratio)) => (format!("≥ {goal}"), *ratio >= goal),
        (Goal::Limit(goal), _) => {
            let own = line.results.first().map_or(f64::NAN, |it| it.median);
            (format!("≤ {goal} {}", line.unit), own <= goal)
        }
        _ => return "—".to_owned(),
    };
    format!("{text} {}", if holds { "held" } else { "missed" })
}

/// Three digits that mean something.
pub fn short(value: f64) -> String {
    let decimals = match value.abs() {
        big if big >= 100.0 => 0,
        middle if middle >= 10.0 => 1,
        small if small >= 1.0 => 2,
        _ => 3,
    };
    format!("{value:.decimals$}")
}

/// To a thousandth; the rest is noise.
pub fn rounded(value: f64) -> f64 {
    (value * 1000.0).round() / 1000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prints_medians_ratios_and_goals() {
        let subjects = [Subject::new("quipu", "a"), Subject::new("other", "b")];
        let figures = [Figure {
            name: "a turn",
            unit: "ms",
            goal: Goal::AtMost(0.1),
        }];
        let mut measured = Measured::new(&figures, 2);
        for (samples, values) in measured
            .samples_mut()
            .zip([[1.0, 3.0, 2.0], [20.0, 10.0, 40.0]])
        {
            samples.extend(values.map(|it| vec![it]));
        }
        let mut report = Report::new(&subjects, 3, false);
        report.add(measured);
        let table = report.table();
        let last = table.lines().last().unwrap();
        assert_eq!(
            last,
            "| a turn | ms | 2.00 (1.00–3.00) | 20.0 (10.0–40.0) | 0.100 | ≤ 0.1 held |"
        );
    }

    #[test]
    fn a_row_without_peers_has_no_ratio() {
        let subjects = [Subject::new("quipu", "a"), Subject::new("other", "b")];
        let figures = [Figure {
            name: "a page",
            unit: "ms",
            goal: Goal::None,
        }];
        let mut measured = Measured::new(&figures, 1);
        measured.samples_mut().for_each(|it| it.push(vec![0.5]));
        let mut report = Report::new(&subjects, 1, true);
        report.add(measured);
        assert!(
            report
                .table()
                .contains("| 0.500 (0.500–0.500) | — | — | — |")
        );
    }

    /// A figure as the README writes it: `2.7 ms`, `2,041`, `47 ×`.
    fn figure(text: &str) -> (f64, &str) {
        let (number, unit) = text.split_once(' ').unwrap_or((text, "1/s"));
        (number.replace(',', "").parse().unwrap(), unit)
    }

    /// Equal but for rounding.
    fn is_about(shown: f64, measured: f64) -> bool {
        (shown - measured).abs() <= (measured * 0.05).max(0.005_1)
    }

    #[test]
    fn the_readme_shows_the_committed_result() {
        let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
        let read = |path: &str| std::fs::read_to_string(format!("{root}/{path}")).unwrap();
        let report: Report = serde_json::from_str(&read("bench-results/table.json")).unwrap();
        let readme = read("README.md");
        let (_, section) = readme.split_once("\n## Performance\n").unwrap();
        let table = section.lines().skip_while(|line| !line.starts_with('|'));
        let rows: Vec<_> = table
            .take_while(|line| line.starts_with('|'))
            .skip(2)
            .collect();
        assert!(rows.len() >= 5, "{rows:?}");
        for row in rows {
            let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
            for (shown, ratio) in cells[1].split(" / ").zip(cells[2].split(" / ")) {
                let (value, unit) = figure(shown);
                let (ratio, _) = figure(ratio);
                let is_it = |line: &Line| {
                    line.unit == unit
                        && is_about(value, line.results[0].median)
                        && line.ratios.first().is_some_and(|it| is_about(ratio, *it))
                };
                assert!(
                    report.lines.iter().any(is_it),
                    "not in bench-results/table.json: {row}"
                );
            }
        }
    }
}
