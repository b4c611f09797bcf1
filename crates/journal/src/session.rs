//! The first line of a rollout: which thread this is, who made it and from where.

use std::time::SystemTime;

use quipu_wire::{AgentPath, Json, SessionSource, SubAgentSource, ThreadId};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use uuid::Uuid;

use crate::time;

/// The payload of a `session_meta` line.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct SessionMeta {
    /// The thread's id.
    pub id: Uuid,
    /// The thread this one was forked from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forked_from_id: Option<Uuid>,
    /// When the thread was created: RFC 3339, UTC, milliseconds.
    pub timestamp: String,
    /// The working directory the thread started in.
    pub cwd: String,
    /// The name of the client that asked for the thread.
    #[serde(default)]
    pub originator: String,
    /// The version of the program that wrote the file.
    #[serde(default)]
    pub cli_version: String,
    /// The kind of program the thread belongs to.
    #[serde(default)]
    pub source: Source,
    /// The display name of a spawned agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_nickname: Option<String>,
    /// The role of a spawned agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_role: Option<String>,
    /// The path name of a spawned agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_path: Option<String>,
    /// The model provider the thread began with.
    #[serde(default)]
    pub model_provider: Option<String>,
    /// The instructions sent with every request of the thread.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_instructions: Option<BaseInstructions>,
    /// The tools the client offered, as it described them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dynamic_tools: Option<Json>,
    /// Whether the thread may feed memories.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_mode: Option<String>,
    /// The repository state when the file was created.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub git: Option<GitInfo>,
    /// How the file stores what clients see: `legacy`, which is what absence means, or `paginated`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub history_mode: Option<String>,
    /// The beginning of the history, where it is in another file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub history_base: Option<HistoryBase>,
}

/// The part of another rollout that a thread's history begins with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct HistoryBase {
    /// The other file: its thread, or the last id in its name where it has two.
    pub thread_id: Uuid,
    /// The number of the first line that does not belong to it.
    pub end_ordinal_exclusive: u64,
    /// Where that line begins.
    pub end_byte_offset: u64,
}

impl SessionMeta {
    /// A thread of which nothing more is known.
    pub fn new(id: Uuid, created: SystemTime, cwd: impl Into<String>) -> Self {
        Self {
            id,
            forked_from_id: None,
            timestamp: time::stamp(created),
            cwd: cwd.into(),
            originator: String::new(),
            cli_version: String::new(),
            source: Source::default(),
            agent_nickname: None,
            agent_role: None,
            agent_path: None,
            model_provider: None,
            base_instructions: None,
            dynamic_tools: None,
            memory_mode: None,
            git: None,
            history_mode: None,
            history_base: None,
        }
    }

    /// Whether the lines of the file are numbered and its items stored as `item_completed`.
    pub fn is_paginated(&self) -> bool {
        self.history_mode.as_deref() == Some("paginated")
    }
}

/// The `base_instructions` member of [`SessionMeta`].
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct BaseInstructions {
    /// The text.
    pub text: String,
}

/// What is known of the repository a thread works in.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GitInfo {
    /// The commit checked out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit_hash: Option<String>,
    /// The branch checked out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// The address of the remote called origin.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repository_url: Option<String>,
}

impl GitInfo {
    /// Whether nothing is known.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// The kind of program a thread belongs to, as rollouts spell it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Source {
    /// The terminal program.
    Cli,
    /// An editor, and the default of the app-server.
    #[default]
    VsCode,
    /// A one-shot run.
    Exec,
    /// The MCP server.
    Mcp,
    /// Another program, by name.
    Custom(String),
    /// A thread made by another thread.
    SubAgent(SubAgent),
    /// A spelling this version does not know.
    Unknown,
}

/// Why a thread made another one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SubAgent {
    /// A code review.
    Review,
    /// A compaction.
    Compact,
    /// The upkeep of memories.
    MemoryConsolidation,
    /// An agent spawned by the model.
    ThreadSpawn(ThreadSpawn),
    /// Another reason, by name.
    Other(String),
}

/// The origin of a spawned agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThreadSpawn {
    /// The thread that spawned it.
    pub parent_thread_id: String,
    /// How far from the root thread.
    pub depth: i32,
    /// Its path name.
    #[serde(default)]
    pub agent_path: Option<String>,
    /// Its display name.
    #[serde(default)]
    pub agent_nickname: Option<String>,
    /// Its role.
    #[serde(default, alias = "agent_type")]
    pub agent_role: Option<String>,
}

