//! A code review: a turn in which another voice, with a history of its own, looks at the code.

use quipu_wire::{ThreadItem, Turn, TurnStatus, UserInput};

use crate::effect::{Answer, Effect, Purpose, Record, Refusal, TurnEnd};
use crate::input::{Input, ReviewOutcome, ReviewStart};
use crate::thread::Thread;
use crate::turn::{Review, Stopping, TurnKind};

impl Thread {
    /// A client asks for a review. A running turn makes room for it.
    pub(crate) fn review(&mut self, mut review: ReviewStart) {
        if self.status.closed {
            return review.reply.into_iter().for_each(|reply| {
                self.answer(reply, Answer::Refused(Refusal::Closed));
            });
        }
        if let Some(reply) = review.reply.take() {
            let turn = requested(&review);
            self.answer(reply, Answer::Turn(turn));
        }
        if self.active.is_some() {
            self.postpone(Input::Review(review));
            return self.stop(Stopping::Replaced);
        }
        let ReviewStart {
            turn_id,
            label,
            message,
            ..
        } = review;
        self.begin(turn_id.clone(), TurnKind::Review);
        self.record(Record::EnteredReview {
            label: label.clone(),
        });
        let item = ThreadItem::EnteredReviewMode {
            id: turn_id,
            review: label,
        };
        self.show_started(item.clone());
        self.show_completed(item);
        if let Some(turn) = &mut self.active {
            turn.review = Some(Review {
                history: Vec::new(),
                words: None,
            });
        }
        self.show_message(message);
        self.sample(Purpose::Review);
    }

    pub(crate) fn render_review(&mut self, interrupted: bool) {
        let Some(turn) = &mut self.active else { return };
        turn.calls.clear();
        let words = turn.review.take().and_then(|review| review.words);
        turn.awaiting = true;
        let turn_id = turn.id.clone();
        self.emit(Effect::RenderReview {
            turn_id,
            words,
            interrupted,
        });
    }

    pub(crate) fn review_rendered(&mut self, turn_id: &str, outcome: ReviewOutcome) {
        let Some(turn) = self
            .active
            .as_mut()
            .filter(|turn| turn.id == turn_id && turn.awaiting)
        else {
            return;
        };
        turn.awaiting = false;
        let (stopping, error) = (turn.stopping, turn.error.clone());
        let ReviewOutcome { text, history } = outcome;
        history.into_iter().for_each(|item| self.remember(item));
        self.record(Record::ExitedReview {
            words: None,
            text: text.clone(),
        });
        let item = ThreadItem::ExitedReviewMode {
            id: turn_id.to_owned(),
            review: text.clone(),
        };
        self.show_started(item.clone());
        self.show_completed(item);
        self.finish_item(ThreadItem::AgentMessage {
            id: "review_rollout_assistant".to_owned(),
            text,
            phase: None,
            memory_citation: None,
        });
        self.finish(match (stopping, error) {
            (_, Some(error)) => TurnEnd::Failed(error),
            (Stopping::No, None) => TurnEnd::Completed,
            (Stopping::Replaced, None) => TurnEnd::Replaced,
            (Stopping::Interrupted, None) => TurnEnd::Interrupted,
        });
    }
}

/// The turn as `review/start` answers it: with what was asked for as its first item.
fn requested(review: &ReviewStart) -> Turn {
    let content = vec![UserInput::Text {
        text: review.label.clone(),
        text_elements: Vec::new(),
    }];
    Turn {
        id: review.turn_id.clone(),
        items: vec![ThreadItem::UserMessage {
            id: review.turn_id.clone(),
            content,
        }],
        status: TurnStatus::InProgress,
        error: None,
    }
}
