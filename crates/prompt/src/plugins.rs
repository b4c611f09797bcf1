//! Plugins as the model meets them: the list of those in force, and a note about one that the person
//! mentions.

use quipu_wire::Json;

use super::message;

/// What the model reads when plugins came or went during a thread.
pub(crate) const CHANGED: &str = "Plugins were installed or removed. The lists of skills and plugins that follow \
     replace those from before; what they leave out is gone.";

/// A plugin that is installed and enabled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plugin {
    /// `<name>@<marketplace>`.
    pub id: String,
    /// What its skills have in front of their names.
    pub prefix: String,
    /// Its name for people.
    pub name: String,
    /// What it is for.
    pub description: Option<String>,
    /// Whether it brings skills.
    pub has_skills: bool,
    /// The MCP servers that it brings.
    pub servers: Vec<String>,
    /// The ids of the apps that it brings.
    pub apps: Vec<String>,
}

/// The section that lists the plugins; nothing if there are none.
pub fn section(plugins: &[Plugin]) -> Option<String> {
    if plugins.is_empty() {
        return None;
    }
    let lines = plugins.iter().map(|plugin| match &plugin.description {
        Some(text) if !text.trim().is_empty() => format!("- `{}`: {}\n", plugin.name, text.trim()),
        _ => format!("- `{}`\n", plugin.name),
    });
    let usage = include_str!("prompts/plugins_usage.md").trim_end();
    Some(format!(
        "<plugins_instructions>\n## Plugins\n\nThe user has installed these bundles of skills, MCP tools and \
         apps:\n\n{}\n{usage}\n</plugins_instructions>",
        lines.collect::<String>()
    ))
}

/// What the model reads after a message that mentions a plugin; nothing if it brings nothing. `apps` are the
/// names of its apps.
pub fn note(plugin: &Plugin, apps: &[String]) -> Option<Json> {
    let listed = |names: &[String]| {
        let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
        quoted.join(", ")
    };
    let parts = [
        plugin
            .has_skills
            .then(|| format!("- skills whose names begin with `{}:`\n", plugin.prefix)),
        (!plugin.servers.is_empty())
            .then(|| format!("- tools of the MCP servers {}\n", listed(&plugin.servers))),
        (!apps.is_empty()).then(|| format!("- the apps {}\n", listed(apps))),
    ];
    let parts: String = parts.into_iter().flatten().collect();
    (!parts.is_empty()).then(|| {
        let text = format!(
            "The user mentioned the plugin `{}`. It offers:\n{parts}Use these for the request where they fit.",
            plugin.name
        );
        message::developer(vec![message::text(text)])
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plugin() -> Plugin {
        Plugin {
            id: "demo@mkt".into(),
            prefix: "demo".into(),
            name: "Demo".into(),
            description: Some("Does things".into()),
            has_skills: true,
            servers: vec!["srv".into()],
            apps: Vec::new(),
        }
    }

    #[test]
    fn the_list_names_every_plugin() {
        assert_eq!(section(&[]), None);
        let section = section(&[plugin()]).unwrap();
        assert!(section.contains("\n- `Demo`: Does things\n"), "{section}");
    }

    #[test]
    fn a_note_says_what_can_be_used() {
        let note = note(&plugin(), &["Calendar".into()]).unwrap().to_value();
        assert_eq!(note["role"], "developer");
        let text = note["content"][0]["text"].as_str().unwrap().to_owned();
        assert!(text.contains("begin with `demo:`"), "{text}");
        assert!(text.contains("MCP servers `srv`\n"), "{text}");
        assert!(text.contains("the apps `Calendar`\n"), "{text}");
        let bare = Plugin {
            has_skills: false,
            servers: Vec::new(),
            ..plugin()
        };
        assert_eq!(super::note(&bare, &[]), None);
    }
}
