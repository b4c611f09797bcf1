//! Scripted servers and clients of them.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use quipu_mcp::{
    CallEvent, CallResult, Client, ClientInfo, Endpoint, Error, Fleet, FleetEvent, Program,
    ServerSpec, StartError, ToolCall, Transport,
};
use quipu_testkit::mcp::{ARGUMENT, LOG_VARIABLE};
use serde_json::Value;
use serde_json::value::RawValue;
use tokio::sync::mpsc;

pub fn info() -> ClientInfo {
    ClientInfo {
        name: "test".to_owned(),
        title: "Test".to_owned(),
        version: "1".to_owned(),
    }
}

fn spec(transport: Transport) -> ServerSpec {
    ServerSpec {
        transport,
        required: false,
        startup_timeout: Duration::from_secs(20),
        tool_timeout: Duration::from_secs(20),
        enabled_tools: None,
        disabled_tools: Vec::new(),
        announces_elicitation: false,
        rules: None,
    }
}

/// A scripted server as a process, in a mode.
pub fn program(mode: &str) -> ServerSpec {
    spec(Transport::Stdio(Program {
        argv: vec![
            std::env::current_exe().unwrap().into(),
            ARGUMENT.into(),
            mode.into(),
        ],
        env: vec![("PATH".into(), std::env::var_os("PATH").unwrap())],
        cwd: "/".into(),
        search_path: None,
    }))
}

/// The same, with everything it reads in a file.
pub fn logged(mode: &str, log: &Path) -> ServerSpec {
    let mut spec = program(mode);
    if let Transport::Stdio(program) = &mut spec.transport {
        program.env.push((LOG_VARIABLE.into(), log.into()));
    }
    spec
}

pub fn endpoint(url: String) -> Endpoint {
    Endpoint {
        url,
        headers: Vec::new(),
        bearer: None,
        grant: None,
        login: None,
        certificates: None,
    }
}

pub fn address(endpoint: Endpoint) -> ServerSpec {
    spec(Transport::Http(endpoint))
}

pub async fn start(spec: &ServerSpec) -> Result<Client, StartError> {
    let (questions, _) = mpsc::channel(1);
    Client::start("scripted", spec, &info(), questions).await
}

/// A fleet of one scripted server, and what it tells.
pub fn fleet(spec: ServerSpec) -> (Fleet, mpsc::Receiver<FleetEvent>) {
    let (events, messages) = mpsc::channel(64);
    let specs = BTreeMap::from([("scripted".to_owned(), spec)]);
    (Fleet::start(specs, &info(), &events), messages)
}

/// Calls a tool without listening to what happens meanwhile.
pub async fn call(client: &Client, tool: &str) -> Result<CallResult, Error> {
    let (events, _) = mpsc::channel(1);
    call_with(client, tool, events).await
}

pub async fn call_with(
    client: &Client,
    tool: &str,
    events: mpsc::Sender<CallEvent>,
) -> Result<CallResult, Error> {
    let arguments = RawValue::from_string(r#"{"z":1}"#.to_owned()).unwrap();
    let call = ToolCall {
        name: tool,
        arguments: Some(&arguments),
        meta: vec![("note".to_owned(), Value::from("hi"))],
        events,
    };
    client.call_tool(call).await
}

/// The text of a result of one block.
pub fn text(result: &CallResult) -> String {
    assert_eq!(result.content.len(), 1);
    let block: Value = serde_json::from_str(result.content[0].get()).unwrap();
    block["text"].as_str().unwrap().to_owned()
}

/// What went wrong, in words.
pub fn failure(result: Result<CallResult, Error>) -> String {
    result.unwrap_err().to_string()
}
