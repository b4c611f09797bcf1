//! The skills and plugins of a loaded thread. The model learns of them once; which ones the person can name is
//! looked up when they do.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::PathBuf;
use std::sync::Arc;

use quipu_extend::apps::slug;
use quipu_extend::{plugins as extend, skills};
use quipu_prompt::apps::{self, App};
use quipu_prompt::input::{mentioned_apps, mentioned_plugins};
use quipu_tools::McpScope;
use quipu_wire::{Json, ServerNotification, SkillsChangedNotification, UserInput};

use super::actor::Actor;
use super::message::Message;
use super::session::Session;
use crate::Server;
use crate::skills::Followed;
use quipu_prompt::plugins::{self, Plugin};
use quipu_prompt::skills::{Skill, named};

/// What a thread knows of its skills.
pub(super) struct ThreadSkills {
    pub found: Arc<skills::Skills>,
    /// Those that are switched on.
    pub offered: Arc<[Skill]>,
    /// The plugins in force.
    pub plugins: Arc<[Plugin]>,
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
        let plugins = found.plugins.iter().map(|it| plugin(it, &found.found));
        ThreadSkills {
            offered: offered.collect(),
            plugins: plugins.collect(),
            found,
            followed: None,
            servers_asked: BTreeSet::new(),
        }
    }

    /// Looks for them again.
    pub fn renew(&mut self, server: &Server, session: &Session) {
        let followed = self.followed.take();
        let servers_asked = std::mem::take(&mut self.servers_asked);
        *self = ThreadSkills {
            followed,
            servers_asked,
            ..ThreadSkills::find(server, session)
        };
    }

    /// Keeps their directories watched.
    pub fn keep_followed(&mut self, followed: Followed) {
        self.followed = Some(followed);
    }
}

/// A plugin as the model meets it.
fn plugin(plugin: &extend::Plugin, skills: &[skills::Skill]) -> Plugin {
    let prefix = plugin.id.plugin().to_owned();
    let is_own = |skill: &skills::Skill| {
        let rest = skill.metadata.name.strip_prefix(&prefix);
        skill.metadata.enabled && rest.is_some_and(|rest| rest.starts_with(':'))
    };
    Plugin {
        id: plugin.id.to_string(),
        name: plugin.display_name.clone(),
        description: plugin.description.clone(),
        has_skills: skills.iter().any(is_own),
        servers: plugin.contents.mcp_servers.keys().cloned().collect(),
        apps: plugin.contents.apps.clone(),
        prefix,
    }
}

impl ThreadSkills {
    /// The skills that an input names. A name that is an app's as well means neither.
    pub fn named(&self, input: &[UserInput], mcp: &McpScope) -> Vec<&Skill> {
        let apps = mcp.apps().into_values();
        let apps: Vec<String> = apps.map(|app| slug(&app.name)).collect();
        named(input, &self.offered, &apps)
    }

    /// Notes about the plugins and apps that an input mentions.
    pub fn notes(&self, input: &[UserInput], mcp: &McpScope) -> Vec<Json> {
        let (plugins, apps) = (mentioned_plugins(input), mentioned_apps(input));
        if plugins.is_empty() && apps.is_empty() {
            return Vec::new();
        }
        let known = mcp.apps();
        let plugins = plugins.into_iter();
        let plugins = plugins.filter_map(|id| self.plugins.iter().find(|it| it.id == id));
        let plugins =
            plugins.filter_map(|plugin| plugins::note(plugin, &apps_of(plugin, mcp, &known)));
        let apps = apps.into_iter().filter(|_| mcp.has_apps);
        let apps = apps.map(|id| apps::note(&app(id, &known)));
        plugins.chain(apps).collect()
    }
}

/// An app that was mentioned. Its server may still be starting, and then only the id is known.
fn app(id: &str, known: &BTreeMap<String, App>) -> App {
    known.get(id).cloned().unwrap_or_else(|| App {
        id: id.to_owned(),
        name: id.to_owned(),
        tools: Vec::new(),
    })
}

/// The names of the apps of a plugin, if there are apps.
fn apps_of(plugin: &Plugin, mcp: &McpScope, known: &BTreeMap<String, App>) -> Vec<String> {
    let own = plugin.apps.iter().filter(|_| mcp.has_apps);
    own.map(|id| app(id, known).name).collect()
}

/// Reads the user's settings again.
pub(super) fn reload_settings(actor: &mut Actor) {
    let (server, session) = (&actor.server, &mut actor.session);
    session.reload(server);
    actor.sampler.prompt_mut().renew_skills(server, session);
    actor.tools.hooks_mut().renew(server, session);
    actor.engine.set_hooks(!actor.tools.hooks().is_empty());
}

/// Notifies clients that something changed in these directories, if the thread's skills are in one of them.
pub(super) async fn changed(actor: &mut Actor, changed: &HashSet<PathBuf>) {
    let mut own = actor.sampler.prompt().skills().found.directories.iter();
    if !own.any(|directory| changed.contains(directory)) {
        return;
    }
    let prompt = actor.sampler.prompt_mut();
    prompt.renew_skills(&actor.server, &actor.session);
    follow(actor, true);
    let changed = ServerNotification::SkillsChanged(SkillsChangedNotification {});
    actor.audience.notify(&changed).await;
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
