//! Skills in real folders.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use quipu_config::{Env, Home, LoadRequest, Loader, Overrides, SystemPaths};
use quipu_extend::skills::{self, Skills};
use quipu_wire::SkillScope;

struct World {
    folder: tempfile::TempDir,
}

impl World {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("work/.git")).unwrap();
        Self { folder }
    }

    fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    fn skill(&self, folder: &str, name: &str) {
        self.file(
            folder,
            &format!("---\nname: {name}\ndescription: d\n---\nbody\n"),
        );
    }

    fn file(&self, folder: &str, text: &str) {
        let folder = self.path(folder);
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("SKILL.md"), text).unwrap();
    }

    fn find(&self, cwd: &str, extra: &[PathBuf]) -> Skills {
        let env = Env::new(
            [("HOME", self.path("user").to_str().unwrap())],
            self.path("work"),
        );
        let home = Home::at(self.path("home"));
        let system = SystemPaths::in_folder(&self.path("etc"));
        let loader = Loader::with_system_paths(env.clone(), home, Overrides::default(), system);
        let cwd = self.path(cwd);
        let request = LoadRequest {
            cwd: Some(&cwd),
            ..LoadRequest::default()
        };
        skills::find(&loader.load(&request).unwrap(), &env, extra)
    }
}

fn names(skills: &Skills) -> Vec<&str> {
    let names = skills
        .found
        .iter()
        .map(|skill| skill.metadata.name.as_str());
    names.collect()
}

#[test]
fn every_root_is_looked_through_in_order_of_scope() {
    let world = World::new();
    world.skill("work/.codex/skills/a", "repo-root");
    world.skill("work/sub/.agents/skills/b", "repo-sub");
    world.skill("home/skills/c", "user-home");
    world.skill("home/skills/.hidden/c", "unseen");
    world.skill("user/.agents/skills/d", "user-agents");
    world.skill("home/skills/.system/e", "system");
    world.skill("more/f", "extra");
    let extra = [world.path("more"), world.path("more")];
    let skills = world.find("work/sub", &extra);
    let expected = [
        "repo-root",
        "repo-sub",
        "extra",
        "user-agents",
        "user-home",
        "system",
    ];
    assert_eq!(names(&skills), expected);
    assert_eq!(
        skills.found.last().unwrap().metadata.scope,
        SkillScope::System
    );
    assert_eq!(skills.errors, []);
}

#[test]
fn broken_skills_are_told_beside_good_ones() {
    let world = World::new();
    world.skill("work/.codex/skills/good", "good");
    world.file("work/.codex/skills/bad", "no block");
    world.file("home/skills/.system/bad", "no block");
    let skills = world.find("work", &[]);
    assert_eq!(names(&skills), ["good"]);
    assert_eq!(skills.errors.len(), 1);
    assert!(
        skills.errors[0]
            .path
            .ends_with(".codex/skills/bad/SKILL.md")
    );
}

#[test]
fn links_depth_and_circles_are_bounded() {
    let world = World::new();
    world.skill("home/skills/1/2/3/4/5/6", "deep");
    world.skill("home/skills/1/2/3/4/5/6/7", "too-deep");
    world.skill("elsewhere/linked", "linked");
    symlink(world.path("elsewhere"), world.path("home/skills/link")).unwrap();
    symlink(
        world.path("home/skills"),
        world.path("home/skills/1/circle"),
    )
    .unwrap();
    fs::create_dir_all(world.path("home/skills/file")).unwrap();
    symlink(
        world.path("elsewhere/linked/SKILL.md"),
        world.path("home/skills/file/SKILL.md"),
    )
    .unwrap();
    assert_eq!(names(&world.find("work", &[])), ["deep", "linked"]);
}

#[test]
fn the_last_switch_counts() {
    let world = World::new();
    world.skill("home/skills/a", "a");
    world.skill("home/skills/b", "b");
    let path = world.path("home/skills/b/../b/SKILL.md");
    let switches = format!(
        "[[skills.config]]\nname = \"a\"\nenabled = false\n[[skills.config]]\nname = \"a\"\nenabled = true\n\
         [[skills.config]]\npath = \"{}\"\nenabled = false\n",
        path.display()
    );
    fs::write(world.path("home/config.toml"), switches).unwrap();
    let skills = world.find("work", &[]);
    let states: Vec<bool> = skills
        .found
        .iter()
        .map(|skill| skill.metadata.enabled)
        .collect();
    assert_eq!(states, [true, false]);
}

#[test]
fn a_skill_of_a_plugin_bears_its_name() {
    let world = World::new();
    world.skill("home/skills/p/skills/a", "a");
    let plugin = world.path("home/skills/p/.codex-plugin");
    fs::create_dir_all(&plugin).unwrap();
    fs::write(Path::new(&plugin).join("plugin.json"), r#"{"name":"plug"}"#).unwrap();
    assert_eq!(names(&world.find("work", &[])), ["plug:a"]);
}
