//! Roles for agents, from `[agents.NAME]` tables and from the files of `agents` directories. They are worked out
//! layer by layer, for a project may complete or replace a role of the user.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use quipu_wire::ConfigLayerSource;
use serde::Deserialize;
use serde_json::Value;

use crate::files::Files;
use crate::layer::{Layer, Stack};
use crate::project::Project;
use crate::schema::{self, ROOT, Why};
use crate::{Table, document};

/// How deep an `agents` directory is searched, and how many files of it are read.
const MAX_DEPTH: usize = 6;
const MAX_FILES: usize = 500;

/// A role an agent can have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentRole {
    /// What it is for.
    pub description: String,
    /// Settings of agents in it; besides settings the file may have what [`AgentRole::OWN_KEYS`] lists.
    pub config_file: Option<PathBuf>,
    /// Names to give to agents in it.
    pub nickname_candidates: Vec<String>,
    /// The model and the effort that its file prescribes.
    pub model: Option<String>,
    /// How hard that model thinks.
    pub effort: Option<String>,
}

impl AgentRole {
    /// What a role's file says of the role itself.
    pub const OWN_KEYS: [&'static str; 3] = ["name", "description", "nickname_candidates"];
}

/// What one layer says of a role.
#[derive(Default, Deserialize)]
struct Part {
    description: Option<String>,
    config_file: Option<PathBuf>,
    nickname_candidates: Option<Vec<String>>,
    #[serde(skip)]
    model: Option<String>,
    #[serde(skip)]
    effort: Option<String>,
}

impl Part {
    /// Completes it with what a lower layer says.
    fn over(self, below: Part) -> Part {
        let (model, effort) = match self.config_file {
            Some(_) => (self.model, self.effort),
            None => (below.model, below.effort),
        };
        Part {
            description: self.description.or(below.description),
            config_file: self.config_file.or(below.config_file),
            nickname_candidates: self.nickname_candidates.or(below.nickname_candidates),
            model,
            effort,
        }
    }
}

/// A role's file.
struct RoleFile {
    name: Option<String>,
    instructions: Option<String>,
    part: Part,
}

/// The roles of all layers. What is left out is reported in `notes`.
pub(super) fn resolve(
    stack: &Stack,
    project: Option<&Project>,
    files: &mut Files,
    notes: &mut Vec<String>,
) -> BTreeMap<String, AgentRole> {
    let mut complain = |reason: String| {
        notes.push(format!(
            "Ignoring malformed agent role definition: {reason}"
        ));
    };
    let mut parts: BTreeMap<String, Part> = BTreeMap::new();
    for layer in stack.enabled() {
        if let ConfigLayerSource::Project { dot_codex_folder } = &layer.source {
            let dir = dot_codex_folder.as_path().parent();
            let trusted = project.map(|project| &project.trusted);
            if !trusted.is_some_and(|trusted| trusted.iter().any(|it| Some(it.as_path()) == dir)) {
                continue;
            }
        }
        for (name, part) in of_layer(layer, files, &mut complain) {
            let below = parts.remove(&name).unwrap_or_default();
            parts.insert(name, part.over(below));
        }
    }
    let mut roles = BTreeMap::new();
    for (name, part) in parts {
        let Some(description) = part.description else {
            complain(format!("agent role `{name}` must define a description"));
            continue;
        };
        let role = AgentRole {
            description,
            config_file: part.config_file,
            nickname_candidates: part.nickname_candidates.unwrap_or_default(),
            model: part.model,
            effort: part.effort,
        };
        roles.insert(name, role);
    }
    roles
}

fn of_layer(
    layer: &Layer,
    files: &mut Files,
    complain: &mut impl FnMut(String),
) -> BTreeMap<String, Part> {
    let mut declared = BTreeMap::new();
    let mut named_files = BTreeSet::new();
    let tables = layer.config.get("agents").and_then(Value::as_object);
    let tables: BTreeMap<&String, &Value> = tables.into_iter().flatten().collect();
    for (name, value) in tables.into_iter().filter(|(_, value)| value.is_object()) {
        // The layer was checked before, so every table here is one of a role.
        let part: Part = serde_json::from_value(value.clone()).unwrap_or_default();
        named_files.extend(part.config_file.clone());
        match from_table(name, part, files) {
            Ok((name, part)) => add(&mut declared, name, part, complain),
            Err(reason) => complain(reason),
        }
    }
    let directory = layer.directory().map(|directory| directory.join("agents"));
    let found = directory.map(|directory| of_directory(&directory, &named_files, files, complain));
    for (name, part) in found.into_iter().flatten() {
        add(&mut declared, name, part, complain);
    }
    declared
}

fn add(
    roles: &mut BTreeMap<String, Part>,
    name: String,
    part: Part,
    complain: &mut impl FnMut(String),
) {
    match roles.entry(name) {
        Entry::Occupied(taken) => complain(format!(
            "duplicate agent role name `{}` declared in the same config layer",
            taken.key()
        )),
        Entry::Vacant(free) => {
            free.insert(part);
        }
    }
}

/// A role of an `[agents.NAME]` table. What its file says of the role counts more.
fn from_table(name: &str, part: Part, files: &mut Files) -> Result<(String, Part), String> {
    check(
        &format!("agents.{name}"),
        part.description.as_deref(),
        part.nickname_candidates.as_deref(),
    )?;
    let Some(path) = part.config_file.clone() else {
        return Ok((name.to_owned(), part));
    };
    let place = format!("agents.{name}.config_file must point to");
    match files.metadata(&path) {
        Ok(metadata) if metadata.is_file() => {}
        Ok(_) => return Err(format!("{place} a file: {}", path.display())),
        Err(error) => {
            return Err(format!(
                "{place} an existing file at {}: {error}",
                path.display()
            ));
        }
    }
    let file = read(&path, files)?;
    let name = file.name.unwrap_or_else(|| name.to_owned());
    Ok((name, file.part.over(part)))
}

/// The roles of the files in a directory, but for those that a table names.
fn of_directory(
    directory: &Path,
    named_files: &BTreeSet<PathBuf>,
    files: &mut Files,
    complain: &mut impl FnMut(String),
) -> BTreeMap<String, Part> {
    let mut paths = Vec::new();
    list(directory, MAX_DEPTH, files, &mut paths);
    let mut found = BTreeMap::new();
    for path in paths.into_iter().filter(|path| !named_files.contains(path)) {
        match from_file(&path, files) {
            Ok((name, _)) if found.contains_key(&name) => complain(format!(
                "duplicate agent role name `{name}` discovered in {}",
                directory.display()
            )),
            Ok((name, part)) => {
                found.insert(name, part);
            }
            Err(reason) => complain(reason),
        }
    }
    found
}

/// The TOML files below a directory, sorted by name in each.
fn list(directory: &Path, depth: usize, files: &mut Files, found: &mut Vec<PathBuf>) {
    if !files.is_dir(directory) {
        return;
    }
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        if found.len() == MAX_FILES {
            return;
        }
        if path.is_dir() {
            if depth > 0 {
                list(&path, depth - 1, files, found);
            }
        } else if path.extension().is_some_and(|ending| ending == "toml") {
            found.push(path);
        }
    }
}

