//! What a run over a dataset found, for people and for programs.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use super::plot;
use crate::{Money, Usage};

/// How the variants of a prompt did. It can be written as JSON and read again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Report {
    /// The names of the scores.
    pub scores: Vec<String>,
    /// The variants, in the order in which they were added.
    pub variants: Vec<VariantReport>,
    /// Evaluations that were not made, or not to their end, because the run was stopped.
    #[serde(default)]
    pub missing: usize,
}

/// How one variant did.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct VariantReport {
    /// Its name.
    pub name: String,
    /// The cases that were evaluated, in their order.
    pub cases: Vec<CaseReport>,
}

/// How one case went.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CaseReport {
    /// Its name.
    pub case: String,
    /// One number for each of the report's scores.
    pub scores: Vec<f64>,
    /// The answer; empty if there was none.
    pub text: String,
    /// Why there was none.
    pub failure: Option<Failure>,
    /// What was used.
    pub usage: Usage,
    /// What it cost, if the model's price is known.
    pub cost: Option<Money>,
    /// How long it took.
    pub seconds: f64,
}

/// Why an evaluation failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Failure {
    /// The phase.
    pub phase: String,
    /// What went wrong.
    pub message: String,
}

/// A variant in numbers.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Summary {
    /// The mean of each score, and half the width of its 95 % interval.
    pub scores: Vec<(f64, f64)>,
    /// Cases that failed.
    pub failed: usize,
    /// What all cases used.
    pub usage: Usage,
    /// What they cost; nothing if no price is known.
    pub cost: Option<Money>,
    /// The time that half of the cases stayed below, in seconds.
    pub median_seconds: f64,
    /// The time that 95 % of them stayed below.
    pub p95_seconds: f64,
}

impl VariantReport {
    /// The variant in numbers.
    #[must_use]
    pub fn summary(&self) -> Summary {
        let scores = self.cases.first().map_or(0, |it| it.scores.len());
        let mut seconds: Vec<f64> = self.cases.iter().map(|it| it.seconds).collect();
        seconds.sort_by(f64::total_cmp);
        let below = |share: f64| {
            let at = (seconds.len() as f64 * share).ceil() as usize;
            seconds.get(at.saturating_sub(1)).copied().unwrap_or(0.0)
        };
        let has_price = self.cases.iter().any(|it| it.cost.is_some());
        Summary {
            scores: (0..scores)
                .map(|at| mean(self.cases.iter().map(|it| it.scores[at])))
                .collect(),
            failed: self.cases.iter().filter(|it| it.failure.is_some()).count(),
            usage: self.cases.iter().map(|it| it.usage).sum(),
            cost: has_price.then(|| self.cases.iter().filter_map(|it| it.cost).sum()),
            median_seconds: below(0.5),
            p95_seconds: below(0.95),
        }
    }
}

/// The mean, and half the width of its 95 % interval by the normal approximation.
fn mean(values: impl Iterator<Item = f64> + Clone) -> (f64, f64) {
    let count = values.clone().count() as f64;
    if count == 0.0 {
        return (0.0, 0.0);
    }
    let mean = values.clone().sum::<f64>() / count;
    if count < 2.0 {
        return (mean, 0.0);
    }
    let variance = values.map(|it| (it - mean).powi(2)).sum::<f64>() / (count - 1.0);
    (mean, 1.96 * (variance / count).sqrt())
}

impl Report {
    /// The report as a page: a table of the variants, and one of all cases.
    #[must_use]
    pub fn to_markdown(&self) -> String {
        let mut page = String::from("# Evaluation\n\n");
        if self.missing > 0 {
            let missing = self.missing;
            write!(
                page,
                "The run was stopped: {missing} evaluations are missing.\n\n"
            )
            .unwrap_or_default();
        }
        self.write_summary(&mut page).unwrap_or_default();
        self.write_cases(&mut page).unwrap_or_default();
        page
    }

    fn write_summary(&self, page: &mut String) -> std::fmt::Result {
        write!(page, "| variant |")?;
        self.scores
            .iter()
            .try_for_each(|score| write!(page, " {} |", cell(score)))?;
        writeln!(page, " failed | tokens | cost | median s | p95 s |")?;
        writeln!(page, "|---|{}", "---:|".repeat(self.scores.len() + 5))?;
        for variant in &self.variants {
            let it = variant.summary();
            write!(page, "| {} |", cell(&variant.name))?;
            for at in 0..self.scores.len() {
                match it.scores.get(at) {
                    Some((mean, half)) => write!(page, " {mean:.3} ± {half:.3} |")?,
                    None => write!(page, " — |")?,
                }
            }
            let cost = it.cost.map_or("—".to_owned(), |cost| cost.to_string());
            let (failed, tokens) = (it.failed, it.usage.total);
            let (median, p95) = (it.median_seconds, it.p95_seconds);
            writeln!(
                page,
                " {failed} of {} | {tokens} | {cost} | {median:.2} | {p95:.2} |",
                variant.cases.len()
            )?;
        }
        Ok(())
    }

