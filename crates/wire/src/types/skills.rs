//! MODDOC

use quipu_wire_macros::wire;

use crate::AbsolutePath;

/// DOC
#[wire]
pub struct SkillsListExtraRootsForCwd {
    pub cwd: String,
    pub extra_user_roots: Vec<String>,
}

/// Parameters of `skills/list`.
#[wire(params, default)]
pub struct SkillsListParams {
    #[wire(sparse)]
    pub cwds: Vec<String>,
    #[wire(sparse)]
    pub force_reload: bool,
    #[wire(default)]
    pub per_cwd_extra_user_roots: Option<Vec<SkillsListExtraRootsForCwd>>,
}

/// Parameters of `skills/config/write`.
#[wire(params, default)]
pub struct SkillsConfigWriteParams {
    pub path: Option<AbsolutePath>,
    pub name: Option<String>,
    pub enabled: bool,
}

/// DOC
#[wire]
pub struct SkillDependencies {
    pub tools: Vec<SkillToolDependency>,
}

/// DOC
#[wire]
pub struct SkillErrorInfo {
    pub path: String,
    pub message: String,
}

/// DOC
#[wire]
pub struct SkillInterface {
    #[wire(sparse)]
    pub display_name: Option<String>,
    #[wire(sparse)]
    pub short_description: Option<String>,
    #[wire(sparse)]
    pub icon_small: Option<String>,
    #[wire(sparse)]
    pub icon_large: Option<String>,
    #[wire(sparse)]
    pub brand_color: Option<String>,
    #[wire(sparse)]
    pub default_prompt: Option<String>,
}

/// DOC
#[wire]
pub struct SkillMetadata {
    pub name: String,
    pub description: String,
    #[wire(sparse)]
    pub short_description: Option<String>,
    #[wire(sparse)]
    pub interface: Option<SkillInterface>,
    #[wire(sparse)]
    pub dependencies: Option<SkillDependencies>,
    pub path: String,
    pub scope: SkillScope,
    pub enabled: bool,
}

/// DOC
#[wire]
pub enum SkillScope {
    User,
    Repo,
    System,
    Admin,
}

/// DOC
#[wire]
pub struct SkillToolDependency {
    #[wire(rename = "type")]
    pub kind: String,
    pub value: String,
    #[wire(sparse)]
    pub description: Option<String>,
    #[wire(sparse)]
    pub transport: Option<String>,
    #[wire(sparse)]
    pub command: Option<String>,
    #[wire(sparse)]
    pub url: Option<String>,
}

/// DOC
#[wire]
pub struct SkillsListEntry {
    pub cwd: String,
    pub skills: Vec<SkillMetadata>,
    pub errors: Vec<SkillErrorInfo>,
}

/// Result of `skills/list`.
#[wire]
pub struct SkillsListResponse {
    pub data: Vec<SkillsListEntry>,
}

/// DOC
#[wire]
pub struct SkillSummary {
    pub name: String,
    pub description: String,
    pub short_description: Option<String>,
    pub interface: Option<SkillInterface>,
    pub path: String,
    pub enabled: bool,
}

/// Result of `skills/config/write`.
#[wire]
pub struct SkillsConfigWriteResponse {
    pub effective_enabled: bool,
}

/// Parameters of the notification `skills/changed`.
#[wire]
pub struct SkillsChangedNotification {}
