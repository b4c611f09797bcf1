//! Skills in real directories.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use quipu_config::{Env, Home, LoadRequest, Loader, Overrides, SystemPaths};
use quipu_extend::skills::{self, Skills};
use quipu_wire::SkillScope;

struct World {
    directory: tempfile::TempDir,
}

impl World {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        fs::create_dir_all(directory.path().join("work/.git")).unwrap();
        Self { directory }
    }

    fn path(&self, path: &str) -> PathBuf {
        self.directory.path().join(path)
    }

    fn skill(&self, directory: &str, name: &str) {
        self.file(
            directory,
            &format!("---\nname: {name}\ndescription: d\n---\nbody\n"),
        );
    }

    fn file(&self, directory: &str, text: &str) {
        let directory = self.path(directory);
        fs::create_dir_all(&directory).unwrap();
        fs::write(directory.join("SKILL.md"), text).unwrap();
    }

    fn find(&self, cwd: &str, extra: &[PathBuf]) -> Skills {
        let env = Env::new(
            [("HOME", self.path("user").to_str().unwrap())],
            self.path("work"),
        );
        let home = Home::at(self.path("home"));
        let system = SystemPaths::in_directory(&self.path("etc"));
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
fn broken_skills_are_reported_beside_good_ones() {
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

/// The words are those of the official program, asked for each of these files.
#[test]
fn every_mistake_is_named_at_its_file() {
    let world = World::new();
    let long = |count| "x".repeat(count);
    let cases = [
        (
            "nofront",
            "hello\n".to_owned(),
            "missing YAML frontmatter delimited by ---",
        ),
        (
            "nodesc",
            "---\nname: x\n---\n".to_owned(),
            "missing field `description`",
        ),
        (
            "empty",
            "---\nname: q\ndescription: ''\n---\n".to_owned(),
            "missing field `description`",
        ),
        (
            "yaml",
            "---\nname: [\n---\n".to_owned(),
            "invalid YAML: name: invalid type: sequence, expected a string at line 1 column 7",
        ),
        (
            "type",
            "---\nname: 7\ndescription: [a]\n---\n".to_owned(),
            "invalid YAML: description: invalid type: sequence, expected a string at line 2 column 14",
        ),
        (
            "name",
            format!("---\nname: {}\ndescription: d\n---\n", long(65)),
            "invalid name: exceeds maximum length of 64 characters",
        ),
        (
            "description",
            format!("---\nname: q\ndescription: {}\n---\n", long(1025)),
            "invalid description: exceeds maximum length of 1024 characters",
        ),
        (
            "short",
            format!(
                "---\nname: q\ndescription: d\nmetadata:\n  short-description: {}\n---\n",
                long(1025)
            ),
            "invalid metadata.short-description: exceeds maximum length of 1024 characters",
        ),
    ];
    for (directory, text, _) in &cases {
        world.file(&format!("home/skills/{directory}"), text);
    }
    let skills = world.find("work", &[]);
    assert_eq!(skills.found, []);
    for (directory, _, message) in cases {
        let path = world.path(&format!("home/skills/{directory}/SKILL.md"));
        let path = path.to_str().unwrap();
        let error = skills.errors.iter().find(|error| error.path == path);
        assert_eq!(error.unwrap().message, message, "{directory}");
    }
}

#[test]
fn what_was_found_is_current_until_something_changes() {
    let world = World::new();
    world.skill("home/skills/a", "a");
    // What has just been written proves nothing, so the first look is not trusted for long.
    let settle = |world: &World| loop {
        let skills = world.find("work", &[]);
        if skills.is_current() {
            break skills;
        }
        std::thread::yield_now();
    };
    let changes: [&dyn Fn(); 4] = [
        &|| world.skill("home/skills/b", "b"),
        &|| world.file("home/skills/a", "---\nname: other\ndescription: d\n---\n"),
        &|| fs::remove_dir_all(world.path("home/skills/b")).unwrap(),
        &|| world.skill("work/.agents/skills/new", "new"),
    ];
    for change in changes {
        let skills = settle(&world);
        assert!(skills.directories.contains(&world.path("home/skills")));
        change();
        assert!(!skills.is_current());
    }
}

#[test]
fn the_program_brings_its_skills_unless_another_did() {
    let world = World::new();
    let home = world.path("home");
    let system = world.path("home/skills/.system");
    for _ in 0..2 {
        skills::install_bundled(&home).unwrap();
        let skills = world.find("work", &[]);
        assert_eq!(names(&skills), ["skill-creator", "skill-installer"]);
        assert_eq!(skills.errors, []);
        // What was damaged is mended.
        fs::write(system.join("skill-creator/SKILL.md"), "x").unwrap();
    }
    fs::write(system.join(".codex-system-skills.marker"), "theirs").unwrap();
    skills::install_bundled(&home).unwrap();
    assert_eq!(names(&world.find("work", &[])), ["skill-installer"]);
}
