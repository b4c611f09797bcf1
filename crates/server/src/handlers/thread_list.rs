//! `thread/list`: stored threads, a page at a time.

use std::collections::HashSet;
use std::convert::identity;
use std::path::{Path, PathBuf};

use quipu_journal::{Cursor, Query, Summary};
use quipu_wire::method::request::ThreadList;
use quipu_wire::{
    SessionSource, SortDirection, SubAgentSource, ThreadListCwdFilter, ThreadListParams,
    ThreadListResponse, ThreadSortKey, ThreadSourceKind, ThreadStatus,
};
use uuid::Uuid;

use super::Handler;
use crate::blocking::blocking;
use crate::sections::{Member, Sections};
use crate::threads::{self, from_summary, usual_provider};
use crate::{Cx, Refusal, read_states};

/// Threads that a request may leave out.
const MAX_EXCLUDED: usize = 100;

impl Handler for ThreadList {
    async fn run(cx: Cx, params: ThreadListParams) -> Result<Self::Result, Refusal> {
        // The first list in a home reads much of what is there.
        let listing = cx.clone();
        let page = blocking(&cx.server, move |_| list(&listing, params)).await;
        page.and_then(identity)
    }
}

fn list(cx: &Cx, params: ThreadListParams) -> Result<ThreadListResponse, Refusal> {
    let sections = Sections::read(&cx.server.store);
    let mut query = query(cx, &params)?;
    if is_of_nothing(&params) {
        return Ok(answer(cx, Vec::new(), None, &query, &sections));
    }
    match &params.section_id {
        Some(Some(section)) => query.only = Some(ids(sections.threads(section))),
        Some(None) => query.excluded.extend(ids(sections.all_threads())),
        None => {}
    }
    if query.sort == ThreadSortKey::SectionPosition {
        return in_section(cx, &params, &query, &sections);
    }
    let family = match (&params.parent_thread_id, &params.ancestor_thread_id) {
        (None, None) => {
            let page = cx.server.store.list(&query).map_err(failed)?;
            return Ok(answer(cx, page.threads, page.next, &query, &sections));
        }
        (Some(_), Some(_)) => {
            let text = "parentThreadId and ancestorThreadId are mutually exclusive";
            return Err(Refusal::invalid_request(text));
        }
        (Some(parent), None) => (threads::parse_id(parent)?, false),
        (None, Some(ancestor)) => (threads::parse_id(ancestor)?, true),
    };
    let (mut found, limit) = (spawned(cx, &query, family)?, query.limit);
    let has_more = found.len() > limit;
    found.truncate(limit);
    let last = found.last().filter(|_| has_more);
    let next = last.map(|last| place(&query, last));
    Ok(answer(cx, found, next, &query, &sections))
}

fn ids<'a>(members: impl IntoIterator<Item = &'a Member>) -> Vec<Uuid> {
    let ids = members.into_iter().map(|it| Uuid::parse_str(&it.id));
    ids.filter_map(Result::ok).collect()
}

/// A page of a section in the order of its threads; the cursor names the last one.
fn in_section(
    cx: &Cx,
    params: &ThreadListParams,
    query: &Query,
    sections: &Sections,
) -> Result<ThreadListResponse, Refusal> {
    let mut order = query.only.clone().unwrap_or_default();
    if params.sort_direction == Some(SortDirection::Desc) {
        order.reverse();
    }
    let mut found = every(cx, query)?;
    let place_of = |summary: &Summary| order.iter().position(|id| *id == summary.id);
    found.sort_by_key(place_of);
    if let Some(after) = query.after {
        let after = order.iter().position(|id| *id == after.id);
        found.retain(|summary| place_of(summary) > after);
    }
    let has_more = found.len() > query.limit;
    found.truncate(query.limit);
    let last = found.last().filter(|_| has_more);
    let next = last.map(|last| place(query, last));
    Ok(answer(cx, found, next, query, sections))
}

/// All threads that a query is about, whatever its page.
fn every(cx: &Cx, query: &Query) -> Result<Vec<Summary>, Refusal> {
    let mut all = Vec::new();
    let mut reading = Query {
        after: None,
        limit: 100,
        ..query.clone()
    };
    loop {
        let page = cx.server.store.list(&reading).map_err(failed)?;
        all.extend(page.threads);
        match page.next {
            Some(next) => reading.after = Some(next),
            None => return Ok(all),
        }
    }
}

