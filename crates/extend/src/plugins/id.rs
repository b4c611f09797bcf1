//! How a plugin is named in settings and requests: its own name and that of its marketplace.

use std::fmt;

use super::PluginError;

/// The name of a plugin. Both parts are also names of directories, so they are plain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PluginId {
    plugin: String,
    marketplace: String,
}

impl PluginId {
    /// A plugin of a marketplace.
    pub fn new(plugin: &str, marketplace: &str) -> Result<PluginId, PluginError> {
        for (what, name) in [("plugin", plugin), ("marketplace", marketplace)] {
            if let Some(problem) = problem(what, name) {
                return Err(PluginError::Refused(problem));
            }
        }
        Ok(PluginId {
            plugin: plugin.to_owned(),
            marketplace: marketplace.to_owned(),
        })
    }

    /// Reads `plugin@marketplace`.
    pub fn parse(key: &str) -> Result<PluginId, PluginError> {
        let parts = key.rsplit_once('@');
        let Some((plugin, marketplace)) = parts.filter(|(a, b)| !a.is_empty() && !b.is_empty())
        else {
            return Err(PluginError::Refused(format!(
                "invalid plugin key `{key}`; expected <plugin>@<marketplace>"
            )));
        };
        PluginId::new(plugin, marketplace)
            .map_err(|error| PluginError::Refused(format!("{error} in `{key}`")))
    }

    /// Its own name.
    pub fn plugin(&self) -> &str {
        &self.plugin
    }

    /// The name of its marketplace.
    pub fn marketplace(&self) -> &str {
        &self.marketplace
    }
}

impl fmt::Display for PluginId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}", self.plugin, self.marketplace)
    }
}

/// What is wrong with a name, if anything is.
pub(super) fn problem(what: &str, name: &str) -> Option<String> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    if name.is_empty() {
        return Some(format!("invalid {what} name: must not be empty"));
    }
    let text = "only ASCII letters, digits, `_`, and `-` are allowed";
    (!name.chars().all(plain)).then(|| format!("invalid {what} name: {text}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_have_two_plain_parts() {
        assert_eq!(PluginId::parse("a@b").unwrap().to_string(), "a@b");
        for (key, text) in [
            (
                "a",
                "invalid plugin key `a`; expected <plugin>@<marketplace>",
            ),
            (
                "@b",
                "invalid plugin key `@b`; expected <plugin>@<marketplace>",
            ),
            (
                "../x@b",
                "invalid plugin name: only ASCII letters, digits, `_`, and `-` are allowed in `../x@b`",
            ),
        ] {
            assert_eq!(PluginId::parse(key).unwrap_err().to_string(), text);
        }
    }
}
