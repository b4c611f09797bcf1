//! The editor's own files and terminals, as tools that the model can call where the editor offers them. Files may have
//! changes that are not saved, which only the editor knows. Nothing here is confined by the sandbox, so writing and
//! running ask the user first.

use agent_client_protocol::v1::schema::{
    ClientCapabilities, CreateTerminalRequest, KillTerminalRequest, ReadTextFileRequest,
    ReleaseTerminalRequest, Terminal, TerminalOutputRequest, ToolCallContent, ToolCallUpdate,
    ToolCallUpdateFields, ToolKind, WaitForTerminalExitRequest, WriteTextFileRequest,
};
use quipu_client::wire::{
    DynamicToolCallOutputContentItem, DynamicToolCallParams, DynamicToolCallResponse,
    DynamicToolSpec,
};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::agent::Editor;
use crate::permission::{self, Answer};
use crate::session::Session;
use crate::turn;

const READ: &str = "editor_read_file";
const WRITE: &str = "editor_write_file";
const RUN: &str = "editor_run_in_terminal";
/// Bytes of a terminal's output that the editor keeps.
const MOST_OUTPUT: u64 = 64 << 10;

#[derive(Deserialize)]
struct Read {
    path: String,
    line: Option<u32>,
    limit: Option<u32>,
}

#[derive(Deserialize)]
struct Write {
    path: String,
    content: String,
}

#[derive(Deserialize)]
struct Run {
    command: String,
    #[serde(default)]
    args: Vec<String>,
    cwd: Option<String>,
}

/// The tools for what this editor offers.
pub fn tools(editor: &ClientCapabilities) -> Option<Vec<DynamicToolSpec>> {
    let path = json!({ "type": "string", "description": "Absolute path" });
    let tool = |name: &str, description: &str, properties: Value, required: &[&str]| {
        let schema = json!({ "type": "object", "properties": properties, "required": required });
        DynamicToolSpec {
            name: name.to_owned(),
            description: description.to_owned(),
            input_schema: schema.into(),
            defer_loading: false,
        }
    };
    let mut tools = Vec::new();
    if editor.fs.read_text_file {
        let number = json!({ "type": "integer", "minimum": 1 });
        let properties = json!({ "path": path, "line": number, "limit": number });
        let text =
            "Reads a text file as it is in the user's editor, with changes that are not saved.";
        tools.push(tool(READ, text, properties, &["path"]));
    }
    if editor.fs.write_text_file {
        let properties = json!({ "path": path, "content": { "type": "string" } });
        let text = "Replaces a text file in the user's editor. Needed only for files with changes that are not saved.";
        tools.push(tool(WRITE, text, properties, &["path", "content"]));
    }
    if editor.terminal {
        let args = json!({ "type": "array", "items": { "type": "string" } });
        let command = json!({ "type": "string", "description": "The program" });
        let properties = json!({ "command": command, "args": args, "cwd": path });
        let text = "Runs a program in a terminal of the user's editor, where the user can watch it. The user is asked first.";
        tools.push(tool(RUN, text, properties, &["command"]));
    }
    (!tools.is_empty()).then_some(tools)
}

/// Runs one of the tools.
pub async fn call(
    editor: &Editor,
    session: &Session,
    request: &DynamicToolCallParams,
) -> DynamicToolCallResponse {
    let arguments = request.arguments.get();
    let done = match request.tool.as_str() {
        READ => match serde_json::from_str(arguments) {
            Ok(it) => read(editor, session, it).await,
            Err(error) => Err(error.to_string()),
        },
        WRITE => match serde_json::from_str(arguments) {
            Ok(it) => write(editor, session, request, it).await,
            Err(error) => Err(error.to_string()),
        },
        RUN => match serde_json::from_str(arguments) {
            Ok(it) => run(editor, session, request, it).await,
            Err(error) => Err(error.to_string()),
        },
        other => Err(format!("The editor has no tool named `{other}`.")),
    };
    match done {
        Ok(text) => answer(text, true),
        Err(text) => failure(&text),
    }
}

pub fn failure(text: &str) -> DynamicToolCallResponse {
    answer(text.to_owned(), false)
}

