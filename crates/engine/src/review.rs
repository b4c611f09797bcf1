//! A code review: a turn in which another voice, with a history of its own, looks at the code.

use quipu_wire::{ThreadItem, Turn, UserInput};

use crate::effect::{Answer, Effect, Record};
use crate::input::{Input, ReviewOutcome, ReviewStart};
use crate::starting::running;
use crate::thread::Thread;
use crate::turn::{ActiveTurn, Pending, Review, TurnKind, Work};

impl Thread {
    /// A client asks for a review. A running turn makes room for it.
    pub(crate) fn review(&mut self, mut review: ReviewStart) {
        if self.active.is_some() {
            self.accept_review(&mut review);
            return self.replace_turn(Input::Review(review));
        }
        self.begin_review(review);
        self.begin_session();
    }

    /// Answers the request before its turn can begin.
    pub(crate) fn accept_review(&mut self, review: &mut ReviewStart) {
        if let Some(reply) = review.reply.take() {
            self.answer(reply, Answer::Turn(requested(review)));
        }
    }

    pub(crate) fn begin_review(&mut self, review: ReviewStart) {
        self.begin(TurnKind::Review, requested(&review), review.reply);
        let Some(turn) = &mut self.active else { return };
        turn.review = Some(Review::default());
        let id = turn.items.claim(&review.turn_id);
        self.record(Record::EnteredReview {
            label: review.label.clone(),
        });
        let item = ThreadItem::EnteredReviewMode {
            id,
            review: review.label,
        };
        self.show_started(item.clone());
        self.show_completed(item);
        match self.hooks {
            true => self.queue(Pending::Message(review.message)),
            false => self.show_message(review.message),
        }
    }

    pub(crate) fn render_review(&mut self) {
        let Some(turn) = &mut self.active else { return };
        turn.work = Some(Work::Rendering);
        // The outputs were meant for the reviewer.
        turn.calls.clear();
        let words = turn.review.as_ref().and_then(|review| review.words.clone());
        let interrupted = turn.ending.is_some();
        let turn_id = turn.id.clone();
        self.emit(Effect::RenderReview {
            turn_id,
            words,
            interrupted,
        });
    }

    pub(crate) fn review_rendered(&mut self, turn_id: &str, outcome: ReviewOutcome) {
        let is_awaited = |turn: &&mut ActiveTurn| {
            turn.id == turn_id && matches!(turn.work, Some(Work::Rendering))
        };
        let Some(turn) = self.active.as_mut().filter(is_awaited) else {
            return;
        };
        turn.work = None;
        let words = turn.review.take().and_then(|review| review.words);
        let message = turn.items.claim("review_rollout_assistant");
        let ReviewOutcome {
            shown,
            said,
            history,
        } = outcome;
        let mut history = history.into_iter();
        if let Some(item) = history.next() {
            self.remember(item);
        }
        self.record(Record::ExitedReview {
            words,
            text: shown.clone(),
        });
        let item = ThreadItem::ExitedReviewMode {
            id: turn_id.to_owned(),
            review: shown,
        };
        self.show_started(item.clone());
        self.show_completed(item);
        history.for_each(|item| self.remember(item));
        self.finish_item(ThreadItem::AgentMessage {
            id: message,
            text: said,
            phase: None,
            memory_citation: None,
        });
        self.proceed();
    }
}

/// The turn as `review/start` answers it: with what was asked for as its first item.
fn requested(review: &ReviewStart) -> Turn {
    let content = vec![UserInput::Text {
        text: review.label.clone(),
        text_elements: Vec::new(),
    }];
    let item = ThreadItem::UserMessage {
        id: review.turn_id.clone(),
        content,
    };
    Turn {
        items: vec![item],
        ..running(review.turn_id.clone())
    }
}
