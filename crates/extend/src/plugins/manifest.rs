//! `.codex-plugin/plugin.json`: what a plugin is called, how to show it, and where its parts are.

use std::path::{Component, Path, PathBuf};

use quipu_wire::{AbsolutePath, PluginInterface};
use serde::Deserialize;
use serde_json::Value;

use crate::skills::one_line;

/// The file that makes a directory a plugin.
pub const FILE: &str = ".codex-plugin/plugin.json";
/// The longest file of a plugin that is read.
pub(super) const MAX_BYTES: u64 = 1024 * 1024;
/// How many suggestions a plugin may make, and how long each may be.
const MAX_PROMPTS: usize = 3;
const MAX_PROMPT_CHARS: usize = 128;

/// What a plugin says of itself.
#[derive(Debug, Default)]
pub(super) struct Manifest {
    pub name: Option<String>,
    pub description: Option<String>,
    pub interface: Option<PluginInterface>,
    /// Where its parts are, if not in the usual places.
    pub skills: Option<PathBuf>,
    pub mcp_servers: Option<PathBuf>,
    pub apps: Option<PathBuf>,
    pub hooks: Option<PathBuf>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Json {
    name: Option<String>,
    description: Option<String>,
    interface: Option<InterfaceJson>,
    skills: Option<String>,
    mcp_servers: Option<String>,
    apps: Option<String>,
    hooks: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct InterfaceJson {
    display_name: Option<String>,
    short_description: Option<String>,
    long_description: Option<String>,
    developer_name: Option<String>,
    category: Option<String>,
    #[serde(default)]
    capabilities: Vec<String>,
    #[serde(alias = "websiteURL")]
    website_url: Option<String>,
    #[serde(alias = "privacyPolicyURL")]
    privacy_policy_url: Option<String>,
    #[serde(alias = "termsOfServiceURL")]
    terms_of_service_url: Option<String>,
    default_prompt: Option<Value>,
    brand_color: Option<String>,
    composer_icon: Option<String>,
    logo: Option<String>,
    #[serde(default)]
    screenshots: Vec<String>,
}

impl Manifest {
    /// The manifest of the plugin in a directory; `None` if there is none that can be used.
    pub fn read(plugin: &Path) -> Option<Manifest> {
        let text = quipu_disk::read_text(&plugin.join(FILE), MAX_BYTES).ok()?;
        let json: Json = serde_json::from_str(&text).ok()?;
        let part = |path: &Option<String>| below(plugin, path.as_deref()?);
        Some(Manifest {
            name: json.name.filter(|name| !name.trim().is_empty()),
            description: json.description,
            skills: part(&json.skills),
            mcp_servers: part(&json.mcp_servers),
            apps: part(&json.apps),
            hooks: part(&json.hooks),
            interface: json.interface.and_then(|json| interface(plugin, json)),
        })
    }
}

/// A path of the manifest: relative, with `./` in front, and nowhere but below the plugin. Others count as
/// absent.
fn below(plugin: &Path, path: &str) -> Option<PathBuf> {
    let path = Path::new(path.strip_prefix("./")?);
    let normal = |part: &Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
    let parts: Vec<Component<'_>> = path.components().collect();
    let usable = !parts.is_empty() && parts.iter().all(normal);
    let normal_parts = parts
        .into_iter()
        .filter(|part| matches!(part, Component::Normal(_)));
    usable.then(|| plugin.join(normal_parts.collect::<PathBuf>()))
}

/// How to show the plugin; nothing if it says nothing about it.
fn interface(plugin: &Path, json: InterfaceJson) -> Option<PluginInterface> {
    let asset = |path: &str| AbsolutePath::new(below(plugin, path)?);
    let interface = PluginInterface {
        display_name: json.display_name,
        short_description: json.short_description,
        long_description: json.long_description,
        developer_name: json.developer_name,
        category: json.category,
        capabilities: json.capabilities,
        website_url: json.website_url,
        privacy_policy_url: json.privacy_policy_url,
        terms_of_service_url: json.terms_of_service_url,
        default_prompt: json.default_prompt.as_ref().and_then(prompts),
        brand_color: json.brand_color,
        composer_icon: json.composer_icon.as_deref().and_then(asset),
        logo: json.logo.as_deref().and_then(asset),
        screenshots: json.screenshots.iter().filter_map(|it| asset(it)).collect(),
        screenshot_urls: Vec::new(),
    };
    (interface != empty_interface()).then_some(interface)
}

/// How to show a plugin that says nothing about it.
pub(super) fn empty_interface() -> PluginInterface {
    PluginInterface {
        display_name: None,
        short_description: None,
        long_description: None,
        developer_name: None,
        category: None,
        capabilities: Vec::new(),
        website_url: None,
        privacy_policy_url: None,
        terms_of_service_url: None,
        default_prompt: None,
        brand_color: None,
        composer_icon: None,
        logo: None,
        screenshots: Vec::new(),
        screenshot_urls: Vec::new(),
    }
}

/// One suggestion or a list of them; those that are too long, empty or no text are left out.
fn prompts(value: &Value) -> Option<Vec<String>> {
    let single;
    let values = match value {
        Value::Array(values) => values.as_slice(),
        value => {
            single = [value.clone()];
            &single
        }
    };
    let texts = values.iter().filter_map(Value::as_str).map(one_line);
    let usable = texts.filter(|text| !text.is_empty() && text.chars().count() <= MAX_PROMPT_CHARS);
    let prompts: Vec<String> = usable.take(MAX_PROMPTS).collect();
    (!prompts.is_empty()).then_some(prompts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_lead_nowhere_but_below_the_plugin() {
        let plugin = Path::new("/p");
        for path in ["x", "./", "../x", "./../x", "./a/../b", "/x", ".//x"] {
            assert_eq!(below(plugin, path), None, "{path}");
        }
        for (path, found) in [("./a", "/p/a"), ("./a/./b", "/p/a/b")] {
            assert_eq!(below(plugin, path), Some(PathBuf::from(found)));
        }
    }

    #[test]
    fn suggestions_are_few_and_short() {
        let read = |json: &str| prompts(&serde_json::from_str(json).unwrap());
        let texts = |texts: &[&str]| Some(texts.iter().map(|it| (*it).to_owned()).collect());
        assert_eq!(read(r#""Do  it""#), texts(&["Do it"]));
        let list = r#"["a", " b  c ", "", 5, "d", "e"]"#;
        assert_eq!(read(list), texts(&["a", "b c", "d"]));
        let long = "x".repeat(129);
        assert_eq!(read(&format!(r#"["{long}", "ok"]"#)), texts(&["ok"]));
        for json in ["5", "[]", r#""""#, r#"{"a":1}"#] {
            assert_eq!(read(json), None, "{json}");
        }
    }
}
