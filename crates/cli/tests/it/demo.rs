//! `quipu demo`: the first thing that people run must work and leave nothing behind.

use std::process::Stdio;

use quipu_testkit::client::within;
use tokio::process::Command;

use crate::support::QUIPU;

#[tokio::test]
async fn the_demo_shows_everything_and_leaves_nothing() {
    let directory = tempfile::tempdir().unwrap();
    #[expect(
        clippy::disallowed_methods,
        reason = "the program under test, killed on drop"
    )]
    let mut command = Command::new(QUIPU);
    command
        // Not even a home, or where programs are.
        .env_clear()
        .env("TMPDIR", directory.path())
        .current_dir(directory.path())
        .arg("demo")
        .stdin(Stdio::null())
        .kill_on_drop(true);
    let output = within("the end of the demo", command.output())
        .await
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    let printed = std::str::from_utf8(&output.stdout).unwrap();
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
        assert!(printed.contains(part), "{part:?} is not in {printed}");
    }
    let left: Vec<_> = std::fs::read_dir(directory.path()).unwrap().collect();
    assert!(left.is_empty(), "{left:?}");
}