    fn write_cases(&self, page: &mut String) -> std::fmt::Result {
        for variant in &self.variants {
            write!(page, "\n## {}\n\n| case |", variant.name)?;
            self.scores
                .iter()
                .try_for_each(|score| write!(page, " {} |", cell(score)))?;
            writeln!(
                page,
                " answer |\n|---|{}---|",
                "---:|".repeat(self.scores.len())
            )?;
            for case in &variant.cases {
                write!(page, "| {} |", cell(&case.case))?;
                case.scores
                    .iter()
                    .try_for_each(|score| write!(page, " {score:.2} |"))?;
                match &case.failure {
                    Some(Failure { phase, message }) => {
                        writeln!(page, " **{phase}**: {} |", cell(message))?
                    }
                    None => writeln!(page, " {} |", cell(&case.text))?,
                }
            }
        }
        Ok(())
    }

    /// The scores of the variants as an image, with their 95 % intervals.
    #[must_use]
    pub fn to_svg(&self) -> String {
        plot::svg(self)
    }
}

/// A text for one cell of a table, shortened.
fn cell(text: &str) -> String {
    let mut cell: String = text
        .chars()
        .take(120)
        .map(|it| if it.is_control() { ' ' } else { it })
        .collect();
    if cell.len() < text.len() {
        cell.push('…');
    }
    cell.replace('|', "\\|")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report() -> Report {
        let case = |name: &str, score: f64, seconds: f64| CaseReport {
            case: name.to_owned(),
            scores: vec![score],
            text: "a|b\nc".to_owned(),
            failure: None,
            usage: Usage {
                total: 10,
                ..Usage::default()
            },
            cost: None,
            seconds,
        };
        let failed = CaseReport {
            failure: Some(Failure {
                phase: "request".to_owned(),
                message: "no server".to_owned(),
            }),
            ..case("three", 0.0, 9.0)
        };
        let variant = |name: &str, cases| VariantReport {
            name: name.to_owned(),
            cases,
        };
        Report {
            scores: vec!["exact".to_owned()],
            missing: 0,
            variants: vec![
                variant(
                    "short",
                    vec![case("one", 1.0, 1.0), case("two", 0.5, 2.0), failed],
                ),
                variant("<long> & wordy", vec![case("one", 1.0, 3.0)]),
            ],
        }
    }

    #[test]
    fn numbers_are_right() {
        let summary = report().variants[0].summary();
        assert_eq!(
            (summary.failed, summary.usage.total, summary.cost),
            (1, 30, None)
        );
        assert_eq!((summary.median_seconds, summary.p95_seconds), (2.0, 9.0));
        let (mean, half) = summary.scores[0];
        assert!((mean - 0.5).abs() < 1e-9, "{mean}");
        // The sample deviation of 1, 0.5 and 0 is 0.5.
        assert!((half - 1.96 * 0.5 / 3f64.sqrt()).abs() < 1e-9, "{half}");
    }

    #[test]
    fn pages_pictures_and_json_are_well_formed() {
        let report = report();
        let page = report.to_markdown();
        assert!(
            page.contains("| short | 0.500 ± 0.566 | 1 of 3 | 30 | — | 2.00 | 9.00 |"),
            "{page}"
        );
        assert!(page.contains("| one | 1.00 | a\\|b c |"), "{page}");
        assert!(
            page.contains("| three | 0.00 | **request**: no server |"),
            "{page}"
        );
        let json = serde_json::to_string(&report).unwrap();
        assert_eq!(serde_json::from_str::<Report>(&json).unwrap(), report);
        let svg = report.to_svg();
        assert!(
            svg.starts_with("<svg ") && svg.ends_with("</svg>\n"),
            "{svg}"
        );
        assert!(svg.contains("&lt;long&gt; &amp; wordy"), "{svg}");
        assert_eq!(svg.matches("<rect class=\"bar\"").count(), 2, "{svg}");
    }
}
