//! Edits change what they should and nothing else, also while others write.

use std::fs;
use std::path::Path;

use proptest::prelude::*;
use quipu_config::edit::{self, Edit, WriteRequest};
use quipu_config::settings::{SkillSelector, SkillSwitch};
use quipu_config::{Home, Loader};
use quipu_wire::{MergeStrategy, WriteStatus};
use serde_json::{Value, json};

use crate::any_bytes::check_edit;
use crate::world::World;

fn set(path: &[&str], value: impl Into<Value>) -> WriteRequest {
    WriteRequest {
        edits: vec![Edit::set(path, value)],
        ..WriteRequest::default()
    }
}

fn edited(text: &str, path: &[&str], value: impl Into<Value>) -> String {
    edit::apply(text, &[Edit::set(path, value)]).unwrap()
}

#[test]
fn inline_tables_stay_inline() {
    assert_eq!(
        edited("a = { b = 1 } # c\n", &["a", "b"], 2),
        "a = { b = 2 } # c\n"
    );
    assert_eq!(
        edited("a = {\n  b = 1, # one\n}\n", &["a", "b"], 2),
        "a = {\n  b = 2, # one\n}\n"
    );
    assert_eq!(
        edited("a = { b = 1 }\n", &["a", "c"], json!({"d": 1})),
        "a = { b = 1 , c = { d = 1 } }\n"
    );
}

#[test]
fn line_ends_and_marks_are_kept() {
    assert_eq!(
        edited("a = 1\r\n# c\r\nb = 2\r\n", &["b"], 3),
        "a = 1\r\n# c\r\nb = 3\r\n"
    );
    assert_eq!(
        edited("\u{feff}a = 1\n", &["b"], 2),
        "\u{feff}a = 1\nb = 2\n"
    );
    let mixed = "a = 1\r\nb = 2\n";
    assert_eq!(
        edited(mixed, &["a"], 1),
        mixed,
        "nothing changes, so no byte does"
    );
}

#[test]
fn odd_keys_are_quoted() {
    let text = edited("", &["projects", "/srv/a.b", "trust_level"], "trusted");
    assert_eq!(text, "[projects.\"/srv/a.b\"]\ntrust_level = \"trusted\"\n");
}

#[test]
fn skills_are_switched_by_entries() {
    let world = World::new();
    world.config("# mine\nmodel = \"m\"\n");
    let loader = world.loader();
    let switch = |name: &str, enabled| {
        let selector = SkillSelector::Name(name.to_owned());
        loader
            .set_skill(&SkillSwitch { selector, enabled })
            .unwrap();
    };
    switch("a", false);
    switch("b", false);
    switch("a", false);
    let expected = "# mine\nmodel = \"m\"\n\n[[skills.config]]\nname = \"b\"\nenabled = false\n\n\
                    [[skills.config]]\nname = \"a\"\nenabled = false\n";
    assert_eq!(world.text("h/config.toml"), expected);
    switch("b", true);
    switch("a", true);
    switch("a", true);
    assert_eq!(world.text("h/config.toml"), "# mine\nmodel = \"m\"\n");
    world.config("skills = { config = [{ name = \"a\", enabled = false }] }\n");
    switch("b", false);
    switch("a", true);
    let skills = loader
        .load(&quipu_config::LoadRequest::default())
        .unwrap()
        .skills();
    assert_eq!(skills.switches.len(), 1);
}

