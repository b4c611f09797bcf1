//! Every feature that the server calls stable makes a difference: what is seen with it is not what is seen without.

use serde_json::{Value, json};

use crate::mcp::server;
use crate::stage::{Stage, calls, completed, run, say, text};

/// Stable features that have tests of their own elsewhere.
const ELSEWHERE: [&str; 4] = [
    "apps",
    "plugins",
    "tool_suggest",
    "enable_request_compression",
];

#[tokio::test(flavor = "multi_thread")]
async fn every_stable_feature_makes_a_difference() {
    let mut client = Stage::new().await.client().await;
    let all = json!({ "limit": 1000 });
    let list = client.call("experimentalFeature/list", all).await;
    let features = list["data"].as_array().unwrap().iter();
    let stable: Vec<String> = features
        .filter(|it| it["stage"] == "stable")
        .map(|it| text(&it["name"]))
        .collect();
    assert!(stable.len() >= 7, "{stable:?}");
    let sandbox = quipu_sandbox::capabilities().await.unwrap();
    for name in stable.iter().filter(|it| !ELSEWHERE.contains(&it.as_str())) {
        if name == "use_legacy_landlock" && !(sandbox.namespaces.is_ok() && sandbox.landlock > 0) {
            eprintln!("skipped: {name}: {sandbox}");
            continue;
        }
        let (with, without) = (seen(name, true).await, seen(name, false).await);
        assert_ne!(with, without, "{name} changes nothing");
    }
}

/// What shows whether a feature works.
async fn seen(name: &str, on: bool) -> Value {
    let switch = format!("features.{name} = {on}\n");
    match name {
        "shell_tool" | "unified_exec" | "multi_agent" => {
            let body = request(&switch, json!({})).await;
            let tools = body["tools"].as_array().unwrap().iter();
            tools.map(|it| it["name"].clone()).collect()
        }
        "fast_mode" => {
            let body = request(&format!("service_tier = \"fast\"\n{switch}"), json!({})).await;
            body["service_tier"].clone()
        }
        "personality" => {
            let settings = format!("personality = \"friendly\"\n{switch}");
            let body = request(&settings, json!({ "model": "gpt-5.3-codex" })).await;
            body["instructions"].clone()
        }
        "use_legacy_landlock" => namespaces_of_commands(&switch).await,
        "shell_snapshot" => reads_of_the_profile(&switch).await,
        "tool_call_mcp_elicitation" => question_about_a_tool(&switch).await,
        "skill_mcp_dependency_install" => crate::skill_servers::installed(&switch).await,
        other => panic!("{other} is called stable and has no test"),
    }
}

/// The namespaces in which a command of the model and one of the client run.
async fn namespaces_of_commands(settings: &str) -> Value {
    let stage = Stage::with(settings).await;
    let (mut client, thread) = stage.thread_with(json!({ "sandbox": "read-only" })).await;
    let read = "readlink /proc/self/ns/user /proc/self/ns/mnt";
    let command = json!({ "cmd": read });
    stage.play([calls("exec_command", command), json!({ "text": "done" })]);
    let messages = run(&mut client, &thread, "go").await;
    let item = completed(&messages, "commandExecution")[0];
    assert_eq!(item["exitCode"], 0, "{item}");
    let params = json!({
        "command": ["bash", "-c", read], "sandboxPolicy": { "type": "readOnly" },
    });
    let ran = client.call("command/exec", params).await;
    assert_eq!(ran["exitCode"], 0, "{ran}");
    let own = |kind: &str| std::fs::read_link(format!("/proc/self/ns/{kind}")).unwrap();
    let own = format!("{}\n{}\n", own("user").display(), own("mnt").display());
    json!([
        item["aggregatedOutput"] == own.as_str(),
        ran["stdout"] == own.as_str(),
    ])
}

/// What the model is sent in a turn.
async fn request(settings: &str, thread: Value) -> Value {
    let stage = Stage::with(settings).await;
    let (mut client, thread) = stage.thread_with(thread).await;
    stage.play([json!({ "text": "hi" })]);
    run(&mut client, &thread, "hello").await;
    stage.model.requests()[0].body.clone()
}

/// How often two commands read the profile of their shell.
async fn reads_of_the_profile(settings: &str) -> Value {
    let mut stage = Stage::with(settings).await;
    let profile = stage.directory().join(".bash_profile");
    std::fs::write(profile, "echo run >> ~/runs\n").unwrap();
    stage.restart_with_env(&[("SHELL", "/bin/bash")]);
    let (mut client, thread) = stage.thread().await;
    for _ in 0..2 {
        let command = calls("exec_command", json!({ "cmd": "true" }));
        stage.play([command, json!({ "text": "done" })]);
        run(&mut client, &thread, "go").await;
    }
    let runs = std::fs::read_to_string(stage.directory().join("runs")).unwrap();
    json!(runs.lines().count())
}

/// How the user is asked about a tool of an MCP server.
async fn question_about_a_tool(settings: &str) -> Value {
    let stage = Stage::with(&(settings.to_owned() + &server("s", "", ""))).await;
    let asking = json!({ "approvalPolicy": "on-request" });
    let (mut client, thread) = stage.thread_with(asking).await;
    stage.play([calls("mcp__s__danger", json!({}))]);
    say(&mut client, &thread, "go").await;
    loop {
        let message = client.next().await;
        if !message["id"].is_null() {
            return message["method"].clone();
        }
    }
}
