//! The home folder: found where the environment says, and made private to its user.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use quipu_testkit::process::Launch;
use quipu_testkit::raw::Raw;
use serde_json::json;

use crate::support::{QUIPU, initialize};

async fn told(launch: Launch) -> PathBuf {
    let mut process = launch.args(["app-server"]).start();
    let answer = Raw::new(process.stdio()).call(&initialize(1)).await;
    PathBuf::from(answer["result"]["codexHome"].as_str().unwrap())
}

fn mode(path: &Path) -> u32 {
    std::fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[tokio::test]
async fn quipu_home_comes_before_codex_home_and_both_before_the_default() {
    let fresh = || tempfile::tempdir().unwrap();
    let (ours, theirs, user) = (fresh(), fresh(), fresh());
    let launch = |set: &[(&str, &Path)]| {
        let launch = Launch::new(QUIPU).without_env("QUIPU_HOME");
        set.iter().fold(launch, |launch, (name, value)| {
            launch.env(name, value.to_str().unwrap())
        })
    };
    let (ours, theirs, user) = (
        ours.path().join("a/b"),
        theirs.path().join("c"),
        user.path(),
    );
    let both = launch(&[
        ("QUIPU_HOME", &ours),
        ("CODEX_HOME", &theirs),
        ("HOME", user),
    ]);
    assert_eq!(told(both).await, ours);
    assert!(!theirs.exists());
    let codex = launch(&[("CODEX_HOME", &theirs), ("HOME", user)]);
    assert_eq!(told(codex).await, theirs);
    assert_eq!(told(launch(&[("HOME", user)])).await, user.join(".quipu"));
    for made in [&ours, &theirs, &user.join(".quipu")] {
        assert_eq!(mode(made), 0o700, "{}", made.display());
    }
}

#[tokio::test]
async fn under_the_official_name_the_official_home_is_used() {
    for name in ["codex", "codex-app-server"] {
        let launch = Launch::named(QUIPU, name).without_env("QUIPU_HOME");
        let home = launch.folder().join(".codex");
        std::fs::create_dir(&home).unwrap();
        std::fs::write(home.join("config.toml"), "model = \"theirs\"").unwrap();
        let args: &[&str] = if name == "codex" {
            &["app-server"]
        } else {
            &[]
        };
        let mut process = launch.args(args.iter().copied()).start();
        let mut raw = Raw::new(process.stdio());
        let answer = raw.call(&initialize(1)).await;
        assert_eq!(answer["result"]["codexHome"], home.to_str().unwrap());
        let read = json!({ "id": 2, "method": "config/read", "params": {} });
        let config = raw.call(&read).await;
        assert_eq!(config["result"]["config"]["model"], "theirs", "{config}");
        assert!(!home.parent().unwrap().join(".quipu").exists());
    }
}

#[tokio::test]
async fn a_home_that_is_a_file_is_refused() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let launch = Launch::new(QUIPU).env("QUIPU_HOME", file.path().to_str().unwrap());
    let mut process = launch.args(["app-server"]).start();
    assert_eq!(process.exit().await.code(), Some(1));
    let text = process.stderr();
    assert!(text.starts_with("Error: QUIPU_HOME points to "), "{text}");
}

#[tokio::test]
async fn starting_and_greeting_leave_nothing_but_the_folder() {
    let mut process = Launch::new(QUIPU).args(["app-server"]).start();
    let mut raw = Raw::new(process.stdio());
    raw.call(&initialize(1)).await;
    let page = json!({ "id": 2, "method": "thread/loaded/list", "params": {} });
    raw.call(&page).await;
    let home = process.folder().join("quipu");
    assert_eq!(std::fs::read_dir(home).unwrap().count(), 0);
}
