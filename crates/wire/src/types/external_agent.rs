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
pub struct ExternalAgentConfigImportResponse {}
