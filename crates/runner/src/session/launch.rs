//! Starting the server and shaking hands with it.

use std::ffi::OsString;
use std::sync::Arc;

use quipu_client::{Client, Options, Timeouts};

use super::monitor::Monitor;
use super::questions::Answers;
use super::{Launch, SessionError, SessionOptions, error};

/// The name of this program for servers and model providers.
const NAME: &str = "quipu-runner";
const TITLE: &str = "Quipu Runner";

/// The workspace as the protocol has it: a text.
pub(super) fn workspace(options: &SessionOptions) -> Result<String, SessionError> {
    let path = &options.workspace;
    let invalid = |reason: &str| SessionError::InvalidWorkspace {
        workspace: path.clone(),
        reason: reason.to_owned(),
    };
    let text = path
        .to_str()
        .ok_or_else(|| invalid("its name is not UTF-8"))?;
    if !path.is_absolute() {
        return Err(invalid("it is not an absolute path"));
    }
    let is_here = !matches!(options.launch, Launch::Ssh { .. });
    if is_here && !path.is_dir() {
        return Err(invalid("it is not a directory"));
    }
    Ok(text.to_owned())
}

/// A client that has been introduced.
pub(super) async fn connect(
    options: &SessionOptions,
    monitor: &Arc<Monitor>,
) -> Result<Client, SessionError> {
    let limits = options.limits;
    let answers = Answers {
        monitor: Arc::clone(monitor),
        tools: options.tools.clone(),
        auto_approve: options.approval_policy == "never",
        limits,
    };
    let listening = Arc::clone(monitor);
    let mut client = transport(options)
        .client(NAME, env!("CARGO_PKG_VERSION"))
        .client_title(TITLE)
        .minimum_version(None)
        .first_request_id(1)
        .timeouts(Timeouts {
            handshake: limits.startup,
            request: limits.response,
            turn_silence: None,
            turn_total: None,
            handler: None,
            shutdown: limits.shutdown,
        })
        .observer(move |received| listening.received(received))
        .handler(answers);
    for (name, value) in &options.environment {
        client = match value {
            Some(value) => client.env(name, value),
            None => client.env_remove(name),
        };
    }
    let connected = Client::connect(client).await;
    connected.map_err(|error| error::of_connect(options, &error))
}

fn transport(options: &SessionOptions) -> Options {
    let workspace = &options.workspace;
    match &options.launch {
        Launch::Program(program) => Options::spawn(program).cwd(workspace),
        Launch::Shell(command) => Options::spawn("bash").args(["-lc", command]).cwd(workspace),
        Launch::Embedded(server) => server.options(),
        Launch::Ssh { host, command } => {
            let text = |it: &OsString| it.to_string_lossy().into_owned();
            let variables = options.environment.iter();
            let variables: Vec<_> = variables
                .map(|(name, value)| (text(name), value.as_ref().map(text)))
                .collect();
            let workspace = workspace.to_string_lossy();
            Options::spawn("ssh").args(host.server(command, &workspace, &variables))
        }
    }
}
