//! MODDOC

use quipu_wire_macros::wire;

/// Parameters of `externalAgentConfig/detect`.
#[wire(params, default)]
pub struct ExternalAgentConfigDetectParams {
    #[wire(sparse)]
    pub include_home: bool,
    pub cwds: Option<Vec<String>>,
}

/// DOC
#[wire]
pub struct ExternalAgentConfigMigrationItem {
    pub item_type: ExternalAgentConfigMigrationItemType,
    pub description: String,
    pub cwd: Option<String>,
}

/// DOC
#[wire(screaming)]
pub enum ExternalAgentConfigMigrationItemType {
    #[wire(rename = "AGENTS_MD")]
    AGENTSMD,
    CONFIG,
    SKILLS,
    #[wire(rename = "MCP_SERVER_CONFIG")]
    MCPSERVERCONFIG,
}

/// Parameters of `externalAgentConfig/import`.
#[wire(params, default)]
pub struct ExternalAgentConfigImportParams {
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
