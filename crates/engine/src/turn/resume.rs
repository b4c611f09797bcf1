//! A turn that begins in one process and goes on in another, because the first one died or hands its threads over.
//!
//! Nothing of it is repeated: its start, its input and its completed items are in the log. What was under way is given up,
//! and the model is asked again.

use super::{Next, Turn, TurnKind};
use crate::effect::{Effect, TurnEnd};
use crate::input::Resumed;
use crate::item;
use crate::shared::Shared;

/// A turn as another process left it. Items that clients saw begin there end now, and the model learns what became of its
/// calls.
pub fn resumed(resumed: Resumed, shared: &mut Shared) -> Turn {
    let mut turn = Turn::new(resumed.turn_id, TurnKind::Regular);
    for id in resumed.item_ids {
        turn.transcript.items().restore(id);
    }
    shared.status.turn_started();
    shared.notify_status();
    for open in resumed.open {
        turn.transcript.items().restore(item::id(&open).into());
        let mut out = shared.out.of_turn(&turn.id);
        out.complete_item(item::abandoned(open));
    }
    turn.transcript.remember_all(resumed.history, shared);
    turn.transcript
        .restore_last_message(resumed.last_agent_message);
    turn
}

/// Another process is to go on with the turn. Only what the log has of a turn can be gone on with, which is not the case
/// for reviews, compactions and commands of the user.
pub fn hand_over(turn: &Turn, now: bool, shared: &mut Shared) -> Next {
    shared.settings.hands_over = true;
    match (now, turn.kind) {
        (false, _) => Next::Wait,
        (true, TurnKind::Regular) => Next::Leave,
        (true, _) => Next::Stop(TurnEnd::Interrupted),
    }
}

/// Gives up what is under way, and stores everything else for the process that goes on with the turn.
pub fn leave(turn: &mut Turn, shared: &mut Shared) {
    if let Some(sample) = turn.drop_work() {
        shared.out.emit(Effect::CancelSample { sample });
    }
    turn.work = None;
    shared.out.emit(Effect::CancelTools {
        turn_id: turn.id.clone(),
    });
    turn.tools.abort_reviews(&mut shared.out.of_turn(&turn.id));
    shared
        .background
        .abandon(turn.tools.calls.take_unfinished());
    turn.take_outputs(shared);
    turn.take_pending(shared);
    shared.withdraw_questions();
    shared.out.emit(Effect::Sync);
}
