//! A program that embeds the server runs confined commands and `apply_patch` without anything installed.

use std::process::Stdio;

use quipu_testkit::client::within;

#[expect(
    clippy::disallowed_methods,
    reason = "the program under test, killed on drop"
)]
#[tokio::test]
async fn an_embedding_program_runs_commands_and_patches_in_the_sandbox() {
    let test = std::env::current_exe().unwrap();
    let program = test
        .parent()
        .unwrap()
        .with_file_name("examples")
        .join("embedded");
    let child = tokio::process::Command::new(&program)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap_or_else(|error| panic!("{}: {error}", program.display()));
    let output = within("the end", child.wait_with_output()).await.unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stderr}");
    let said = String::from_utf8(output.stdout).unwrap();
    assert_eq!(said, "Hello from this process.\nwritten in the sandbox\n");
}
