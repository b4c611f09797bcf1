//! `fuzzyFileSearch/sessionUpdate`: another query for a session; notifications bring what it finds.

use quipu_wire::method::request::FuzzyFileSearchSessionUpdate;
use quipu_wire::{FuzzyFileSearchSessionUpdateParams, FuzzyFileSearchSessionUpdateResponse};

use super::ReplyHandler;
use crate::{Cx, Refusal, Reply};

impl ReplyHandler for FuzzyFileSearchSessionUpdate {
    async fn handle(cx: Cx, params: FuzzyFileSearchSessionUpdateParams, reply: Reply<Self>) {
        let searches = &cx.server.searches;
        if !searches.has(&params.session_id) {
            let id = params.session_id;
            let text = format!("fuzzy file search session not found: {id}");
            return reply.send(Err(Refusal::invalid_request(text))).await;
        }
        // The answer comes before what is found.
        reply
            .send(Ok(FuzzyFileSearchSessionUpdateResponse {}))
            .await;
        searches.update(&params.session_id, params.query);
    }
}
