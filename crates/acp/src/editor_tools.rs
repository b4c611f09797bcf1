//! The editor's own files and terminals, as tools that the model can call where the editor offers them. Files may have
//! changes that are not saved, which only the editor knows. Nothing here is confined by the sandbox, so writing and
//! running ask the user first.

use std::slice;

use quipu_client::wire::{
    DynamicToolCallOutputContentItem, DynamicToolCallParams, DynamicToolCallResponse,
    DynamicToolEntry, DynamicToolSpec,
};
use quipu_rpc::ErrorObject;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::editor::Editor;
use crate::permission::{self, Answer};
use crate::schema::{
    ClientCapabilities, Empty, TerminalCreated, TerminalExit, TerminalOutput, TextFile, ToolCall,
    ToolCallContent, ToolKind,
};
use crate::session::Session;

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
pub fn specs(editor: &ClientCapabilities) -> Option<Vec<DynamicToolEntry>> {
    let path = json!({ "type": "string", "description": "Absolute path" });
    let tool = |name: &str, description: &str, properties: Value, required: &[&str]| {
        let schema = json!({ "type": "object", "properties": properties, "required": required });
        DynamicToolEntry::Tool(DynamicToolSpec {
            namespace: None,
            name: name.to_owned(),
            description: description.to_owned(),
            input_schema: schema.into(),
            defer_loading: false,
        })
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
fn reason(error: ErrorObject) -> String {
    match &error.data {
        Some(data) => format!(
            "{}: {}",
            error.message,
            String::from_utf8_lossy(data.as_bytes())
        ),
        None => error.message,
    }
}

async fn read(editor: &Editor, session: &Session, arguments: Read) -> Outcome {
    let Read { path, line, limit } = arguments;
    let mut params = json!({ "sessionId": session.thread_id, "path": path });
    for (key, number) in [("line", line), ("limit", limit)] {
        if let Some(number) = number {
            params[key] = number.into();
        }
    }
    let read = editor.ask("fs/read_text_file", &params).await;
    read.map(|it: TextFile| it.content).map_err(reason)
}

async fn write(
    editor: &Editor,
    session: &Session,
    request: &DynamicToolCallParams,
    arguments: Write,
) -> Outcome {
    let Write { path, content } = arguments;
    let title = format!("Write {path}");
    allowed(editor, session, request, title, ToolKind::Edit).await?;
    let params = json!({ "sessionId": session.thread_id, "path": path, "content": content });
    let written = editor.ask("fs/write_text_file", &params).await;
    written
        .map(|_: Option<Empty>| format!("{path} was written."))
        .map_err(reason)
}

/// A terminal of the editor. It is released, which ends its program, when nobody needs it any more: also if the turn
/// is interrupted.
struct Terminal {
    editor: Editor,
    /// What names it in requests.
    params: Value,
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let (editor, params) = (self.editor.clone(), self.params.take());
        tokio::spawn(async move {
            let released = editor.ask("terminal/release", &params).await;
            if let Err(error) = released.map(|_: Option<Empty>| ()) {
                tracing::debug!(%error, "terminal not released");
            }
        });
    }
}

async fn run(
    editor: &Editor,
    session: &Session,
    request: &DynamicToolCallParams,
    arguments: Run,
) -> Outcome {
    let Run { command, args, cwd } = arguments;
    let line = [slice::from_ref(&command), args.as_slice()]
        .concat()
        .join(" ");
    let title = format!("Run `{line}`");
    allowed(editor, session, request, title, ToolKind::Execute).await?;
    let id = &session.thread_id;
    let mut create = json!({
        "sessionId": id, "command": command, "args": args, "outputByteLimit": MOST_OUTPUT,
    });
    if let Some(cwd) = cwd {
        create["cwd"] = cwd.into();
    }
    let created = editor.ask("terminal/create", &create).await;
    let TerminalCreated { terminal_id } = created.map_err(reason)?;
    let terminal = Terminal {
        editor: editor.clone(),
        params: json!({ "sessionId": id, "terminalId": terminal_id }),
    };
    let shown = ToolCall {
        tool_call_id: request.call_id.clone(),
        content: Some(vec![ToolCallContent::Terminal { terminal_id }]),
        ..ToolCall::default()
    };
    editor.update_call(id, shown).await;
    let exited = editor.ask("terminal/wait_for_exit", &terminal.params).await;
    let TerminalExit { exit_code, signal } = exited.map_err(reason)?;
    let output = editor.ask("terminal/output", &terminal.params).await;
    let TerminalOutput { output } = output.map_err(reason)?;
    Ok(match exit_code {
        Some(code) => format!("exit code {code}\n{output}"),
        None => format!("ended by signal {}\n{output}", signal.unwrap_or_default()),
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
    let call = ToolCall {
        tool_call_id: request.call_id.clone(),
        title: Some(title),
        kind: Some(kind),
        ..ToolCall::default()
    };
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
