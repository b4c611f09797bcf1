//! The project's files as the checks see them: paths from the root and their text, in memory, so
//! that a check can be tested on a tree of three lines.

use std::fs;
use std::path::Path;

use crate::Outcome;
use crate::rust_text::{self, Part};

/// Directories that hold build output or somebody's tools, never the project's own files.
const SKIPPED: &[&str] = &["target", "node_modules", "dist", "build", ".git"];

/// Hidden directories that do belong to the project.
const HIDDEN: &[&str] = &[".cargo", ".ci", ".github"];

/// All files of the project, sorted by path.
#[derive(Default)]
pub struct Tree {
    files: Vec<File>,
}

/// One file of the project.
pub struct File {
    /// Path from the root, with `/` between directories.
    pub path: String,
    /// The content, or an empty string when it is not text.
    pub text: String,
    /// Size on disk in bytes.
    pub size: usize,
}

impl Tree {
    /// Reads the tree below `root`.
    pub fn load(root: &Path) -> Outcome<Tree> {
        let mut tree = Tree::default();
        tree.add_directory(root, "")
            .map_err(|error| format!("cannot read the project: {error}"))?;
        tree.files.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(tree)
    }

    fn add_directory(&mut self, directory: &Path, prefix: &str) -> std::io::Result<()> {
        for entry in fs::read_dir(directory)? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let path = format!("{prefix}{name}");
            let kind = entry.file_type()?;
            if kind.is_dir() {
                let hidden = name.starts_with('.') && !HIDDEN.contains(&name.as_str());
                if !hidden && !SKIPPED.contains(&name.as_str()) {
                    self.add_directory(&entry.path(), &format!("{path}/"))?;
                }
            } else if kind.is_file() {
                let bytes = fs::read(entry.path())?;
                let size = bytes.len();
                let text = String::from_utf8(bytes).unwrap_or_default();
                self.files.push(File { path, text, size });
            }
        }
        Ok(())
    }

    /// All files.
    pub fn files(&self) -> impl Iterator<Item = &File> {
        self.files.iter()
    }

    /// The Rust sources of the crates.
    pub fn rust_files(&self) -> impl Iterator<Item = &File> {
        self.files()
            .filter(|file| file.path.starts_with("crates/") && file.path.ends_with(".rs"))
    }

    /// The crates: directory name and manifest.
    pub fn crates(&self) -> impl Iterator<Item = (&str, &File)> {
        self.files().filter_map(|file| {
            let directory = file
                .path
                .strip_prefix("crates/")?
                .strip_suffix("/Cargo.toml")?;
            (!directory.contains('/')).then_some((directory, file))
        })
    }

    /// The file at exactly `path`.
    pub fn file(&self, path: &str) -> Option<&File> {
        self.files().find(|file| file.path == path)
    }

    /// Whether `path` names a file or a directory.
    pub fn exists(&self, path: &str) -> bool {
        path.is_empty()
            || self.files().any(|file| {
                file.path
                    .strip_prefix(path)
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            })
    }
}

impl File {
    /// The crate directory this file is in.
    pub fn crate_directory(&self) -> Option<&str> {
        self.path.strip_prefix("crates/")?.split('/').next()
    }

    /// Whether the whole file is there for tests, benchmarks or examples.
    pub fn is_test(&self) -> bool {
        let mut directories = self.path.split('/');
        let name = directories.next_back().unwrap_or_default();
        name == "tests.rs"
            || name.ends_with("_tests.rs")
            || directories.any(|directory| matches!(directory, "tests" | "benches" | "examples"))
    }

    /// The code alone, line by line, split into product lines and test lines.
    pub fn code(&self) -> Code {
        let code = rust_text::only(&self.text, Part::Code);
        let lines = code.lines().count();
        let product_lines = if self.is_test() {
            0
        } else {
            rust_text::inline_tests(&code).unwrap_or(lines)
        };
        Code {
            text: code,
            product_lines,
        }
    }
}

/// The code of one file without its comments and literals.
pub struct Code {
    /// Comments and literals are blank; line numbers are those of the file.
    pub text: String,
    /// How many lines from the top are not test code.
    pub product_lines: usize,
}

#[cfg(test)]
impl Tree {
    /// A tree of the given paths and texts.
    pub fn of(files: &[(&str, &str)]) -> Tree {
        let file = |(path, text): &(&str, &str)| File {
            path: (*path).to_owned(),
            text: (*text).to_owned(),
            size: text.len(),
        };
        Tree {
            files: files.iter().map(file).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tells_tests_from_product() {
        let is_test = |path| Tree::of(&[(path, "")]).files[0].is_test();
        assert!(is_test("crates/a/tests/it/main.rs"));
        assert!(is_test("crates/a/src/parse/tests.rs"));
        assert!(is_test("crates/a/benches/speed.rs"));
        assert!(!is_test("crates/a/src/latests.rs"));
    }

    #[test]
    fn knows_directories_as_well_as_files() {
        let tree = Tree::of(&[("docs/a.md", "")]);
        assert!(tree.exists("docs") && tree.exists("docs/a.md") && tree.exists(""));
        assert!(!tree.exists("doc") && !tree.exists("docs/b.md"));
    }

    #[test]
    fn finds_crates_by_their_manifest() {
        let tree = Tree::of(&[
            ("crates/a/Cargo.toml", ""),
            ("crates/a/tests/x/Cargo.toml", ""),
        ]);
        assert_eq!(
            tree.crates()
                .map(|(directory, _)| directory)
                .collect::<Vec<_>>(),
            ["a"]
        );
    }
}
