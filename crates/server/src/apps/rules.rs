//! Which tools of apps are offered, and under which names.

use std::collections::BTreeMap;

use quipu_config::settings::{AppToolHints, Apps};
use quipu_extend::apps::{is_public, tool_name};
use quipu_mcp::{Connector, Tool, ToolOffer, ToolRules};
use serde::Deserialize;

use crate::mcp::plugin_note;

/// What the settings and plugins say about the tools of apps.
#[derive(Debug)]
pub(crate) struct AppRules {
    pub settings: Apps,
    /// The plugins that bring an app, by the app's id.
    pub plugins: BTreeMap<String, Vec<String>>,
}

impl ToolRules for AppRules {
    fn offer(&self, tool: &Tool) -> Option<ToolOffer> {
        let app = connector(tool)?;
        let hints = AppToolHints {
            destructive: tool.hints.destructive_hint == Some(true),
            open_world: tool.hints.open_world_hint == Some(true),
        };
        let is_on = self.settings.is_tool_enabled(&app.id, &tool.name, hints);
        let plugins = self.plugins.get(&app.id);
        is_on.then(|| ToolOffer {
            name: Some(tool_name(&app.id, app.name.as_deref(), &tool.name)),
            note: plugins.map(|it| plugin_note(&it.iter().map(String::as_str).collect::<Vec<_>>())),
            connector: Some(app),
        })
    }
}

/// The app that a tool says it belongs to; tools of no app are not for models.
pub(super) fn connector(tool: &Tool) -> Option<Connector> {
    #[derive(Deserialize)]
    struct Meta {
        connector_id: String,
        connector_name: Option<String>,
        connector_description: Option<String>,
    }
    let meta: Meta = serde_json::from_str(tool.meta.as_ref()?.get()).ok()?;
    let given = |text: Option<String>| text.filter(|text| !text.trim().is_empty());
    is_public(&meta.connector_id).then(|| Connector {
        id: meta.connector_id,
        name: given(meta.connector_name),
        description: given(meta.connector_description),
    })
}
