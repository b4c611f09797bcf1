//! Settings by consumer: small structs with defaults applied, taken from a [`Snapshot`](crate::Snapshot).

mod account;
mod agent_roles;
mod agents;
mod apps;
mod budget;
mod catalog;
mod hidden_paths;
mod instructions;
mod mcp;
mod model;
mod network;
mod own_keys;
mod permission_profile;
mod permissions;
mod plugins;
mod providers;
mod realtime;
mod session;
mod shell_environment;
mod skills;
mod telemetry;
mod tools;

pub use account::{Account, CHATGPT_BASE_URL, CredentialsStore, McpOauth, McpOauthStore};
pub use agent_roles::AgentRole;
pub use agents::Agents;
pub use apps::{AppApprovals, AppToolHints, Apps};
pub use budget::{Budget, BudgetLimit};
pub use catalog::ModelCatalog;
pub use hidden_paths::CREDENTIALS;
pub use instructions::Instructions;
pub(crate) use mcp::note_forbidden as note_forbidden_servers;
pub use mcp::{McpServer, McpToolApproval, McpTransport};
pub use model::ModelSettings;
pub use network::ManagedNetwork;
pub use permission_profile::PermissionProfile;
pub(crate) use permission_profile::{Base, all as permission_profiles};
pub use permissions::Permissions;
pub(crate) use permissions::Place;
pub use plugins::{MarketplaceSource, Repository};
pub use providers::{BUILT_IN_PROVIDERS, Secret};
pub(crate) use providers::{check as check_providers, openai_base_url};
pub use realtime::{Realtime, RealtimeVersion};
pub use session::{LeftTurns, ProjectDocs, Session, Storage, StoreAddress};
pub use shell_environment::{Inherit, ShellEnvironment};
pub use skills::{SkillSelector, SkillSwitch, Skills};
pub use telemetry::{Exporter, OtlpProtocol, Telemetry, Tls};
pub use tools::Tools;

/// What the system says about a file that is not there.
const MISSING_FILE: &str = "No such file or directory (os error 2)";
