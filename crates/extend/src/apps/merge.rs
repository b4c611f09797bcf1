//! One list of apps out of what the sources know.

use std::collections::BTreeMap;

use quipu_config::settings::Apps;
use quipu_wire::AppInfo;

use super::unknown;

/// What is known of apps; a source that has not answered yet is `None`.
#[derive(Debug, Clone, Default)]
pub struct Known<'a> {
    /// All apps that there are.
    pub directory: Option<&'a [AppInfo]>,
    /// Those that the user has connected.
    pub connected: Option<&'a [AppInfo]>,
    /// The plugins that bring an app, by the app's id.
    pub plugins: BTreeMap<&'a str, Vec<String>>,
}

/// The list that clients see: connected apps first, then by name. Once the directory is known, an app that
/// neither it nor a plugin has is left out.
pub fn merge(known: &Known<'_>, settings: &Apps) -> Vec<AppInfo> {
    let mut apps: BTreeMap<&str, AppInfo> = BTreeMap::new();
    let listed = known.directory.into_iter().flatten();
    apps.extend(listed.map(|app| (app.id.as_str(), app.clone())));
    for id in known.plugins.keys() {
        apps.entry(id).or_insert_with(|| unknown(id));
    }
    for connected in known.connected.into_iter().flatten() {
        match apps.get_mut(connected.id.as_str()) {
            Some(app) => join(app, connected),
            None if known.directory.is_none() => {
                apps.insert(&connected.id, connected.clone());
            }
            None => {}
        }
    }
    let mut apps: Vec<AppInfo> = apps.into_values().collect();
    for app in &mut apps {
        if app.name.is_empty() {
            app.name.clone_from(&app.id);
        }
        app.is_enabled = settings.is_enabled(&app.id);
        let plugins = known.plugins.get(app.id.as_str());
        app.plugin_display_names = plugins
            .filter(|_| app.is_accessible)
            .cloned()
            .unwrap_or_default();
    }
    let order = |app: &AppInfo| (!app.is_accessible, app.name.clone(), app.id.clone());
    apps.sort_by_cached_key(order);
    apps
}

/// The directory knows more about an app than its tools, if it says anything.
fn join(app: &mut AppInfo, connected: &AppInfo) {
    app.is_accessible = true;
    if app.name.is_empty() || app.name == app.id {
        app.name.clone_from(&connected.name);
    }
    if app.description.is_none() {
        app.description.clone_from(&connected.description);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::apps::{connected, read_page};

    #[test]
    fn the_sources_become_one_list() {
        let page = r#"{"apps":[{"id":"notes","name":"Notes"},{"id":"mail","name":""},
            {"id":"cal","name":"Calendar","description":"all"}]}"#;
        let directory = read_page(page).unwrap().apps;
        let own = [
            connected("cal", Some("C"), Some("tools")),
            connected("mail", Some("Mail Box"), None),
            connected("gone", None, None),
        ];
        let settings = Apps::default();
        let brief = |apps: Vec<AppInfo>| -> Vec<String> {
            let one = |app: AppInfo| format!("{} {} {}", app.id, app.name, app.is_accessible);
            apps.into_iter().map(one).collect()
        };
        let only_own = Known {
            connected: Some(&own),
            ..Known::default()
        };
        assert_eq!(
            brief(merge(&only_own, &settings)),
            ["cal C true", "mail Mail Box true", "gone gone true"]
        );
        let all = Known {
            directory: Some(&directory),
            connected: Some(&own),
            plugins: BTreeMap::from([("cal", vec!["Demo".to_owned()]), ("x", Vec::new())]),
        };
        let merged = merge(&all, &settings);
        assert_eq!(merged[0].plugin_display_names, ["Demo"]);
        assert_eq!(merged[0].description.as_deref(), Some("all"));
        let mail = "https://chatgpt.com/apps/app/mail";
        assert_eq!(merged[1].install_url.as_deref(), Some(mail));
        let expected = [
            "cal Calendar true",
            "mail Mail Box true",
            "notes Notes false",
            "x x false",
        ];
        assert_eq!(brief(merged), expected);
    }
}
