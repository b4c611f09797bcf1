//! What clients can ask about MCP servers, and how servers end.

use quipu_testkit::mcp::{HttpOptions, McpHttpServer};
use quipu_testkit::wait::gone;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::mcp::server;
use crate::stage::{Stage, calls, completed, run, text};

#[tokio::test(flavor = "multi_thread")]
async fn the_status_of_all_servers_is_listed() {
    let mut settings = server("good", "paged", "disabled_tools = [\"danger\"]");
    settings += &server("off", "", "enabled = false");
    settings += "[mcp_servers.bad]\ncommand = \"no-such-program\"\n";
    settings += "[mcp_servers.dead]\nurl = \"http://127.0.0.1:9/mcp\"\nhttp_headers = { Authorization = \"x\" }\n";
    let stage = Stage::with(&settings).await;
    let mut client = stage.client().await;
    let listed = client.call("mcpServerStatus/list", json!({})).await;
    let names: Vec<String> = listed["data"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| text(&it["name"]))
        .collect();
    assert_eq!(names, ["bad", "dead", "good", "off"]);
    assert_eq!(listed["nextCursor"], Value::Null);
    let empty = |name: &str, auth: &str| json!({ "name": name, "tools": {}, "resources": [], "resourceTemplates": [], "authStatus": auth });
    assert_eq!(listed["data"][0], empty("bad", "unsupported"));
    assert_eq!(listed["data"][1], empty("dead", "bearerToken"));
    assert_eq!(listed["data"][3], empty("off", "unsupported"));
    let good = &listed["data"][2];
    let echo = json!({
        "name": "echo", "title": "Echo", "description": "echoes", "annotations": { "readOnlyHint": true },
        "inputSchema": { "type": "object", "required": ["z"], "properties": {
            "z": { "type": "integer", "minimum": 1 }, "a": { "enum": ["x", "y"] },
        } },
    });
    assert_eq!(good["tools"]["echo"], echo);
    assert_eq!(good["tools"]["dotted_name"]["name"], "dotted.name");
    assert_eq!(good["tools"].get("danger"), None);
    let resources = json!([
        { "uri": "note://one", "name": "one", "mimeType": "text/plain", "size": 3 },
        { "uri": "note://two", "name": "two" },
    ]);
    assert_eq!(good["resources"], resources);
    assert_eq!(
        good["resourceTemplates"],
        json!([{ "uriTemplate": "note://{name}", "name": "note" }])
    );

    let page = json!({ "cursor": "1", "limit": 1 });
    let page = client.call("mcpServerStatus/list", page).await;
    assert_eq!(page["data"], json!([empty("dead", "bearerToken")]));
    assert_eq!(page["nextCursor"], "2");
    let refused = client
        .refused("mcpServerStatus/list", json!({ "cursor": "9" }))
        .await;
    assert_eq!(refused, "cursor 9 exceeds total MCP servers 4");
    let refused = client
        .refused("mcpServerStatus/list", json!({ "cursor": "x" }))
        .await;
    assert_eq!(refused, "invalid cursor: x");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_required_server_that_fails_leaves_no_thread() {
    let settings = "[mcp_servers.must]\ncommand = \"no-such-program\"\nrequired = true\n";
    let stage = Stage::with(settings).await;
    let mut client = stage.client().await;
    let error = client
        .try_call("thread/start", json!({}))
        .await
        .unwrap_err();
    assert_eq!(error["code"], -32603);
    assert_eq!(
        error["message"],
        "error creating thread: Fatal error: Failed to initialize session: required MCP servers failed to \
         initialize: must: cannot start `no-such-program`: No such file or directory (os error 2)"
    );
    let loaded = client.call("thread/loaded/list", json!({})).await;
    assert_eq!(loaded["data"], json!([]));
}

#[tokio::test(flavor = "multi_thread")]
async fn servers_are_replaced_after_a_reload() {
    let stage = Stage::with(&server("one", "", "")).await;
    let (mut client, thread) = stage.thread().await;
    let names = |stage: &Stage| {
        let sent = stage.last_request();
        (
            sent.contains("mcp__one__echo"),
            sent.contains("mcp__two__echo"),
        )
    };
    stage.play([json!({ "text": "done" })]);
    run(&mut client, &thread, "go").await;
    assert_eq!(names(&stage), (true, false));
    let file = stage.home().join("config.toml");
    let config = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, config.replace("mcp_servers.one", "mcp_servers.two")).unwrap();
    let answer = client.call("config/mcpServer/reload", json!({})).await;
    assert_eq!(answer, json!({}));
    stage.play([json!({ "text": "done" })]);
    run(&mut client, &thread, "go").await;
    let tools = stage.model.requests().pop().unwrap().body["tools"].to_string();
    assert!(tools.contains("mcp__two__echo") && !tools.contains("mcp__one__echo"));

    std::fs::write(&file, "broken = [").unwrap();
    let refused = client.refused("config/mcpServer/reload", json!({})).await;
    assert!(
        refused.starts_with("failed to reload config: "),
        "{refused}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_ends_with_its_thread() {
    let stage = Stage::with(&server("s", "stubborn", "")).await;
    let (mut client, thread) = stage.thread().await;
    stage.play([
        calls("mcp__s__family", json!({})),
        json!({ "text": "done" }),
    ]);
    let messages = run(&mut client, &thread, "go").await;
    let ids = text(&completed(&messages, "mcpToolCall")[0]["result"]["content"][0]["text"]);
    client
        .call("thread/archive", json!({ "threadId": thread }))
        .await;
    for id in ids.split(' ') {
        gone(id).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_login_makes_a_server_usable() {
    let options = HttpOptions {
        login: true,
        streams: true,
        ..HttpOptions::default()
    };
    let remote = McpHttpServer::start(options).await.unwrap();
    let stage = Stage::with(&format!(
        "[mcp_servers.h]\nurl = \"{}\"\n{}",
        remote.url(),
        server("local", "", "enabled = false")
    ))
    .await;
    let (mut client, thread) = stage.thread().await;
    let failed = loop {
        let messages = client.skip_to("mcpServer/startupStatus/updated").await;
        if messages["params"]["status"] != "starting" {
            break messages["params"].clone();
        }
    };
    let text_of = "The h MCP server is not logged in. Run `quipu mcp login h`.";
    assert_eq!(
        failed,
        json!({ "name": "h", "status": "failed", "error": text_of })
    );
    let status = client
        .call("mcpServerStatus/list", json!({ "limit": 1 }))
        .await;
    assert_eq!(status["data"][0]["authStatus"], "notLoggedIn");

    let login = client
        .call("mcpServer/oauth/login", json!({ "name": "h" }))
        .await;
    let page = text(&login["authorizationUrl"]);
    let member = |name: &str| {
        let (_, rest) = page.split_once(&format!("{name}=")).unwrap();
        rest.split('&').next().unwrap().to_owned()
    };
    let redirect = member("redirect_uri");
    let port = redirect
        .split("%3A")
        .nth(2)
        .unwrap()
        .split("%2F")
        .next()
        .unwrap();
    let mut browser = tokio::net::TcpStream::connect(format!("127.0.0.1:{port}"))
        .await
        .unwrap();
    let visit = format!(
        "GET /callback?code=c&state={} HTTP/1.1\r\n\r\n",
        member("state")
    );
    browser.write_all(visit.as_bytes()).await.unwrap();
    let mut shown = String::new();
    browser.read_to_string(&mut shown).await.unwrap();
    assert!(shown.contains("Authentication complete"), "{shown}");
    let done = client.skip_to("mcpServer/oauthLogin/completed").await;
    assert_eq!(done["params"], json!({ "name": "h", "success": true }));

    let status = client
        .call("mcpServerStatus/list", json!({ "limit": 1 }))
        .await;
    assert_eq!(status["data"][0]["authStatus"], "oAuth");
    assert!(status["data"][0]["tools"]["echo"].is_object());
    client.call("config/mcpServer/reload", json!({})).await;
    stage.play([
        calls("mcp__h__echo", json!({ "z": 1 })),
        json!({ "text": "done" }),
    ]);
    let messages = run(&mut client, &thread, "go").await;
    assert_eq!(
        completed(&messages, "mcpToolCall")[0]["status"],
        "completed"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_login_that_cannot_be_is_refused() {
    let settings = format!(
        "{}[mcp_servers.dead]\nurl = \"http://127.0.0.1:9/mcp\"\n",
        server("s", "", "")
    );
    let stage = Stage::with(&settings).await;
    let mut client = stage.client().await;
    let cases = [
        ("nobody", "No MCP server named 'nobody' found."),
        (
            "s",
            "OAuth login is only supported for streamable HTTP servers.",
        ),
        (
            "dead",
            "failed to login to MCP server 'dead': No authorization support detected",
        ),
    ];
    for (name, message) in cases {
        let refused = client
            .refused("mcpServer/oauth/login", json!({ "name": name }))
            .await;
        assert_eq!(refused, message);
    }
}
