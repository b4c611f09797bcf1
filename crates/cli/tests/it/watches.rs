//! What the kernel watches for a client ends with its connection, however that ends.

use quipu_testkit::client::{Client, within};
use quipu_testkit::process::ServerProcess;
use serde_json::json;

use crate::support::websocket_server;

/// How many files and directories the kernel watches for a process.
fn watched(server: &ServerProcess) -> usize {
    let descriptors = std::fs::read_dir(format!("/proc/{}/fdinfo", server.pid())).unwrap();
    let texts = descriptors
        .flatten()
        .filter_map(|entry| std::fs::read_to_string(entry.path()).ok());
    texts.map(|text| text.matches("inotify wd:").count()).sum()
}

#[tokio::test(flavor = "multi_thread")]
async fn watches_end_with_their_connection() {
    let mut server = websocket_server();
    let other = Client::start(server.websocket(&[]).await).await;
    let directory = tempfile::tempdir().unwrap();
    let before = watched(&server);
    let client = Client::start(server.websocket(&[]).await).await;
    for name in ["a", "b", "c"] {
        let path = directory.path().join(name);
        std::fs::create_dir(&path).unwrap();
        let watch = json!({ "path": path });
        client.call_raw("fs/watch", &watch).await.unwrap();
    }
    assert!(watched(&server) >= before + 3);
    // One client says goodbye; the next just is not there any more.
    client.finish().await;
    ended(&server, &other, before).await;
    let client = Client::start(server.websocket(&[]).await).await;
    let watch = json!({ "path": directory.path() });
    client.call_raw("fs/watch", &watch).await.unwrap();
    assert!(watched(&server) > before);
    drop(client);
    ended(&server, &other, before).await;
    other.finish().await;
}

/// Asks something else until the watches are gone.
async fn ended(server: &ServerProcess, other: &Client, before: usize) {
    let gone = async {
        while watched(server) > before {
            let nothing = json!({});
            other
                .call_raw("thread/loaded/list", &nothing)
                .await
                .unwrap();
        }
    };
    within("the end of the watches", gone).await;
}
