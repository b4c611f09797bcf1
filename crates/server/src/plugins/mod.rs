//! Plugins as requests and threads need them: what is installed, and what follows when that changes.

pub(crate) mod added;
mod curated;
mod remote;

use std::sync::Arc;

use quipu_config::Snapshot;
use quipu_extend::plugins::{Plugin, PluginError};

use crate::threads::{McpMessage, Message};
use crate::{Refusal, Server};

pub(crate) use curated::fetch_curated;
pub(crate) use remote::{Mutation, RemotePlugins, featured, mutate, start_up, sync};

impl Server {
    /// The plugins in force. Settings that name none cost nothing.
    pub(crate) fn plugins(&self, settings: &Arc<Snapshot>) -> Vec<Plugin> {
        if settings.enabled_plugins().is_empty() {
            return Vec::new();
        }
        let config = &self.settings.config;
        let skills = self.skills.find(config, settings, Vec::new(), false);
        skills.plugins.clone()
    }
}

/// Makes all threads take over the plugins: skills and hooks at once, MCP servers with the next turn.
pub(crate) async fn changed(server: &Server) {
    server.threads.reload_settings().await;
    for thread in server.threads.all() {
        thread.send(Message::Mcp(McpMessage::Reload)).await;
    }
}

/// What a client reads about a plugin that could not be read, installed or removed.
pub(crate) fn refusal(error: &PluginError, what: &str) -> Refusal {
    match error {
        PluginError::Io(_) | PluginError::Unreadable(_) => {
            Refusal::internal(format!("failed to {what}: {error}"))
        }
        error => Refusal::invalid_request(error.to_string()),
    }
}
