//! `SKILL.md`: the block of YAML between lines of dashes at its top.

use std::io;
use std::path::Path;

use serde::Deserialize;

use super::yaml::{self, YamlError};
use crate::plugins;

/// The longest `SKILL.md` that is read.
const MAX_BYTES: u64 = 1024 * 1024;
const MAX_NAME: usize = 64;
const MAX_TEXT: usize = 1024;

/// What a skill says of itself.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Manifest {
    pub name: String,
    pub description: String,
    pub short_description: Option<String>,
}

/// Why a skill cannot be used. The texts are those clients know.
#[derive(Debug, thiserror::Error)]
pub(super) enum ManifestError {
    #[error("failed to read file: {0}")]
    Unreadable(#[from] io::Error),
    #[error("missing YAML frontmatter delimited by ---")]
    NoBlock,
    #[error("invalid YAML: {0}")]
    Yaml(#[from] YamlError),
    #[error("missing field `{0}`")]
    Missing(&'static str),
    #[error("invalid {field}: exceeds maximum length of {limit} characters")]
    TooLong { field: &'static str, limit: usize },
}

#[derive(Deserialize)]
struct Block {
    name: Option<String>,
    description: Option<String>,
    #[serde(default)]
    metadata: Metadata,
}

#[derive(Deserialize, Default)]
struct Metadata {
    #[serde(rename = "short-description")]
    short_description: Option<String>,
}

/// Reads a skill; `plugin` brings it, if that is known already.
pub(super) fn read(file: &Path, plugin: Option<&str>) -> Result<Manifest, ManifestError> {
    let text = quipu_disk::read_text(file, MAX_BYTES)?;
    let directory = file.parent().unwrap_or(file);
    let mut manifest = parse(&text, &directory_name(directory))?;
    let plugin = plugin.map(str::to_owned);
    if let Some(plugin) = plugin.or_else(|| plugin_name(directory)) {
        manifest.name = format!("{plugin}:{}", manifest.name);
    }
    limit("name", &manifest.name, MAX_NAME)?;
    Ok(manifest)
}

fn parse(text: &str, directory: &str) -> Result<Manifest, ManifestError> {
    let block: Block = yaml::parse(&block(text).ok_or(ManifestError::NoBlock)?)?;
    let given = |text: Option<String>| {
        text.map(|text| one_line(&text))
            .filter(|text| !text.is_empty())
    };
    let description = given(block.description).ok_or(ManifestError::Missing("description"))?;
    let short_description = given(block.metadata.short_description);
    limit("description", &description, MAX_TEXT)?;
    if let Some(short) = &short_description {
        limit("metadata.short-description", short, MAX_TEXT)?;
    }
    Ok(Manifest {
        name: given(block.name).unwrap_or_else(|| directory.to_owned()),
        description,
        short_description,
    })
}

/// The lines between the first line, which must be dashes, and the next one of dashes.
fn block(text: &str) -> Option<String> {
    let mut lines = text.lines();
    lines.next().filter(|first| first.trim() == "---")?;
    let mut block = Vec::new();
    for line in lines {
        if line.trim() == "---" {
            let block = block.join("\n");
            return (!block.trim().is_empty()).then_some(block);
        }
        block.push(line);
    }
    None
}

fn limit(field: &'static str, text: &str, limit: usize) -> Result<(), ManifestError> {
    if text.chars().count() > limit {
        return Err(ManifestError::TooLong { field, limit });
    }
    Ok(())
}

pub(crate) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn directory_name(directory: &Path) -> String {
    let name = directory.file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}

/// The name of the plugin that a directory is part of.
fn plugin_name(directory: &Path) -> Option<String> {
    #[derive(Deserialize)]
    struct Plugin {
        name: String,
    }
    let file = directory
        .ancestors()
        .map(|dir| dir.join(plugins::MANIFEST))
        .find(|file| file.is_file())?;
    let text = quipu_disk::read_text(&file, MAX_BYTES).ok()?;
    let plugin: Plugin = serde_json::from_str(&text).ok()?;
    Some(plugin.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        parse(text, "directory").unwrap_err().to_string()
    }

    #[test]
    fn the_block_at_the_top_counts() {
        let text = "--- \nname:  My\n  skill\ndescription: Does\n  things\nmetadata:\n  short-description: S\n---\nBody\n";
        let manifest = parse(text, "directory").unwrap();
        assert_eq!(manifest.name, "My skill");
        assert_eq!(manifest.description, "Does things");
        assert_eq!(manifest.short_description.as_deref(), Some("S"));
        let nameless = parse("---\ndescription: d\n---", "directory").unwrap();
        assert_eq!(nameless.name, "directory");
    }

    #[test]
    fn mistakes_are_named() {
        let no_block = "missing YAML frontmatter delimited by ---";
        for text in ["", "name: x", "---\nname: x\n", "---\n\n---\n"] {
            assert_eq!(error(text), no_block, "{text:?}");
        }
        assert_eq!(error("---\nname: x\n---"), "missing field `description`");
        assert!(error("---\n: [\n---").starts_with("invalid YAML: "));
        let deep = format!("---\na: {}\n---", "[".repeat(100_000));
        assert_eq!(error(&deep), "invalid YAML: it has more than 65536 bytes");
        let long = format!("---\ndescription: {}\n---", "x".repeat(1025));
        assert_eq!(
            error(&long),
            "invalid description: exceeds maximum length of 1024 characters"
        );
    }
}
