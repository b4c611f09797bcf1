//! The kinds of agents, and the settings that each has: those of its parent, with what the model asked for,
//! under what its role says. What may be done, and who is asked, is always as it is for the parent.

use std::path::Path;
use std::sync::Arc;

use quipu_config::settings::AgentRole;
use quipu_config::{Snapshot, Table, schema};
use quipu_tools::agents::Role;
use quipu_wire::{Json, ReasoningEffort, TurnStartParams};

use crate::threads::Session;
use crate::{Server, models};

/// A role has a few settings; whatever is larger is something else.
const MAX_ROLE_BYTES: u64 = 1024 * 1024;

/// The roles that there always are, with what the model reads about them.
const BUILT_IN: [(&str, &str); 3] = [
    ("default", "An agent without a speciality."),
    (
        "explorer",
        "Answers one precise question about the code. Start several at once when their questions do not depend on each \
         other, and do not look again for what one of them has found.",
    ),
    (
        "worker",
        "Does a piece of the work: a part of a feature, a fix, a share of a large change. Tell it which files are its \
         own, and that others work on the same code, whose changes it must leave alone.",
    ),
];

/// All roles, as the model is offered them.
pub(crate) fn offered(snapshot: &Snapshot) -> Arc<[Role]> {
    let roles = &snapshot.agents().roles;
    let own = roles.iter().map(|(name, role)| Role {
        name: name.clone(),
        description: describe(role),
    });
    let built_in = BUILT_IN
        .iter()
        .filter(|(name, _)| !roles.contains_key(*name));
    let built_in = built_in.map(|(name, description)| Role {
        name: (*name).to_owned(),
        description: (*description).to_owned(),
    });
    own.chain(built_in).collect()
}

/// What a role is for, and what it leaves no choice about.
fn describe(role: &AgentRole) -> String {
    let mut text = role.description.clone();
    if let Some(model) = &role.model {
        text += &format!(" Always uses the model `{model}`.");
    }
    if let Some(effort) = &role.effort {
        text += &format!(" Always thinks with `{effort}` effort.");
    }
    text
}

/// The settings of a role of the user; built-in ones have none.
pub(super) fn find(snapshot: &Snapshot, name: Option<&str>) -> Result<Option<AgentRole>, String> {
    let Some(name) = name else { return Ok(None) };
    match snapshot.agents().roles.get(name) {
        Some(role) => Ok(Some(role.clone())),
        None if BUILT_IN.iter().any(|(known, _)| *known == name) => Ok(None),
        None => Err(format!("unknown agent_type '{name}'")),
    }
}

/// What the model wants for an agent.
#[derive(Default)]
pub(super) struct Wanted {
    pub model: Option<String>,
    pub effort: Option<ReasoningEffort>,
}

/// The settings of an agent.
pub(super) async fn session(
    server: &Server,
    parent: &Session,
    role: Option<&AgentRole>,
    wanted: Wanted,
) -> Result<Session, String> {
    let mut session = parent.clone();
    session.dynamic_tools = Vec::new();
    session.mode = session.plain_mode();
    if let Some(model) = &wanted.model {
        check_model(server, &session, model).await?;
    }
    let chosen = TurnStartParams {
        effort: wanted.effort.or(wanted.model.as_ref().and_then(|model| {
            let provider = &session.provider;
            models::info(server, &session.snapshot, provider, model).default_reasoning_level
        })),
        model: wanted.model,
        ..TurnStartParams::default()
    };
    session.change(server, &chosen);
    if let Some(effort) = wanted.effort {
        check_effort(&session, effort)?;
    }
    match role.and_then(|role| role.config_file.as_deref()) {
        Some(file) => in_role(server, session, file),
        None => Ok(session),
    }
}

async fn check_model(server: &Server, session: &Session, wanted: &str) -> Result<(), String> {
    let known = models::list(server, &session.snapshot, &session.provider).await;
    if wanted == session.model || known.iter().any(|model| model.slug == wanted) {
        return Ok(());
    }
    let known: Vec<&str> = known.iter().map(|model| model.slug.as_str()).collect();
    Err(format!(
        "Unknown model `{wanted}` for spawn_agent. Available models: {}",
        known.join(", ")
    ))
}

fn check_effort(session: &Session, wanted: ReasoningEffort) -> Result<(), String> {
    let levels = &session.info.supported_reasoning_levels;
    if levels.iter().any(|level| level.effort == wanted) {
        return Ok(());
    }
    let known: Vec<String> = levels
        .iter()
        .map(|level| level.effort.to_string())
        .collect();
    Err(format!(
        "Reasoning effort `{wanted}` is not supported for model `{}`. Supported reasoning efforts: {}",
        session.model,
        known.join(", ")
    ))
}

/// Lays a role's file over the settings.
fn in_role(server: &Server, session: Session, file: &Path) -> Result<Session, String> {
    let problem = |why: &dyn std::fmt::Display| {
        format!(
            "the role's settings in {} cannot be used: {why}",
            file.display()
        )
    };
    let text = quipu_disk::read_text(file, MAX_ROLE_BYTES).map_err(|error| problem(&error))?;
    let mut table: Table =
        quipu_config::parse_toml(&text).map_err(|mistake| problem(&mistake.message))?;
    table.retain(|key, _| !AgentRole::OWN_KEYS.contains(&key.as_str()));
    let directory = file.parent().unwrap_or(Path::new("/"));
    schema::resolve_paths(&schema::ROOT, &mut table, directory, None);
    let has = |key: &str| table.contains_key(key);
    let mut overrides = session.asked.clone();
    overrides.cwd = Some(session.cwd_text());
    let settings = overrides.config.get_or_insert_default();
    for (key, value) in &table {
        settings.insert(key.clone(), Json::from(value.clone()));
    }
    let is_other_model = has("model") || has("model_provider");
    if is_other_model {
        overrides.model = None;
        overrides.model_provider = None;
    }
    if has("developer_instructions") {
        overrides.developer_instructions = None;
    }
    let own =
        Session::resolve(server, &overrides, None).map_err(|error| problem(&error.to_string()))?;
    let mut session = Session {
        snapshot: own.snapshot,
        asked: own.asked,
        ..session
    };
    if is_other_model {
        (session.provider, session.model, session.info) = (own.provider, own.model, own.info);
    }
    if is_other_model || has("model_reasoning_effort") {
        session.effort = own.effort;
    }
    if has("model_reasoning_summary") {
        session.summary = own.summary;
    }
    if has("developer_instructions") {
        session.developer_instructions = own.developer_instructions;
    }
    if has("model_instructions_file") {
        session.base_instructions = own.base_instructions;
    }
    if has("personality") {
        session.personality = own.personality;
    }
    session.mode = session.plain_mode();
    Ok(session)
}
