//! `thread/search`: threads by a text in their messages.

use std::sync::Arc;

use quipu_journal::Query;
use quipu_wire::method::request::ThreadSearch;
use quipu_wire::{
    SortDirection, ThreadSearchParams, ThreadSearchResponse, ThreadSearchResult,
    ThreadSearchSortKey, ThreadSortKey, ThreadStatus,
};

use super::Handler;
use crate::blocking::blocking;
use crate::text_search::{self, Term};
use crate::threads::{from_summary, load};
use crate::{Cx, Refusal, Server};

/// Threads that one request looks at. If there are more, the page ends early and has a cursor.
const MAX_LOOKED_AT: usize = 1_000;

impl Handler for ThreadSearch {
    async fn run(cx: Cx, params: ThreadSearchParams) -> Result<Self::Result, Refusal> {
        let term = Term::new(params.search_term.trim(), "thread/search")?;
        for thread in cx.server.threads.all() {
            // Looking at a loaded thread writes what it has recorded.
            thread.snapshot().await;
        }
        let searching = move |server: &Arc<Server>| search(server, &params, &term);
        blocking(&cx.server, searching).await?
    }
}

fn search(
    server: &Server,
    params: &ThreadSearchParams,
    term: &Term,
) -> Result<ThreadSearchResponse, Refusal> {
    let limit = params.limit.map_or(25, |limit| limit.clamp(1, 100)) as usize;
    let mut query = Query {
        after: super::thread_list::cursor(params.cursor.as_deref())?,
        limit: 100,
        sort: match params.sort_key {
            None | Some(ThreadSearchSortKey::CreatedAt) => ThreadSortKey::CreatedAt,
            Some(ThreadSearchSortKey::UpdatedAt | ThreadSearchSortKey::RecencyAt) => {
                ThreadSortKey::UpdatedAt
            }
        },
        ascending: params.sort_direction == Some(SortDirection::Asc),
        sources: params.source_kinds.clone().unwrap_or_default(),
        archived: params.archived.unwrap_or(false),
        ..Query::default()
    };
    let failed = |error| Refusal::internal(format!("failed to list threads: {error}"));
    let mut data = Vec::new();
    let mut looked_at = 0;
    loop {
        let page = server.store.list(&query).map_err(failed)?;
        let count = page.threads.len();
        for (index, summary) in page.threads.into_iter().enumerate() {
            looked_at += 1;
            let place = quipu_journal::Cursor {
                secs: match query.sort {
                    ThreadSortKey::CreatedAt => summary.created_at,
                    _ => summary.updated_at,
                },
                id: summary.id,
            };
            // A rollout that cannot be read has nothing to be found.
            let turns = load::turns(server, &summary.path, true).unwrap_or_default();
            let mut messages = text_search::messages(&turns);
            if let Some(snippet) = messages.find_map(|it| term.first(it.text)) {
                let loaded = server.threads.get(&summary.id.to_string());
                let status = loaded.map_or(ThreadStatus::NotLoaded, |thread| thread.status());
                data.push(ThreadSearchResult {
                    thread: from_summary(summary, status),
                    snippet: snippet.text,
                });
            }
            let is_last = page.next.is_none() && index + 1 == count;
            if !is_last && (data.len() == limit || looked_at == MAX_LOOKED_AT) {
                return Ok(answer(data, Some(place.to_string())));
            }
        }
        match page.next {
            Some(next) => query.after = Some(next),
            None => return Ok(answer(data, None)),
        }
    }
}

fn answer(data: Vec<ThreadSearchResult>, next_cursor: Option<String>) -> ThreadSearchResponse {
    ThreadSearchResponse {
        data,
        next_cursor,
        backwards_cursor: None,
    }
}
