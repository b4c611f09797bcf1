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
        match threads::loaded(&cx.server, &params.thread_id) {
            Ok(thread) => {
                let params = Box::new(params);
                thread.send(Verb::UpdateSettings { params, reply }).await;
            }
            Err(error) => reply.send(Err(error)).await,
        }
    }
}
