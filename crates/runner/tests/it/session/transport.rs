//! Requirements 1 to 7: lines over standard input and output.

use quipu_runner::session::{EventKind, Launch};
use serde_json::json;

use super::support::{Lab, start};

#[tokio::test]
async fn r01_the_server_is_started_in_the_workspace_and_speaks_one_object_per_line() {
    let lab = Lab::new("pwd > where; greet; turn 3 turn-1; completed turn-1; stay");
    lab.run().await.unwrap();
    let place = std::fs::read_to_string(lab.path().join("where")).unwrap();
    let workspace = lab.path().canonicalize().unwrap();
    assert_eq!(place.trim(), workspace.to_str().unwrap());
    let text = std::fs::read_to_string(lab.path().join("trace")).unwrap();
    assert!(
        text.lines()
            .all(|line| line.starts_with('{') && line.ends_with('}')),
        "{text}"
    );
    assert!(!text.to_lowercase().contains("content-length"));
}

#[tokio::test]
async fn r01_a_program_is_started_with_app_server_as_its_argument() {
    let lab = Lab::new("");
    let program = lab.path().join("agent");
    let script = std::fs::read_to_string(lab.path().join("server.sh")).unwrap();
    let text = format!("#!/bin/bash\n{script}\necho \"$*\" > arguments; greet; stay\n");
    std::fs::write(&program, text).unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&program, mode).unwrap();
    start(lab.with(Launch::Program(program)))
        .await
        .unwrap()
        .stop()
        .await;
    let arguments = std::fs::read_to_string(lab.path().join("arguments")).unwrap();
    assert_eq!(arguments, "app-server\n");
}

#[tokio::test]
async fn r02_buffers_partial_json_lines_until_newline_terminator() {
    let lab = Lab::new(
        r#"
        greet; turn 3 turn-1
        printf '{"method":"item/completed","params":{"threadId":"thread-1","turnId":"turn-1","item":{"type":"agentMessage","text":"'
        head -c 2000000 /dev/zero | tr '\0' 'x'
        printf '"}}'
        printf '}\n{"method":"turn/comp'
        printf 'leted"}\n'
        stay
        "#,
    );
    let done = lab.run().await.unwrap();
    assert_eq!(done.message.len(), 2_000_000);
    assert_eq!(lab.events(EventKind::Malformed).len(), 0);
    let items = lab.events(EventKind::Notification);
    assert_eq!(
        items
            .iter()
            .filter(|it| it.method == "item/completed")
            .count(),
        1
    );
}

#[tokio::test]
async fn r03_lines_that_are_not_json_are_reported_with_their_text_and_survived() {
    let lab = Lab::new(
        r#"
        say 'warning: something'; hello; say '{"oops": '; get
        say '{"id":2,"result":{"thread":{"id":"thread-1"}}}'
        turn 3 turn-1; say '[1,2]'; completed turn-1; stay
        "#,
    );
    lab.run().await.unwrap();
    let texts: Vec<_> = lab
        .events(EventKind::Malformed)
        .into_iter()
        .map(|it| it.payload)
        .collect();
    assert_eq!(
        texts,
        [
            json!("warning: something"),
            json!("{\"oops\": "),
            json!("[1,2]")
        ]
    );
}

#[tokio::test]
async fn r04_standard_error_is_followed_line_by_line() {
    let lab =
        Lab::new("echo 'starting up' >&2; greet; echo 'a b' >&2; turn 3 t; completed t; stay");
    lab.run().await.unwrap();
    let lines: Vec<_> = lab
        .events(EventKind::Stderr)
        .into_iter()
        .map(|it| it.payload)
        .collect();
    assert_eq!(lines, [json!("starting up"), json!("a b")]);
    assert_eq!(lab.events(EventKind::Malformed).len(), 0);
}

#[tokio::test]
async fn r04_standard_error_may_be_merged_into_the_stream() {
    let lab = Lab::new("greet; echo 'to stderr' >&2; turn 3 turn-1; completed turn-1; stay");
    let launch = Launch::Shell("exec bash ./server.sh 2>&1".into());
    lab.run_with(lab.with(launch)).await.unwrap();
    let lines = lab.events(EventKind::Malformed);
    assert_eq!(lines.len(), 1);
    assert_eq!(lines[0].payload, "to stderr");
}

#[tokio::test]
async fn r05_jsonrpc_is_neither_sent_nor_required() {
    let lab = Lab::new("greet; turn 3 turn-1; completed turn-1; stay");
    lab.run().await.unwrap();
    assert!(
        lab.trace()
            .iter()
            .all(|message| message.get("jsonrpc").is_none())
    );
    let lab = Lab::new(
        r#"
        get; say '{"jsonrpc":"2.0","id":1,"result":{}}'; get; get
        say '{"jsonrpc":"2.0","id":2,"result":{"thread":{"id":"thread-1"}}}'
        turn 3 turn-1; say '{"jsonrpc":"2.0","method":"turn/completed"}'; stay
        "#,
    );
    lab.run().await.unwrap();
}

#[tokio::test]
async fn r06_ids_are_answered_with_the_type_they_came_with() {
    let ask = r#"say '{"id":ID,"method":"item/fileChange/requestApproval","params":{"threadId":"thread-1"}}'; get"#;
    let asks = ask.replace("ID", "7") + "\n" + &ask.replace("ID", "\"7\"");
    let lab = Lab::new(&format!(
        "greet; turn 3 turn-1\n{asks}\ncompleted turn-1; stay"
    ));
    lab.run().await.unwrap();
    assert_eq!(lab.answer(7)["result"]["decision"], "acceptForSession");
    assert_eq!(lab.answer("7")["result"]["decision"], "acceptForSession");
}

#[tokio::test]
async fn r07_what_arrives_while_an_answer_is_awaited_is_not_lost() {
    let lab = Lab::new(
        r#"
        hello; get; say '{"method":"early/news","params":{"n":1}}'
        say '{"id":2,"result":{"thread":{"id":"thread-1"}}}'
        get; completed turn-1; say '{"id":3,"result":{"turn":{"id":"turn-1"}}}'; stay
        "#,
    );
    // The turn ended before its start was answered.
    lab.run().await.unwrap();
    let news = lab.events(EventKind::Notification);
    assert!(
        news.iter()
            .any(|it| it.method == "early/news" && it.payload["n"] == 1)
    );
}
