//! What a turn writes: the items that clients see, and the history that the model sees.

use quipu_wire::{HookPromptFragment, Json, MessagePhase, ThreadItem, TurnError};

use super::bounds::{check_output, fit_message};
use super::items::{Items, Writer};
use crate::effect::Record;
use crate::ids::TurnId;
use crate::input::{ModelItem, OutputItem, ReviewOutcome, ToolCall, UserMessage};
use crate::out::TurnOut;
use crate::shared::Shared;

/// The items and the history of a turn.
#[derive(Debug, Clone, PartialEq)]
pub struct Transcript {
    turn_id: TurnId,
    items: Items,
    /// A review has a history of its own.
    review: Option<Review>,
    last_agent_message: Option<String>,
}

/// A review under way.
#[derive(Debug, Clone, PartialEq, Default)]
struct Review {
    history: Vec<Json>,
    /// The reviewer's last message.
    last_message: Option<String>,
}

impl Transcript {
    pub fn new(turn_id: TurnId) -> Self {
        Self {
            turn_id,
            items: Items::default(),
            review: None,
            last_agent_message: None,
        }
    }

    pub fn items(&mut self) -> &mut Items {
        &mut self.items
    }

    /// The items, and where clients are notified of them.
    pub fn writing<'a>(&'a mut self, shared: &'a mut Shared) -> (&'a mut Items, TurnOut<'a>) {
        (&mut self.items, shared.out.of_turn(&self.turn_id))
    }

    /// The history that the model is sent, if it is not the thread's.
    pub fn own_history(&self) -> Option<&[Json]> {
        self.review.as_ref().map(|review| review.history.as_slice())
    }

    /// Whether a review is under way.
    pub fn is_review(&self) -> bool {
        self.review.is_some()
    }

    /// Forgets the review, and returns whether there was one.
    pub fn drop_review(&mut self) -> bool {
        self.review.take().is_some()
    }

    /// The last message of the model, also of one that reviews.
    pub fn last_message(&self) -> Option<String> {
        match &self.review {
            Some(review) => review.last_message.clone(),
            None => self.last_agent_message.clone(),
        }
    }

    /// Takes note of what the model said last in another process.
    pub fn restore_last_message(&mut self, message: Option<String>) {
        self.last_agent_message = message;
    }

    /// The last message of the model that clients saw.
    pub fn take_last_agent_message(&mut self) -> Option<String> {
        self.last_agent_message.take()
    }

    /// Adds to the history that the model sees: the thread's, or the one that a review has for itself.
    pub fn remember(&mut self, item: Json, shared: &mut Shared) {
        // What is not of a known form is kept, but cannot be shown.
        let raw = shared.settings.raw_items.then(|| item.parse().ok());
        match &mut self.review {
            Some(review) => review.history.push(item),
            None => shared.remember(item),
        }
        if let Some(item) = raw.flatten() {
            shared.out.of_turn(&self.turn_id).raw_item(item);
        }
    }

    pub fn remember_all(&mut self, items: impl IntoIterator<Item = Json>, shared: &mut Shared) {
        for item in items {
            self.remember(item, shared);
        }
    }

    /// Adds a message of the user to the model's history, and shows it.
    pub fn show_message(&mut self, message: UserMessage, shared: &mut Shared) {
        let UserMessage {
            item_id,
            content,
            history,
        } = message;
        let id = self.items.claim(&item_id);
        let mut history = history.into_iter();
        self.remember_all(history.next(), shared);
        shared.out.record(Record::UserMessage {
            item_id: id.clone(),
            content: content.clone(),
        });
        let item = ThreadItem::UserMessage {
            id: id.into(),
            content,
        };
        shared.out.of_turn(&self.turn_id).item(item);
        self.remember_all(history, shared);
    }

    /// Adds what hooks want of the model to its history, and shows it. A reviewer's history is not recorded, so its
    /// prompt is not shown.
    pub fn show_hook_prompt(
        &mut self,
        prompt: Json,
        fragments: Vec<HookPromptFragment>,
        shared: &mut Shared,
    ) {
        let id = self.items.claim(&shared.sequence.next_item()).into();
        self.remember(prompt, shared);
        if !self.is_review() {
            let item = ThreadItem::HookPrompt { id, fragments };
            shared.out.of_turn(&self.turn_id).item(item);
        }
    }

    /// Begins a review, and shows that.
    pub fn enter_review(&mut self, label: String, shared: &mut Shared) {
        self.review = Some(Review::default());
        let id = self.items.claim(&self.turn_id);
        shared.out.record(Record::EnteredReview {
            label: label.clone(),
        });
        let item = ThreadItem::EnteredReviewMode {
            id: id.into(),
            review: label,
        };
        shared.out.of_turn(&self.turn_id).item(item);
    }

    /// Ends a review: shows it, and adds it to the thread's history.
    pub fn exit_review(&mut self, outcome: ReviewOutcome, shared: &mut Shared) {
        let last_message = self.review.take().and_then(|review| review.last_message);
        let message_id = self.items.claim("review_rollout_assistant");
        let ReviewOutcome {
            review,
            message,
            history,
        } = outcome;
        let mut history = history.into_iter();
        self.remember_all(history.next(), shared);
        shared.out.record(Record::ExitedReview {
            last_message,
            text: review.clone(),
        });
        let item = ThreadItem::ExitedReviewMode {
            id: self.turn_id.clone().into(),
            review,
        };
        shared.out.of_turn(&self.turn_id).item(item);
        self.remember_all(history, shared);
        let item = ThreadItem::AgentMessage {
            id: message_id.into(),
            text: message,
            phase: None,
            memory_citation: None,
        };
        let (items, mut out) = self.writing(shared);
        items.finish(item, &mut out);
    }

    /// Takes an item that the model has written in full. A call is returned, with what the history must say of it.
    pub fn item_done(
        &mut self,
        slot: u32,
        output: OutputItem,
        shared: &mut Shared,
    ) -> Result<Option<(ToolCall, Json)>, TurnError> {
        let checked = check_output(&output);
        if !matches!(output.item, ModelItem::Message { .. }) {
            checked.clone()?;
        }
        let OutputItem { id, item, raw } = output;
        let id = String::from(id);
        let item = match item {
            ModelItem::Message { text, phase } => {
                // One that is too long is shown with what fits; the history cannot hold it.
                self.message_done(slot, id, text.map(fit_message), phase, shared);
                checked?;
                self.remember(raw, shared);
                return Ok(None);
            }
            ModelItem::Reasoning { summary, content } => {
                let item = ThreadItem::Reasoning {
                    id,
                    summary,
                    content,
                };
                self.finish_written(slot, item, shared);
                self.remember(raw, shared);
                return Ok(None);
            }
            ModelItem::Call(call) => return Ok(Some((call, raw))),
            ModelItem::Other => {
                self.remember(raw, shared);
                return Ok(None);
            }
            ModelItem::WebSearch { query, action } => ThreadItem::WebSearch { id, query, action },
            ModelItem::ImageGeneration(image) => image.into_item(id),
        };
        self.remember(raw, shared);
        self.finish_written(slot, item, shared);
        Ok(None)
    }

    fn finish_written(&mut self, slot: u32, item: ThreadItem, shared: &mut Shared) {
        let (items, mut out) = self.writing(shared);
        items.finish_written(Writer::Slot(slot), item, &mut out);
    }

    fn message_done(
        &mut self,
        slot: u32,
        id: String,
        text: Option<String>,
        phase: Option<MessagePhase>,
        shared: &mut Shared,
    ) {
        if let Some(review) = &mut self.review {
            review.last_message = text.or(review.last_message.take());
            return;
        }
        let Some(text) = text else {
            // A message that shows nothing may have been started with text.
            let (items, mut out) = self.writing(shared);
            return items.close_written(Writer::Slot(slot), &mut out);
        };
        if !text.trim().is_empty() {
            self.last_agent_message = Some(text.clone());
        }
        let item = ThreadItem::AgentMessage {
            id,
            text,
            phase,
            memory_citation: None,
        };
        self.finish_written(slot, item, shared);
    }
}
