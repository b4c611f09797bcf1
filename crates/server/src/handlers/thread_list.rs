//! `thread/list`: stored threads, a page at a time.

use std::convert::identity;
use std::path::{Path, PathBuf};

use quipu_journal::{Cursor, Query};
use quipu_wire::method::request::ThreadList;
use quipu_wire::{ThreadListParams, ThreadListResponse, ThreadSortKey, ThreadStatus};

use super::Handler;
use crate::blocking::blocking;
use crate::threads::{from_summary, usual_provider};
use crate::{Cx, Refusal};

impl Handler for ThreadList {
    async fn run(cx: Cx, params: ThreadListParams) -> Result<Self::Result, Refusal> {
        // The first list in a home reads much of what is there.
        let listing = cx.clone();
        let page = blocking(&cx.server, move |_| list(&listing, params)).await;
        page.and_then(identity)
    }
}

fn list(cx: &Cx, params: ThreadListParams) -> Result<ThreadListResponse, Refusal> {
    let after = match &params.cursor {
        Some(text) => {
            let invalid = |_| Refusal::InvalidCursor(text.to_owned());
            Some(Cursor::parse(text).map_err(invalid)?)
        }
        None => None,
    };
    let query = Query {
        after,
        limit: params.limit.map_or(25, |limit| limit.clamp(1, 100)) as usize,
        sort: params.sort_key.unwrap_or(ThreadSortKey::CreatedAt),
        providers: match params.model_providers {
            Some(providers) => (!providers.is_empty()).then_some(providers),
            // Without a choice, threads of the provider in use are listed.
            None => usual_provider(&cx.server).map(|provider| vec![provider]),
        },
        sources: params.source_kinds.unwrap_or_default(),
        archived: params.archived.unwrap_or(false),
        // A directory is the same with and without a slash at its end.
        cwd: params.cwd.map(|cwd| plain(&cwd)),
        search: params.search_term,
    };
    let failed = |error| Refusal::internal(format!("failed to list threads: {error}"));
    let page = cx.server.store.list(&query).map_err(failed)?;
    let data = page.threads.into_iter().map(|summary| {
        let loaded = cx.server.threads.get(&summary.id.to_string());
        let status = loaded.map_or(ThreadStatus::NotLoaded, |thread| thread.status());
        from_summary(summary, status)
    });
    Ok(ThreadListResponse {
        data: data.collect(),
        next_cursor: page.next.map(|cursor| cursor.to_string()),
    })
}

fn plain(path: &str) -> String {
    let parts: PathBuf = Path::new(path).components().collect();
    parts.to_string_lossy().into_owned()
}
