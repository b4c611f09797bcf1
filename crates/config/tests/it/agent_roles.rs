//! Roles of agents, and what is said of those that make no sense; as codex 0.118.0 has it.

use std::sync::Arc;

use quipu_config::settings::AgentRole;
use quipu_config::{LoadRequest, Snapshot};

use crate::world::World;

const TRUSTED: &str = "[projects.\"$D/w\"]\ntrust_level = \"trusted\"\n";

fn load(world: &World) -> Arc<Snapshot> {
    world.loader().load(&LoadRequest::default()).unwrap()
}

fn descriptions(snapshot: &Snapshot) -> Vec<(&str, &str)> {
    let roles = snapshot.agents().roles.iter();
    roles
        .map(|(name, role)| (name.as_str(), role.description.as_str()))
        .collect()
}

/// A role's file without more than has to be there.
fn file(name: &str, more: &str) -> String {
    format!("name = \"{name}\"\ndescription = \"d\"\ndeveloper_instructions = \"x\"\n{more}")
}

#[test]
fn files_below_the_agents_directory_are_roles() {
    let world = World::new();
    let settings =
        "model = \"gpt-5.2\"\nmodel_reasoning_effort = \"low\"\nnickname_candidates = [\"Ada\"]\n";
    world.write("h/agents/one.toml", &file("tester", settings));
    world.write("h/agents/deep/two.toml", &file("other", ""));
    world.write("h/agents/notes.txt", "not a role");
    let config = load(&world);
    assert_eq!(descriptions(&config), [("other", "d"), ("tester", "d")]);
    let expected = AgentRole {
        description: "d".to_owned(),
        config_file: Some(world.path("h/agents/one.toml")),
        nickname_candidates: vec!["Ada".to_owned()],
        model: Some("gpt-5.2".to_owned()),
        effort: Some("low".to_owned()),
    };
    assert_eq!(config.agents().roles["tester"], expected);
    assert_eq!(config.notes(), &[] as &[String]);
}

#[test]
fn a_new_file_is_noticed() {
    let world = World::new();
    let loader = world.loader();
    let names = || {
        let config = loader.load(&LoadRequest::default()).unwrap();
        config.agents().roles.keys().cloned().collect::<Vec<_>>()
    };
    assert_eq!(names(), [] as [&str; 0]);
    world.write("h/agents/one.toml", &file("one", ""));
    assert_eq!(names(), ["one"]);
    world.write("h/agents/two.toml", &file("two", ""));
    assert_eq!(names(), ["one", "two"]);
}

#[test]
fn a_file_that_a_table_names_says_what_the_role_is() {
    let world = World::new();
    world.config(
        "[agents.a]\ndescription = \"of the table\"\nconfig_file = \"a.toml\"\n\
         [agents.b]\ndescription = \"of the table\"\nconfig_file = \"agents/b.toml\"\n\
         [agents.same]\ndescription = \"of the table\"\n",
    );
    world.write("h/a.toml", "name = \"renamed\"\nmodel = \"m\"\n");
    world.write("h/agents/b.toml", &file("b", ""));
    world.write("h/agents/same.toml", &file("same", ""));
    let config = load(&world);
    let expected = [
        ("b", "d"),
        ("renamed", "of the table"),
        ("same", "of the table"),
    ];
    assert_eq!(descriptions(&config), expected);
    let note = "Ignoring malformed agent role definition: duplicate agent role name `same` declared in the same config \
        layer";
    assert_eq!(config.notes(), [note]);
}

#[test]
fn a_project_completes_and_replaces_roles_once_it_is_trusted() {
    let world = World::new();
    let low = file("low", "nickname_candidates = [\"Lo\"]\n");
    world.write("h/agents/low.toml", &low);
    world.write("h/agents/k.toml", &file("k", ""));
    world.write("w/.git/HEAD", "");
    world.write(
        "w/.codex/agents/k.toml",
        &file("k", "").replace("\"d\"", "\"of the project\""),
    );
    assert_eq!(
        descriptions(&load(&world)),
        [("k", "d"), ("low", "d")],
        "nobody vouches for the project"
    );
    world.config(TRUSTED);
    world.write(
        "w/.codex/config.toml",
        "[agents.low]\nnickname_candidates = [\"Hi\"]\n",
    );
    let config = load(&world);
    assert_eq!(
        descriptions(&config),
        [("k", "of the project"), ("low", "d")]
    );
    let low = &config.agents().roles["low"];
    assert_eq!(low.nickname_candidates, ["Hi"]);
    assert_eq!(low.config_file, Some(world.path("h/agents/low.toml")));
}

#[test]
fn what_makes_no_sense_is_left_out_and_reported() {
    let cases = [
        (file("", ""), " at $F must define a non-empty `name`"),
        (
            "name = \"a\"\n".to_owned(),
            " at $F must define `developer_instructions`",
        ),
        (
            file("a", "").replace("\"x\"", "\" \""),
            " at $F.developer_instructions cannot be blank",
        ),
        (
            file("a", "").replace("\"d\"", "\" \""),
            " $F.description cannot be blank",
        ),
        (
            file("a", "nickname_candidates = []"),
            " $F.nickname_candidates must contain at least one name",
        ),
        (
            file("a", "nickname_candidates = [\"a\", \"a\"]"),
            " $F.nickname_candidates cannot contain duplicates",
        ),
        (
            file("a", "nickname_candidates = [\"a!\"]"),
            " $F.nickname_candidates may only contain ASCII letters, digits, spaces, hyphens, and underscores",
        ),
    ];
    for (text, expected) in cases {
        let world = World::new();
        world.write("h/agents/good.toml", &file("good", ""));
        world.write("h/agents/z.toml", &text);
        let config = load(&world);
        assert_eq!(descriptions(&config), [("good", "d")], "{text}");
        let expected =
            format!("Ignoring malformed agent role definition: agent role file{expected}");
        let path = world.path("h/agents/z.toml");
        let expected = expected.replace("$F", &path.to_string_lossy());
        assert_eq!(config.notes(), [expected], "{text}");
    }
    let cases = [
        (
            file("a", "zzz = 1"),
            "failed to deserialize",
            "unknown field `zzz`\n",
        ),
        (
            file("a", "model = 3"),
            "failed to deserialize",
            "invalid type: integer `3`, expected a string\n",
        ),
        (
            "name = \"g\n".to_owned(),
            "failed to parse",
            "TOML parse error at line 1, column 10\n",
        ),
    ];
    for (text, how, why) in cases {
        let world = World::new();
        world.write("h/agents/z.toml", &text);
        let config = load(&world);
        let [note] = config.notes() else {
            panic!("{:?}", config.notes());
        };
        assert!(note.contains(how) && note.contains(why), "{note}");
    }
    let world = World::new();
    world.write(
        "h/agents/a.toml",
        "name = \"a\"\ndeveloper_instructions = \"x\"\n",
    );
    let note = "Ignoring malformed agent role definition: agent role `a` must define a description";
    assert_eq!(load(&world).notes(), [note]);
}
