//! `review/start`: the model reviews changes, and what it found is shown and kept.

use quipu_engine::{Input, ReviewOutcome, ReviewStart};
use quipu_wire::method::request;
use quipu_wire::{ReviewStartParams, UserInput};

use super::actor::Actor;
use super::replies::Pending;
use crate::Reply;
use quipu_prompt::review;

pub(super) async fn start(
    actor: &mut Actor,
    params: ReviewStartParams,
    merge_base: Option<&str>,
    reply: Reply<request::ReviewStart>,
) {
    if let Err(error) = actor.recorder.reserve() {
        return reply.send(Err(error)).await;
    }
    let label = review::label(&params.target);
    let prompt = review::prompt(&params.target, merge_base);
    let content = vec![UserInput::Text {
        text: prompt,
        text_elements: Vec::new(),
    }];
    let message = actor.sampler.user_message(&actor.handle.id, content);
    let reply = Pending::Review {
        reply,
        thread_id: actor.handle.id.clone(),
    };
    let start = ReviewStart {
        reply: Some(actor.replies.add(reply)),
        turn_id: uuid::Uuid::now_v7().to_string().into(),
        label,
        message,
    };
    actor.step(Input::Review(start)).await;
}

/// What a reviewer's last message says.
pub(super) fn rendered(last_message: Option<&str>, interrupted: bool) -> ReviewOutcome {
    let output = last_message
        .filter(|_| !interrupted)
        .and_then(review::parse);
    let ending = review::ending(output.as_ref());
    ReviewOutcome {
        review: ending.shown,
        message: ending.said,
        history: ending.history.to_vec(),
    }
}
