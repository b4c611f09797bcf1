//! A home directory, a working directory and an administrator's directory of one test.

use std::fs;
use std::path::{Path, PathBuf};

use quipu_config::{Env, Home, Loader, Overrides, SystemPaths};
use serde_json::Value;

/// Directories as the fixtures name them: `$D/h` is the home, `$D/w` the working directory, `$D/e` stands
/// for `/etc/codex`.
pub struct World {
    dir: tempfile::TempDir,
}

impl World {
    pub fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        for directory in ["h", "w", "e"] {
            fs::create_dir(dir.path().join(directory)).unwrap();
        }
        Self { dir }
    }

    /// The path of a file of this world.
    pub fn path(&self, name: &str) -> PathBuf {
        self.root().join(name)
    }

    fn root(&self) -> PathBuf {
        self.dir.path().canonicalize().unwrap()
    }

    pub fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, self.expand(text)).unwrap();
    }

    pub fn config(&self, text: &str) -> &Self {
        self.write("h/config.toml", text);
        self
    }

    pub fn text(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    pub fn loader(&self) -> Loader {
        self.loader_with(&[], &[])
    }

    pub fn loader_with(&self, flags: &[&str], env: &[(&str, &str)]) -> Loader {
        let mut overrides = Overrides::default();
        let mut flags = flags.iter();
        while let (Some(option), Some(value)) = (flags.next(), flags.next()) {
            let value = self.expand(value);
            match *option {
                "-c" => overrides.add_flag(&value).unwrap(),
                "--enable" => overrides.set_feature(&value, true).unwrap(),
                "--disable" => overrides.set_feature(&value, false).unwrap(),
                other => panic!("unknown flag {other}"),
            }
        }
        let home = self.root().to_string_lossy().into_owned();
        let mut vars = vec![("HOME".to_owned(), home)];
        vars.extend(
            env.iter()
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned())),
        );
        let env = Env::new(vars, self.path("w"));
        let system = SystemPaths::in_directory(&self.path("e"));
        Loader::with_system_paths(env, Home::at(self.path("h")), overrides, system)
    }

    /// Puts the real directory for `$D`.
    pub fn expand(&self, text: &str) -> String {
        text.replace("$D", &self.root().to_string_lossy())
    }

    /// Puts `$D` for the real directory.
    pub fn fold(&self, text: &str) -> String {
        text.replace(&*self.root().to_string_lossy(), "$D")
    }

    /// The same in every text of a value.
    pub fn fold_json(&self, value: &Value) -> Value {
        serde_json::from_str(&self.fold(&value.to_string())).unwrap()
    }
}

/// Whether two values are the same, where `"*"` in the expected one stands for anything. How absent
/// members are written is the business of the wire crate, so null counts as absent here.
pub fn same(expected: &Value, got: &Value) -> bool {
    match (expected, got) {
        (Value::String(any), _) if any == "*" => true,
        (Value::Object(a), Value::Object(b)) => {
            let null = Value::Null;
            let mut keys = a.keys().chain(b.keys());
            keys.all(|key| same(a.get(key).unwrap_or(&null), b.get(key).unwrap_or(&null)))
        }
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
        }
        (a, b) => a == b,
    }
}

/// The lines of a fixture file.
pub fn fixture(name: &str) -> Vec<Value> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/it/fixtures")
        .join(name);
    let text = fs::read_to_string(path).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}
