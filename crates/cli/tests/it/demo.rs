//! `quipu demo`: the first thing that people run must work and leave nothing behind.

use std::process::Stdio;

use quipu_testkit::client::within;
use tokio::process::Command;

use crate::support::QUIPU;

#[tokio::test]
async fn the_demo_shows_everything_and_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    #[expect(
        clippy::disallowed_methods,
        reason = "the program under test, killed on drop"
    )]
    let mut command = Command::new(QUIPU);
    command
        // Not even a home, or where programs are.
        .env_clear()
        .env("TMPDIR", folder.path())
        .current_dir(folder.path())
        .arg("demo")
        .stdin(Stdio::null())
        .kill_on_drop(true);
    let output = within("the end of the demo", command.output())
        .await
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    let told = std::str::from_utf8(&output.stdout).unwrap();
    for part in [
        "every event you see travelled",
        "The server asks: may this run?",
        "1:Hello, world!",
        "+Hello, dear world!",
        "[x] Make it friendlier",
        "The change does what it says",
        "The turn's status: interrupted",
        "turn 2: completed    userMessage, commandExecution, fileChange, agentMessage",
        "turn 4: interrupted",
        "quipu init",
        "quipu app-server",
    ] {
        assert!(told.contains(part), "{part:?} is not in {told}");
    }
    let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().collect();
    assert!(left.is_empty(), "{left:?}");
}
