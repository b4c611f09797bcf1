//! Short turns: how long one takes, how many there are in a second, and what each costs.

use std::time::{Duration, Instant};

use super::Bench;
use super::place::{Database, Place};
use crate::rows::ms;
use crate::{Result, usage};

/// Turns one after the other, on as many threads.
const TURNS: usize = 200;
const THREADS: usize = 20;
/// Threads at once, and how many turns each of them has.
const AT_ONCE: [usize; 3] = [1, 10, 40];
const EACH: usize = 25;

/// What came out at one place.
pub struct Turns {
    /// Milliseconds.
    pub p50: f64,
    pub p99: f64,
    /// Threads at once and turns per second.
    pub rates: Vec<(f64, f64)>,
    /// Milliseconds of the server for a turn, with the most threads at once.
    pub cpu: f64,
    pub database: Option<Cost>,
}

/// What a turn costs PostgreSQL, with the most threads at once.
#[derive(Clone, Copy)]
pub struct Cost {
    /// Milliseconds.
    pub cpu: f64,
    /// kB of the write-ahead log.
    pub log: f64,
    /// kB of tables and indexes.
    pub size: f64,
}

pub async fn measure(bench: &Bench<'_>, place: &Place) -> Result<Turns> {
    let mut session = place.session(bench).await?;
    let threads = session.threads(bench.count(THREADS)).await?;
    let mut times = Vec::new();
    for turn in 0..bench.count(TURNS) {
        let thread = &threads[turn % threads.len()];
        times.push(ms(session.turn(thread, "hello").await?.whole));
    }
    times.sort_by(f64::total_cmp);
    let share = |part: usize| times[(times.len() * part / 100).min(times.len() - 1)];
    let (mut rates, mut cpu, mut cost) = (Vec::new(), Duration::ZERO, None);
    for at_once in AT_ONCE {
        let threads = session.threads(at_once).await?;
        let each = bench.count(EACH) * (AT_ONCE[2] / at_once).min(4);
        session.turns_at_once(&threads, 1, "hello").await?;
        let before = session.cpu()?;
        let spent = place.stored().map(Spent::now).transpose()?;
        let start = Instant::now();
        session.turns_at_once(&threads, each, "hello").await?;
        let turns = (at_once * each) as f64;
        rates.push((at_once as f64, turns / start.elapsed().as_secs_f64()));
        cpu = session.cpu_since(before)?.div_f64(turns);
        if let (Some(database), Some(before)) = (place.stored(), spent) {
            cost = Some(Spent::now(database)?.since(&before, turns));
        }
    }
    session.finish().await?;
    Ok(Turns {
        p50: share(50),
        p99: share(99),
        rates,
        cpu: ms(cpu),
        database: cost,
    })
}

/// What PostgreSQL has done so far.
struct Spent {
    cpu: Duration,
    log: f64,
    size: f64,
}

impl Spent {
    fn now(database: &Database) -> Result<Spent> {
        Ok(Spent {
            cpu: usage::cpu(database.pid()?)?,
            log: database.number("SELECT pg_current_wal_lsn() - '0/0'")?,
            size: database.number("SELECT pg_database_size(current_database())")?,
        })
    }

    fn since(&self, before: &Spent, turns: f64) -> Cost {
        Cost {
            cpu: ms(self.cpu.saturating_sub(before.cpu)) / turns,
            log: (self.log - before.log) / turns / 1e3,
            size: (self.size - before.size) / turns / 1e3,
        }
    }
}
