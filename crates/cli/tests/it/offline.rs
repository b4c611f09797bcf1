//! The offline model as people meet it: the program without any settings, and the manual's scripts.

use quipu_testkit::conversation::Conversation;
use quipu_testkit::process::ServerProcess;
use serde_json::{Value, json};
use tokio::net::TcpListener;

use crate::support::app_server;

/// Runs a turn in a new thread, declining commands and accepting the rest; what was said.
async fn turn(client: &mut Conversation, thread: Value, words: &str) -> Vec<Value> {
    let started = client.call("thread/start", thread).await;
    let input = json!([{ "type": "text", "text": words }]);
    let params = json!({ "threadId": started["thread"]["id"], "input": input });
    client.call("turn/start", params).await;
    let mut said = Vec::new();
    loop {
        let message = client.next().await;
        if message.get("id").is_some() {
            let of_command = message["method"] == "item/commandExecution/requestApproval";
            let decision = if of_command { "decline" } else { "accept" };
            client
                .reply(&message["id"], json!({ "decision": decision }))
                .await;
        }
        let is_over = message["method"] == "turn/completed";
        said.push(message);
        if is_over {
            return said;
        }
    }
}

fn start(vars: &[(&str, &str)]) -> ServerProcess {
    let launch = vars
        .iter()
        .fold(app_server([]), |it, (name, value)| it.env(name, value));
    launch.start()
}

#[tokio::test]
async fn without_a_script_it_says_what_could_be_used() {
    // Whether this works or the port is taken, something listens there.
    let held = TcpListener::bind(("127.0.0.1", 1234)).await;
    let keys = [
        ("ANTHROPIC_API_KEY", "sk-ant-1"),
        ("GROQ_API_KEY", "gsk-2"),
        ("MISTRAL_API_KEY", " "),
    ];
    let mut process = start(&keys);
    let mut client = Conversation::start(process.stdio()).await;
    let offline = json!({ "modelProvider": "offline" });
    let said = turn(&mut client, offline, "Please fix my code.").await;
    drop(held);
    let answer = said.iter().find_map(|it| {
        let item = &it["params"]["item"];
        let is_whole = it["method"] == "item/completed" && item["type"] == "agentMessage";
        is_whole.then(|| item["text"].as_str().unwrap())
    });
    let answer = answer.unwrap();
    for words in [
        "This is the offline model",
        r#"ANTHROPIC_API_KEY is set: model_provider = "anthropic""#,
        r#"GROQ_API_KEY is set: model_provider = "groq""#,
        r#"something listens at http://localhost:1234/v1, where LM Studio usually is: model_provider = "lmstudio""#,
    ] {
        assert!(answer.contains(words), "{words} is not in {answer}");
    }
    for words in ["sk-ant-1", "gsk-2", "MISTRAL"] {
        assert!(!answer.contains(words), "{words} is in {answer}");
    }
    client.leave().await;
    process.exit().await;
}

/// What each example of the manual shows, and how its turn ends.
const EXAMPLES: [(&str, &str); 10] = [
    ("All done.", "completed"),
    ("item/commandExecution/requestApproval", "completed"),
    ("written", "completed"),
    (r#""delta":"xxxxxxxxxxxxxxxxxxxx""#, "completed"),
    ("sorry", "completed"),
    ("one two three", "completed"),
    ("Reconnecting... 1/5", "completed"),
    ("usageLimitExceeded", "failed"),
    ("contextWindowExceeded", "failed"),
    (r#""usedPercent":80"#, "completed"),
];

#[tokio::test]
async fn the_manuals_examples_do_what_it_says() {
    let manual = include_str!("../../../../docs/offline-model.md");
    let scripts = manual.split("```json").skip(1);
    let scripts: Vec<&str> = scripts
        .map(|block| block.split("```").next().unwrap())
        .collect();
    assert_eq!(scripts.len(), EXAMPLES.len());
    let mut process = start(&[]);
    let directory = process.directory().join("work");
    std::fs::create_dir(&directory).unwrap();
    let mut client = Conversation::start(process.stdio()).await;
    for (script, (shows, ends)) in scripts.iter().zip(EXAMPLES) {
        let thread = json!({
            "modelProvider": "offline", "approvalPolicy": "untrusted",
            "sandbox": "workspace-write", "cwd": directory,
        });
        let said = turn(&mut client, thread, script).await;
        let status = &said.last().unwrap()["params"]["turn"]["status"];
        let said = serde_json::to_string(&said).unwrap();
        assert_eq!(status, ends, "{script}: {said}");
        assert!(said.contains(shows), "{shows} is not in {said}");
    }
    let patched = std::fs::read_to_string(directory.join("hello.txt")).unwrap();
    assert_eq!(patched, "hello\n");
    client.leave().await;
    process.exit().await;
}
