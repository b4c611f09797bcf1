//! Reports that a tool of an app is called, if the user has switched analytics on.

use std::sync::Arc;

use quipu_wire::{ServerNotification, ThreadItem};
use serde_json::json;

use super::sampling::Sampler;
use super::session::Session;
use crate::{Server, analytics, apps};

/// Looks at what clients are notified of, for the beginning of a call.
pub(super) fn track(
    server: &Arc<Server>,
    session: &Session,
    sampler: &Sampler,
    notification: &ServerNotification,
) {
    let ServerNotification::ItemStarted(started) = notification else {
        return;
    };
    let ThreadItem::McpToolCall {
        server: name, tool, ..
    } = &started.item
    else {
        return;
    };
    if name != apps::SERVER || !session.snapshot.analytics() {
        return;
    }
    let mut offered = sampler.mcp().fleet.tools().into_iter();
    let offered = offered.find(|it| it.server == *name && it.tool.name == *tool);
    if let Some(app) = offered.and_then(|it| it.connector) {
        let params = json!({
            "connector_id": app.id,
            "app_name": app.name,
            "thread_id": started.thread_id,
            "turn_id": started.turn_id,
            "model_slug": session.model,
        });
        analytics::app_used(server, &session.snapshot, params);
    }
}
