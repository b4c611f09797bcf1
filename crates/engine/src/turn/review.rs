//! A code review: a turn in which the model, with a history of its own, looks at the code.

use quipu_wire as wire;
use quipu_wire::{Json, ThreadItem, UserInput};

use super::start::in_progress;
use super::{Next, Turn, TurnKind, Work};
use crate::effect::{Answer, Effect, Record};
use crate::ids::TurnId;
use crate::input::{ReviewOutcome, ReviewStart};
use crate::out::Out;
use crate::shared::Shared;

/// A review under way.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Review {
    pub history: Vec<Json>,
    /// The reviewer's last message.
    pub last_message: Option<String>,
}

impl Turn {
    /// A turn in which the model reviews code.
    pub fn review(review: ReviewStart, shared: &mut Shared) -> Self {
        let mut turn = Self::start(TurnKind::Review, answer_to(&review), review.reply, shared);
        turn.review = Some(Review::default());
        let id = turn.items.claim(&review.turn_id);
        shared.out.record(Record::EnteredReview {
            label: review.label.clone(),
        });
        let item = ThreadItem::EnteredReviewMode {
            id: id.into(),
            review: review.label,
        };
        shared.out.of_turn(&turn.id).item(item);
        match shared.settings.hooks {
            true => turn.pending.push_message(review.message),
            false => turn.show_message(review.message, shared),
        }
        turn
    }

    /// Has the review made out of the reviewer's last message.
    pub(super) fn render_review(&mut self, interrupted: bool, shared: &mut Shared) {
        self.work = Some(Work::Rendering);
        // The outputs were meant for the reviewer.
        self.calls.clear();
        shared.out.emit(Effect::RenderReview {
            turn_id: self.id.clone(),
            last_message: self.last_message(),
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
        let last_message = self.review.take().and_then(|review| review.last_message);
        let message_id = self.items.claim("review_rollout_assistant");
        let ReviewOutcome {
            review,
            message,
            history,
        } = outcome;
        let mut history = history.into_iter();
        if let Some(item) = history.next() {
            self.remember(item, shared);
        }
        shared.out.record(Record::ExitedReview {
            last_message,
            text: review.clone(),
        });
        let item = ThreadItem::ExitedReviewMode {
            id: turn_id.clone().into(),
            review,
        };
        shared.out.of_turn(&self.id).item(item);
        history.for_each(|item| self.remember(item, shared));
        let item = ThreadItem::AgentMessage {
            id: message_id.into(),
            text: message,
            phase: None,
            memory_citation: None,
        };
        let out = &mut shared.out.of_turn(&self.id);
        self.items.finish(item, out);
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
