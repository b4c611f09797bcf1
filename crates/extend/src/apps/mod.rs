//! Apps: services that act for the user. What is known of them comes from a directory of all apps, from the
//! tools of those that the user has connected, and from plugins.

mod directory;
mod merge;
mod names;

use quipu_wire::{AppInfo, AppSummary};

pub use directory::{Page, read_page};
pub use merge::{Known, merge};
pub use names::{install_url, slug, tool_name};

/// Apps with such ids are part of the provider's own products, and nobody connects them.
const INTERNAL: &str = "connector_openai_";

/// Whether an app is for users to see.
pub fn is_public(id: &str) -> bool {
    !id.is_empty() && !id.starts_with(INTERNAL)
}

/// An app that the user has connected, of which only what its tools say is known.
pub fn connected(id: &str, name: Option<&str>, description: Option<&str>) -> AppInfo {
    let name = given(name).unwrap_or(id);
    AppInfo {
        is_accessible: true,
        description: given(description).map(str::to_owned),
        ..plain(id, name, install_url(name, id))
    }
}

/// An app of which only the id is known.
pub fn unknown(id: &str) -> AppInfo {
    plain(id, id, install_url(id, id))
}

/// What a plugin shows of an app.
pub fn summary(app: &AppInfo) -> AppSummary {
    AppSummary {
        id: app.id.clone(),
        name: app.name.clone(),
        description: app.description.clone(),
        install_url: app.install_url.clone(),
        needs_auth: !app.is_accessible,
    }
}

fn given(text: Option<&str>) -> Option<&str> {
    text.map(str::trim).filter(|text| !text.is_empty())
}

fn plain(id: &str, name: &str, install_url: String) -> AppInfo {
    AppInfo {
        id: id.to_owned(),
        name: name.to_owned(),
        description: None,
        logo_url: None,
        logo_url_dark: None,
        distribution_channel: None,
        branding: None,
        app_metadata: None,
        labels: None,
        install_url: Some(install_url),
        is_accessible: false,
        is_enabled: true,
        plugin_display_names: Vec::new(),
    }
}
