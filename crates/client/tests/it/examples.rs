//! The examples run as they are, against Quipu with its offline model.

use std::process::Stdio;

use crate::support::within;

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
async fn hello_streams_an_answer() {
    assert!(run("hello").await.contains("Hello from a thread."));
}

#[tokio::test]
async fn approvals_decide_what_runs() {
    let said = run("approvals").await;
    assert!(said.contains("approved: "), "{said}");
    assert!(said.contains("declined: "), "{said}");
    assert!(
        said.contains("allowed exists: true, forbidden exists: false"),
        "{said}"
    );
}

#[tokio::test]
async fn a_dynamic_tool_is_called() {
    let said = run("dynamic_tool").await;
    assert!(
        said.contains("the model asked for the weather in Cusco"),
        "{said}"
    );
}

#[tokio::test]
async fn structured_output_is_read_into_a_type() {
    let said = run("structured_output").await;
    assert!(said.contains("severity 3: off by one"), "{said}");
}

#[tokio::test]
async fn a_review_tells_its_findings() {
    assert!(run("review").await.contains("looks good"));
}

#[tokio::test]
async fn many_threads_run_at_once() {
    let said = run("many_threads").await;
    assert_eq!(
        said.lines().filter(|line| line.contains(" says ")).count(),
        10,
        "{said}"
    );
}
