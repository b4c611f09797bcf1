//! A large file passes through the server once: as the message that leaves.

use quipu_testkit::raw::Raw;
use serde_json::json;

use crate::support::{app_server, converse};

/// The most memory that a process had, in bytes.
fn most_memory(pid: i32) -> usize {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:"));
    let kilobytes = line.unwrap().split_whitespace().nth(1).unwrap();
    kilobytes.parse::<usize>().unwrap() * 1024
}

#[tokio::test]
async fn reading_a_large_file_needs_its_message_and_little_more() {
    let mut server = app_server([]).start();
    let mut raw = Raw::new(server.stdio());
    converse(&mut raw).await;
    let file = server.folder().join("large");
    let content = vec![b'x'; 12 << 20];
    std::fs::write(&file, &content).unwrap();
    let before = most_memory(server.pid());
    let request = json!({ "id": 3, "method": "fs/readFile", "params": { "path": file } });
    let answer = raw.call(&request).await;
    let encoded = answer["result"]["dataBase64"].as_str().unwrap().len();
    assert_eq!(encoded, content.len() / 3 * 4);
    let used = most_memory(server.pid()) - before;
    assert!(
        used < encoded * 3 / 2,
        "{used} bytes for a message of {encoded}"
    );
}
