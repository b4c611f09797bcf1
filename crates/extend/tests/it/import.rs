//! Taking over what another agent was set up with.

use std::fs;
use std::path::PathBuf;

use quipu_config::{Env, Home, Loader, Overrides, SystemPaths};
use quipu_extend::import;
use tempfile::TempDir;

struct World(TempDir);

impl World {
    fn new() -> World {
        let world = World(tempfile::tempdir().unwrap());
        fs::create_dir_all(world.path("repo/.git")).unwrap();
        world
    }

    fn path(&self, path: &str) -> PathBuf {
        self.0.path().join(path)
    }

    fn put(&self, path: &str, text: &str) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn text(&self, path: &str) -> String {
        fs::read_to_string(self.path(path)).unwrap()
    }

    fn config(&self) -> Loader {
        let env = Env::new(
            [("HOME", self.0.path().to_str().unwrap())],
            self.path("repo"),
        );
        let system = SystemPaths::in_directory(&self.path("etc"));
        let home = Home::at(self.path(".codex"));
        Loader::with_system_paths(env, home, Overrides::default(), system)
    }
}

#[test]
fn everything_missing_is_taken_over_once() {
    let world = World::new();
    let settings = r#"{"env":{"A":"x","B":7,"C":null},"sandbox":{"enabled":true}}"#;
    world.put(".claude/settings.json", settings);
    world.put(
        ".codex/config.toml",
        "# mine\nsandbox_mode = \"read-only\"\n",
    );
    world.put(".claude/CLAUDE.md", "Claude, be kind.");
    world.put("repo/.claude/settings.json", settings);
    world.put("repo/.claude/skills/s/SKILL.md", "Ask Claude Code.");
    world.put("repo/.claude/skills/s/more/data.txt", "claude");
    world.put("repo/CLAUDE.md", "See CLAUDE.md.");
    let config = world.config();
    let cwds = [
        world.path("repo"),
        world.path("repo"),
        world.path("nowhere"),
    ];
    let items = import::detect(&config, true, &cwds).unwrap();
    assert_eq!(items.len(), 5, "{items:?}");
    assert!(items[0].cwd.is_none() && items[2].cwd.is_some());
    import::import(&config, &items).unwrap();
    let own = world.text(".codex/config.toml");
    assert!(
        own.starts_with("# mine\nsandbox_mode = \"read-only\"\n"),
        "{own}"
    );
    assert!(
        own.contains("inherit = \"core\"") && own.contains("B = \"7\""),
        "{own}"
    );
    let project = world.text("repo/.codex/config.toml");
    assert!(
        project.contains("sandbox_mode = \"workspace-write\""),
        "{project}"
    );
    assert_eq!(world.text(".codex/AGENTS.md"), "Codex, be kind.");
    assert_eq!(world.text("repo/AGENTS.md"), "See AGENTS.md.");
    assert_eq!(world.text("repo/.agents/skills/s/SKILL.md"), "Ask Codex.");
    assert_eq!(world.text("repo/.agents/skills/s/more/data.txt"), "claude");
    assert_eq!(import::detect(&config, true, &cwds).unwrap(), []);
}

#[test]
fn what_cannot_be_read_is_said_and_nothing_is_written() {
    let world = World::new();
    let config = world.config();
    let detect = || import::detect(&config, false, &[world.path("repo")]);
    world.put("repo/.claude/settings.json", "[]");
    let error = detect().unwrap_err().to_string();
    assert_eq!(error, "external agent settings root must be an object");
    world.put("repo/.claude/settings.json", "{");
    assert!(detect().is_err());
    world.put("repo/.claude/settings.json", r#"{"env":{"A":"x"}}"#);
    world.put("repo/.codex/config.toml", "=");
    let error = detect().unwrap_err().to_string();
    assert!(
        error.starts_with("invalid existing config.toml: "),
        "{error}"
    );
    assert_eq!(world.text("repo/.codex/config.toml"), "=");
}
