//! Whether anything grows while nothing does: the same work every second for as long as is asked, and what
//! the server holds and uses meanwhile. A line that is not flat is a leak.

use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio::time::MissedTickBehavior;

use crate::ground::{Ground, Subject};
use crate::plot::{Panel, Series};
use crate::report::{rounded, short};
use crate::rows::median;
use crate::session::Session;
use crate::{Result, progress, usage};

/// Each takes a turn every second.
const THREADS: usize = 50;
/// So many of them, the oldest, run a command in their turn.
const COMMANDS: usize = 5;
/// So many of them, the oldest, are archived afterwards and new ones started. A thread's history is rightly
/// kept while it is loaded, so that threads without end could not be told from a leak.
const REPLACED: usize = 2;

const TEXT: &str = r#"{"mock":[{"deltas":100}]}"#;
const COMMAND: &str =
    r#"{"mock":[{"calls":[{"name":"exec_command","arguments":{"cmd":"true"}}]},{"text":"done"}]}"#;

/// What every server did.
#[derive(Debug, Serialize, Deserialize)]
pub struct Soaks {
    pub servers: Vec<Soak>,
}

/// What one server did.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Soak {
    pub subject: String,
    pub turns: usize,
    pub samples: Vec<Sample>,
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Sample {
    /// Since the beginning.
    second: f64,
    memory_mb: f64,
    /// Of one processor, since the sample before.
    cpu_percent: f64,
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    held: Option<Held>,
}

/// What a server holds besides memory.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Held {
    pub open_files: usize,
    pub threads: usize,
    /// Itself and all of its descendants.
    pub processes: usize,
    /// Entries of its directory for temporary files.
    pub temporary_files: usize,
    /// All files of its home but the ledger of usage: rollouts, index, logs.
    pub home_mb: f64,
}

/// Samples a server once in a while.
pub struct Sampler {
    pid: i32,
    start: Instant,
    sampled: Instant,
    used: Duration,
    pub samples: Vec<Sample>,
}

impl Sampler {
    pub fn new(pid: i32) -> Result<Sampler> {
        let start = Instant::now();
        Ok(Sampler {
            pid,
            start,
            sampled: start,
            used: usage::cpu(pid)?,
            samples: Vec::new(),
        })
    }

    pub fn elapsed(&self) -> Duration {
        self.start.elapsed()
    }

    pub fn since_last(&self) -> Duration {
        self.sampled.elapsed()
    }

    pub fn sample(&mut self, held: Option<Held>) -> Result<()> {
        let (now, cpu) = (Instant::now(), usage::cpu(self.pid)?);
        let used = cpu.saturating_sub(self.used);
        let share = used.as_secs_f64() / (now - self.sampled).as_secs_f64();
        self.samples.push(Sample {
            second: rounded((now - self.start).as_secs_f64()),
            memory_mb: rounded(usage::memory(self.pid)?),
            cpu_percent: rounded(share * 100.0),
            held,
        });
        (self.sampled, self.used) = (now, cpu);
        Ok(())
    }
}

/// Soaks one server after the other.
pub async fn run(subjects: &[Subject], model: &str, time: Duration) -> Result<Soaks> {
    let mut servers = Vec::new();
    for subject in subjects {
        progress(&format!("a soak of {}", subject.name))?;
        let soak = soak(subject, model, time).await;
        servers.push(soak.map_err(|error| format!("soak on {}: {error}", subject.name))?);
    }
    Ok(Soaks { servers })
}

async fn soak(subject: &Subject, model: &str, time: Duration) -> Result<Soak> {
    let ground = Ground::new(subject, model, false)?;
    let mut session = ground.start().await?;
    let mut threads = session.threads(THREADS).await?;
    let mut sampler = Sampler::new(session.pid())?;
    let mut ticks = tokio::time::interval(Duration::from_secs(1));
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    while sampler.elapsed() < time {
        ticks.tick().await;
        second_of_work(&mut session, &mut threads).await?;
        sampler.sample(None)?;
    }
    session.finish().await?;
    let samples = sampler.samples;
    Ok(Soak {
        subject: subject.name.clone(),
        turns: samples.len() * THREADS,
        samples,
    })
}

