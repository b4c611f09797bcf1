//! `thread/items/list`: the items of a thread, a page at a time.

use quipu_wire::method::request::ThreadItemsList;
use quipu_wire::{
    SortDirection, ThreadItemsListAnchor, ThreadItemsListCursor, ThreadItemsListParams,
    ThreadItemsListResponse,
};

use super::Handler;
use crate::history::{self, Cursor, Key, Wanted};
use crate::{Cx, Refusal};

impl Handler for ThreadItemsList {
    async fn run(cx: Cx, params: ThreadItemsListParams) -> Result<Self::Result, Refusal> {
        let thread_id = &params.thread_id;
        let mut turns = history::turns(&cx, thread_id, "thread/items/list").await?;
        if let Some(turn_id) = &params.turn_id {
            turns.retain(|turn| turn.id == *turn_id);
        }
        let wanted = Wanted {
            thread_id,
            cursor: cursor(&params)?,
            limit: params.limit,
            direction: params.sort_direction.unwrap_or(SortDirection::Asc),
        };
        let is_anchored = matches!(params.cursor, Some(ThreadItemsListCursor::Anchor(_)));
        let page =
            history::page(history::entries(turns), &wanted).map_err(|error| match error {
                Refusal::InvalidCursor(_) if is_anchored => Refusal::invalid_params(
                    "cursor.itemId does not identify an item in the requested history scope",
                ),
                error => error,
            })?;
        Ok(ThreadItemsListResponse {
            data: page.data,
            next_cursor: page.next_cursor,
            backwards_cursor: page.backwards_cursor,
        })
    }
}

fn cursor(params: &ThreadItemsListParams) -> Result<Option<Cursor>, Refusal> {
    let thread_id = &params.thread_id;
    match &params.cursor {
        None => Ok(None),
        Some(ThreadItemsListCursor::Cursor(text)) => Cursor::parse(text, thread_id).map(Some),
        Some(ThreadItemsListCursor::Anchor(ThreadItemsListAnchor::Item { item_id })) => {
            let turn_id = params.turn_id.clone().filter(|id| !id.is_empty());
            let missing = "turnId is required when cursor is an item anchor";
            let key = Key {
                turn_id: turn_id.ok_or_else(|| Refusal::invalid_params(missing))?,
                item_id: Some(item_id.clone()),
            };
            Ok(Some(Cursor::after(thread_id, key)))
        }
    }
}
