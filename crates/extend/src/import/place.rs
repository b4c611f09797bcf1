//! Where the other agent keeps things, and where they go.

use std::path::{Path, PathBuf};

use quipu_config::{Loader, PROJECT_DIRECTORY};

/// The other agent's directory.
const SOURCE: &str = ".claude";
const INSTRUCTIONS: &str = "CLAUDE.md";
const OWN_INSTRUCTIONS: &str = "AGENTS.md";

/// A way from there to here.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Way {
    pub from: PathBuf,
    pub to: PathBuf,
}

/// The user's home or a repository.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub repository: Option<PathBuf>,
    pub settings: Way,
    pub skills: Way,
    pub instructions_from: Vec<PathBuf>,
    pub instructions_to: PathBuf,
}

impl Place {
    /// The user's home; nothing if it is not known.
    pub fn home(config: &Loader) -> Option<Place> {
        let source = config.env().user_home()?.join(SOURCE);
        let own = config.home().path();
        let skills = own.parent().unwrap_or(own).join(".agents/skills");
        Some(Place {
            repository: None,
            settings: Way {
                from: source.join("settings.json"),
                to: config.home().config_file(),
            },
            skills: Way {
                from: source.join("skills"),
                to: skills,
            },
            instructions_from: vec![source.join(INSTRUCTIONS)],
            instructions_to: own.join(OWN_INSTRUCTIONS),
        })
    }

    /// The repository around a directory, or the directory itself; nothing if there is no such directory.
    pub fn repository(cwd: &Path) -> Option<Place> {
        if !cwd.is_dir() {
            return None;
        }
        let root = cwd.ancestors().find(|dir| dir.join(".git").exists());
        let root = root.unwrap_or(cwd);
        let source = root.join(SOURCE);
        Some(Place {
            repository: Some(root.to_owned()),
            settings: Way {
                from: source.join("settings.json"),
                to: root.join(PROJECT_DIRECTORY).join("config.toml"),
            },
            skills: Way {
                from: source.join("skills"),
                to: root.join(".agents/skills"),
            },
            instructions_from: vec![root.join(INSTRUCTIONS), source.join(INSTRUCTIONS)],
            instructions_to: root.join(OWN_INSTRUCTIONS),
        })
    }
}
