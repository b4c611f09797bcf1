//! The examples run as they are, against Quipu with its offline model.

use std::process::Stdio;

use quipu_testkit::client::within;

/// Runs an example that cargo built beside this test; what it printed.
#[expect(
    clippy::disallowed_methods,
    reason = "the program under test, killed on drop"
)]
async fn run(name: &str) -> String {
    let test = std::env::current_exe().unwrap();
    let program = test.parent().unwrap().with_file_name("examples").join(name);
    let child = tokio::process::Command::new(&program)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap_or_else(|error| panic!("{}: {error}", program.display()));
    let output = within("the end", child.wait_with_output()).await.unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{name}: {stderr}");
    assert_eq!(stderr, "", "{name}");
    String::from_utf8(output.stdout).unwrap()
}

#[tokio::test]
async fn hello_reads_an_answer_into_a_type() {
    assert_eq!(run("adapter_hello").await, "a demo: hello.rs\n");
}

#[tokio::test]
async fn tools_are_undone_when_they_fail() {
    let said = run("adapter_tools").await;
    let wanted =
        "order: ordered\norder: 505 is more than we have\norder: ordered\nbread and wine for 25\n";
    assert_eq!(said, wanted);
}

#[tokio::test]
async fn a_dataset_is_reported() {
    let said = run("adapter_dataset").await;
    assert!(
        said.contains("| short | 1.000 ± 0.000 | 1.000 ± 0.000 |"),
        "{said}"
    );
    assert!(
        said.contains("| wordy | 0.000 ± 0.000 | 1.000 ± 0.000 |"),
        "{said}"
    );
}
