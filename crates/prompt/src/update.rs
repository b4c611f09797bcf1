//! What changed since the model was last told: only that, so that a provider's cache of the history stays
//! good. What is read once for a thread (AGENTS.md, skills) is not repeated, unless plugins came or went.

use quipu_wire::Json;

use super::facts::{Baseline, Facts};
use super::message::{developer_sections, user_sections};
use super::{environment, permissions, plugins, realtime, sections, skills};

/// The messages that bring the model up to date.
pub fn update(facts: &Facts, known: &Baseline) -> Vec<Json> {
    let switched = known.model != facts.model.slug;
    let permissions_changed =
        known.approval_policy != facts.approval_policy || known.sandbox != facts.sandbox;
    let instructions_changed = known.developer_instructions != facts.developer_instructions;
    let mode_changed = known.collaboration_mode.as_ref() != Some(&facts.collaboration_mode);
    let manner_changed =
        known.personality != facts.personality || (switched && facts.base_lacks_manner());
    let plugins_changed = known.plugins.as_ref().is_some_and(|known| {
        let now = facts.plugins.iter().map(|plugin| &plugin.id);
        !now.eq(known)
    });
    let developer = [
        switched.then(sections::model_switch),
        permissions_changed.then(|| permissions::block(facts)),
        facts
            .developer_instructions
            .clone()
            .filter(|_| instructions_changed),
        sections::collaboration_mode(&facts.collaboration_mode).filter(|_| mode_changed),
        realtime::change(known.realtime, facts.realtime.as_deref()),
        sections::personality_change(facts).filter(|_| manner_changed),
        plugins_changed.then(|| plugins::CHANGED.to_owned()),
        skills::section(&facts.skills).filter(|_| plugins_changed),
        plugins::section(&facts.plugins).filter(|_| plugins_changed),
    ];
    let moved = known.cwd != facts.cwd;
    let environment_changed = moved
        || known.date.as_ref() != Some(&facts.date)
        || known.timezone.as_ref() != Some(&facts.timezone)
        || known.network != facts.network;
    let user = environment_changed.then(|| environment::block(facts, moved));
    let developer = developer_sections(developer.into_iter().flatten().collect());
    let user = user_sections(user.into_iter().collect());
    developer.into_iter().chain(user).collect()
}
