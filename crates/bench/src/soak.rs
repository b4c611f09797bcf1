//! Whether anything grows while nothing does: the same work every second for as long as is asked, and what
//! the server holds and uses meanwhile. A line that is not flat is a leak.

use std::io::{self, Write as _};
use std::time::{Duration, Instant};

use serde::Serialize;
use serde_json::json;
use tokio::time::MissedTickBehavior;

use crate::Result;
use crate::ground::{Ground, Subject};
use crate::plot::{Panel, Series};
use crate::report::{rounded, short};
use crate::session::Session;

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

/// What one server did.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Soak {
    subject: String,
    turns: usize,
    samples: Vec<Sample>,
}

#[derive(Debug, Clone, Copy, Serialize)]
#[serde(rename_all = "camelCase")]
struct Sample {
    /// Since the beginning.
    second: f64,
    memory_mb: f64,
    /// Of one processor, since the sample before.
    cpu_percent: f64,
}

/// Soaks one server after the other.
pub async fn run(subjects: &[Subject], model: &str, time: Duration) -> Result<Vec<Soak>> {
    let mut soaks = Vec::new();
    for subject in subjects {
        let soak = soak(subject, model, time).await;
        let soak = soak.map_err(|error| format!("soak on {}: {error}", subject.name))?;
        writeln!(io::stdout().lock(), "{}", soak.told())?;
        soaks.push(soak);
    }
    Ok(soaks)
}

async fn soak(subject: &Subject, model: &str, time: Duration) -> Result<Soak> {
    let ground = Ground::new(subject, model, false)?;
    let mut session = ground.start().await?;
    let mut threads = session.threads(THREADS).await?;
    let mut samples = Vec::new();
    let mut ticks = tokio::time::interval(Duration::from_secs(1));
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let start = Instant::now();
    let (mut sampled, mut used) = (start, session.cpu()?);
    while start.elapsed() < time {
        ticks.tick().await;
        second_of_work(&mut session, &mut threads).await?;
        let (now, cpu) = (Instant::now(), session.cpu()?);
        let share = (cpu - used).as_secs_f64() / (now - sampled).as_secs_f64();
        samples.push(Sample {
            second: rounded((now - start).as_secs_f64()),
            memory_mb: rounded(session.memory_now()?),
            cpu_percent: rounded(share * 100.0),
        });
        (sampled, used) = (now, cpu);
    }
    session.finish().await?;
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

impl Soak {
    /// First, last, least and most of what was sampled.
    fn told(&self) -> String {
        let line = |of: fn(&Sample) -> f64| Extent::of(self.samples.iter().map(of)).told();
        format!(
            "{}: {} turns on {THREADS} threads in {} s\n  memory, MB: {}\n  CPU, % of one processor: {}",
            self.subject,
            self.turns,
            self.samples.last().map_or(0.0, |it| it.second).round(),
            line(|it| it.memory_mb),
            line(|it| it.cpu_percent),
        )
    }
}

/// The plots of memory and processor time.
pub fn panels(soaks: &[Soak]) -> Vec<Panel> {
    let panel = |title: &str, of: fn(&Sample) -> f64| {
        let series = |soak: &Soak| Series {
            name: soak.subject.clone(),
            points: soak.samples.iter().map(|it| (it.second, of(it))).collect(),
        };
        Panel {
            title: title.to_owned(),
            across: "seconds".to_owned(),
            log: false,
            series: soaks.iter().map(series).collect(),
        }
    };
    vec![
        panel("memory, MB", |it| it.memory_mb),
        panel("CPU, % of one processor", |it| it.cpu_percent),
    ]
}

#[derive(Debug, Default, PartialEq)]
struct Extent {
    first: f64,
    last: f64,
    min: f64,
    max: f64,
}

impl Extent {
    fn of(mut values: impl Iterator<Item = f64>) -> Extent {
        let Some(first) = values.next() else {
            return Extent::default();
        };
        let begin = Extent {
            first,
            last: first,
            min: first,
            max: first,
        };
        values.fold(begin, |so_far, value| Extent {
            first,
            last: value,
            min: so_far.min.min(value),
            max: so_far.max.max(value),
        })
    }

    fn told(&self) -> String {
        let [first, last, min, max] = [self.first, self.last, self.min, self.max].map(short);
        format!("first {first}, last {last}, least {min}, most {max}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tells_first_last_least_and_most() {
        let extent = Extent::of([2.0, 5.0, 1.0, 3.0].into_iter());
        assert_eq!(
            extent.told(),
            "first 2.00, last 3.00, least 1.00, most 5.00"
        );
        assert_eq!(Extent::of(std::iter::empty()), Extent::default());
    }
}
