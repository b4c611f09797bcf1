//! `turn/start`: input for a thread.

use quipu_rpc::ErrorObject;
use quipu_wire::method::request::TurnStart;
use quipu_wire::{TurnStartParams, UserInput};
use serde_json::json;

use super::Handler;
use crate::threads::{self, Message};
use crate::{Cx, Reply};
use quipu_prompt::input;

impl Handler for TurnStart {
    /// What cannot be stored is not taken; a record holds a little more than the input.
    const MOST: usize = quipu_journal::MAX_RECORD - (64 << 10);

    async fn handle(cx: Cx, params: TurnStartParams, reply: Reply<Self>) {
        if let Some(error) = too_long(&params.input) {
            return reply.send(Err(error)).await;
        }
        match threads::loaded(&cx.server, &params.thread_id) {
            Ok(thread) => {
                let client_name = cx.client.introduction().map(|it| it.name.clone());
                thread
                    .send(Message::StartTurn {
                        params: Box::new(params),
                        client_name,
                        reply,
                    })
                    .await;
            }
            Err(error) => reply.send(Err(error)).await,
        }
    }
}

/// Why an input is refused for its length, if it is.
pub(super) fn too_long(inputs: &[UserInput]) -> Option<ErrorObject> {
    let actual = input::too_long(inputs)?;
    let max = input::MAX_TEXT_CHARS;
    let text = format!("Input exceeds the maximum length of {max} characters.");
    let data =
        json!({ "input_error_code": "input_too_large", "max_chars": max, "actual_chars": actual });
    Some(ErrorObject::invalid_params(text).with_data(data))
}
