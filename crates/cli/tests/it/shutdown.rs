//! Ends that belong to no single listener.

use quipu_testkit::process::Signal;

use crate::support::app_server;

#[tokio::test]
async fn a_server_that_listens_nowhere_waits_for_a_signal() {
    let mut process = app_server(["--listen", "off"])
        .env("RUST_LOG", "info")
        .start();
    drop(process.stdin.take());
    process.said("serving nobody").await;
    process.signal(Signal::TERM);
    assert_eq!(process.exit().await.code(), Some(0));
    assert!(
        process.stderr().contains("received shutdown signal"),
        "{}",
        process.stderr()
    );
}
