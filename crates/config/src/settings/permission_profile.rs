//! Named permission profiles: `default_permissions` picks a table of `[permissions]`, which says path by
//! path what commands may touch.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use quipu_wire::{AbsolutePath, NetworkAccess, ReadOnlyAccess, SandboxPolicy};
use serde::Deserialize;
use serde_json::Value;

use super::network::ProfileNetwork;
use super::permissions::read_only;
use crate::load::LoadError;
use crate::snapshot::View;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Profile {
    filesystem: Option<BTreeMap<String, Entry>>,
    network: ProfileNetwork,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Entry {
    Whole(Access),
    Parts(BTreeMap<String, Access>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Access {
    Read,
    Write,
    None,
}

/// The paths of a profile, by what they allow.
#[derive(Default)]
struct Reach {
    read_all: bool,
    write_all: bool,
    platform: bool,
    workspace: bool,
    tmpdir: bool,
    roots: Vec<AbsolutePath>,
    recognized: bool,
}

/// The profile in force, if one is: its policy, and its part of the managed network.
pub(super) fn resolve(
    view: &View<'_>,
    cwd: &Path,
    notes: &mut Vec<String>,
) -> Result<Option<(SandboxPolicy, ProfileNetwork)>, LoadError> {
    let invalid = |text: &str| Err(LoadError::Invalid(text.to_owned()));
    let profiles = view.raw("permissions").and_then(Value::as_object);
    let name = view.get::<String>("default_permissions");
    if let Some(name) = name.as_deref().filter(|name| name.starts_with(':')) {
        return match built_in(name) {
            Some(policy) => Ok(Some((policy, ProfileNetwork::default()))),
            None => invalid(&format!(
                "default_permissions refers to unknown built-in profile `{name}`"
            )),
        };
    }
    let (name, profiles) = match (name, profiles) {
        (Some(name), Some(profiles)) => (name, profiles),
        (Some(_), None) => {
            return invalid("default_permissions requires a `[permissions]` table");
        }
        (None, Some(profiles)) if !profiles.is_empty() => {
            return invalid(
                "config defines `[permissions]` profiles but does not set `default_permissions`",
            );
        }
        (None, _) => return Ok(None),
    };
    let Some(profile) = profiles.get(&name) else {
        return invalid(&format!(
            "default_permissions refers to undefined profile `{name}`"
        ));
    };
    let profile: Profile = serde_json::from_value(profile.clone()).unwrap_or_default();
    let reach = Reach::of(&profile, cwd)?;
    if !reach.recognized {
        notes.push(format!(
            "Permissions profile `{name}` does not define any recognized filesystem entries for this version \
             of Codex. Filesystem access will remain restricted. Upgrade Codex if this profile expects \
             filesystem permissions."
        ));
    }
    let policy = reach.policy(profile.network.enabled);
    Ok(Some((policy, profile.network)))
}

/// A permission profile to choose.
#[derive(Debug, Clone, PartialEq)]
pub struct PermissionProfile {
    pub name: String,
    pub description: Option<String>,
    /// What commands may touch; `None` if the table of the profile cannot be used.
    pub policy: Option<SandboxPolicy>,
}

/// The profiles to choose from: the built-in ones, then those of the configuration.
pub(crate) fn all(view: &View<'_>, cwd: &Path) -> Vec<PermissionProfile> {
    let built_in = BUILT_IN.iter().map(|name| PermissionProfile {
        name: (*name).to_owned(),
        description: None,
        policy: built_in(name),
    });
    let tables = view.raw("permissions").and_then(Value::as_object);
    let own = tables.into_iter().flatten().map(|(name, table)| {
        let profile: Option<Profile> = serde_json::from_value(table.clone()).ok();
        let reach = |profile: Profile| {
            let reach = Reach::of(&profile, cwd).ok()?;
            Some(reach.policy(profile.network.enabled))
        };
        let description = table.get("description").and_then(Value::as_str);
        PermissionProfile {
            name: name.clone(),
            description: description.map(str::to_owned),
            policy: profile.and_then(reach),
        }
    });
    built_in.chain(own).collect()
}

/// The profiles that need no table.
const BUILT_IN: [&str; 3] = [":read-only", ":workspace", ":danger-full-access"];

/// The policy of a profile that needs no table.
fn built_in(name: &str) -> Option<SandboxPolicy> {
    match name {
        ":read-only" => Some(read_only()),
        ":workspace" => Some(SandboxPolicy::WorkspaceWrite {
            writable_roots: Vec::new(),
            read_only_access: ReadOnlyAccess::FullAccess,
            network_access: false,
            exclude_tmpdir_env_var: false,
            exclude_slash_tmp: false,
        }),
        ":danger-full-access" => Some(SandboxPolicy::DangerFullAccess),
        _ => None,
    }
}

impl Reach {
    fn of(profile: &Profile, cwd: &Path) -> Result<Self, LoadError> {
        let mut reach = Self::default();
        for (path, entry) in profile.filesystem.iter().flatten() {
            match entry {
                Entry::Whole(access) => reach.add(path, None, *access, cwd)?,
                Entry::Parts(parts) => {
                    for (part, access) in parts {
                        reach.add(path, Some(part), *access, cwd)?;
                    }
                }
            }
        }
        Ok(reach)
    }

    fn add(
        &mut self,
        path: &str,
        part: Option<&str>,
        access: Access,
        cwd: &Path,
    ) -> Result<(), LoadError> {
        let part = part.filter(|part| *part != ".");
        self.recognized = true;
        match (path, part, access) {
            (_, _, Access::None) => {}
            (":root", None, Access::Read) => self.read_all = true,
            (":root", None, Access::Write) => self.write_all = true,
            (":minimal", None, Access::Read) => self.platform = true,
            (":project_roots", None, Access::Write) => self.workspace = true,
            (":project_roots", None, Access::Read) => self.add_root(cwd.to_owned()),
            (":project_roots", Some(part), Access::Read) => self.add_root(cwd.join(part)),
            (":tmpdir", None, Access::Write) => self.tmpdir = true,
            (name, _, _) if name.starts_with(':') => self.recognized = false,
            (path, part, access) => {
                if !Path::new(path).is_absolute() {
                    return Err(LoadError::Invalid(format!(
                        "filesystem path `{path}` must be absolute, use `~/...`, or start with `:`"
                    )));
                }
                let path = Path::new(path).join(part.unwrap_or_default());
                self.add_path(path, access, cwd)?;
            }
        }
        Ok(())
    }

    fn add_path(&mut self, path: PathBuf, access: Access, cwd: &Path) -> Result<(), LoadError> {
        match access {
            Access::Read => self.add_root(path),
            Access::Write if path == cwd => self.workspace = true,
            _ => {
                return Err(LoadError::Invalid(
                    "permissions profile requests filesystem writes outside the workspace root, which is not \
                     supported until the runtime enforces FileSystemSandboxPolicy directly"
                        .to_owned(),
                ));
            }
        }
        Ok(())
    }

    fn add_root(&mut self, path: PathBuf) {
        self.roots.extend(AbsolutePath::new(path));
    }

    fn policy(self, network_access: bool) -> SandboxPolicy {
        if self.write_all && network_access {
            return SandboxPolicy::DangerFullAccess;
        }
        if self.write_all {
            let network_access = NetworkAccess::Restricted;
            return SandboxPolicy::ExternalSandbox { network_access };
        }
        let access = if self.read_all {
            ReadOnlyAccess::FullAccess
        } else {
            ReadOnlyAccess::Restricted {
                include_platform_defaults: self.platform,
                readable_roots: self.roots,
            }
        };
        if self.workspace {
            return SandboxPolicy::WorkspaceWrite {
                writable_roots: Vec::new(),
                read_only_access: access,
                network_access,
                exclude_tmpdir_env_var: !self.tmpdir,
                exclude_slash_tmp: true,
            };
        }
        SandboxPolicy::ReadOnly {
            access,
            network_access,
        }
    }
}
