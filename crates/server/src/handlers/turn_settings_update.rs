//! `turn/settings/update`: settings for the rest of the running turn.

use quipu_wire::TurnSettingsUpdateParams;
use quipu_wire::method::request::TurnSettingsUpdate;

use super::ReplyHandler;
use crate::threads::{self, Verb};
use crate::{Cx, Reply};

impl ReplyHandler for TurnSettingsUpdate {
    async fn handle(cx: Cx, params: TurnSettingsUpdateParams, reply: Reply<Self>) {
        cx.client.words.note(None, params.effort);
        cx.client.words.note_tier(params.service_tier);
        let (thread_id, params) = (params.thread_id.clone(), Box::new(params));
        threads::pass_on(&cx.server, &thread_id, reply, |reply| {
            Verb::UpdateTurnSettings { params, reply }
        })
        .await;
    }
}