#[cfg(unix)]
#[test]
fn modes_and_links_are_kept() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let world = World::new();
    let loader = world.loader();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let file = world.path("h/config.toml");
    loader.write(&set(&["model"], "a")).unwrap();
    assert_eq!(mode(&file), 0o600, "a new file is private");
    fs::set_permissions(&file, PermissionsExt::from_mode(0o640)).unwrap();
    loader.write(&set(&["model"], "b")).unwrap();
    assert_eq!(mode(&file), 0o640);

    let real = world.path("dotfiles.toml");
    fs::rename(&file, &real).unwrap();
    symlink("../dotfiles.toml", &file).unwrap();
    loader.write(&set(&["model"], "c")).unwrap();
    assert!(file.is_symlink());
    assert_eq!(fs::read_to_string(&real).unwrap(), "model = \"c\"\n");

    fs::remove_file(&real).unwrap();
    loader.write(&set(&["model"], "d")).unwrap();
    assert_eq!(
        fs::read_to_string(&real).unwrap(),
        "model = \"d\"\n",
        "a dangling link is followed"
    );

    fs::remove_file(&real).unwrap();
    symlink("dotfiles.toml", &real).unwrap();
    assert!(
        loader.write(&set(&["model"], "e")).is_err(),
        "a loop of links is an error"
    );
}

#[test]
fn a_missing_home_is_made_and_nothing_is_left_behind() {
    let world = World::new();
    let home = world.path("new/home");
    let env = quipu_config::Env::new([("HOME", "/nowhere")], world.path("w"));
    let loader = Loader::new(env, Home::at(&home), quipu_config::Overrides::default());
    loader.write(&set(&["model"], "a")).unwrap();
    loader.write(&set(&["model"], "b")).unwrap();
    let names: Vec<_> = fs::read_dir(&home)
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(names, ["config.toml"]);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(
            fs::metadata(&home).unwrap().permissions().mode() & 0o777,
            0o700
        );
    }
}

#[test]
fn failed_writes_leave_everything_as_it_was() {
    let world = World::new();
    let loader = world.loader();
    world.config("model = \"a\"\n");
    let request = WriteRequest {
        edits: vec![
            Edit::set(&["model"], "b"),
            Edit::set(&["sandbox_mode"], "nope"),
        ],
        ..WriteRequest::default()
    };
    assert!(loader.write(&request).is_err());
    assert_eq!(world.text("h/config.toml"), "model = \"a\"\n");
    fs::remove_file(world.path("h/config.toml")).unwrap();
    fs::create_dir(world.path("h/config.toml")).unwrap();
    let error = loader.write(&set(&["model"], "b")).unwrap_err();
    assert_eq!(error.code(), None);
    assert!(error.to_string().contains("Is a directory"), "{error}");
    assert_eq!(fs::read_dir(world.path("h")).unwrap().count(), 1);
}

#[test]
fn versions_guard_against_other_writers() {
    let world = World::new();
    let (mine, theirs) = (world.loader(), world.loader());
    let first = mine.write(&set(&["model"], "a")).unwrap();
    theirs.write(&set(&["personality"], "none")).unwrap();
    let stale = WriteRequest {
        expected_version: Some(first.version),
        ..set(&["model"], "b")
    };
    assert_eq!(
        mine.write(&stale).unwrap_err().code(),
        Some("configVersionConflict")
    );
    let now = mine.write(&WriteRequest::default()).unwrap();
    let fresh = WriteRequest {
        expected_version: Some(now.version),
        ..set(&["model"], "b")
    };
    assert_eq!(mine.write(&fresh).unwrap().status, WriteStatus::Ok);
}

#[test]
fn two_writers_never_lose_an_edit() {
    const WRITERS: usize = 4;
    const EDITS: usize = 25;
    let world = World::new();
    world.config("# kept\n");
    std::thread::scope(|scope| {
        for writer in 0..WRITERS {
            let loader = world.loader();
            scope.spawn(move || {
                for edit in 0..EDITS {
                    let key = format!("w{writer}_{edit}");
                    loader.write(&set(&["notice", &key], edit)).unwrap();
                }
            });
        }
    });
    let text = world.text("h/config.toml");
    assert!(text.starts_with("# kept\n"));
    let table = quipu_config::parse_toml(&text).unwrap();
    assert_eq!(table["notice"].as_object().unwrap().len(), WRITERS * EDITS);
}

