//! `thread/revert`: a turn and all after it are taken back, as `thread/rollback` does by their number.

use quipu_wire::method::request;
use quipu_wire::{ServerNotification, ThreadRevertResponse, ThreadRevertedNotification};

use super::actor::Actor;
use super::load::Cut;
use super::rollback;
use crate::history::{self, Cursor, Entry as _};
use crate::{Refusal, Reply};

pub(super) async fn revert(actor: &mut Actor, before: String, reply: Reply<request::ThreadRevert>) {
    let reverted = reverted(actor, before).await;
    let is_done = reverted.is_ok();
    reply.send(reverted).await;
    if is_done {
        let thread_id = actor.handle.id.to_string();
        let params = ThreadRevertedNotification { thread_id };
        let reverted = ServerNotification::ThreadReverted(params);
        actor.audience.notify(&reverted).await;
    }
}

async fn reverted(actor: &mut Actor, before: String) -> Result<ThreadRevertResponse, Refusal> {
    let turns = actor.snapshot().with_turns(&actor.server)?.turns;
    let dropped = Cut::Before(before).dropped(&turns)?;
    let mut thread = rollback::roll_back(actor, dropped).await?;
    let turns = std::mem::take(&mut thread.turns);
    let at = |key| Cursor::at(&thread.id, key).text();
    let turns_backwards_cursor = turns.last().map(|turn| at(turn.key()));
    let items = history::entries(turns);
    let items_backwards_cursor = items.last().map(|item| at(item.key()));
    Ok(ThreadRevertResponse {
        thread,
        turns_backwards_cursor,
        items_backwards_cursor,
    })
}
