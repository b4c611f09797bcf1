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
    hidden: Vec<PathBuf>,
    recognized: bool,
}

/// Where the paths of a profile begin.
#[derive(Clone, Copy)]
pub(crate) struct Base<'a> {
    /// The directory of the thread.
    pub cwd: &'a Path,
    /// What `~` stands for.
    pub user_home: Option<&'a Path>,
}

/// A profile in force.
#[derive(Default)]
pub(super) struct Resolved {
    pub policy: Option<SandboxPolicy>,
    pub network: ProfileNetwork,
    /// What commands may not read.
    pub hidden: Vec<PathBuf>,
}

/// The profile in force; one without a policy if none is.
pub(super) fn resolve(
    view: &View<'_>,
    base: Base<'_>,
    notes: &mut Vec<String>,
) -> Result<Resolved, LoadError> {
    let invalid = |text: &str| Err(LoadError::Invalid(text.to_owned()));
    let profiles = view.raw("permissions").and_then(Value::as_object);
    let name = view.get::<String>("default_permissions");
    if let Some(name) = name.as_deref().filter(|name| name.starts_with(':')) {
        return match built_in(name) {
            Some(policy) => Ok(Resolved {
                policy: Some(policy),
                ..Resolved::default()
            }),
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
        (None, _) => return Ok(Resolved::default()),
    };
    let Some(profile) = profiles.get(&name) else {
        return invalid(&format!(
            "default_permissions refers to undefined profile `{name}`"
        ));
    };
    let profile: Profile = serde_json::from_value(profile.clone()).unwrap_or_default();
    let mut reach = Reach::of(&profile, base)?;
    if !reach.recognized {
        notes.push(format!(
            "Permissions profile `{name}` does not define any recognized filesystem entries for this version \
             of Codex. Filesystem access will remain restricted. Upgrade Codex if this profile expects \
             filesystem permissions."
        ));
    }
    let hidden = std::mem::take(&mut reach.hidden);
    Ok(Resolved {
        policy: Some(reach.policy(profile.network.enabled)),
        network: profile.network,
        hidden,
    })
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
pub(crate) fn all(view: &View<'_>, base: Base<'_>) -> Vec<PermissionProfile> {
    let built_in = BUILT_IN.iter().map(|name| PermissionProfile {
        name: (*name).to_owned(),
        description: None,
        policy: built_in(name),
    });
    let tables = view.raw("permissions").and_then(Value::as_object);
    let own = tables.into_iter().flatten().map(|(name, table)| {
        let profile: Option<Profile> = serde_json::from_value(table.clone()).ok();
        let reach = |profile: Profile| {
            let reach = Reach::of(&profile, base).ok()?;
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
    fn of(profile: &Profile, base: Base<'_>) -> Result<Self, LoadError> {
        let mut reach = Self::default();
        for (path, entry) in profile.filesystem.iter().flatten() {
            match entry {
                Entry::Whole(access) => reach.add(path, None, *access, base)?,
                Entry::Parts(parts) => {
                    for (part, access) in parts {
                        reach.add(path, Some(part), *access, base)?;
                    }
                }
            }
        }
        if reach.write_all && !reach.hidden.is_empty() {
            return Err(LoadError::Invalid(
                "`none` cannot be enforced in a permissions profile in which `:root` is `write`"
                    .to_owned(),
            ));
        }
        Ok(reach)
    }

    fn add(
        &mut self,
        path: &str,
        part: Option<&str>,
        access: Access,
        base: Base<'_>,
    ) -> Result<(), LoadError> {
        let cwd = base.cwd;
        let part = part.filter(|part| *part != ".");
        self.recognized = true;
        match (path, part, access) {
            (":root" | ":minimal" | ":tmpdir", None, Access::None) => {}
            (":root", Some(part), Access::None) => self.hide(&Path::new("/").join(part))?,
            (":project_roots", part, Access::None) => {
                self.hide(&cwd.join(part.unwrap_or_default()))?;
            }
            (name, _, Access::None) if name.starts_with(':') => {
                return Err(LoadError::Invalid(format!(
                    "filesystem path `{name}` cannot be `none`; use `:root`, `:project_roots` or an absolute path"
                )));
            }
            (":root", None, Access::Read) => self.read_all = true,
            (":root", None, Access::Write) => self.write_all = true,
            (":minimal", None, Access::Read) => self.platform = true,
            (":project_roots", None, Access::Write) => self.workspace = true,
            (":project_roots", None, Access::Read) => self.add_root(cwd.to_owned()),
            (":project_roots", Some(part), Access::Read) => self.add_root(cwd.join(part)),
            (":tmpdir", None, Access::Write) => self.tmpdir = true,
            (name, _, _) if name.starts_with(':') => self.recognized = false,
            (path, part, access) => {
                let home = base
                    .user_home
                    .filter(|_| path == "~" || path.starts_with("~/"));
                let whole = match home {
                    Some(home) => home.join(path.trim_start_matches('~').trim_start_matches('/')),
                    None => PathBuf::from(path),
                };
                if !whole.is_absolute() {
                    return Err(LoadError::Invalid(format!(
                        "filesystem path `{path}` must be absolute, use `~/...`, or start with `:`"
                    )));
                }
                self.add_path(whole.join(part.unwrap_or_default()), access, cwd)?;
            }
        }
        Ok(())
    }

    fn add_path(&mut self, path: PathBuf, access: Access, cwd: &Path) -> Result<(), LoadError> {
        match access {
            Access::Read => self.add_root(path),
            Access::None => self.hide(&path)?,
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

    fn hide(&mut self, path: &Path) -> Result<(), LoadError> {
        let text = path.to_string_lossy();
        if text.contains(['*', '?', '[']) {
            return Err(LoadError::Invalid(format!(
                "filesystem path `{text}` is a pattern, which cannot be `none`; name a file or a directory"
            )));
        }
        // A trailing slash of an empty part is not part of the name.
        self.hidden.push(path.components().collect());
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
