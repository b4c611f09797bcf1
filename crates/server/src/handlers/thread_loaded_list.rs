//! `thread/loaded/list`: the threads in memory.

use quipu_wire::method::request::ThreadLoadedList;
use quipu_wire::{ThreadLoadedListParams, ThreadLoadedListResponse};
use uuid::Uuid;

use super::Handler;
use crate::{Cx, Refusal};

impl Handler for ThreadLoadedList {
    async fn run(cx: Cx, params: ThreadLoadedListParams) -> Result<Self::Result, Refusal> {
        let ids = cx.server.threads.ids().into_iter().map(String::from);
        list(ids.collect(), params)
    }
}

fn list(
    ids: Vec<String>,
    params: ThreadLoadedListParams,
) -> Result<ThreadLoadedListResponse, Refusal> {
    if ids.is_empty() {
        return Ok(ThreadLoadedListResponse {
            data: ids,
            next_cursor: None,
        });
    }
    let after = match params.cursor {
        Some(cursor) => {
            let invalid = |_| Refusal::InvalidCursor(cursor.to_owned());
            Some(Uuid::parse_str(&cursor).map_err(invalid)?.to_string())
        }
        None => None,
    };
    let mut data: Vec<String> = ids
        .into_iter()
        .filter(|id| after.as_ref().is_none_or(|after| id > after))
        .collect();
    let limit = params
        .limit
        .map_or(data.len(), |limit| limit.max(1) as usize);
    let more = data.len() > limit;
    data.truncate(limit);
    let next_cursor = if more { data.last().cloned() } else { None };
    Ok(ThreadLoadedListResponse { data, next_cursor })
}
