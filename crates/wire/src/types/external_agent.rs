//! Taking over the settings, skills and instructions of another coding agent.

use quipu_wire_macros::wire;

/// Parameters of `externalAgentConfig/detect`.
#[wire(params, default)]
pub struct ExternalAgentConfigDetectParams {
    /// Also looks in the user's home directory.
    #[wire(sparse)]
    pub include_home: bool,
    /// Directories whose repositories to look in.
    pub cwds: Option<Vec<String>>,
}

/// Something that can be taken over.
#[wire]
pub struct ExternalAgentConfigMigrationItem {
    pub item_type: ExternalAgentConfigMigrationItemType,
    /// What is copied from where to where, for the user.
    pub description: String,
    /// The repository it is found in; null for the home directory.
    pub cwd: Option<String>,
}

/// What kind of thing can be taken over.
#[wire(screaming)]
pub enum ExternalAgentConfigMigrationItemType {
    /// Instructions, rewritten as an `AGENTS.md` that does not exist yet.
    #[wire(rename = "AGENTS_MD")]
    AGENTSMD,
    /// Settings, added to `config.toml` where it has none.
    CONFIG,
    /// Directories of skills whose names are not taken.
    SKILLS,
    /// MCP servers; reserved, neither detected nor imported.
    #[wire(rename = "MCP_SERVER_CONFIG")]
    MCPSERVERCONFIG,
}

/// Parameters of `externalAgentConfig/import`.
#[wire(params, default)]
pub struct ExternalAgentConfigImportParams {
    /// Taken over in order, until one fails.
    pub migration_items: Vec<ExternalAgentConfigMigrationItem>,
}

/// Result of `externalAgentConfig/detect`.
#[wire]
pub struct ExternalAgentConfigDetectResponse {
    pub items: Vec<ExternalAgentConfigMigrationItem>,
}

/// Result of `externalAgentConfig/import`.
#[wire]
pub struct ExternalAgentConfigImportResponse {
    /// Names the import in `externalAgentConfig/import/completed`.
    #[wire(since = "0.166", hidden_default)]
    pub import_id: String,
}

/// Something that was taken over.
#[wire]
pub struct ExternalAgentConfigImportItemTypeSuccess {
    pub item_type: ExternalAgentConfigMigrationItemType,
    pub cwd: Option<String>,
    pub source: Option<String>,
    pub target: Option<String>,
    /// Always null: no sessions are taken over.
    pub title: Option<String>,
}

/// Something that could not be taken over.
#[wire]
pub struct ExternalAgentConfigImportItemTypeFailure {
    pub item_type: ExternalAgentConfigMigrationItemType,
    pub error_type: Option<String>,
    pub sub_error_type: Option<String>,
    pub failure_stage: String,
    pub message: String,
    pub cwd: Option<String>,
    pub source: Option<String>,
}

/// What became of the items of one kind.
#[wire]
pub struct ExternalAgentConfigImportTypeResult {
    pub item_type: ExternalAgentConfigMigrationItemType,
    pub successes: Vec<ExternalAgentConfigImportItemTypeSuccess>,
    /// Always empty: an import that fails is answered with an error.
    pub failures: Vec<ExternalAgentConfigImportItemTypeFailure>,
}

/// `externalAgentConfig/import/completed`.
#[wire]
pub struct ExternalAgentConfigImportCompletedNotification {
    pub import_id: String,
    /// By kind, in the order in which they were first taken over.
    pub item_type_results: Vec<ExternalAgentConfigImportTypeResult>,
}
