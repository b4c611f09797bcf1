//! A directory of files to patch, and the fixtures that say what should come of it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use tempfile::TempDir;

/// Paths and contents.
pub type Files = BTreeMap<String, String>;

pub struct Workspace {
    _dir: TempDir,
    pub root: PathBuf,
}

impl Workspace {
    pub fn new(files: &Files) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(dir.path()).unwrap();
        let workspace = Self { _dir: dir, root };
        for (path, content) in files {
            workspace.write(path, content);
        }
        workspace
    }

    /// A workspace from `path: content` pairs.
    pub fn with<const N: usize>(files: [(&str, &str); N]) -> Self {
        Self::new(
            &files
                .map(|(path, content)| (path.to_owned(), content.to_owned()))
                .into(),
        )
    }

    pub fn path(&self, path: &str) -> PathBuf {
        self.root.join(path)
    }

    pub fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    pub fn files(&self) -> Files {
        let mut files = Files::new();
        collect(&self.root, &self.root, &mut files);
        files
    }
}

fn collect(root: &Path, directory: &Path, files: &mut Files) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && !path.is_symlink() {
            if path.file_name().unwrap() != ".git" {
                collect(root, &path, files);
            }
        } else {
            let name = path
                .strip_prefix(root)
                .unwrap()
                .to_str()
                .unwrap()
                .to_owned();
            let content = fs::read(&path).unwrap_or_else(|error| error.to_string().into());
            files.insert(name, String::from_utf8_lossy(&content).into_owned());
        }
    }
}

/// The cases of a fixture file, one on each line.
pub fn fixture<T: DeserializeOwned>(name: &str) -> Vec<T> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fixtures")
        .join(name);
    let text = fs::read_to_string(path).unwrap();
    text.split_terminator('\n')
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// A patch of the given operations.
pub fn patch(operations: &str) -> String {
    format!("*** Begin Patch\n{operations}\n*** End Patch")
}
