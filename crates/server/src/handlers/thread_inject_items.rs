//! `thread/inject_items`: items for the model's history that no client sees.

use quipu_wire::method::request::ThreadInjectItems;
use quipu_wire::{ResponseItem, ThreadInjectItemsParams};

use super::ReplyHandler;
use crate::threads::{self, Verb};
use crate::{Cx, Refusal, Reply};

impl ReplyHandler for ThreadInjectItems {
    async fn handle(cx: Cx, params: ThreadInjectItemsParams, reply: Reply<Self>) {
        match check(&params).and_then(|()| threads::loaded(&cx.server, &params.thread_id)) {
            Ok(thread) => {
                let items = params.items;
                thread.send(Verb::Inject { items, reply }).await;
            }
            Err(error) => reply.send(Err(error)).await,
        }
    }
}

/// Refuses what is no item: the model's provider would refuse every later request.
fn check(params: &ThreadInjectItemsParams) -> Result<(), Refusal> {
    if params.items.is_empty() {
        return Err(Refusal::invalid_request("items must not be empty"));
    }
    for (index, item) in params.items.iter().enumerate() {
        let problem = match item.parse::<ResponseItem>() {
            Ok(ResponseItem::Unrecognized(_) | ResponseItem::Other) => {
                "its type is not known".to_owned()
            }
            Ok(_) => continue,
            Err(error) => error.to_string(),
        };
        let text = format!("items[{index}] is not a valid response item: {problem}");
        return Err(Refusal::invalid_request(text));
    }
    Ok(())
}
