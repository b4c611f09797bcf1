//! Logging in, here and at MCP servers.

use quipu_wire::ForcedLoginMethod;
use serde::Deserialize;
use serde_json::Value;

use crate::Table;
use crate::snapshot::Snapshot;

/// Where the ChatGPT backend usually is.
pub const CHATGPT_BASE_URL: &str = "https://chatgpt.com/backend-api/";

/// Where credentials are kept.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CredentialsStore {
    /// In a file of the home directory.
    #[default]
    File,
    /// In the keyring of the system.
    Keyring,
    /// In the keyring if there is one, else in the file.
    Auto,
    /// In memory only.
    Ephemeral,
}

/// Where tokens of MCP servers are kept.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum McpOauthStore {
    /// In the keyring if there is one, else in a file.
    #[default]
    Auto,
    /// In a file of the home directory.
    File,
    /// In the keyring of the system.
    Keyring,
}

/// The account of this program.
#[derive(Debug, Clone, PartialEq)]
pub struct Account {
    /// The only way to log in.
    pub forced_login_method: Option<ForcedLoginMethod>,
    /// The only ChatGPT workspace that may be used.
    pub forced_chatgpt_workspace_id: Option<String>,
    /// Where credentials are kept.
    pub credentials_store: CredentialsStore,
    /// Address of the ChatGPT backend.
    pub chatgpt_base_url: String,
}

/// Logging in at MCP servers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct McpOauth {
    /// Where tokens are kept.
    pub store: McpOauthStore,
    /// Port of the page the browser comes back to; any free one when absent.
    pub callback_port: Option<u16>,
    /// Address of that page as the browser sees it.
    pub callback_url: Option<String>,
}

impl Snapshot {
    /// The account of this program.
    pub fn account(&self) -> Account {
        let view = self.view();
        let url = self.chatgpt_base_url();
        Account {
            forced_login_method: view.get("forced_login_method"),
            forced_chatgpt_workspace_id: view.get("forced_chatgpt_workspace_id"),
            credentials_store: view.table("cli_auth_credentials_store"),
            chatgpt_base_url: url.unwrap_or_else(|| CHATGPT_BASE_URL.to_owned()),
        }
    }

    /// The address of the backend, which gets the tokens of the login: what a project says does not count, be
    /// it in a profile.
    fn chatgpt_base_url(&self) -> Option<String> {
        const KEY: &str = "chatgpt_base_url";
        let text = |table: &Value| Some(table.get(KEY)?.as_str()?.to_owned());
        let own = || self.stack().own().rev().map(|layer| &layer.config);
        let of_profiles = own().filter_map(|table| table.get("profiles")?.as_object());
        let of_profiles = of_profiles.flat_map(|profiles| profiles.values());
        let chosen: Option<String> = self.view().get(KEY);
        let top = |table: &Table| Some(table.get(KEY)?.as_str()?.to_owned());
        let mut known = of_profiles.filter_map(text).chain(own().filter_map(top));
        match chosen {
            Some(chosen) if known.any(|it| it == chosen) => Some(chosen),
            _ => own().find_map(top),
        }
    }

    /// Whether events about the use of plugins and apps are sent to the ChatGPT backend. Only the user can
    /// switch that on; silence means no.
    pub fn analytics(&self) -> bool {
        let said = |table: &Table| table.get("analytics")?.get("enabled")?.as_bool();
        let mut own = self.stack().own().rev();
        let enabled = own.find_map(|layer| said(&layer.config));
        enabled.unwrap_or(false)
    }

    /// Logging in at MCP servers.
    pub fn mcp_oauth(&self) -> McpOauth {
        let view = self.view();
        McpOauth {
            store: view.table("mcp_oauth_credentials_store"),
            callback_port: view.get("mcp_oauth_callback_port"),
            callback_url: view.get("mcp_oauth_callback_url"),
        }
    }
}
