//! `thread/items/read`: some items of a turn.

use quipu_engine::item_id;
use quipu_wire::method::request::ThreadItemsRead;
use quipu_wire::{ThreadItemsReadParams, ThreadItemsReadResponse};

use super::Handler;
use crate::history;
use crate::{Cx, Refusal};

/// The most items that are read at once.
const MAX_ITEMS: usize = 100;

impl Handler for ThreadItemsRead {
    async fn run(cx: Cx, params: ThreadItemsReadParams) -> Result<Self::Result, Refusal> {
        let count = params.item_ids.len();
        if count == 0 || count > MAX_ITEMS {
            let text = format!("itemIds must contain 1 to {MAX_ITEMS} IDs");
            return Err(Refusal::invalid_request(text));
        }
        let mut turns = history::turns(&cx, &params.thread_id, "thread/items/read").await?;
        turns.retain(|turn| turn.id == params.turn_id);
        let mut data = history::entries(turns);
        data.retain(|entry| params.item_ids.iter().any(|id| id == item_id(&entry.item)));
        Ok(ThreadItemsReadResponse { data })
    }
}
