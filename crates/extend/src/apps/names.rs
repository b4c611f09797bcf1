//! Names that are made of the names of apps.

/// The page on which the user can connect an app.
pub fn install_url(name: &str, id: &str) -> String {
    format!("https://chatgpt.com/apps/{}/{id}", slug(name))
}

/// The name of an app as it is written in addresses and after a `$`.
pub fn slug(name: &str) -> String {
    let slug = plain(name, '-');
    match slug.trim_matches('-') {
        "" => "app".to_owned(),
        slug => slug.to_owned(),
    }
}

/// The name of an app's tool: that of the app, then that of the tool, without repeating the app.
pub fn tool_name(app_id: &str, app_name: Option<&str>, tool: &str) -> String {
    let tool = plain(tool, '_');
    let id = plain(app_id, '_');
    let name = app_name.map(|name| plain(name.trim(), '_'));
    let name = name.filter(|name| !name.is_empty());
    let app = name.as_deref().unwrap_or(&id);
    let without = |prefix: &str| {
        let rest = tool.strip_prefix(prefix)?.strip_prefix('_')?;
        (!rest.is_empty()).then(|| rest.to_owned())
    };
    let rest = without(app)
        .or_else(|| without(&id))
        .unwrap_or(tool.clone());
    format!("{app}_{rest}")
}

fn plain(name: &str, other: char) -> String {
    let plain = |c: char| match c.is_ascii_alphanumeric() {
        true => c.to_ascii_lowercase(),
        false => other,
    };
    name.chars().map(plain).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_hold_plain_names() {
        for (name, slug) in [
            ("Calendar", "calendar"),
            ("Notes & More", "notes---more"),
            ("", "app"),
            ("é", "app"),
        ] {
            assert_eq!(super::slug(name), slug, "{name}");
        }
        let url = "https://chatgpt.com/apps/demo-app/x1";
        assert_eq!(install_url("Demo App", "x1"), url);
    }

    #[test]
    fn tools_are_named_after_their_app_once() {
        for (id, name, tool, expected) in [
            (
                "cal",
                Some("Calendar"),
                "calendar_create",
                "calendar_create",
            ),
            ("mail", Some("Mail Box"), "mail_ask", "mail_box_ask"),
            ("cal", Some("Calendar"), "Do-It", "calendar_do_it"),
            ("cal", Some("Calendar"), "calendar", "calendar_calendar"),
            ("cal", Some("Calendar"), "calendars", "calendar_calendars"),
            ("x.1", None, "x_1_go", "x_1_go"),
        ] {
            assert_eq!(tool_name(id, name, tool), expected);
        }
    }
}
