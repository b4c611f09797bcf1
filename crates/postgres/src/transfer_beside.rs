//! Moves what is stored beside rollouts between a home and the database: what threads keep, sections, numbered events,
//! requests with keys and the ledger.

use std::collections::HashSet;
use std::fs::{self, DirEntry};
use std::io;
use std::path::Path;

use quipu_disk::Target;
use quipu_journal::backend::{
    ATTACHMENTS, Backend, EPOCH, EVENTS, EventStore as _, GOALS, QUEUES, READ_STATES, REQUESTS,
    SECTIONS,
};
use quipu_journal::{Error, KeyedRequest, Result, Store, StoreOptions};
use quipu_spending::{Entry, Ledger, LedgerFiles};
use uuid::Uuid;

use crate::database::params;
use crate::requests;
use crate::transfer::Transfer;

/// What is kept for each thread.
const OF_THREADS: [&str; 4] = [GOALS, QUEUES, ATTACHMENTS, READ_STATES];

impl Transfer<'_> {
    /// Copies everything beside the rollouts of a home into the database; how much it was.
    pub(crate) fn import_beside(&self, home: &Path) -> Result<u64> {
        let files = Store::open(home, StoreOptions::default());
        let mut count = 0;
        for name in OF_THREADS {
            for (entry, thread) in of_threads(&home.join(name), ".json")? {
                let value = read(&entry)?;
                self.0.keep(Some(thread), name, Some(&value))?;
                count += 1;
            }
        }
        if let Some(sections) = files.sections().text()? {
            self.0.keep(None, SECTIONS, Some(&sections))?;
            count += 1;
        }
        count += self.import_events(home)?;
        count += self.import_requests(&home.join(REQUESTS))?;
        self.import_usage(&LedgerFiles::new(home))?;
        Ok(count)
    }

    fn import_events(&self, home: &Path) -> Result<u64> {
        let directory = home.join(EVENTS);
        let epoch = fs::read_to_string(directory.join(EPOCH)).unwrap_or_default();
        let epoch = epoch.trim().parse().unwrap_or(0);
        let mut count = 0;
        for (entry, thread) in of_threads(&directory, ".jsonl")? {
            let text = read(&entry)?;
            let mut table = self.0.event_table(thread);
            if table.read()?.as_deref() != Some(text.as_bytes()) {
                self.0.take_epoch(thread, epoch)?;
                table.replace(text.as_bytes())?;
            }
            count += 1;
        }
        Ok(count)
    }

    fn import_requests(&self, path: &Path) -> Result<u64> {
        let lines = match fs::read(path) {
            Ok(lines) => lines,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(0),
            Err(error) => return Err(Error::io("read", path, error)),
        };
        let mut count = 0;
        for line in lines.split(|byte| *byte == b'\n') {
            let Ok(request) = serde_json::from_slice::<KeyedRequest>(line) else {
                continue;
            };
            self.0.begin_keyed(&request)?;
            if request.done {
                self.0.keyed_done(&request)?;
                count += 1;
            }
        }
        Ok(count)
    }

    fn import_usage(&self, files: &dyn Ledger) -> Result<()> {
        let failed = |error: io::Error| Error::Database(error.to_string());
        for day in files.days() {
            for entry in files.entries(day) {
                self.0.add(&entry).map_err(failed)?;
            }
        }
        Ok(())
    }

    /// Copies everything beside the rollouts in the database into a home; how much it was.
    pub(crate) fn export_beside(&self, home: &Path) -> Result<u64> {
        let files = Store::open(home, StoreOptions::default());
        let mut count = 0;
        for name in OF_THREADS {
            for thread in self.0.threads_that_keep(name)? {
                if let Some(value) = self.0.read_kept(Some(thread), name)? {
                    files.keep(Some(thread), name, &value)?;
                    count += 1;
                }
            }
        }
        if let Some(sections) = self.0.read_kept(None, SECTIONS)? {
            files.keep(None, SECTIONS, &sections)?;
            count += 1;
        }
        count += self.export_events(home)?;
        count += self.export_requests(&files)?;
        self.export_usage(home)?;
        Ok(count)
    }

    fn export_events(&self, home: &Path) -> Result<u64> {
        let directory = home.join(EVENTS);
        let failed = |error| Error::io("write", &directory, error);
        let mut count = 0;
        let (mut after, mut epoch) = (Uuid::nil(), 0);
        loop {
            let sql = "SELECT thread, epoch FROM quipu.events WHERE thread > $1 ORDER BY thread LIMIT 500";
            let rows = self.0.database.query(sql, params![after])?;
            let Some(last) = rows.last() else { break };
            after = last.get(0);
            quipu_disk::private_dirs(home, Path::new(EVENTS)).map_err(failed)?;
            for row in &rows {
                let thread: Uuid = row.get(0);
                epoch = epoch.max(row.get::<_, i64>(1));
                let Some(text) = self.0.event_table(thread).read()? else {
                    continue;
                };
                let target = Target::lock(&directory.join(format!("{thread}.jsonl")));
                target.and_then(|it| it.replace(&text)).map_err(failed)?;
                count += 1;
            }
        }
        let path = directory.join(EPOCH);
        let known = fs::read_to_string(&path).unwrap_or_default();
        if epoch > known.trim().parse().unwrap_or(0) {
            let target = Target::lock(&path);
            let text = format!("{epoch}\n");
            target
                .and_then(|it| it.replace(text.as_bytes()))
                .map_err(failed)?;
        }
        Ok(count)
    }

    fn export_requests(&self, files: &Store) -> Result<u64> {
        let sql = "SELECT digest, made, done, at, key FROM quipu.requests ORDER BY at, key";
        let rows = self.0.database.query(sql, params![])?;
        for row in &rows {
            let key = String::from_utf8_lossy(row.get(4)).into_owned();
            let request = requests::read(key, row);
            let known = files.begin_request(request.clone())?;
            if request.done && !known.done {
                files.request_done(request)?;
            }
        }
        Ok(rows.len() as u64)
    }

    fn export_usage(&self, home: &Path) -> Result<()> {
        let files = LedgerFiles::new(home);
        for day in self.0.days() {
            let line = |entry: &Entry| serde_json::to_string(entry).unwrap_or_default();
            let known: HashSet<String> = files.entries(day).map(|it| line(&it)).collect();
            for entry in self.0.entries(day).filter(|it| !known.contains(&line(it))) {
                let added = files.add(&entry);
                added.map_err(|error| Error::io("write", home, error))?;
            }
        }
        Ok(())
    }
}

/// The files of a directory that are named after threads.
fn of_threads(directory: &Path, extension: &str) -> Result<Vec<(DirEntry, Uuid)>> {
    let entries = match fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(Error::io("read", directory, error)),
    };
    let named = entries.flatten().filter_map(|entry| {
        let name = entry.file_name();
        let id = name.to_str()?.strip_suffix(extension)?;
        Some((entry, Uuid::try_parse(id).ok()?))
    });
    Ok(named.collect())
}

fn read(entry: &DirEntry) -> Result<String> {
    let path = entry.path();
    fs::read_to_string(&path).map_err(|error| Error::io("read", &path, error))
}
