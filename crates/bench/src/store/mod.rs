//! What threads in PostgreSQL cost beside threads in files, in the same run. The database is started here, in a temporary
//! directory: once on the disk of the machine, and once in memory, which shows what is left when the disk answers at once.

mod nodes;
mod place;
mod sizes;
mod turns;

use std::path::Path;

use quipu_testkit::cluster::Settings;
use serde::{Deserialize, Serialize};

use crate::ground::Subject;
use crate::plot::{Panel, Series};
use crate::report::{rounded, short};
use crate::{Result, progress};
use place::Place;

/// Where the threads are, in the order of the columns.
const COLUMNS: [&str; 3] = ["files", "PostgreSQL", "PostgreSQL in memory"];

/// Everything that was measured.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Stores {
    processors: usize,
    /// Counts and sizes were a tenth of what the names say.
    quick: bool,
    lines: Vec<Line>,
    curves: Vec<Curve>,
}

/// One measure at all places; none where it makes no sense or nobody asked.
#[derive(Debug, Serialize, Deserialize)]
pub struct Line {
    name: String,
    unit: String,
    values: [Option<f64>; 3],
    goal: Option<Goal>,
}

/// What the last column is to reach: the issue of disks is the disk's.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Goal {
    AtLeast(f64),
    /// So much more than on files at most.
    MoreThanFiles(f64),
}

/// A measure against a size, one line for each place.
#[derive(Debug, Serialize, Deserialize)]
struct Curve {
    title: String,
    size_of: String,
    series: Vec<(String, Vec<(f64, f64)>)>,
}

/// What is measured with.
pub struct Bench<'a> {
    pub subject: &'a Subject,
    pub model: &'a str,
    pub quick: bool,
}

impl Bench<'_> {
    /// A count or size, a tenth of it in a quick run.
    pub fn count(&self, full: usize) -> usize {
        if self.quick { full.div_ceil(10) } else { full }
    }
}

/// All measures.
pub async fn run(subject: &Subject, model: &str, quick: bool) -> Result<Stores> {
    let bench = Bench {
        subject,
        model,
        quick,
    };
    let memory = Path::new("/dev/shm");
    let lasting = |directory: &Path| Settings {
        directory: directory.to_owned(),
        parameters: Vec::new(),
        environment: Vec::new(),
    };
    let mut places = [
        Some(Place::files()),
        Some(Place::database(&bench, lasting(Path::new("/tmp"))).await?),
        match memory.is_dir() {
            true => Some(Place::database(&bench, lasting(memory)).await?),
            false => None,
        },
    ];
    let mut stores = Stores {
        processors: std::thread::available_parallelism().map_or(0, Into::into),
        quick,
        lines: Vec::new(),
        curves: Vec::new(),
    };
    let mut measured = Vec::new();
    for (name, place) in COLUMNS.iter().zip(&mut places) {
        progress(&format!("turns, {name}"))?;
        measured.push(match place {
            Some(place) => Some(turns::measure(&bench, place).await?),
            None => None,
        });
    }
    stores.add_turns(&measured);
    progress("takeover, forwarding and idle clients")?;
    stores.lines.extend(nodes::measure(&bench, &places).await?);
    progress("many threads")?;
    if let Some(place) = places[1].as_ref() {
        let (lines, curve) = sizes::measure(&bench, place).await?;
        stores.lines.extend(lines);
        stores.curves.push(curve);
    }
    Ok(stores)
}

impl Line {
    fn new(name: impl Into<String>, unit: &str, values: [Option<f64>; 3]) -> Line {
        Line {
            name: name.into(),
            unit: unit.to_owned(),
            values: values.map(|it| it.map(rounded)),
            goal: None,
        }
    }