/// The spellings of [`Source`] in JSON; anything else reads as `Unknown`.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum SourceJson {
    Cli,
    #[serde(rename = "vscode")]
    VsCode,
    Exec,
    Mcp,
    Unknown,
    Custom(String),
    #[serde(rename = "subagent")]
    SubAgent(SubAgent),
}

impl Serialize for Source {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.clone() {
            Self::Cli => SourceJson::Cli,
            Self::VsCode => SourceJson::VsCode,
            Self::Exec => SourceJson::Exec,
            Self::Mcp => SourceJson::Mcp,
            Self::Custom(name) => SourceJson::Custom(name),
            Self::SubAgent(reason) => SourceJson::SubAgent(reason),
            Self::Unknown => SourceJson::Unknown,
        }
        .serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Source {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(match Json::deserialize(deserializer)?.parse() {
            Ok(SourceJson::Cli) => Self::Cli,
            Ok(SourceJson::VsCode) => Self::VsCode,
            Ok(SourceJson::Exec) => Self::Exec,
            Ok(SourceJson::Mcp) => Self::Mcp,
            Ok(SourceJson::Custom(name)) => Self::Custom(name),
            Ok(SourceJson::SubAgent(reason)) => Self::SubAgent(reason),
            Ok(SourceJson::Unknown) | Err(_) => Self::Unknown,
        })
    }
}

impl From<Source> for SessionSource {
    fn from(source: Source) -> Self {
        match source {
            Source::Cli => Self::Cli,
            Source::VsCode => Self::Vscode,
            Source::Exec => Self::Exec,
            Source::Mcp => Self::AppServer,
            Source::Custom(name) => Self::Custom(name),
            Source::Unknown => Self::Unknown,
            Source::SubAgent(reason) => Self::SubAgent(match reason {
                SubAgent::Review => SubAgentSource::Review,
                SubAgent::Compact => SubAgentSource::Compact,
                SubAgent::MemoryConsolidation => SubAgentSource::MemoryConsolidation,
                SubAgent::Other(name) => SubAgentSource::Other(name),
                SubAgent::ThreadSpawn(spawn) => SubAgentSource::ThreadSpawn {
                    parent_thread_id: ThreadId(spawn.parent_thread_id),
                    depth: spawn.depth,
                    agent_path: spawn.agent_path.map(AgentPath),
                    agent_nickname: spawn.agent_nickname,
                    agent_role: spawn.agent_role,
                },
            }),
        }
    }
}

impl From<GitInfo> for quipu_wire::GitInfo {
    fn from(git: GitInfo) -> Self {
        Self {
            sha: git.commit_hash,
            branch: git.branch,
            origin_url: git.repository_url,
        }
    }
}

impl Source {
    /// The word list requests filter by. Custom sources are filtered by their own name, which
    /// starts with `custom:` so that it cannot be taken for another kind.
    pub fn kind(&self) -> String {
        match self {
            Self::Cli => "cli",
            Self::VsCode => "vscode",
            Self::Exec => "exec",
            Self::Mcp => "appServer",
            Self::Unknown => "unknown",
            Self::SubAgent(SubAgent::Review) => "subAgentReview",
            Self::SubAgent(SubAgent::Compact) => "subAgentCompact",
            Self::SubAgent(SubAgent::MemoryConsolidation) => "subAgentMemoryConsolidation",
            Self::SubAgent(SubAgent::ThreadSpawn(_)) => "subAgentThreadSpawn",
            Self::SubAgent(SubAgent::Other(_)) => "subAgentOther",
            Self::Custom(name) => return format!("custom:{name}"),
        }
        .to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_keep_their_official_spelling() {
        for json in [
            r#""cli""#,
            r#""vscode""#,
            r#""exec""#,
            r#""mcp""#,
            r#""unknown""#,
            r#"{"custom":"atlas"}"#,
            r#"{"subagent":"review"}"#,
            r#"{"subagent":"memory_consolidation"}"#,
            r#"{"subagent":{"other":"guardian"}}"#,
            r#"{"subagent":{"thread_spawn":{"parent_thread_id":"p","depth":1,"agent_path":null,"agent_nickname":"Euler","agent_role":null}}}"#,
        ] {
            let source: Source = serde_json::from_str(json).unwrap();
            assert_eq!(serde_json::to_string(&source).unwrap(), json);
        }
    }

    #[test]
    fn strange_sources_are_unknown() {
        for json in [r#""wat""#, r#"{"weird":1}"#, "7", "null", "[]"] {
            assert_eq!(
                serde_json::from_str::<Source>(json).unwrap(),
                Source::Unknown,
                "{json}"
            );
        }
    }
}