async fn second_of_work(session: &mut Session, threads: &mut Vec<String>) -> Result<()> {
    let (commands, texts) = threads.split_at(COMMANDS);
    session.turns_at_once(commands, 1, COMMAND).await?;
    session.turns_at_once(texts, 1, TEXT).await?;
    for thread in threads.drain(..REPLACED) {
        let params = json!({"threadId": thread});
        session.call("thread/archive", &params).await?;
    }
    threads.extend(session.threads(REPLACED).await?);
    Ok(())
}

/// What is plotted, and how it is read off a sample, if it was sampled.
type Measure = (&'static str, fn(&Sample) -> Option<f64>);

const MEASURES: [Measure; 7] = [
    ("memory, MB", |it| Some(it.memory_mb)),
    ("CPU, % of one processor", |it| Some(it.cpu_percent)),
    ("open files", |it| Some(it.held?.open_files as f64)),
    ("threads of the process", |it| Some(it.held?.threads as f64)),
    ("processes", |it| Some(it.held?.processes as f64)),
    ("temporary files", |it| {
        Some(it.held?.temporary_files as f64)
    }),
    ("home on disk without usage, MB", |it| {
        Some(it.held?.home_mb)
    }),
];

impl Soaks {
    /// A Markdown table. The medians of the thirds of the time are equal if the line is flat.
    pub fn table(&self) -> String {
        let mut out =
            "| server | turns | seconds | measure | median of each third | least | most |\n\
                       | --- | --- | --- | --- | --- | --- | --- |\n"
                .to_owned();
        for soak in &self.servers {
            for (name, of) in MEASURES {
                let seconds = soak.samples.last().map_or(0.0, |it| it.second.round());
                let values: Vec<f64> = soak.samples.iter().filter_map(of).collect();
                if values.is_empty() {
                    continue;
                }
                let least = values.iter().copied().fold(f64::INFINITY, f64::min);
                let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                out.push_str(&format!(
                    "| {} | {} | {seconds} | {name} | {} | {} | {} |\n",
                    soak.subject,
                    soak.turns,
                    thirds(&values).map(short).join(", "),
                    short(least),
                    short(most),
                ));
            }
        }
        out
    }

    /// A plot of each measure that was sampled.
    pub fn panels(&self) -> Vec<Panel> {
        let panel = |(title, of): Measure| Panel {
            title: title.to_owned(),
            across: "seconds".to_owned(),
            log: false,
            series: self.servers.iter().map(|soak| soak.series(of)).collect(),
        };
        let sampled = |it: &Panel| it.series.iter().any(|it| !it.points.is_empty());
        MEASURES.into_iter().map(panel).filter(sampled).collect()
    }
}

impl Soak {
    fn series(&self, of: fn(&Sample) -> Option<f64>) -> Series {
        let point = |it: &Sample| Some((it.second, of(it)?));
        Series {
            name: self.subject.clone(),
            points: self.samples.iter().filter_map(point).collect(),
        }
    }
}

/// The median of each third.
fn thirds(values: &[f64]) -> [f64; 3] {
    let end = |third: usize| values.len() * third / 3;
    [0, 1, 2].map(|third| median(values[end(third)..end(third + 1)].iter().copied()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tells_whether_a_line_is_flat() {
        let sample = |second: u32| Sample {
            second: f64::from(second),
            memory_mb: f64::from(second),
            cpu_percent: 5.0,
            held: None,
        };
        let soak = Soak {
            subject: "quipu".to_owned(),
            turns: 450,
            samples: (1..=9).map(sample).collect(),
        };
        let table = Soaks {
            servers: vec![soak],
        }
        .table();
        let rows: Vec<&str> = table.lines().skip(2).collect();
        assert_eq!(
            rows,
            [
                "| quipu | 450 | 9 | memory, MB | 2.00, 5.00, 8.00 | 1.00 | 9.00 |",
                "| quipu | 450 | 9 | CPU, % of one processor | 5.00, 5.00, 5.00 | 5.00 | 5.00 |",
            ]
        );
    }

    #[test]
    fn a_soak_without_a_sample_has_no_medians() {
        assert!(thirds(&[]).iter().all(|it| it.is_nan()));
    }
}
