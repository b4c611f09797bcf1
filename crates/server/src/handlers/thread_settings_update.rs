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
        let (thread_id, params) = (params.thread_id.clone(), Box::new(params));
        threads::pass_on(&cx.server, &thread_id, reply, |reply| {
            Verb::UpdateSettings { params, reply }
        })
        .await;
    }
}