fn query(cx: &Cx, params: &ThreadListParams) -> Result<Query, Refusal> {
    let refuse = |text: &str| Err(Refusal::invalid_request(text));
    if params.originators.as_ref().is_some_and(|it| !it.is_empty()) {
        let text = "originator filtering is not supported by the local app-server";
        return Err(Refusal::invalid_params(text));
    }
    let excluded = params.excluded_thread_ids.iter().flatten();
    let invalid = |error: Refusal| {
        let why = error.to_string();
        let why = why.trim_start_matches("invalid thread id: ");
        Refusal::invalid_params(format!("invalid excluded thread id: {why}"))
    };
    let excluded = excluded.map(|id| threads::parse_id(id).map_err(invalid));
    let excluded = excluded.collect::<Result<Vec<Uuid>, _>>()?;
    if excluded.len() > MAX_EXCLUDED {
        return refuse("excludedThreadIds must have at most 100 entries");
    }
    let sort = params.sort_key.unwrap_or(ThreadSortKey::CreatedAt);
    if sort == ThreadSortKey::SectionPosition && !matches!(params.section_id, Some(Some(_))) {
        return refuse("section-position sorting requires a section filter");
    }
    let cwds = params.cwd.clone().map(|cwd| match cwd {
        ThreadListCwdFilter::One(cwd) => vec![cwd],
        ThreadListCwdFilter::Several(cwds) => cwds,
    });
    Ok(Query {
        after: cursor(params.cursor.as_deref())?,
        limit: params.limit.map_or(25, |limit| limit.clamp(1, 100)) as usize,
        sort,
        ascending: params.sort_direction == Some(SortDirection::Asc),
        providers: match &params.model_providers {
            Some(providers) => (!providers.is_empty()).then(|| providers.clone()),
            // Without a choice, threads of the provider in use are listed.
            None => usual_provider(&cx.server).map(|provider| vec![provider]),
        },
        sources: params.source_kinds.clone().unwrap_or_default(),
        archived: params.archived.unwrap_or(false),
        // A directory is the same with and without a slash at its end.
        cwds: cwds.map(|cwds| cwds.iter().map(|cwd| plain(cwd)).collect()),
        only: None,
        excluded,
        search: params.search_term.clone(),
    })
}

/// Whether only threads are asked for that cannot be: there are no projects and attached threads.
fn is_of_nothing(params: &ThreadListParams) -> bool {
    matches!(params.project_id, Some(Some(_))) || params.attached_to_thread_id.is_some()
}

/// The threads that agents of a thread work in, and those of their agents if `deep`: one more than a page.
fn spawned(cx: &Cx, query: &Query, (root, deep): (Uuid, bool)) -> Result<Vec<Summary>, Refusal> {
    let agents = Query {
        sources: vec![ThreadSourceKind::SubAgentThreadSpawn],
        ..query.clone()
    };
    let mut all = every(cx, &agents)?;
    let mut family = HashSet::from([root.to_string()]);
    let is_child = |summary: &Summary, family: &HashSet<String>| {
        parent(summary).is_some_and(|parent| family.contains(&parent))
    };
    // Every round adds the children of those that are known, until there are no more.
    let mut grows = deep;
    while grows {
        let before = family.len();
        let next = all.iter().filter(|it| is_child(it, &family));
        let next: Vec<String> = next.map(|it| it.id.to_string()).collect();
        family.extend(next);
        grows = family.len() > before;
    }
    all.retain(|summary| summary.id != root && is_child(summary, &family));
    if let Some(after) = query.after {
        let is_after = |summary: &Summary| {
            let at = place(query, summary);
            let (at, after) = ((at.secs, at.id), (after.secs, after.id));
            if query.ascending {
                at > after
            } else {
                at < after
            }
        };
        all.retain(is_after);
    }
    all.truncate(query.limit + 1);
    Ok(all)
}

fn parent(summary: &Summary) -> Option<String> {
    match SessionSource::from(summary.source.clone()) {
        SessionSource::SubAgent(SubAgentSource::ThreadSpawn {
            parent_thread_id, ..
        }) => Some(parent_thread_id.0),
        _ => None,
    }
}

fn answer(
    cx: &Cx,
    found: Vec<Summary>,
    next: Option<Cursor>,
    query: &Query,
    sections: &Sections,
) -> ThreadListResponse {
    let backwards = found.first().map(|first| place(query, first).to_string());
    let store = &cx.server.store;
    let ids: Vec<_> = found.iter().map(|summary| summary.id).collect();
    let read_states = read_states::of_all(store, &ids);
    let read_states = read_states.map(|(id, state)| (id.to_string(), state));
    let read_states = Some(read_states.collect());
    let data = found.into_iter().map(|summary| {
        let loaded = cx.server.threads.get(&summary.id.to_string());
        let status = loaded.map_or(ThreadStatus::NotLoaded, |thread| thread.status());
        let mut thread = from_summary(summary, status);
        sections.show(&mut thread);
        thread
    });
    ThreadListResponse {
        data: data.collect(),
        read_states,
        next_cursor: next.map(|cursor| cursor.to_string()),
        backwards_cursor: backwards,
    }
}

/// Where a thread is in a list.
fn place(query: &Query, summary: &Summary) -> Cursor {
    Cursor {
        secs: match query.sort {
            ThreadSortKey::UpdatedAt | ThreadSortKey::RecencyAt => summary.updated_at,
            ThreadSortKey::CreatedAt | ThreadSortKey::SectionPosition => summary.created_at,
        },
        id: summary.id,
    }
}

/// Reads the cursor of a list of threads.
pub(super) fn cursor(text: Option<&str>) -> Result<Option<Cursor>, Refusal> {
    let invalid = |text: &str| Refusal::InvalidCursor(text.to_owned());
    text.map(|text| Cursor::parse(text).map_err(|_| invalid(text)))
        .transpose()
}

fn failed(error: quipu_journal::Error) -> Refusal {
    Refusal::internal(format!("failed to list threads: {error}"))
}

fn plain(path: &str) -> String {
    let parts: PathBuf = Path::new(path).components().collect();
    parts.to_string_lossy().into_owned()
}
