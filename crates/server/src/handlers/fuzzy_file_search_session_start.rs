//! `fuzzyFileSearch/sessionStart`: a search for somebody who is about to type.

use quipu_wire::method::request::FuzzyFileSearchSessionStart;
use quipu_wire::{FuzzyFileSearchSessionStartParams, FuzzyFileSearchSessionStartResponse};

use super::ReplyHandler;
use crate::search::{Roots, ended};
use crate::{Cx, Refusal, Reply};

impl ReplyHandler for FuzzyFileSearchSessionStart {
    async fn handle(cx: Cx, params: FuzzyFileSearchSessionStartParams, reply: Reply<Self>) {
        let roots = match check(&cx, &params) {
            Ok(()) => Roots::new(params.roots, cx.server.cwd()),
            Err(error) => return reply.send(Err(error)).await,
        };
        let searches = &cx.server.searches;
        ended(searches.stop(&params.session_id)).await;
        reply.send(Ok(FuzzyFileSearchSessionStartResponse {})).await;
        searches.open(&cx, params.session_id, roots);
    }
}

fn check(cx: &Cx, params: &FuzzyFileSearchSessionStartParams) -> Result<(), Refusal> {
    if params.session_id.is_empty() {
        return Err(Refusal::invalid_request("sessionId must not be empty"));
    }
    let problem = if params.roots.is_empty() {
        "at least one search directory is required"
    } else if !cx.server.searches.has_room(cx.client.id) {
        "this connection has too many sessions; stop some first"
    } else {
        return Ok(());
    };
    let text = format!("failed to start fuzzy file search session: {problem}");
    Err(Refusal::internal(text))
}
