//! Settings of the tools the model can call.

use std::time::Duration;

use quipu_wire::{WebSearchMode, WebSearchToolConfig};
use serde_json::Value;

use super::permissions::replaced;
use crate::features::{Feature, Features};
use crate::requirements::Requirements;
use crate::snapshot::View;

/// Settings of single tools.
#[derive(Debug, Clone, PartialEq)]
pub struct Tools {
    /// Whether the model searches the web.
    pub web_search: WebSearchMode,
    /// How it does.
    pub web_search_details: Option<WebSearchToolConfig>,
    /// Whether it may look at image files.
    pub view_image: bool,
    /// How long a poll of a background terminal may wait.
    pub background_terminal_max_timeout: Duration,
    /// How many tools of MCP servers the model is shown.
    pub mcp_listed: usize,
}

impl Tools {
    pub(crate) fn resolve(
        view: &View<'_>,
        features: &Features,
        limits: &Requirements,
        notes: &mut Vec<String>,
    ) -> Self {
        let table = view.raw("tools");
        let member = |name: &str| table.and_then(|table| table.get(name)).cloned();
        let details = member("web_search").filter(Value::is_object);
        let old_view_image = view
            .profile
            .and_then(|profile| profile.get("tools_view_image"))
            .cloned();
        let view_image = member("view_image").or(old_view_image);
        Self {
            web_search: web_search(view, features, limits, notes),
            web_search_details: details.and_then(|details| serde_json::from_value(details).ok()),
            view_image: view_image.and_then(|flag| flag.as_bool()).unwrap_or(true),
            background_terminal_max_timeout: Duration::from_millis(
                view.get("background_terminal_max_timeout")
                    .unwrap_or(300_000),
            ),
            mcp_listed: view.get("mcp_listed_tools").unwrap_or(100),
        }
    }
}

fn web_search(
    view: &View<'_>,
    features: &Features,
    limits: &Requirements,
    notes: &mut Vec<String>,
) -> WebSearchMode {
    let mode = view.get("web_search").unwrap_or_else(|| {
        // Features that once were the way to say it.
        if features.enabled(Feature::WebSearchRequest) {
            WebSearchMode::Live
        } else {
            WebSearchMode::Cached
        }
    });
    let Err(refusal) = limits.allow_web_search(&mode) else {
        return mode;
    };
    let allowed = limits.allow_web_search(&WebSearchMode::Cached).is_ok();
    let fallback = if allowed {
        WebSearchMode::Cached
    } else {
        WebSearchMode::Disabled
    };
    notes.push(replaced(&refusal, &format!("{fallback:?}")));
    fallback
}
