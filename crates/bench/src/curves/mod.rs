//! How cost grows with size: the same measure at a size, ten times and a hundred times that size. What a
//! server stores, sends or serves should not make the next thing dearer.

mod connections;
mod history;
mod home_size;
mod long_thread;
mod output;
mod stored;

use futures_util::future::BoxFuture;
use serde::{Deserialize, Serialize};

use crate::ground::{Ground, Subject};
use crate::plot::{Panel, Series};
use crate::report::{rounded, short};
use crate::rows::Values;
use crate::{Result, progress};

/// One thing that has a size, and what is read off at each.
trait Curve: Sync {
    /// What the sizes count.
    fn size_of(&self) -> &'static str;

    fn sizes(&self) -> &'static [usize];

    /// Name and unit of each value.
    fn figures(&self) -> &'static [(&'static str, &'static str)];

    /// Done in a ground of its own before the measure.
    fn prepare<'a>(&'a self, _: &'a Ground<'a>, _size: usize) -> BoxFuture<'a, Result<()>> {
        Box::pin(async { Ok(()) })
    }

    fn measure<'a>(&'a self, ground: &'a Ground<'a>, size: usize) -> Values<'a>;
}

static ALL: [&dyn Curve; 6] = [
    &history::History,
    &stored::Stored,
    &home_size::HomeSize,
    &long_thread::LongThread,
    &connections::Connections,
    &output::Output,
];

/// Everything that was measured.
#[derive(Debug, Serialize, Deserialize)]
pub struct Growth {
    lines: Vec<Line>,
}

/// One figure of one server at all sizes.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Line {
    name: String,
    unit: String,
    size_of: String,
    subject: String,
    sizes: Vec<usize>,
    values: Vec<f64>,
}

/// Every curve on every server.
pub async fn run(subjects: &[Subject], model: &str, quick: bool) -> Result<Growth> {
    let mut lines = Vec::new();
    for curve in ALL {
        for subject in subjects {
            progress(&format!("{} on {}", curve.size_of(), subject.name))?;
            let measured = measure(curve, subject, model, quick).await;
            let named = |error| format!("{} on {}: {error}", curve.size_of(), subject.name);
            lines.extend(measured.map_err(named)?);
        }
    }
    // The same figure of all servers stands together.
    lines.sort_by_key(|line| {
        let mut names = ALL.iter().flat_map(|it| it.figures());
        names.position(|(name, _)| *name == line.name)
    });
    Ok(Growth { lines })
}

async fn measure(
    curve: &dyn Curve,
    subject: &Subject,
    model: &str,
    quick: bool,
) -> Result<Vec<Line>> {
    let mut sizes = Vec::new();
    let mut values = Vec::new();
    for full in curve.sizes() {
        let ground = Ground::new(subject, model, quick)?;
        let size = ground.count(*full);
        curve.prepare(&ground, size).await?;
        values.push(curve.measure(&ground, size).await?);
        sizes.push(size);
    }
    let line = |(index, (name, unit)): (usize, &(&str, &str))| Line {
        name: (*name).to_owned(),
        unit: (*unit).to_owned(),
        size_of: curve.size_of().to_owned(),
        subject: subject.name.clone(),
        sizes: sizes.clone(),
        values: values.iter().map(|it| rounded(it[index])).collect(),
    };
    Ok(curve.figures().iter().enumerate().map(line).collect())
}

impl Growth {
    /// A Markdown table: the value at each size, and the last as a multiple of the first.
    pub fn table(&self) -> String {
        let mut out = "| measure | unit | server | at each size | last to first |\n\
                       | --- | --- | --- | --- | --- |\n"
            .to_owned();
        for line in &self.lines {
            let at = |(size, value): (&usize, &f64)| format!("{size}: {}", short(*value));
            let values: Vec<_> = line.sizes.iter().zip(&line.values).map(at).collect();
            let grown = match (line.values.first(), line.values.last()) {
                (Some(first), Some(last)) if *first > 0.0 => format!("{}×", short(last / first)),
                _ => "—".to_owned(),
            };
            let cells: [&str; 5] = [
                &line.name,
                &line.unit,
                &line.subject,
                &values.join(", "),
                &grown,
            ];
            out.push_str(&format!("| {} |\n", cells.join(" | ")));
        }
        out
    }

    /// A panel for each figure.
    pub fn panels(&self) -> Vec<Panel> {
        let mut panels: Vec<Panel> = Vec::new();
        for line in &self.lines {
            let title = format!("{}, {}", line.name, line.unit);
            let sizes = line.sizes.iter().map(|it| *it as f64);
            let series = Series {
                name: line.subject.clone(),
                points: sizes.zip(line.values.iter().copied()).collect(),
            };
            match panels.last_mut().filter(|it| it.title == title) {
                Some(panel) => panel.series.push(series),
                None => panels.push(Panel {
                    title,
                    across: line.size_of.clone(),
                    log: true,
                    series: vec![series],
                }),
            }
        }
        panels
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(subject: &str, values: [f64; 3]) -> Line {
        Line {
            name: "one turn, CPU".to_owned(),
            unit: "ms".to_owned(),
            size_of: "turns of history".to_owned(),
            subject: subject.to_owned(),
            sizes: vec![20, 200, 2000],
            values: values.to_vec(),
        }
    }

    #[test]
    fn tells_how_much_the_last_size_costs_of_the_first() {
        let lines = vec![
            line("quipu", [0.5, 0.5, 0.75]),
            line("other", [0.0, 2.0, 4.0]),
        ];
        let growth = Growth { lines };
        let table = growth.table();
        assert!(table.contains("| quipu | 20: 0.500, 200: 0.500, 2000: 0.750 | 1.50× |\n"));
        assert!(table.contains("| other | 20: 0.000, 200: 2.00, 2000: 4.00 | — |\n"));
        let panels = growth.panels();
        assert_eq!((panels.len(), panels[0].series.len()), (1, 2));
        assert_eq!(panels[0].series[1].points[2], (2000.0, 4.0));
    }

    #[test]
    fn figures_have_names_of_their_own() {
        let mut names: Vec<_> = ALL.iter().flat_map(|it| it.figures()).collect();
        let all = names.len();
        names.sort();
        names.dedup_by_key(|it| it.0);
        assert_eq!(names.len(), all);
    }
}
