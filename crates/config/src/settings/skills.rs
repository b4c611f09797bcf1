//! Skills switched on or off.

use std::path::PathBuf;

use quipu_wire::ConfigLayerSource;
use serde_json::Value;

use crate::snapshot::Snapshot;

/// Which skill is meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SkillSelector {
    /// The one in this `SKILL.md`.
    Path(PathBuf),
    /// Those of this name.
    Name(String),
}

/// A skill switched on or off.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkillSwitch {
    /// Which.
    pub selector: SkillSelector,
    /// On or off.
    pub enabled: bool,
}

/// Settings of skills.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skills {
    /// Skills switched on or off; later ones win.
    pub switches: Vec<SkillSwitch>,
    /// The skills that come with the program are there.
    pub bundled: bool,
}

impl Snapshot {
    /// Settings of skills. Projects cannot switch skills, so only the user and the flags count.
    pub fn skills(&self) -> Skills {
        let own = self.stack().enabled().filter(|layer| {
            matches!(
                layer.source,
                ConfigLayerSource::User { .. } | ConfigLayerSource::SessionFlags
            )
        });
        let entries = own
            .filter_map(|layer| layer.config.get("skills")?.get("config")?.as_array())
            .flatten()
            .filter_map(switch);
        let bundled = self
            .view()
            .raw("skills")
            .and_then(|skills| skills.get("bundled")?.get("enabled"));
        Skills {
            switches: entries.collect(),
            bundled: bundled != Some(&Value::Bool(false)),
        }
    }
}

/// One entry of `[[skills.config]]`; entries with both selectors or none mean nothing.
fn switch(entry: &Value) -> Option<SkillSwitch> {
    let text = |key: &str| entry.get(key).and_then(Value::as_str);
    let selector = match (text("path"), text("name")) {
        (Some(path), None) => SkillSelector::Path(PathBuf::from(path)),
        (None, Some(name)) => SkillSelector::Name(name.to_owned()),
        _ => return None,
    };
    Some(SkillSwitch {
        selector,
        enabled: entry.get("enabled")?.as_bool()?,
    })
}
