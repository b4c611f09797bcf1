//! Finds rollouts that were added, moved or removed, by whatever program, from the times of their
//! directories.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rusqlite::{Connection, OptionalExtension, params};
use uuid::Uuid;

use super::segments::settle;
use super::{Index, State};
use crate::error::Result;
use crate::layout::{ARCHIVED, RolloutName, SESSIONS};
use crate::time;

/// A directory that changed this recently may change again without its time moving, because the time
/// only moves in steps; such a directory is looked at again next time.
const STEP: Duration = Duration::from_millis(100);
/// The step of file systems that keep whole seconds.
const COARSE_STEP: Duration = Duration::from_secs(2);
/// Stands for a time that cannot be relied on.
const UNSETTLED: i64 = -1;
/// How far west or east of UTC a local date can be.
const ZONE: i64 = 14 * 3600;
const DAY: i64 = 86_400;
/// How many directories to bring up to date in one transaction. Each transaction writes the pages that it changes to the
/// log, mostly the same ones; and another process waits for it.
const AT_ONCE: usize = 64;

/// The directories of live rollouts, newest day first, found as they are asked for.
pub(super) struct Days {
    home: PathBuf,
    months: Vec<PathBuf>,
    days: Vec<PathBuf>,
}

impl Days {
    pub fn new(home: &Path) -> Self {
        let years = numbered(home, Path::new(SESSIONS));
        let months = years.iter().flat_map(|year| numbered(home, year)).collect();
        Self {
            home: home.to_owned(),
            months,
            days: Vec::new(),
        }
    }
}

impl Iterator for Days {
    type Item = PathBuf;

    fn next(&mut self) -> Option<PathBuf> {
        while self.days.is_empty() {
            self.days = numbered(&self.home, &self.months.pop()?);
        }
        self.days.pop()
    }
}

/// The sub-directories of `directory` whose names are numbers, in order, relative to the home.
fn numbered(home: &Path, directory: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(home.join(directory)) else {
        return Vec::new();
    };
    let is_number = |name: &String| !name.is_empty() && name.bytes().all(|b| b.is_ascii_digit());
    let mut names: Vec<String> = entries
        .flatten()
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(is_number)
        .collect();
    names.sort_unstable();
    names.into_iter().map(|name| directory.join(name)).collect()
}

/// A time that no thread in the directory of a day was created after.
pub(super) fn end_of(day: &Path) -> i64 {
    let parts: Vec<_> = day.iter().filter_map(|part| part.to_str()).collect();
    let stamp = match parts[..] {
        [_, year, month, day] => format!("{year}-{month}-{day}T00-00-00"),
        _ => return i64::MAX,
    };
    let midnight = time::parse_name_stamp(&stamp);
    midnight.map_or(i64::MAX, |it| it.and_utc().timestamp() + DAY + ZONE)
}

/// The directories in which a thread of this id would lie, if the id tells its time.
pub(super) fn around(id: Uuid) -> Vec<PathBuf> {
    let Some(stamp) = id.get_timestamp().filter(|_| id.get_version_num() == 7) else {
        return Vec::new();
    };
    let created = i64::try_from(stamp.to_unix().0).unwrap_or_default();
    let day = |secs| {
        RolloutName {
            created: time::utc(secs).naive_utc(),
            id,
            segment: None,
        }
        .day_dir()
    };
    [created, created - DAY, created + DAY].map(day).into()
}

impl Index {
    /// Looks at the directory of archived rollouts.
    pub(super) fn look_at_archive(&mut self) -> Result<bool> {
        self.look_at(Path::new(ARCHIVED))
    }

    /// Looks at all directories of live rollouts.
    pub(super) fn look_everywhere(&mut self) -> Result<()> {
        let days: Vec<PathBuf> = Days::new(&self.home).collect();
        self.look_at_newest(&days, usize::MAX).map(drop)
    }

    /// Brings the rows of a directory up to date if the directory changed; says whether any row did.
    pub(super) fn look_at(&mut self, directory: &Path) -> Result<bool> {
        let looked = self.look_at_newest(&[directory.to_owned()], usize::MAX)?;
        Ok(looked.iter().any(|it| it.changed))
    }

    /// The same for several directories; but of the rollouts of each that are new to the index only so many, those made
    /// last, get rows. As long as any has none, its directory counts as changed.
    pub(super) fn look_at_newest(
        &mut self,
        directories: &[PathBuf],
        most: usize,
    ) -> Result<Vec<Looked>> {
        let mut looked = Vec::with_capacity(directories.len());
        for part in directories.chunks(AT_ONCE) {
            looked.extend(self.look_at_part(part, most)?);
        }
        Ok(looked)
    }

    fn look_at_part(&mut self, directories: &[PathBuf], most: usize) -> Result<Vec<Looked>> {
        let changed = directories.iter().map(|it| self.has_changed(it));
        let changed: Vec<bool> = changed.collect::<Result<_>>()?;
        if !changed.contains(&true) {
            return Ok(directories.iter().map(|_| Looked::default()).collect());
        }
        let home = self.home.clone();
        self.write(|db| {
            let each = directories.iter().zip(changed);
            each.map(|(directory, has_changed)| match has_changed {
                true => look(db, &home, directory, most),
                false => Ok(Looked::default()),
            })
            .collect()
        })
    }

