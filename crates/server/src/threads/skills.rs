//! The skills of a loaded thread. The model is told of them once; which ones the person can name is looked
//! up when they do.

use std::collections::{BTreeSet, HashSet};
use std::path::PathBuf;
use std::sync::Arc;

use quipu_extend::skills;
use quipu_wire::{ServerNotification, SkillsChangedNotification, UserInput};

use super::actor::Actor;
use super::message::Message;
use super::session::Session;
use crate::Server;
use crate::skills::Followed;
use quipu_prompt::skills::Skill;

/// What a thread knows of its skills.
pub(super) struct ThreadSkills {
    pub found: Arc<skills::Skills>,
    /// Those that are switched on.
    pub offered: Arc<[Skill]>,
    /// Keeps their directories watched.
    followed: Option<Followed>,
    /// The MCP servers of skills that the user was asked about.
    pub servers_asked: BTreeSet<String>,
}

impl ThreadSkills {
    /// Looks for the skills of a thread.
    pub fn find(server: &Server, session: &Session) -> ThreadSkills {
        let config = &server.settings.config;
        let skills = &server.skills;
        let found = skills.find(config, &session.snapshot, Vec::new(), false);
        let enabled = found.found.iter().filter(|skill| skill.metadata.enabled);
        let offered = enabled.map(|skill| Skill {
            name: skill.metadata.name.clone(),
            description: skill.metadata.description.clone(),
            path: skill.metadata.path.clone(),
            implicit: skill.implicit,
        });
        ThreadSkills {
            offered: offered.collect(),
            found,
            followed: None,
            servers_asked: BTreeSet::new(),
        }
    }
}

impl Actor {
    /// Reads the user's settings again.
    pub(super) fn reload_settings(&mut self) {
        self.session.reload(&self.server);
        self.renew_skills();
    }

    /// Looks at the skills again.
    pub(super) fn renew_skills(&mut self) {
        let found = ThreadSkills::find(&self.server, &self.session);
        let skills = self.sampler.prompt_mut().skills_mut();
        let followed = skills.followed.take();
        let servers_asked = std::mem::take(&mut skills.servers_asked);
        *skills = ThreadSkills {
            followed,
            servers_asked,
            ..found
        };
    }

    /// Keeps the directories of the skills watched.
    pub(super) fn keep_followed(&mut self, followed: Followed) {
        self.sampler.prompt_mut().skills_mut().followed = Some(followed);
    }

    /// Notifies clients that something changed in these directories, if the thread's skills are in one of them.
    pub(super) async fn skills_changed(&mut self, changed: &HashSet<PathBuf>) {
        let mut own = self.sampler.prompt().skills().found.directories.iter();
        if !own.any(|directory| changed.contains(directory)) {
            return;
        }
        self.renew_skills();
        follow(self, true);
        let changed = ServerNotification::SkillsChanged(SkillsChangedNotification {});
        self.audience.notify(&changed).await;
    }
}

/// Has the directories of the skills watched, without waiting for it. What changed in them since the skills were
/// looked for is noticed too.
pub(super) fn follow(actor: &Actor, changed: bool) {
    if !actor.server.settings.watch_skills {
        return;
    }
    let server = Arc::clone(&actor.server);
    let found = Arc::clone(&actor.sampler.prompt().skills().found);
    let handle = actor.handle.clone();
    tokio::task::spawn_blocking(move || {
        let watch = &server.skills.watch;
        let followed = watch.follow(&server, found.directories.clone(), changed);
        handle.send_soon(Message::SkillsFollowed(followed));
        if !found.looks_current() {
            watch.report(&found.directories);
        }
    });
}

/// Looks at the skills again if the person seems to name one.
pub(super) fn renew_for(actor: &mut Actor, input: &[UserInput]) {
    let names_one = input.iter().any(|input| match input {
        UserInput::Skill { .. } => true,
        UserInput::Text { text, .. } => text.contains('$'),
        _ => false,
    });
    if names_one {
        actor.renew_skills();
    }
}
