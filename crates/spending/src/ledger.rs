//! The ledger: what every answer of a model cost. In a home it is files: `usage/2026-11-16.jsonl` and so on.

use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead as _, BufReader, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use chrono::{DateTime, NaiveDate, Utc};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};

use crate::Amount;

/// The directory of the files in the home.
const DIRECTORY: &str = "usage";
/// No line that this program writes is longer.
const MAX_LINE: u64 = 64 * 1024;

/// One answer of a model.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// When it ended, in Unix seconds.
    pub at: i64,
    pub thread: String,
    pub turn: String,
    /// The working directory of the turn.
    pub cwd: String,
    pub provider: String,
    pub model: String,
    /// Tokens that the model read, cached ones included.
    pub input: u64,
    pub cached: u64,
    /// Tokens that it wrote, reasoning included.
    pub output: u64,
    pub reasoning: u64,
    /// Everything, as the provider counts it.
    pub total: u64,
    /// US dollars; none if the price is not known.
    pub dollars: Option<f64>,
    /// Time of the turn since its start or its last answer.
    pub seconds: f64,
}

impl Entry {
    pub fn amount(&self) -> Amount {
        Amount {
            tokens: self.total,
            dollars: self.dollars.unwrap_or_default(),
            time: Duration::try_from_secs_f64(self.seconds).unwrap_or_default(),
        }
    }

    /// The day (UTC) on which it ended.
    pub fn day(&self) -> NaiveDate {
        let time = DateTime::from_timestamp(self.at, 0).unwrap_or_default();
        time.date_naive()
    }
}

/// Where answers are counted, by every process that uses it. All calls block.
pub trait Ledger: Send + Sync {
    /// Adds an answer.
    fn add(&self, entry: &Entry) -> io::Result<()>;

    /// What was used today, by every process: in all, and in a working directory.
    fn today(&self, directory: &str) -> (Amount, Amount);

    /// What each of these threads has used since a day, with other processes and before a restart. Those that used
    /// nothing may be missing.
    fn threads(&self, ids: &[String], since: NaiveDate) -> HashMap<String, Amount>;

    /// What a thread has used since a day.
    fn thread(&self, id: &str, since: NaiveDate) -> Amount {
        let mut used = self.threads(&[id.to_owned()], since);
        used.remove(id).unwrap_or_default()
    }

    /// The days on which something was used, the earliest first.
    fn days(&self) -> Vec<NaiveDate>;

    /// The answers of a day. Those that cannot be read are left out.
    fn entries(&self, day: NaiveDate) -> Box<dyn Iterator<Item = Entry> + '_>;
}

/// The ledger of a home.
#[derive(Debug)]
pub struct LedgerFiles {
    home: PathBuf,
    today: Mutex<Today>,
}

/// What is known of the day's file.
#[derive(Debug, Default)]
struct Today {
    day: Option<NaiveDate>,
    /// Open for appending, once something was added.
    file: Option<File>,
    /// How far it was read.
    read: u64,
    total: Amount,
    by_directory: HashMap<String, Amount>,
}

impl LedgerFiles {
    /// Nothing is read or made before it is needed.
    pub fn new(home: &Path) -> Self {
        Self {
            home: home.to_owned(),
            today: Mutex::default(),
        }
    }

    fn file(&self, day: NaiveDate) -> PathBuf {
        self.home.join(DIRECTORY).join(file_name(day))
    }
}

impl Ledger for LedgerFiles {
    /// Appends an answer, in one write.
    fn add(&self, entry: &Entry) -> io::Result<()> {
        let mut line = serde_json::to_vec(entry)?;
        line.push(b'\n');
        let mut today = self.today.lock();
        today.turn_to(entry.day());
        if today.file.is_none() {
            let directory = quipu_disk::private_dirs(&self.home, Path::new(DIRECTORY))?;
            let mut options = OpenOptions::new();
            options.create(true).append(true);
            #[cfg(unix)]
            std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
            today.file = Some(options.open(directory.join(file_name(entry.day())))?);
        }
        match &mut today.file {
            Some(file) => file.write_all(&line),
            None => Ok(()),
        }
    }

    fn today(&self, directory: &str) -> (Amount, Amount) {
        let day = DateTime::<Utc>::from(SystemTime::now()).date_naive();
        let mut today = self.today.lock();
        today.turn_to(day);
        if let Err(error) = today.catch_up(&self.file(day)) {
            tracing::warn!(%error, "usage of today cannot be read");
        }
        let there = today.by_directory.get(directory).copied();
        (today.total, there.unwrap_or_default())
    }

    fn threads(&self, ids: &[String], since: NaiveDate) -> HashMap<String, Amount> {
        let mut used: HashMap<String, Amount> = HashMap::new();
        for day in self.days().into_iter().filter(|day| *day >= since) {
            for entry in self.entries(day).filter(|it| ids.contains(&it.thread)) {
                *used.entry(entry.thread.clone()).or_default() += entry.amount();
            }
        }
        used
    }

    /// The days of which there is a file.
    fn days(&self) -> Vec<NaiveDate> {
        let files = fs::read_dir(self.home.join(DIRECTORY));
        let names = files.into_iter().flatten().flatten();
        let day = |name: String| name.strip_suffix(".jsonl")?.parse().ok();
        let mut days: Vec<NaiveDate> = names
            .filter_map(|it| day(it.file_name().into_string().ok()?))
            .collect();
        days.sort_unstable();
        days
    }

    fn entries(&self, day: NaiveDate) -> Box<dyn Iterator<Item = Entry> + '_> {
        let file = quipu_disk::open(&self.file(day)).ok();
        let mut reader = file.map(BufReader::new);
        Box::new(std::iter::from_fn(move || {
            let reader = reader.as_mut()?;
            loop {
                let mut line = Vec::new();
                let read = reader.take(MAX_LINE).read_until(b'\n', &mut line);
                if !matches!(read, Ok(1..)) {
                    return None;
                }
                if let Ok(entry) = serde_json::from_slice(&line) {
                    return Some(entry);
                }
            }
        }))
    }
}

fn file_name(day: NaiveDate) -> String {
    format!("{day}.jsonl")
}

impl Today {
    /// Begins a new day, if it is one.
    fn turn_to(&mut self, day: NaiveDate) {
        if self.day != Some(day) {
            *self = Self {
                day: Some(day),
                ..Self::default()
            };
        }
    }

    /// Reads what was added since the last time. A line that is being written is read the next time.
    fn catch_up(&mut self, path: &Path) -> io::Result<()> {
        let mut file = match quipu_disk::open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(error),
        };
        let length = file.metadata()?.len();
        if length <= self.read {
            return Ok(());
        }
        file.seek(SeekFrom::Start(self.read))?;
        let mut reader = BufReader::new(file);
        let mut line = Vec::new();
        loop {
            line.clear();
            let count = (&mut reader).take(MAX_LINE).read_until(b'\n', &mut line)?;
            if line.last() != Some(&b'\n') {
                // A line that is too long cannot be one of ours: it is skipped piece by piece.
                if count as u64 == MAX_LINE {
                    self.read += MAX_LINE;
                    continue;
                }
                return Ok(());
            }
            self.read += count as u64;
            if let Ok(entry) = serde_json::from_slice::<Entry>(&line) {
                self.total += entry.amount();
                *self.by_directory.entry(entry.cwd.clone()).or_default() += entry.amount();
            }
        }
    }
}
