//! `thread/settings/update`: settings for later turns.

use quipu_wire::ThreadSettingsUpdateParams;
use quipu_wire::method::request::ThreadSettingsUpdate;

use super::ReplyHandler;
use crate::threads::{self, Verb};
use crate::{Cx, Reply};

impl ReplyHandler for ThreadSettingsUpdate {
    async fn handle(cx: Cx, params: ThreadSettingsUpdateParams, reply: Reply<Self>) {
        let words = &cx.client.words;
        words.note(params.approval_policy.as_ref(), params.effort);
        words.note_tier(params.service_tier);
        words.note_mode(params.collaboration_mode.as_ref());
        let (thread_id, params) = (params.thread_id.clone(), Box::new(params));
        threads::pass_on(&cx.server, &thread_id, reply, |reply| {
            Verb::UpdateSettings { params, reply }
        })
        .await;
    }
}
