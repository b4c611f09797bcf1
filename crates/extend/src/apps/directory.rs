//! The directory of all apps, as the backend answers with it page by page.

use quipu_wire::AppInfo;
use serde::Deserialize;
use serde_json::Value;

use super::{install_url, is_public};

/// One page of the directory.
#[derive(Debug, Default)]
pub struct Page {
    /// The apps that users may see.
    pub apps: Vec<AppInfo>,
    /// What to ask for the next page with.
    pub next: Option<String>,
}

/// Reads a page. An app that cannot be read is left out.
pub fn read_page(text: &str) -> Result<Page, serde_json::Error> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Json {
        apps: Vec<Value>,
        #[serde(alias = "next_token")]
        next_token: Option<String>,
    }
    let Json { apps, next_token } = serde_json::from_str(text)?;
    Ok(Page {
        apps: apps.into_iter().filter_map(app).collect(),
        next: next_token.filter(|token| !token.trim().is_empty()),
    })
}

fn app(mut json: Value) -> Option<AppInfo> {
    let members = json.as_object_mut()?;
    let visibility = members.get("visibility").and_then(Value::as_str);
    if visibility.is_some_and(|it| it.eq_ignore_ascii_case("hidden")) {
        return None;
    }
    // What is known of the user does not come from the directory.
    for own in [
        "isAccessible",
        "isEnabled",
        "pluginDisplayNames",
        "installUrl",
    ] {
        members.remove(own);
    }
    members.entry("name").or_insert_with(|| "".into());
    let mut app: AppInfo = serde_json::from_value(json).ok()?;
    if !is_public(&app.id) {
        return None;
    }
    app.install_url = Some(install_url(app.name.trim(), &app.id));
    app.name = app.name.trim().to_owned();
    let description = app.description.map(|text| text.trim().to_owned());
    app.description = description.filter(|text| !text.is_empty());
    app.is_accessible = false;
    app.is_enabled = true;
    Some(app)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_holds_what_users_may_see() {
        let page = read_page(
            r#"{"apps":[{"id":"n","name":" Notes ","description":" d ","isAccessible":true},
                {"id":"h","name":"H","visibility":"HIDDEN"},{"id":"connector_openai_x","name":"o"},
                {"id":5},{"id":"m"}],"nextToken":"t"}"#,
        );
        let page = page.unwrap();
        let ids: Vec<&str> = page.apps.iter().map(|app| app.id.as_str()).collect();
        assert_eq!(ids, ["n", "m"]);
        let notes = &page.apps[0];
        assert_eq!(notes.name, "Notes");
        assert_eq!(notes.description.as_deref(), Some("d"));
        assert!(!notes.is_accessible);
        assert_eq!(page.next.as_deref(), Some("t"));
        assert!(read_page("[]").is_err());
    }
}
