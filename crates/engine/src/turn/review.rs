//! A code review: a turn in which the model, with a history of its own, looks at the code.

use quipu_wire as wire;
use quipu_wire::{ThreadItem, UserInput};

use super::start::in_progress;
use super::{Next, Turn, TurnKind, Work};
use crate::effect::{Answer, Effect};
use crate::ids::TurnId;
use crate::input::{ReviewOutcome, ReviewStart};
use crate::out::Out;
use crate::shared::Shared;

impl Turn {
    /// A turn in which the model reviews code.
    pub fn review(review: ReviewStart, shared: &mut Shared) -> Self {
        let mut turn = Self::start(TurnKind::Review, answer_to(&review), review.reply, shared);
        turn.transcript.enter_review(review.label, shared);
        match shared.settings.hooks {
            true => turn.pending.push_message(review.message),
            false => turn.transcript.show_message(review.message, shared),
        }
        turn
    }

    /// Has the review made out of the reviewer's last message.
    pub(super) fn render_review(&mut self, interrupted: bool, shared: &mut Shared) {
        self.work = Some(Work::Rendering);
        // The outputs were meant for the reviewer.
        self.tools.calls.clear();
        shared.out.emit(Effect::RenderReview {
            turn_id: self.id.clone(),
            last_message: self.transcript.last_message(),
            interrupted,
        });
    }

    /// Shows the review, and adds it to the thread's history.
    pub fn review_rendered(
        &mut self,
        turn_id: &TurnId,
        outcome: ReviewOutcome,
        shared: &mut Shared,
    ) -> Next {
        match self.work {
            Some(Work::Rendering) if self.id == *turn_id => self.work = None,
            // Of an earlier turn, or a second time.
            _ => return Next::Wait,
        }
        self.transcript.exit_review(outcome, shared);
        Next::Proceed
    }
}

/// Answers a request for a review whose turn cannot start yet.
pub fn accept_review(review: &mut ReviewStart, out: &mut Out) {
    if let Some(reply) = review.reply.take() {
        out.answer(reply, Answer::Turn(answer_to(review)));
    }
}

/// The turn as `review/start` answers it: with what was asked for as its first item.
fn answer_to(review: &ReviewStart) -> wire::Turn {
    let content = vec![UserInput::Text {
        text: review.label.clone(),
        text_elements: Vec::new(),
    }];
    let item = ThreadItem::UserMessage {
        id: review.turn_id.clone().into(),
        content,
    };
    wire::Turn {
        items: vec![item],
        ..in_progress(review.turn_id.clone())
    }
}
