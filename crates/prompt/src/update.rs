//! What changed since the model was last told: only that, so that a provider's cache of the history stays
//! good. What is read once for a thread (AGENTS.md, skills) is not repeated, unless plugins came or went.

use quipu_wire::Json;

use super::facts::{Baseline, Facts};
use super::message::{developer_sections, user_sections};
use super::{environment, permissions, plugins, realtime, sections, skills};

/// The messages that bring the model up to date.
pub fn update(facts: &Facts, told: &Baseline) -> Vec<Json> {
    let switched = told.model != facts.model.slug;
    let permissions_changed =
        told.approval_policy != facts.approval_policy || told.sandbox != facts.sandbox;
    let instructions_changed = told.developer_instructions != facts.developer_instructions;
    let mode_changed = told.collaboration_mode.as_ref() != Some(&facts.collaboration_mode);
    let manner_changed =
        told.personality != facts.personality || (switched && facts.base_lacks_manner());
    let plugins_changed = told.plugins.as_ref().is_some_and(|told| {
        let now = facts.plugins.iter().map(|plugin| &plugin.id);
        !now.eq(told)
    });
    let developer = [
        switched.then(sections::model_switch),
        permissions_changed.then(|| permissions::block(facts)),
        facts
            .developer_instructions
            .clone()
            .filter(|_| instructions_changed),
        sections::collaboration_mode(&facts.collaboration_mode).filter(|_| mode_changed),
        realtime::change(told.realtime, facts.realtime.as_deref()),
        sections::personality_change(facts).filter(|_| manner_changed),
        plugins_changed.then(|| plugins::CHANGED.to_owned()),
        skills::section(&facts.skills).filter(|_| plugins_changed),
        plugins::section(&facts.plugins).filter(|_| plugins_changed),
    ];
    let moved = told.cwd != facts.cwd;
    let environment_changed = moved
        || told.date.as_ref() != Some(&facts.date)
        || told.timezone.as_ref() != Some(&facts.timezone)
        || told.network != facts.network;
    let user = environment_changed.then(|| environment::block(facts, moved));
    let developer = developer_sections(developer.into_iter().flatten().collect());
    let user = user_sections(user.into_iter().collect());
    developer.into_iter().chain(user).collect()
}
