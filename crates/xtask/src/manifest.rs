//! The few facts the checks need from a crate's `Cargo.toml`, read line by line: manifests here are
//! plain enough that a TOML parser would be the heaviest part of this program.

/// What a crate says about itself.
#[derive(Debug, Default)]
pub struct Manifest {
    /// The package name.
    pub name: String,
    /// The one-sentence charter.
    pub description: String,
    /// Whether the workspace's lints apply.
    pub workspace_lints: bool,
    /// Every dependency of every kind and target.
    pub dependencies: Vec<Dependency>,
}

/// One entry of a dependency section.
#[derive(Debug, PartialEq, Eq)]
pub struct Dependency {
    /// The package it names, not what it is renamed to.
    pub package: String,
    /// Where it stands, counted from 1.
    pub line: usize,
    /// Whether only tests, benchmarks and examples see it.
    pub dev: bool,
}

impl Manifest {
    /// Reads the text of a `Cargo.toml`.
    pub fn parse(text: &str) -> Manifest {
        let mut manifest = Manifest::default();
        let mut section = "";
        for (at, line) in text.lines().enumerate() {
            let line = line.split(" #").next().unwrap_or_default().trim();
            if let Some(header) = line.strip_prefix('[') {
                section = header.trim_end_matches(']').trim_matches('[');
                if let Some((dev, Some(package))) = dependency_section(section) {
                    manifest.add(package, at + 1, dev);
                }
            } else if let Some((key, value)) = line.split_once('=') {
                manifest.entry(section, key.trim(), value.trim(), at + 1);
            }
        }
        manifest
    }

    fn entry(&mut self, section: &str, key: &str, value: &str, line: usize) {
        match (section, key) {
            ("package", "name") => self.name = unquote(value).to_owned(),
            ("package", "description") => self.description = unquote(value).to_owned(),
            ("lints", "workspace") => self.workspace_lints = value == "true",
            _ => match dependency_section(section) {
                Some((dev, None)) => {
                    let key = key.split('.').next().unwrap_or(key);
                    self.add(renamed(value).unwrap_or(key), line, dev);
                }
                Some((dev, Some(_))) if key == "package" => self.add(unquote(value), line, dev),
                _ => {}
            },
        }
    }

    fn add(&mut self, package: &str, line: usize, dev: bool) {
        self.dependencies.push(Dependency {
            package: unquote(package).to_owned(),
            line,
            dev,
        });
    }
}

/// Whether a section lists dependencies: for tests only, and the one dependency it is about, if
/// it is about one.
fn dependency_section(header: &str) -> Option<(bool, Option<&str>)> {
    let words = [
        ("dev-dependencies", true),
        ("build-dependencies", false),
        ("dependencies", false),
    ];
    words.into_iter().find_map(|(word, dev)| {
        let at = header.find(word)?;
        let (before, after) = (&header[..at], &header[at + word.len()..]);
        let whole_word = before.is_empty() || before.ends_with('.');
        match after.strip_prefix('.') {
            Some(package) if whole_word => Some((dev, Some(package))),
            None if whole_word && after.is_empty() => Some((dev, None)),
            _ => None,
        }
    })
}

/// The `package = "…"` of an inline table.
fn renamed(value: &str) -> Option<&str> {
    let (_, rest) = value.split_once("package")?;
    rest.trim_start().strip_prefix('=')?.split('"').nth(1)
}

fn unquote(value: &str) -> &str {
    value.trim_matches(['"', '\''])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_package() {
        let manifest = Manifest::parse(
            "[package]\nname = \"quipu-a\" # the name\ndescription = \"Does a.\"\n\n[lints]\nworkspace = true\n",
        );
        assert_eq!(manifest.name, "quipu-a");
        assert_eq!(manifest.description, "Does a.");
        assert!(manifest.workspace_lints);
    }

    #[test]
    fn reads_every_kind_of_dependency() {
        let manifest = Manifest::parse(
            "\
[dependencies]
a.workspace = true
b = { package = \"quipu-b\", path = \"../b\" }
[target.'cfg(unix)'.dependencies]
c = \"1\"
[dev-dependencies]
d = \"1\"
[dependencies.e]
version = \"1\"
",
        );
        let seen: Vec<_> = manifest
            .dependencies
            .iter()
            .map(|d| (d.package.as_str(), d.line, d.dev))
            .collect();
        let expected = [
            ("a", 2, false),
            ("quipu-b", 3, false),
            ("c", 5, false),
            ("d", 7, true),
            ("e", 8, false),
        ];
        assert_eq!(seen, expected);
    }

    #[test]
    fn ignores_other_sections() {
        assert_eq!(
            Manifest::parse("[features]\nx = []\n[my-dependencies]\ny = 1").dependencies,
            []
        );
    }
}