fn answer(text: String, success: bool) -> DynamicToolCallResponse {
    let content_items = vec![DynamicToolCallOutputContentItem::InputText { text }];
    DynamicToolCallResponse {
        content_items,
        success,
    }
}

type Outcome = Result<String, String>;

/// An error of the editor, for the model.
fn said(error: agent_client_protocol::Error) -> String {
    match &error.data {
        Some(data) => format!("{}: {data}", error.message),
        None => error.message,
    }
}

async fn read(editor: &Editor, session: &Session, arguments: Read) -> Outcome {
    let request = ReadTextFileRequest::new(session.thread_id.clone(), arguments.path)
        .line(arguments.line)
        .limit(arguments.limit);
    let read = editor.send_request(request).block_task().await;
    read.map(|it| it.content).map_err(said)
}

async fn write(
    editor: &Editor,
    session: &Session,
    request: &DynamicToolCallParams,
    arguments: Write,
) -> Outcome {
    allowed(
        editor,
        session,
        request,
        format!("Write {}", arguments.path),
        ToolKind::Edit,
    )
    .await?;
    let path = arguments.path.clone();
    let request =
        WriteTextFileRequest::new(session.thread_id.clone(), arguments.path, arguments.content);
    let written = editor.send_request(request).block_task().await;
    written
        .map(|_| format!("{path} was written."))
        .map_err(said)
}

async fn run(
    editor: &Editor,
    session: &Session,
    request: &DynamicToolCallParams,
    arguments: Run,
) -> Outcome {
    let line = [&[arguments.command.clone()], arguments.args.as_slice()]
        .concat()
        .join(" ");
    allowed(
        editor,
        session,
        request,
        format!("Run `{line}`"),
        ToolKind::Execute,
    )
    .await?;
    let id = session.thread_id.clone();
    let create = CreateTerminalRequest::new(id.clone(), arguments.command)
        .args(arguments.args)
        .cwd(arguments.cwd.map(Into::into))
        .output_byte_limit(MOST_OUTPUT);
    let terminal = editor
        .send_request(create)
        .block_task()
        .await
        .map_err(said)?
        .terminal_id;
    let content = ToolCallContent::Terminal(Terminal::new(terminal.clone()));
    let fields = ToolCallUpdateFields::new().content(vec![content]);
    turn::send_call(
        editor,
        &id,
        ToolCallUpdate::new(request.call_id.clone(), fields),
    );
    let wait = WaitForTerminalExitRequest::new(id.clone(), terminal.clone());
    let exited = tokio::select! {
        exited = editor.send_request(wait).block_task() => exited.map_err(said),
        () = session.cancellation() => {
            let kill = KillTerminalRequest::new(id.clone(), terminal.clone());
            editor.send_request(kill).block_task().await.map_err(said)?;
            Err("The user cancelled the command.".to_owned())
        }
    };
    let read = TerminalOutputRequest::new(id.clone(), terminal.clone());
    let output = editor.send_request(read).block_task().await;
    let release = ReleaseTerminalRequest::new(id, terminal);
    if let Err(error) = editor.send_request(release).block_task().await {
        tracing::debug!(message = error.message, "a terminal could not be released");
    }
    let status = exited?.exit_status;
    let output = output.map_err(said)?.output;
    Ok(match (status.exit_code, status.signal) {
        (Some(code), _) => format!("exit code {code}\n{output}"),
        (None, signal) => format!("ended by signal {}\n{output}", signal.unwrap_or_default()),
    })
}

/// Asks the user, unless the session may do anything or the user said "always" before.
async fn allowed(
    editor: &Editor,
    session: &Session,
    request: &DynamicToolCallParams,
    title: String,
    kind: ToolKind,
) -> Result<(), String> {
    if session.settings().is_unrestricted() || session.is_allowed(&request.tool) {
        return Ok(());
    }
    session.item(&request.call_id).await;
    let fields = ToolCallUpdateFields::new().title(title).kind(kind);
    let call = ToolCallUpdate::new(request.call_id.clone(), fields);
    let choices = permission::plain();
    match permission::ask(editor, &session.thread_id, call, choices).await {
        Some(Answer::Once) => Ok(()),
        Some(Answer::Always) => {
            session.allow(&request.tool);
            Ok(())
        }
        Some(Answer::No) | None => Err("The user did not allow this.".to_owned()),
    }
}
