//! `agents/openai.yaml` beside a `SKILL.md`: how to show a skill, what it needs, who may use it. It is
//! optional in all its parts, so whatever makes no sense in it is left out.

use std::path::{Component, Path};

use quipu_wire::{SkillDependencies, SkillInterface, SkillToolDependency};
use serde_yaml_ng::Value;

use super::manifest::one_line;
use super::yaml;

/// Where it lies in the directory of a skill.
pub(super) const FILE: &str = "agents/openai.yaml";
const MAX_BYTES: u64 = 256 * 1024;
const MAX_NAME: usize = 64;
const MAX_TEXT: usize = 1024;
/// The name of this product in a list of products.
const PRODUCT: &str = "codex";

/// What the file says.
#[derive(Debug, Default, PartialEq)]
pub(super) struct About {
    pub interface: Option<SkillInterface>,
    pub dependencies: Option<SkillDependencies>,
    /// Whether the model may choose the skill by itself.
    pub implicit: bool,
    /// Whether the skill is meant for other products only.
    pub hidden: bool,
}

/// Reads the file in the directory of a skill.
pub(super) fn read(directory: &Path) -> About {
    let text = quipu_disk::read_text(&directory.join(FILE), MAX_BYTES).unwrap_or_default();
    parse(&text, directory)
}

fn parse(text: &str, directory: &Path) -> About {
    let root: Value = yaml::parse(text).unwrap_or_default();
    let policy = root.get("policy");
    let implicit = policy.and_then(|policy| policy.get("allow_implicit_invocation")?.as_bool());
    let products = policy.and_then(|policy| policy.get("products")?.as_sequence());
    About {
        interface: root
            .get("interface")
            .and_then(|it| interface(it, directory)),
        dependencies: root.get("dependencies").and_then(dependencies),
        implicit: implicit.unwrap_or(true),
        hidden: products.is_some_and(|products| {
            let named = |product: &Value| product.as_str().map(str::to_ascii_lowercase);
            !products.is_empty()
                && !products
                    .iter()
                    .any(|it| named(it).as_deref() == Some(PRODUCT))
        }),
    }
}

fn interface(value: &Value, directory: &Path) -> Option<SkillInterface> {
    let interface = SkillInterface {
        display_name: text(value, "display_name", MAX_NAME),
        short_description: text(value, "short_description", MAX_TEXT),
        icon_small: icon(value, "icon_small", directory),
        icon_large: icon(value, "icon_large", directory),
        brand_color: text(value, "brand_color", 7).filter(|color| is_color(color)),
        default_prompt: text(value, "default_prompt", MAX_TEXT),
    };
    let SkillInterface {
        display_name,
        short_description,
        icon_small,
        icon_large,
        brand_color,
        default_prompt,
    } = &interface;
    let members = [
        display_name,
        short_description,
        icon_small,
        icon_large,
        brand_color,
        default_prompt,
    ];
    let says_something = members.into_iter().any(Option::is_some);
    says_something.then_some(interface)
}

fn dependencies(value: &Value) -> Option<SkillDependencies> {
    let tools: Vec<_> = value
        .get("tools")?
        .as_sequence()?
        .iter()
        .filter_map(|tool| {
            Some(SkillToolDependency {
                kind: text(tool, "type", MAX_NAME)?,
                value: text(tool, "value", MAX_TEXT)?,
                description: text(tool, "description", MAX_TEXT),
                transport: text(tool, "transport", MAX_NAME),
                command: text(tool, "command", MAX_TEXT),
                url: text(tool, "url", MAX_TEXT),
            })
        })
        .collect();
    (!tools.is_empty()).then_some(SkillDependencies { tools })
}

fn text(value: &Value, key: &str, limit: usize) -> Option<String> {
    let text = one_line(value.get(key)?.as_str()?);
    (!text.is_empty() && text.chars().count() <= limit).then_some(text)
}

/// The absolute path of an image in the skill's own `assets`.
fn icon(value: &Value, key: &str, directory: &Path) -> Option<String> {
    let given = text(value, key, MAX_TEXT)?;
    let path: std::path::PathBuf = Path::new(&given)
        .components()
        .filter(|part| *part != Component::CurDir)
        .collect();
    let inside = path
        .components()
        .all(|part| matches!(part, Component::Normal(_)));
    let valid = inside && path.starts_with("assets") && path != Path::new("assets");
    valid.then(|| directory.join(path).to_string_lossy().into_owned())
}

fn is_color(text: &str) -> bool {
    let digits = text.strip_prefix('#').unwrap_or_default();
    digits.len() == 6 && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_makes_sense_is_kept() {
        let about = parse(
            "interface:\n  display_name: Greeter\n  brand_color: '#12345g'\n  icon_small: ./assets/i.png\n  \
             icon_large: assets/../x\ndependencies:\n  tools:\n  - {type: mcp, value: x}\n  - {type: mcp}\n\
             policy:\n  allow_implicit_invocation: false\n  products: [CODEX]\n",
            Path::new("/s"),
        );
        let interface = about.interface.unwrap();
        assert_eq!(interface.display_name.as_deref(), Some("Greeter"));
        assert_eq!(interface.icon_small.as_deref(), Some("/s/assets/i.png"));
        assert_eq!((interface.icon_large, interface.brand_color), (None, None));
        assert_eq!(about.dependencies.unwrap().tools.len(), 1);
        assert!(!about.implicit && !about.hidden);
    }

    #[test]
    fn nonsense_counts_as_nothing() {
        for text in [
            "",
            "[",
            "7",
            "interface: {display_name: ''}",
            "dependencies: {tools: []}",
        ] {
            let nothing = About {
                implicit: true,
                ..About::default()
            };
            assert_eq!(parse(text, Path::new("/s")), nothing, "{text}");
        }
        assert!(parse("policy: {products: [atlas]}", Path::new("/s")).hidden);
    }
}
