//! What a person has accepted for the rest of the session, so that the same is not asked twice.

use std::collections::HashSet;
use std::hash::Hash;
use std::path::{Path, PathBuf};

use quipu_wire::{AbsolutePath, AdditionalPermissionProfile};

use crate::command_line::Canonical;
use crate::hosts::Target;
use crate::permissions::SandboxPermissions;

/// Beyond this many entries of a kind nothing more is remembered, and is asked again instead.
const MAX_ENTRIES: usize = 10_000;

/// What makes two commands the same for a session.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct CommandKey {
    pub(crate) command: Canonical,
    pub(crate) cwd: PathBuf,
    pub(crate) permissions: SandboxPermissions,
    pub(crate) additional: Option<PermissionKey>,
    pub(crate) tty: bool,
    /// Whether it is about running without the sandbox after it was in the way.
    pub(crate) lifted: bool,
}

/// Additional permissions in a form that can be compared: network, files to read, files to write.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct PermissionKey {
    network: Option<bool>,
    read: Vec<AbsolutePath>,
    write: Vec<AbsolutePath>,
}

impl PermissionKey {
    pub(crate) fn of(profile: &AdditionalPermissionProfile) -> PermissionKey {
        let sorted = |paths: Option<&Vec<AbsolutePath>>| {
            let mut paths = paths.cloned().unwrap_or_default();
            paths.sort();
            paths
        };
        let files = profile.file_system.as_ref();
        PermissionKey {
            network: profile.network.as_ref().and_then(|network| network.enabled),
            read: sorted(files.and_then(|files| files.read.as_ref())),
            write: sorted(files.and_then(|files| files.write.as_ref())),
        }
    }
}

/// Everything accepted for the session of one thread.
#[derive(Debug, Clone, Default)]
pub struct SessionApprovals {
    commands: HashSet<CommandKey>,
    files: HashSet<PathBuf>,
    targets: HashSet<Target>,
    tools: HashSet<(String, String)>,
}

fn remember<T: Eq + Hash>(known: &mut HashSet<T>, new: T) {
    if known.len() < MAX_ENTRIES {
        known.insert(new);
    }
}

impl SessionApprovals {
    /// Remembers a command.
    pub fn accept_command(&mut self, key: CommandKey) {
        remember(&mut self.commands, key);
    }

    /// Remembers every file of a patch.
    pub fn accept_files(&mut self, paths: impl IntoIterator<Item = PathBuf>) {
        for path in paths {
            remember(&mut self.files, path);
        }
    }

    /// Remembers a network target.
    pub fn accept_target(&mut self, target: Target) {
        remember(&mut self.targets, target);
    }

    /// Remembers a tool of an MCP server.
    pub fn accept_mcp_tool(&mut self, server: &str, tool: &str) {
        remember(&mut self.tools, (server.to_owned(), tool.to_owned()));
    }

    pub(crate) fn has_command(&self, key: &CommandKey) -> bool {
        self.commands.contains(key)
    }

    pub(crate) fn has_file(&self, path: &Path) -> bool {
        self.files.contains(path)
    }

    pub(crate) fn has_target(&self, target: &Target) -> bool {
        self.targets.contains(target)
    }

    pub(crate) fn has_mcp_tool(&self, server: &str, tool: &str) -> bool {
        self.tools.contains(&(server.to_owned(), tool.to_owned()))
    }
}