    /// Whether a directory is there and not as it was when all its rollouts had rows.
    fn has_changed(&self, directory: &Path) -> Result<bool> {
        let Ok(state) = fs::metadata(self.home.join(directory)) else {
            return Ok(false);
        };
        let known: Option<i64> = self
            .db
            .prepare_cached("SELECT mtime FROM directories WHERE path = ?")?
            .query_row([directory.to_string_lossy()], |row| row.get(0))
            .optional()?;
        Ok(known != Some(mtime_nanos(&state)))
    }
}

/// Brings the rows of a directory up to date. This reads under the write lock: an older reading must not undo a newer one.
fn look(db: &Connection, home: &Path, directory: &Path, most: usize) -> rusqlite::Result<Looked> {
    let path = home.join(directory);
    let settled = match fs::metadata(&path) {
        Ok(state) if is_settled(&state) => mtime_nanos(&state),
        _ => UNSETTLED,
    };
    let looked = compare(db, home, directory, rollouts_in(&path), most)?;
    if looked.left.is_none() {
        db.prepare_cached("INSERT OR REPLACE INTO directories VALUES (?, ?)")?
            .execute(params![directory.to_string_lossy(), settled])?;
    }
    Ok(looked)
}

/// What a look at a directory found.
#[derive(Debug, Default)]
pub(super) struct Looked {
    /// Whether any row changed.
    pub changed: bool,
    /// A time that no rollout without a row was created after, if there are such.
    pub left: Option<i64>,
}

/// Whether a directory's time is so old that any later change will move it.
fn is_settled(directory: &Metadata) -> bool {
    let Ok(mtime) = directory.modified() else {
        return false;
    };
    let step = if mtime_nanos(directory) % 1_000_000_000 == 0 {
        COARSE_STEP
    } else {
        STEP
    };
    SystemTime::now()
        .duration_since(mtime)
        .is_ok_and(|age| age > step)
}

fn rollouts_in(directory: &Path) -> HashMap<String, RolloutName> {
    let Ok(entries) = fs::read_dir(directory) else {
        return HashMap::new();
    };
    let names = entries
        .flatten()
        .filter_map(|entry| entry.file_name().into_string().ok());
    names
        .filter_map(|name| RolloutName::parse(&name).map(|parsed| (name, parsed)))
        .collect()
}

/// Adds rows for new names, those made last and not more than `most`, and removes those of names that are gone.
fn compare(
    db: &Connection,
    home: &Path,
    directory: &Path,
    mut names: HashMap<String, RolloutName>,
    most: usize,
) -> rusqlite::Result<Looked> {
    let mut changed = false;
    let mut gone = Vec::new();
    let known: Vec<String> = db
        .prepare_cached("SELECT path FROM threads WHERE directory = ?")?
        .query_map([directory.to_string_lossy()], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    for path in known {
        let name = Path::new(&path)
            .file_name()
            .and_then(|name| name.to_str())
            .unwrap_or_default();
        if names.remove(name).is_none() {
            forget(db, &path)?;
            changed = true;
            gone.extend(RolloutName::parse(name).map(|name| name.id));
        }
    }
    let mut insert = db.prepare_cached(
        "INSERT OR IGNORE INTO threads
             (path, directory, id, segment, archived, state, created_at, updated_at, mtime, size)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    )?;
    let mut names: Vec<_> = names
        .into_iter()
        .map(|(name, parsed)| (parsed.latest_creation(), name, parsed))
        .collect();
    if names.len() > most {
        names.sort_unstable_by_key(|(latest, ..)| Reverse(*latest));
    }
    let left = names.get(most).map(|(latest, ..)| *latest);
    for (latest, name, parsed) in names.into_iter().take(most) {
        let path = directory.join(name);
        let Ok(file) = fs::metadata(home.join(&path)) else {
            continue;
        };
        // Somebody is about to write it, or never came to it. The rollout before it counts.
        if parsed.segment.is_some() && file.len() == 0 {
            continue;
        }
        insert.execute(params![
            path.to_string_lossy(),
            directory.to_string_lossy(),
            parsed.id.to_string(),
            parsed.segment_id().to_string(),
            directory == Path::new(ARCHIVED),
            State::Seen as i64,
            latest,
            mtime_secs(&file),
            mtime_nanos(&file),
            size(&file),
        ])?;
        changed = true;
        settle(db, parsed.id)?;
    }
    for id in gone {
        settle(db, id)?;
    }
    Ok(Looked { changed, left })
}

pub(super) fn forget(db: &Connection, path: &str) -> rusqlite::Result<()> {
    db.prepare_cached("DELETE FROM threads WHERE path = ?")?
        .execute([path])
        .map(drop)
}

pub(super) fn mtime_nanos(file: &Metadata) -> i64 {
    let since = file.modified().map(time::since_epoch).unwrap_or_default();
    i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)
}

pub(super) fn mtime_secs(file: &Metadata) -> i64 {
    mtime_nanos(file) / 1_000_000_000
}

pub(super) fn size(file: &Metadata) -> i64 {
    i64::try_from(file.len()).unwrap_or(i64::MAX)
}