/// A role of a file that no table names, which has to say everything.
fn from_file(path: &Path, files: &mut Files) -> Result<(String, Part), String> {
    let file = read(path, files)?;
    let place = format!("agent role file at {}", path.display());
    match file.instructions.as_deref().map(str::trim) {
        None => return Err(format!("{place} must define `developer_instructions`")),
        Some("") => return Err(format!("{place}.developer_instructions cannot be blank")),
        Some(_) => {}
    }
    let name = file
        .name
        .ok_or_else(|| format!("{place} must define a non-empty `name`"))?;
    Ok((name, file.part))
}

fn read(path: &Path, files: &mut Files) -> Result<RoleFile, String> {
    let shown = path.display();
    let text = files
        .read(path)
        .map_err(|error| format!("failed to read agent role file at {shown}: {error}"))?
        .unwrap_or_default();
    let mut table = document::parse(&text).map_err(|mistake| {
        let excerpt = document::excerpt(&text, &mistake);
        format!("failed to parse agent role file at {shown}: {excerpt}")
    })?;
    let misfit = |why: String| format!("failed to deserialize agent role file at {shown}: {why}\n");
    let own: Table = AgentRole::OWN_KEYS
        .iter()
        .filter_map(|key| table.remove(*key).map(|value| ((*key).to_owned(), value)))
        .collect();
    let ignored = schema::ignored_keys(&ROOT, &table);
    if let Some(unknown) = ignored.iter().find(|key| key.why != Why::NoEffect) {
        return Err(misfit(format!("unknown field `{}`", unknown.path)));
    }
    schema::check(&ROOT, &table).map_err(|mismatch| misfit(mismatch.message))?;
    let text_of = |table: &Table, key: &str| table.get(key)?.as_str().map(str::to_owned);
    let part = Part {
        config_file: Some(path.to_owned()),
        model: text_of(&table, "model"),
        effort: text_of(&table, "model_reasoning_effort"),
        ..Part::deserialize(&Value::Object(own.clone()))
            .map_err(|error| misfit(error.to_string()))?
    };
    check(
        &format!("agent role file {shown}"),
        part.description.as_deref(),
        part.nickname_candidates.as_deref(),
    )?;
    let name = match own.get("name") {
        None => None,
        Some(Value::String(name)) => Some(name.trim().to_owned()).filter(|name| !name.is_empty()),
        Some(_) => return Err(misfit("`name` is not a string".to_owned())),
    };
    Ok(RoleFile {
        name,
        instructions: text_of(&table, "developer_instructions"),
        part,
    })
}

fn check(place: &str, description: Option<&str>, names: Option<&[String]>) -> Result<(), String> {
    if description.is_some_and(|text| text.trim().is_empty()) {
        return Err(format!("{place}.description cannot be blank"));
    }
    match names.and_then(nickname_problem) {
        Some(problem) => Err(format!("{place}.nickname_candidates {problem}")),
        None => Ok(()),
    }
}

fn nickname_problem(names: &[String]) -> Option<&'static str> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, ' ' | '-' | '_');
    if names.is_empty() {
        return Some("must contain at least one name");
    }
    if names.iter().any(|name| name.trim().is_empty()) {
        return Some("cannot contain blank names");
    }
    if names
        .iter()
        .enumerate()
        .any(|(index, name)| names[..index].contains(name))
    {
        return Some("cannot contain duplicates");
    }
    let odd = names.iter().any(|name| !name.chars().all(plain));
    odd.then_some("may only contain ASCII letters, digits, spaces, hyphens, and underscores")
}
