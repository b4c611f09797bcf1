//! Threads move between a home directory and the database without loss: the bytes of rollouts, their times, names, git
//! facts, the archive and what is stored beside them. Both directions can be run again; what is there already is compared, not written.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::Path;
use std::time::{Duration, SystemTime};

use quipu_journal::backend::{ARCHIVED, GIT, NAMES, RolloutName, SESSIONS};
use quipu_journal::{Error, Result, Store, StoreOptions};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use uuid::Uuid;

use crate::database::{Schema, params};
use crate::whole::{Origin, WholeWriter};
use crate::{Postgres, text};

/// What an import or export did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Rollouts that were copied.
    pub copied: u64,
    /// Rollouts that were there already, byte for byte.
    pub same: u64,
    /// Names and git facts.
    pub labels: u64,
    /// What is stored beside rollouts, without the ledger: what threads keep, events, requests.
    pub kept: u64,
    /// Bytes of the rollouts that were copied.
    pub bytes: u64,
}

/// A line of the files with names and git facts.
#[derive(Deserialize, Serialize)]
struct Line<'a> {
    id: Uuid,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    thread_name: Option<String>,
    #[serde(default, borrow, skip_serializing_if = "Option::is_none")]
    git: Option<&'a RawValue>,
    #[serde(default)]
    updated_at: Option<String>,
}

impl Postgres {
    /// Copies everything in a home into the database. No program may write to the home meanwhile.
    pub fn import(&self, home: &Path) -> Result<Counts> {
        Transfer(self).import(home)
    }

    /// Copies everything in the database into a home.
    pub fn export(&self, home: &Path) -> Result<Counts> {
        Transfer(self).export(home)
    }
}

/// Moves threads into and out of a database.
pub(crate) struct Transfer<'a>(pub &'a Postgres);

