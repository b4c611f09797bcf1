//! Finds the `SKILL.md` files below a directory, without getting lost in large or circular trees.

use std::collections::{HashSet, VecDeque};
use std::fs;
use std::path::{Path, PathBuf};

use super::Skills;
use super::roots::Root;

const FILE_NAME: &str = "SKILL.md";
/// How far below the directory a skill may be.
const MAX_DEPTH: usize = 6;
/// How many directories are looked into.
const MAX_DIRECTORYS: usize = 2000;

/// The skills of a directory, those nearest to it first. What was looked into is noted.
pub(super) fn skill_files(root: &Root, noted: &mut Skills) -> Vec<PathBuf> {
    let follow_links = root.follows_links();
    let mut found = Vec::new();
    let mut queue = VecDeque::from([(root.path.clone(), 0)]);
    let mut seen = HashSet::new();
    while let Some((directory, depth)) = queue.pop_front() {
        if seen.len() >= MAX_DIRECTORYS || !seen.insert(super::canonical(&directory)) {
            continue;
        }
        noted.seen.note(&directory);
        let (files, directories) = look_into(&directory, follow_links);
        found.extend(files);
        if directory.is_dir() {
            noted.directories.push(directory);
        }
        if depth < MAX_DEPTH {
            queue.extend(
                directories
                    .into_iter()
                    .map(|directory| (directory, depth + 1)),
            );
        }
    }
    found
}

/// The skill and the directories in a directory, by name. What cannot be read holds nothing.
fn look_into(directory: &Path, follow_links: bool) -> (Option<PathBuf>, Vec<PathBuf>) {
    let mut skill = None;
    let mut directories = Vec::new();
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    for entry in entries {
        let name = entry.file_name();
        let Ok(kind) = entry.file_type() else {
            continue;
        };
        let path = entry.path();
        if kind.is_file() && name == FILE_NAME {
            skill = Some(path);
        } else if !name.to_string_lossy().starts_with('.')
            && (kind.is_dir() || (kind.is_symlink() && follow_links && path.is_dir()))
        {
            directories.push(path);
        }
    }
    directories.sort();
    (skill, directories)
}
