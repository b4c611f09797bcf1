//! What the model is given before anything else: at the start of a thread, and again when a compaction
//! has dropped it.

use quipu_wire::Json;

use super::facts::Facts;
use super::message::{developer_sections, user_sections};
use super::{apps, environment, permissions, plugins, realtime, sections, skills};

/// The whole context. `previous_model` is the model of the turn before, if there was one.
pub fn initial(facts: &Facts, previous_model: Option<&str>) -> Vec<Json> {
    let switched = previous_model.is_some_and(|model| model != facts.model.slug);
    let developer = [
        switched.then(sections::model_switch),
        Some(permissions::block(facts)),
        facts.developer_instructions.clone(),
        sections::collaboration_mode(&facts.collaboration_mode),
        facts.realtime.as_deref().map(realtime::started),
        sections::personality(facts).filter(|_| facts.base_lacks_manner()),
        facts.has_apps.then(apps::section),
        skills::section(&facts.skills),
        plugins::section(&facts.plugins),
        sections::commit_attribution(facts),
    ];
    let user = [
        sections::project_instructions(facts),
        Some(environment::block(facts, true)),
    ];
    let developer = developer_sections(developer.into_iter().flatten().collect());
    let user = user_sections(user.into_iter().flatten().collect());
    developer.into_iter().chain(user).collect()
}
