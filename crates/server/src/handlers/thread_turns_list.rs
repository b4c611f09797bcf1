//! `thread/turns/list`: the turns of a thread, a page at a time.

use quipu_wire::method::request::ThreadTurnsList;
use quipu_wire::{
    SortDirection, ThreadItem, ThreadTurnsListParams, ThreadTurnsListResponse, Turn, TurnItemsView,
};

use super::Handler;
use crate::history::{self, Cursor, Wanted};
use crate::{Cx, Refusal};

impl Handler for ThreadTurnsList {
    async fn run(cx: Cx, params: ThreadTurnsListParams) -> Result<Self::Result, Refusal> {
        let thread_id = &params.thread_id;
        let turns = history::turns(&cx, thread_id, "thread/turns/list").await?;
        let cursor = params.cursor.as_deref();
        let wanted = Wanted {
            thread_id,
            cursor: cursor.map(|it| Cursor::parse(it, thread_id)).transpose()?,
            limit: params.limit,
            direction: params.sort_direction.unwrap_or(SortDirection::Desc),
        };
        let page = history::page(turns, &wanted)?;
        let view = params.items_view.unwrap_or(TurnItemsView::Summary);
        Ok(ThreadTurnsListResponse {
            data: page.data.into_iter().map(|turn| show(turn, view)).collect(),
            next_cursor: page.next_cursor,
            backwards_cursor: page.backwards_cursor,
        })
    }
}

/// A turn with the items of a view.
pub(super) fn show(mut turn: Turn, view: TurnItemsView) -> Turn {
    match view {
        TurnItemsView::Full | TurnItemsView::Unrecognized => {}
        TurnItemsView::NotLoaded => turn.items.clear(),
        TurnItemsView::Summary => turn.items = summary(turn.items),
    }
    Turn {
        items_view: Some(view),
        ..turn
    }
}

/// The first message of the user and the last one of the agent.
fn summary(items: Vec<ThreadItem>) -> Vec<ThreadItem> {
    let is_user = |it: &ThreadItem| matches!(it, ThreadItem::UserMessage { .. });
    let is_agent = |it: &ThreadItem| matches!(it, ThreadItem::AgentMessage { .. });
    let first = items.iter().position(is_user);
    let last = items.iter().rposition(is_agent);
    let kept = items.into_iter().enumerate();
    kept.filter(|(index, _)| Some(*index) == first || Some(*index) == last)
        .map(|(_, item)| item)
        .collect()
}