impl Transfer<'_> {
    fn import(&self, home: &Path) -> Result<Counts> {
        let store = Store::open(home, StoreOptions::default());
        let mut counts = Counts::default();
        let mut found = Vec::new();
        for directory in [SESSIONS, ARCHIVED] {
            find_rollouts(&home.join(directory), &mut found)
                .map_err(|error| Error::io("read", &home.join(directory), error))?;
        }
        for path in &found {
            self.import_rollout(home, &store, path, &mut counts)?;
        }
        for name in [NAMES, GIT] {
            counts.labels += self.import_labels(&home.join(name))?;
        }
        counts.kept = self.import_beside(home)?;
        Ok(counts)
    }

    fn import_rollout(
        &self,
        home: &Path,
        store: &Store,
        path: &Path,
        counts: &mut Counts,
    ) -> Result<()> {
        let unreadable = |error| Error::io("read", path, error);
        let Some((relative, name)) = path
            .strip_prefix(home)
            .ok()
            .and_then(Path::to_str)
            .zip(RolloutName::of(path))
        else {
            return Ok(());
        };
        let mut file = quipu_disk::open(path).map_err(unreadable)?;
        let inside = self.0.home.join(relative);
        if self.0.is_stored(relative)? {
            let stored = self.0.source(&inside)?;
            return match is_same(file, stored.bytes()).map_err(unreadable)? {
                true => {
                    counts.same += 1;
                    Ok(())
                }
                false => Err(Error::Exists { path: inside }),
            };
        }
        let listing = store.listing(path)?;
        let archived = relative.starts_with(ARCHIVED);
        let newest = match archived {
            true => store.find_archived(listing.thread)?,
            false => store.find(listing.thread)?,
        };
        let origin = Origin {
            segment: name.segment_id(),
            archived,
            is_superseded: newest.is_some_and(|newest| newest != path),
            modified: file
                .metadata()
                .and_then(|it| it.modified())
                .map_err(unreadable)?,
            listing,
        };
        let mut writer = WholeWriter::new(self.0.database.begin(Schema::Ours)?, relative)?;
        let copied = io::copy(&mut file, &mut writer);
        counts.bytes += copied.map_err(|error| writer.failure(path, error))?;
        writer.finish(path, Some(origin))?;
        counts.copied += 1;
        Ok(())
    }

    /// The last line of a thread counts.
    fn import_labels(&self, path: &Path) -> Result<u64> {
        let lines = match fs::read(path) {
            Ok(lines) => lines,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(0),
            Err(error) => return Err(Error::io("read", path, error)),
        };
        let mut count = 0;
        for line in lines.split(|byte| *byte == b'\n') {
            let Ok(line) = serde_json::from_slice::<Line<'_>>(line) else {
                continue;
            };
            count += 1;
            let updated = line.updated_at.unwrap_or_else(|| "epoch".to_owned());
            let (sql, value) = match (&line.thread_name, line.git) {
                (Some(name), _) => (
                    "INSERT INTO quipu.labels (thread, name, name_updated) VALUES ($1, $2, $3::text::timestamptz)
                     ON CONFLICT (thread) DO UPDATE SET name = EXCLUDED.name, name_updated = EXCLUDED.name_updated",
                    text(name),
                ),
                (None, Some(git)) => (
                    "INSERT INTO quipu.labels (thread, git, git_updated) VALUES ($1, $2, $3::text::timestamptz)
                     ON CONFLICT (thread) DO UPDATE SET git = EXCLUDED.git, git_updated = EXCLUDED.git_updated",
                    text(git.get()),
                ),
                (None, None) => continue,
            };
            self.0
                .database
                .query(sql, params![line.id, value, updated])?;
        }
        Ok(count)
    }

    fn export(&self, home: &Path) -> Result<Counts> {
        let mut counts = Counts::default();
        let mut after = String::new();
        loop {
            let sql =
                "SELECT path, modified FROM quipu.rollouts WHERE path > $1 ORDER BY path LIMIT 500";
            let rows = self.0.database.query(sql, params![after.clone()])?;
            for row in &rows {
                let relative: String = row.get(0);
                let nanos: i64 = row.get(1);
                let modified = SystemTime::UNIX_EPOCH + Duration::from_nanos(nanos.max(0) as u64);
                self.export_rollout(home, &relative, modified, &mut counts)?;
                after = relative;
            }
            if rows.is_empty() {
                break;
            }
        }
        counts.labels = self.export_labels(home)?;
        counts.kept = self.export_beside(home)?;
        Ok(counts)
    }

    fn export_rollout(
        &self,
        home: &Path,
        relative: &str,
        modified: SystemTime,
        counts: &mut Counts,
    ) -> Result<()> {
        let path = home.join(relative);
        let failed = |error| Error::io("write", &path, error);
        // The database says where files go, so it must not lead out of the home.
        let name = RolloutName::of(&path).filter(|name| {
            let file = name.file_name();
            let places = [name.day_dir().join(&file), Path::new(ARCHIVED).join(&file)];
            places.iter().any(|place| place == Path::new(relative))
        });
        if name.is_none() {
            return Err(Error::Database(format!(
                "`{relative}` is not the path of a rollout"
            )));
        }
        let stored = self.0.source(&self.0.home.join(relative))?;
        if let Ok(file) = quipu_disk::open(&path) {
            return match is_same(file, stored.bytes()).map_err(failed)? {
                true => {
                    counts.same += 1;
                    Ok(())
                }
                false => Err(Error::Exists { path }),
            };
        }
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).map_err(failed)?;
        }
        let unfinished = path.with_extension("partial");
        let write = || -> io::Result<u64> {
            let mut file = File::create(&unfinished)?;
            let copied = io::copy(&mut stored.bytes(), &mut file)?;
            file.set_modified(modified)?;
            file.sync_all()?;
            fs::rename(&unfinished, &path)?;
            Ok(copied)
        };
        counts.bytes += write().map_err(failed)?;
        counts.copied += 1;
        Ok(())
    }

    fn export_labels(&self, home: &Path) -> Result<u64> {
        let stamp = "to_char(%s AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.MS\"Z\"')";
        let mut count = 0;
        for (file, column, updated) in
            [(NAMES, "name", "name_updated"), (GIT, "git", "git_updated")]
        {
            let stamp = stamp.replace("%s", updated);
            let sql = format!(
                "SELECT thread, {column}, {stamp} FROM quipu.labels WHERE {column} IS NOT NULL
                 ORDER BY {updated}, thread"
            );
            let rows = self.0.database.query(sql, params![])?;
            let mut lines = Vec::new();
            for row in &rows {
                let value: String = row.get(1);
                let git = (column == "git")
                    .then(|| serde_json::from_str(&value))
                    .transpose();
                let line = Line {
                    id: row.get(0),
                    git: git.map_err(Error::Encode)?,
                    thread_name: (column == "name").then(|| value.clone()),
                    updated_at: row.get(2),
                };
                serde_json::to_writer(&mut lines, &line).map_err(Error::Encode)?;
                lines.push(b'\n');
            }
            let path = home.join(file);
            let known = fs::read(&path).unwrap_or_default();
            if !lines.is_empty() && !known.ends_with(&lines) {
                let opened = File::options().create(true).append(true).open(&path);
                let written = opened.and_then(|mut file| {
                    file.write_all(&lines)?;
                    file.sync_all()
                });
                written.map_err(|error| Error::io("write", &path, error))?;
            }
            count += rows.len() as u64;
        }
        Ok(count)
    }
}

/// All rollouts below a directory, in order; none if it is not there.
fn find_rollouts(directory: &Path, found: &mut Vec<std::path::PathBuf>) -> io::Result<()> {
    let entries = match fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    let mut paths = Vec::new();
    for entry in entries {
        let entry = entry?;
        paths.push((entry.path(), entry.file_type()?.is_dir()));
    }
    paths.sort();
    for (path, is_directory) in paths {
        if is_directory {
            find_rollouts(&path, found)?;
        } else if RolloutName::of(&path).is_some() {
            found.push(path);
        }
    }
    Ok(())
}

/// Whether two sources have the same bytes.
fn is_same(mut one: impl Read, mut other: impl Read) -> io::Result<bool> {
    let (mut first, mut second) = (vec![0; 64 << 10], vec![0; 64 << 10]);
    loop {
        let count = one.read(&mut first)?;
        let mut left = &first[..count];
        if count == 0 {
            return Ok(other.read(&mut second)? == 0);
        }
        while !left.is_empty() {
            let count = other.read(&mut second[..left.len()])?;
            if count == 0 || left[..count] != second[..count] {
                return Ok(false);
            }
            left = &left[count..];
        }
    }
}