/// The same from several processes: this test starts itself with the name of a home in the environment.
#[test]
fn two_processes_never_lose_an_edit() {
    const VARIABLE: &str = "QUIPU_CONFIG_TEST_WRITER";
    if let Some((home, writer)) = std::env::var(VARIABLE)
        .ok()
        .as_deref()
        .and_then(|v| v.split_once('|'))
    {
        let env = quipu_config::Env::new([("HOME", "/nowhere")], "/");
        let loader = Loader::new(env, Home::at(home), quipu_config::Overrides::default());
        for edit in 0..20 {
            loader
                .write(&set(&["notice", &format!("p{writer}_{edit}")], edit))
                .unwrap();
        }
        return;
    }
    let world = World::new();
    let home = world.path("h");
    let children: Vec<_> = (0..3)
        .map(|writer| {
            #[expect(clippy::disallowed_methods, reason = "the test starts itself")]
            std::process::Command::new(std::env::current_exe().unwrap())
                .args(["--exact", "edits::two_processes_never_lose_an_edit"])
                .env(VARIABLE, format!("{}|{writer}", home.display()))
                .stdout(std::process::Stdio::null())
                .spawn()
                .unwrap()
        })
        .collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    let table = quipu_config::parse_toml(&world.text("h/config.toml")).unwrap();
    assert_eq!(table["notice"].as_object().unwrap().len(), 60);
}

#[test]
fn the_corpus_of_the_fuzzer_holds() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/config");
    for entry in fs::read_dir(corpus).unwrap() {
        crate::any_bytes::check(&fs::read(entry.unwrap().path()).unwrap());
    }
}

/// Lines of a configuration file, good and bad.
fn line() -> impl Strategy<Value = String> {
    let key = "[abc]|\"a b\"|[ab]\\.[bc]";
    let value = prop_oneof![
        Just("1".to_owned()),
        Just("\"x\" # why".to_owned()),
        Just("[1, { b = 2 }]".to_owned()),
        Just("{ b = 1, c = { a = 2 } }".to_owned()),
        Just("'''\nlong\n'''".to_owned()),
    ];
    prop_oneof![
        4 => (key, value).prop_map(|(key, value)| format!("{key} = {value}")),
        1 => key.prop_map(|key| format!("[{key}]")),
        1 => key.prop_map(|key| format!("[[{key}]]")),
        1 => Just("# a comment".to_owned()),
        1 => Just(String::new()),
    ]
}

fn value() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<i64>().prop_map(Value::from),
        any::<bool>().prop_map(Value::from),
        ".{0,12}".prop_map(Value::from),
        Just(json!([1, {"b": [2]}, null])),
        Just(json!({"b": 5, "c": {"a": 6}})),
        Just(json!({"a": {"b": {"c": "x"}}})),
        Just(json!({})),
    ]
}

proptest! {
    #[test]
    fn an_edit_does_what_it_says_and_nothing_else(
        lines in prop::collection::vec(line(), 0..8),
        path in prop::collection::vec("[abc]|a b", 1..4),
        value in value(),
        upsert in any::<bool>(),
    ) {
        let strategy = if upsert { MergeStrategy::Upsert } else { MergeStrategy::Replace };
        check_edit(&lines.join("\n"), &Edit { path, value, strategy });
    }

    #[test]
    fn other_lines_stay_byte_for_byte(
        comments in prop::collection::vec("#[ a-z]{0,8}|", 6),
        chosen in 0usize..5,
        value in any::<i64>(),
    ) {
        let keys = ["model", "personality", "tools.view_image", "tui.theme", "zz"];
        let rows = keys.iter().zip(&comments).map(|(key, comment)| format!("{comment}\n{key}   =  'old' # {key}\n"));
        let text: String = rows.collect::<String>() + &comments[5] + "\n";
        let path: Vec<&str> = keys[chosen].split('.').collect();
        let expected = text.replace(
            &format!("{}   =  'old'", keys[chosen]),
            &format!("{}   =  {value}", keys[chosen]),
        );
        prop_assert_eq!(edited(&text, &path, value), expected);
    }

    #[test]
    fn any_text_is_read_or_refused(text in ".{0,200}") {
        crate::any_bytes::check(format!("a.b=1\n{text}").as_bytes());
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..100)) {
        crate::any_bytes::check(&bytes);
    }
}
