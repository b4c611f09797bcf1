//! Skills: instructions for a kind of task, which the model reads when it needs them.

use quipu_wire_macros::wire;

use crate::AbsolutePath;

/// More directories to look in for one working directory.
#[wire]
pub struct SkillsListExtraRootsForCwd {
    /// One of `cwds`; others are ignored.
    pub cwd: String,
    /// Absolute paths; skills in them have the scope `user`.
    pub extra_user_roots: Vec<String>,
}

/// Parameters of `skills/list`.
#[wire(params, default)]
pub struct SkillsListParams {
    /// The working directories to list skills for; the server's own if empty.
    #[wire(sparse)]
    pub cwds: Vec<String>,
    /// Looks on the disk again instead of using an earlier list.
    #[wire(sparse)]
    pub force_reload: bool,
    #[wire(default)]
    pub per_cwd_extra_user_roots: Option<Vec<SkillsListExtraRootsForCwd>>,
}

/// Parameters of `skills/config/write`.
#[wire(params, default)]
pub struct SkillsConfigWriteParams {
    /// The `SKILL.md` of the skill; either this or `name`.
    pub path: Option<AbsolutePath>,
    /// The name of the skill; either this or `path`.
    pub name: Option<String>,
    pub enabled: bool,
}

/// What a skill needs.
#[wire]
pub struct SkillDependencies {
    pub tools: Vec<SkillToolDependency>,
}

/// A skill that cannot be used.
#[wire]
pub struct SkillErrorInfo {
    /// Its `SKILL.md`; the working directory if no skill could be looked for.
    pub path: String,
    pub message: String,
}

/// How to show a skill.
#[wire(nulls)]
pub struct SkillInterface {
    #[wire(sparse)]
    pub display_name: Option<String>,
    #[wire(sparse)]
    pub short_description: Option<String>,
    /// An absolute path, which need not exist.
    #[wire(sparse)]
    pub icon_small: Option<String>,
    /// An absolute path, which need not exist.
    #[wire(sparse)]
    pub icon_large: Option<String>,
    /// As `#RRGGBB`.
    #[wire(sparse)]
    pub brand_color: Option<String>,
    /// Something to start with.
    #[wire(sparse)]
    pub default_prompt: Option<String>,
}

/// A skill.
#[wire]
pub struct SkillMetadata {
    /// At most 64 characters; skills of plugins are named `<plugin>:<skill>`.
    pub name: String,
    /// What the model goes by to pick it; at most 1024 characters.
    pub description: String,
    /// From `SKILL.md`; the one in `interface` is newer.
    #[wire(sparse)]
    pub short_description: Option<String>,
    #[wire(sparse)]
    pub interface: Option<SkillInterface>,
    #[wire(sparse)]
    pub dependencies: Option<SkillDependencies>,
    /// Its `SKILL.md`.
    pub path: String,
    pub scope: SkillScope,
    pub enabled: bool,
}

/// Where a skill comes from.
#[wire]
pub enum SkillScope {
    /// The user or a plugin.
    User,
    /// The project.
    Repo,
    /// The server, which brings it along.
    System,
    /// The administrator of the machine.
    Admin,
}

/// A tool that a skill needs.
#[wire]
pub struct SkillToolDependency {
    /// The kind of tool, such as an MCP server.
    #[wire(rename = "type")]
    pub kind: String,
    /// The name of the tool.
    pub value: String,
    #[wire(sparse)]
    pub description: Option<String>,
    /// How an MCP server is reached.
    #[wire(sparse)]
    pub transport: Option<String>,
    /// What starts an MCP server.
    #[wire(sparse)]
    pub command: Option<String>,
    /// Where an MCP server is.
    #[wire(sparse)]
    pub url: Option<String>,
}

/// The skills for one working directory.
#[wire]
pub struct SkillsListEntry {
    /// As in the request.
    pub cwd: String,
    /// Sorted by scope (`repo`, `user`, `system`, `admin`), then by name.
    pub skills: Vec<SkillMetadata>,
    pub errors: Vec<SkillErrorInfo>,
}

/// Result of `skills/list`.
#[wire]
pub struct SkillsListResponse {
    /// One entry per working directory, in the order of the request.
    pub data: Vec<SkillsListEntry>,
}

/// What a plugin shows of a skill.
#[wire]
pub struct SkillSummary {
    pub name: String,
    pub description: String,
    pub short_description: Option<String>,
    pub interface: Option<SkillInterface>,
    /// Its `SKILL.md`.
    pub path: String,
    pub enabled: bool,
}

/// Result of `skills/config/write`.
#[wire]
pub struct SkillsConfigWriteResponse {
    /// Whether the skill is enabled now.
    pub effective_enabled: bool,
}

/// Parameters of the notification `skills/changed`: lists of skills are out of date.
#[wire]
pub struct SkillsChangedNotification {}

/// Parameters of `skills/extraRoots/set`.
#[wire(params, default)]
pub struct SkillsExtraRootsSetParams {
    /// Directories with skills, which replace those that were set before.
    pub extra_roots: Vec<AbsolutePath>,
}

/// Result of `skills/extraRoots/set`.
#[wire]
pub struct SkillsExtraRootsSetResponse {}
