//! `quipu sandbox -- COMMAND`: a command under a policy.

use std::process::{Output, Stdio};

use quipu_testkit::client::within;
use tokio::io::AsyncWriteExt as _;

use crate::exec::{Place, text};

async fn sandbox(place: &Place, args: &[&str], input: &str) -> Output {
    let mut command = place.quipu(&["sandbox"]);
    command
        .args(args)
        .current_dir(place.work())
        .env("SOME_TOKEN", "seen")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    // A command that is done already has no use for it.
    stdin.write_all(input.as_bytes()).await.ok();
    drop(stdin);
    within("the end of a command", child.wait_with_output())
        .await
        .unwrap()
}

#[tokio::test]
async fn a_command_is_kept_to_its_policy() {
    let place = Place::new();
    let script = "echo x > inside; echo x > ~/outside; echo ${SOME_TOKEN-hidden}; exit 7";
    for (policy, inside, outside, token) in [
        ("read-only", false, false, "hidden"),
        ("workspace-write", true, false, "hidden"),
        ("full-access", true, true, "seen"),
    ] {
        let (inner, outer) = (
            place.work().join("inside"),
            place.directory.path().join("outside"),
        );
        // The home of the test is a temporary directory.
        let narrow = "sandbox_workspace_write.exclude_slash_tmp=true";
        let args = ["-c", narrow, "--policy", policy, "--", "sh", "-c", script];
        let output = sandbox(&place, &args, "").await;
        assert_eq!(output.status.code(), Some(7), "{output:?}");
        assert_eq!(text(&output.stdout).trim(), token, "{policy}");
        assert_eq!(
            (inner.exists(), outer.exists()),
            (inside, outside),
            "{policy}"
        );
        for file in [inner, outer] {
            std::fs::remove_file(file).ok();
        }
    }
}

#[tokio::test]
async fn input_output_and_endings_are_passed_on() {
    let place = Place::new();
    let script = "cat; echo error >&2; kill -9 $$";
    let output = sandbox(&place, &["sh", "-c", script], "some input").await;
    assert_eq!(text(&output.stdout), "some input");
    assert_eq!(text(&output.stderr), "error\n");
    assert_eq!(output.status.code(), Some(137));
    // What does not read its input is not waited for.
    let output = sandbox(&place, &["true"], "x").await;
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let output = sandbox(&place, &["/nonexistent"], "").await;
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).starts_with("Error: "), "{output:?}");
}

#[tokio::test]
async fn the_configured_policy_is_used_and_limits_hold() {
    let place = Place::new();
    let write = ["sh", "-c", "echo x > inside"];
    let mode = "sandbox_mode=\"workspace-write\"";
    let output = sandbox(&place, &[&["-c", mode], &write[..]].concat(), "").await;
    assert!(output.status.success(), "{output:?}");
    std::fs::remove_file(place.work().join("inside")).unwrap();
    let output = sandbox(&place, &write, "").await;
    assert!(!output.status.success(), "{output:?}");
}

#[tokio::test]
async fn the_report_is_about_the_configured_sandbox() {
    let place = Place::new();
    let output = sandbox(&place, &[], "").await;
    let usual = text(&output.stdout).to_owned();
    if !usual.contains("namespaces: yes") || usual.contains("Landlock: no") {
        return eprintln!("skipped: this machine has not both kinds: {usual}");
    }
    let output = sandbox(&place, &["--enable", "use_legacy_landlock"], "").await;
    let printed = text(&output.stdout);
    assert!(
        printed.starts_with(
            "sandbox: Landlock and seccomp (namespaces: no, switched off by `features.use_legacy_landlock`; "
        ),
        "{printed}"
    );
    assert!(output.status.success());
    let home = place.directory.path().join(".quipu");
    std::fs::write(
        home.join("config.toml"),
        "features.use_legacy_landlock = true\n",
    )
    .unwrap();
    let mut command = place.quipu(&["doctor"]);
    let output = within("its end", command.output()).await.unwrap();
    let printed = text(&output.stdout);
    assert!(
        printed.contains("✓ sandbox        Landlock and seccomp"),
        "{printed}"
    );
}
