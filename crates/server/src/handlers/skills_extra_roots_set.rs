//! `skills/extraRoots/set`: more directories in which skills are found, until the server exits.

use quipu_wire::method::event::SkillsChanged;
use quipu_wire::method::request::SkillsExtraRootsSet;
use quipu_wire::{
    SkillsChangedNotification, SkillsExtraRootsSetParams, SkillsExtraRootsSetResponse,
};

use super::ReplyHandler;
use crate::{Cx, Reply};

impl ReplyHandler for SkillsExtraRootsSet {
    async fn handle(cx: Cx, params: SkillsExtraRootsSetParams, reply: Reply<Self>) {
        let roots = params.extra_roots.iter();
        let roots = roots.map(|root| root.as_path().to_owned()).collect();
        let has_changed = cx.server.skills.set_extra_roots(roots);
        reply.send(Ok(SkillsExtraRootsSetResponse {})).await;
        if has_changed {
            cx.server.threads.reload_settings().await;
            let changed = SkillsChangedNotification {};
            cx.server.hub.broadcast::<SkillsChanged>(&changed).await;
        }
    }
}
