//! `quipu threads delete` and `gc`: sessions are removed for good, after they were shown.

use std::path::Path;
use std::process::ExitCode;
use std::time::{SystemTime, UNIX_EPOCH};

use quipu_client::Client;
use quipu_client::wire::{
    Thread, ThreadDeleteParams, ThreadListParams, ThreadReadParams, ThreadSourceKind,
};

use super::args::{DeleteArgs, GcArgs};
use super::{amounts, list};
use crate::args::ConfigArgs;
use crate::exec::thread::{everything, stored, text};
use crate::session;

/// A session and the size of its file.
struct Stored {
    thread: Thread,
    size: u64,
}

pub fn delete(args: DeleteArgs, common: &ConfigArgs) -> Result<ExitCode, String> {
    let config = super::config(common, &args.sessions.config)?;
    session::with_client(config, async |client, _| {
        let mut chosen = Vec::new();
        for name in &args.sessions.ids {
            let params = ThreadReadParams {
                thread_id: stored(client, name).await?,
                include_turns: false,
            };
            let read = client.thread_read(params).await.map_err(text)?;
            chosen.push(Stored::of(read.thread));
        }
        remove(client, &chosen, args.yes).await
    })
}

pub fn gc(args: &GcArgs, common: &ConfigArgs) -> Result<ExitCode, String> {
    let config = super::config(common, &args.config)?;
    session::with_client(config, async |client, _| {
        let mut all = Vec::new();
        let kinds: &[bool] = if args.archived {
            &[true]
        } else {
            &[false, true]
        };
        for archived in kinds {
            all.extend(every(client, *archived).await?);
        }
        let chosen = choose(all, args, now());
        if chosen.is_empty() {
            eprintln!("no session is that old, and all of them fit");
            return Ok(ExitCode::SUCCESS);
        }
        remove(client, &chosen, args.yes).await
    })
}

/// Every stored session, also those of agents and reviews.
async fn every(client: &Client, archived: bool) -> Result<Vec<Stored>, String> {
    let mut params = ThreadListParams {
        archived: Some(archived),
        source_kinds: Some(vec![
            ThreadSourceKind::Cli,
            ThreadSourceKind::Vscode,
            ThreadSourceKind::Exec,
            ThreadSourceKind::AppServer,
            ThreadSourceKind::SubAgent,
            ThreadSourceKind::Unknown,
        ]),
        ..everything()
    };
    let mut found = Vec::new();
    loop {
        let page = client.list_threads(params.clone()).await.map_err(text)?;
        found.extend(page.data.into_iter().map(Stored::of));
        if page.next_cursor.is_none() {
            return Ok(found);
        }
        params.cursor = page.next_cursor;
    }
}

/// The sessions that the rules name, the oldest first.
fn choose(mut all: Vec<Stored>, args: &GcArgs, now: i64) -> Vec<Stored> {
    all.sort_by_key(|it| it.thread.updated_at);
    let age = args
        .older_than
        .map(|it| i64::try_from(it.as_secs()).unwrap_or(i64::MAX));
    let mut total: u64 = all.iter().map(|it| it.size).sum();
    let mut chosen = Vec::new();
    for it in all {
        let is_old = age.is_some_and(|age| now.saturating_sub(it.thread.updated_at) > age);
        let is_too_much = args.max_size.is_some_and(|most| total > most);
        if is_old || is_too_much {
            total -= it.size;
            chosen.push(it);
        }
    }
    chosen
}

/// Deletes sessions, or shows which would be deleted. One that another process works in stays.
async fn remove(client: &Client, chosen: &[Stored], yes: bool) -> Result<ExitCode, String> {
    let now = now();
    let (mut count, mut freed, mut failed) = (0, 0, false);
    for it in chosen {
        let id = it.thread.id.clone();
        if yes {
            let params = ThreadDeleteParams { thread_id: id };
            if let Err(error) = client.thread_delete(params).await {
                eprintln!("{} was not deleted: {}", it.thread.id, text(error));
                failed = true;
                continue;
            }
        }
        count += 1;
        freed += it.size;
        let row = list::row(&it.thread, now, 0.0);
        eprintln!("{row}  {}", amounts::shown(it.size));
    }
    let freed = amounts::shown(freed);
    match yes {
        true => eprintln!("deleted {count} session(s), {freed}"),
        false => eprintln!(
            "{count} session(s), {freed}; nothing was deleted. Give `--yes` to delete them for good"
        ),
    }
    Ok(match failed {
        true => ExitCode::FAILURE,
        false => ExitCode::SUCCESS,
    })
}

impl Stored {
    fn of(thread: Thread) -> Stored {
        let file = thread.path.as_deref().map(Path::new);
        let size = file.and_then(|it| std::fs::metadata(it).ok());
        let size = size.map_or(0, |it| it.len());
        Stored { thread, size }
    }
}

/// In Unix seconds.
fn now() -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.map_or(0, |it| i64::try_from(it.as_secs()).unwrap_or(i64::MAX))
}
