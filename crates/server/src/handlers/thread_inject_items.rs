//! `thread/inject_items`: items for the model's history that no client sees.

use quipu_wire::method::request::ThreadInjectItems;
use quipu_wire::{ResponseItem, ThreadInjectItemsParams};

use super::ReplyHandler;
use crate::threads::{self, Verb};
use crate::{Cx, Refusal, Reply};

impl ReplyHandler for ThreadInjectItems {
    async fn handle(cx: Cx, params: ThreadInjectItemsParams, reply: Reply<Self>) {
        if let Err(error) = check(&params) {
            return reply.send(Err(error)).await;
        }
        let items = params.items;
        threads::pass_on(&cx.server, &params.thread_id, reply, |reply| Verb::Inject {
            items,
            reply,
        })
        .await;
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