    /// The goal and whether it is held, in words.
    fn goal(&self) -> String {
        let (text, holds) = match (self.goal, self.values) {
            (Some(Goal::AtLeast(goal)), [_, _, Some(value)]) => {
                (format!("≥ {goal}"), value >= goal)
            }
            (Some(Goal::MoreThanFiles(goal)), [Some(files), _, Some(value)]) => (
                format!("≤ {goal} {} more than files", self.unit),
                value - files <= goal,
            ),
            _ => return "—".to_owned(),
        };
        format!("{text} {}", if holds { "held" } else { "missed" })
    }
}

impl Stores {
    fn add_turns(&mut self, measured: &[Option<turns::Turns>]) {
        let of = |read: &dyn Fn(&turns::Turns) -> Option<f64>| -> [Option<f64>; 3] {
            std::array::from_fn(|place| measured.get(place)?.as_ref().and_then(read))
        };
        let mut latency = Line::new("one turn, p50", "ms", of(&|it| Some(it.p50)));
        latency.goal = Some(Goal::MoreThanFiles(3.0));
        let mut rate = Line::new(
            "turns per second, 40 threads at once",
            "1/s",
            of(&|it| it.rates.last().map(|rate| rate.1)),
        );
        rate.goal = Some(Goal::AtLeast(1000.0));
        self.lines.extend([
            latency,
            Line::new("one turn, p99", "ms", of(&|it| Some(it.p99))),
            rate,
            Line::new(
                "one turn of 40 at once, CPU of the server",
                "ms",
                of(&|it| Some(it.cpu)),
            ),
            Line::new(
                "one turn, CPU of PostgreSQL",
                "ms",
                of(&|it| it.database.map(|it| it.cpu)),
            ),
            Line::new(
                "one turn, write-ahead log",
                "kB",
                of(&|it| it.database.map(|it| it.log)),
            ),
            Line::new(
                "one turn, growth of the database",
                "kB",
                of(&|it| it.database.map(|it| it.size)),
            ),
        ]);
        let series = COLUMNS.iter().zip(measured).filter_map(|(name, it)| {
            let rates = it.as_ref()?.rates.clone();
            Some(((*name).to_owned(), rates))
        });
        self.curves.push(Curve {
            title: "turns per second".to_owned(),
            size_of: "threads at once".to_owned(),
            series: series.collect(),
        });
    }

    /// A Markdown table.
    pub fn table(&self) -> String {
        let mut out = format!("| measure | unit | {} | goal |\n", COLUMNS.join(" | "));
        out.push_str("| --- | --- | --- | --- | --- | --- |\n");
        for line in &self.lines {
            let cell = |value: &Option<f64>| value.map_or("—".to_owned(), short);
            let values: Vec<_> = line.values.iter().map(cell).collect();
            out.push_str(&format!(
                "| {} | {} | {} | {} |\n",
                line.name,
                line.unit,
                values.join(" | "),
                line.goal()
            ));
        }
        if self.quick {
            out.push_str("\nA quick run: counts and sizes were a tenth of what the names say.\n");
        }
        out
    }

    /// A panel for each curve.
    pub fn panels(&self) -> Vec<Panel> {
        let panel = |curve: &Curve| Panel {
            title: curve.title.clone(),
            across: curve.size_of.clone(),
            log: true,
            series: curve
                .series
                .iter()
                .map(|(name, points)| Series {
                    name: name.clone(),
                    points: points.clone(),
                })
                .collect(),
        };
        self.curves.iter().map(panel).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn goals_are_those_of_a_disk_that_answers_at_once() {
        let mut line = Line::new("a", "ms", [Some(1.0), Some(30.0), Some(3.5)]);
        assert_eq!(line.goal(), "—");
        line.goal = Some(Goal::MoreThanFiles(3.0));
        assert_eq!(line.goal(), "≤ 3 ms more than files held");
        line.goal = Some(Goal::AtLeast(4.0));
        assert_eq!(line.goal(), "≥ 4 missed");
        line.values[2] = None;
        assert_eq!(line.goal(), "—");
    }
}
