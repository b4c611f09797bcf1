//! What the server asks, answered by one key, or by text where a question has no options.

use quipu_client::Handler;
use quipu_client::wire::{
    CommandExecutionApprovalDecision as CommandDecision, CommandExecutionRequestApprovalParams,
    FileChangeApprovalDecision as FileDecision, FileChangeRequestApprovalParams, FileUpdateChange,
    GrantedPermissionProfile, McpServerElicitationAction, McpServerElicitationRequest,
    McpServerElicitationRequestParams, McpServerElicitationRequestResponse, PermissionGrantScope,
    PermissionsRequestApprovalParams, PermissionsRequestApprovalResponse,
    ToolRequestUserInputAnswer, ToolRequestUserInputParams, ToolRequestUserInputQuestion,
    ToolRequestUserInputResponse,
};
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};

use crate::form::Form;
use crate::item;
use crate::style::Line;
use crate::wrap::clean;

/// A question that waits, and the thread it is about.
pub struct Question {
    pub thread_id: String,
    pub ask: Ask,
}

pub enum Ask {
    Command(
        Box<CommandExecutionRequestApprovalParams>,
        oneshot::Sender<CommandDecision>,
    ),
    /// The id of the patch.
    Patch(String, Option<String>, oneshot::Sender<FileDecision>),
    /// What more the agent wants to do; whether it may, and whether for the whole session.
    Rights(String, oneshot::Sender<Option<PermissionGrantScope>>),
    /// One question of the agent; nothing counts as unanswered.
    Input(
        Box<ToolRequestUserInputQuestion>,
        oneshot::Sender<Option<String>>,
    ),
    /// What an MCP server wants to know, where yes or no is an answer.
    Server(String, oneshot::Sender<McpServerElicitationAction>),
}

impl Question {
    /// Whether somebody else answered, or the turn has ended.
    pub fn is_settled(&self) -> bool {
        match &self.ask {
            Ask::Command(_, reply) => reply.is_closed(),
            Ask::Patch(_, _, reply) => reply.is_closed(),
            Ask::Rights(_, reply) => reply.is_closed(),
            Ask::Input(_, reply) => reply.is_closed(),
            Ask::Server(_, reply) => reply.is_closed(),
        }
    }

    /// Whether the answer can be typed.
    pub fn takes_text(&self) -> bool {
        match &self.ask {
            Ask::Input(question, _) => {
                question.is_other || question.options.as_ref().is_none_or(Vec::is_empty)
            }
            _ => false,
        }
    }

    /// What is shown, with the changes of the patch that it is about.
    pub fn lines(&self, changes: &[FileUpdateChange]) -> Vec<Line> {
        let mut lines = Vec::new();
        match &self.ask {
            Ask::Command(request, _) => {
                let command = request.command.as_deref().unwrap_or_default();
                lines.push(Line::alert("May this command run?"));
                lines.push(Line::plain(format!("  $ {}", item::script(command))));
                if let Some(reason) = &request.reason {
                    lines.push(Line::plain(format!(
                        "  {}",
                        clean(reason).replace('\n', " ")
                    )));
                }
                if let Some(amendment) = amendment(request) {
                    lines.push(Line::plain(format!(
                        "  y yes   a yes, for this session   p always allow `{amendment}`"
                    )));
                    lines.push(Line::plain("  n no   esc no, and stop"));
                } else {
                    lines.push(Line::plain(
                        "  y yes   a yes, for this session   n no   esc no, and stop",
                    ));
                }
            }
            Ask::Patch(_, reason, _) => {
                lines.push(Line::alert("May these files be changed?"));
                lines.extend(changes.iter().flat_map(item::change).take(20));
                lines.extend(
                    reason
                        .iter()
                        .map(|it| Line::plain(format!("  {}", clean(it)))),
                );
                lines.push(Line::plain(
                    "  y yes   a yes, for this session   n no   esc no, and stop",
                ));
            }
            Ask::Rights(what, _) => {
                lines.push(Line::alert(
                    "May the agent do more than its sandbox allows?",
                ));
                lines.push(Line::plain(format!("  {}", clean(what).replace('\n', " "))));
                lines.push(Line::plain(
                    "  y yes, for this turn   a yes, for this session   n no",
                ));
            }
            Ask::Input(question, _) => {
                lines.push(Line::alert(clean(&question.question)));
                let options = question.options.iter().flatten().enumerate();
                lines.extend(options.map(|(index, option)| {
                    let text = match option.description.as_str() {
                        "" => format!("  {} {}", index + 1, option.label),
                        about => format!("  {} {}: {about}", index + 1, option.label),
                    };
                    Line::plain(clean(&text).replace('\n', " "))
                }));
                let hint = match self.takes_text() {
                    true => "  type the answer   esc leave it unanswered",
                    false => "  press a number   esc leave it unanswered",
                };
                lines.push(Line::plain(hint));
            }
            Ask::Server(message, _) => {
                lines.push(Line::alert(clean(message)));
                lines.push(Line::plain("  y yes   n no   esc cancel"));
            }
        }
        lines
    }

    /// Answers with a key. If the key is no answer, the question comes back.
    pub fn press(self, key: char) -> Result<String, Box<Question>> {
        let Question { thread_id, ask } = self;
        // Who asked may be gone; then nobody needs the answer.
        let said = |is_said: bool, text: &str| {
            if is_said {
                text.to_owned()
            } else {
                "too late".to_owned()
            }
        };
        let ask = match (ask, key) {
            (Ask::Command(request, reply), key) => match command_answer(&request, key) {
                Some((decision, text)) => return Ok(said(reply.send(decision).is_ok(), text)),
                None => Ask::Command(request, reply),
            },
            (Ask::Patch(id, reason, reply), key) => match patch_answer(key) {
                Some((decision, text)) => return Ok(said(reply.send(decision).is_ok(), text)),
                None => Ask::Patch(id, reason, reply),
            },
            (Ask::Rights(_, reply), 'y') => {
                return Ok(said(
                    reply.send(Some(PermissionGrantScope::Turn)).is_ok(),
                    "granted",
                ));
            }
            (Ask::Rights(_, reply), 'a') => {
                let scope = Some(PermissionGrantScope::Session);
                return Ok(said(reply.send(scope).is_ok(), "granted for this session"));
            }
            (Ask::Rights(_, reply), 'n' | '\x1b') => {
                return Ok(said(reply.send(None).is_ok(), "not granted"));
            }
            (Ask::Input(question, reply), key @ '1'..='9') => {
                let index = key as usize - '1' as usize;
                let label = question
                    .options
                    .iter()
                    .flatten()
                    .nth(index)
                    .map(|it| it.label.clone());
                match label {
                    Some(label) => {
                        let text = clean(&label);
                        return Ok(said(reply.send(Some(label)).is_ok(), &text));
                    }
                    None => Ask::Input(question, reply),
                }
            }
            (Ask::Input(_, reply), '\x1b') => {
                return Ok(said(reply.send(None).is_ok(), "not answered"));
            }
            (Ask::Server(_, reply), key @ ('y' | 'n' | '\x1b')) => {
                let (action, text) = match key {
                    'y' => (McpServerElicitationAction::Accept, "yes"),
                    'n' => (McpServerElicitationAction::Decline, "no"),
                    _ => (McpServerElicitationAction::Cancel, "cancelled"),
                };
                return Ok(said(reply.send(action).is_ok(), text));
            }
            (ask, _) => ask,
        };
        Err(Box::new(Question { thread_id, ask }))
    }

    /// Answers with text.
    pub fn type_in(self, text: String) {
        if let Ask::Input(_, reply) = self.ask {
            // Who asked may be gone; then nobody needs the answer.
            drop(reply.send(Some(text)));
        }
    }
}

/// What a key says about a command.
fn command_answer(
    request: &CommandExecutionRequestApprovalParams,
    key: char,
) -> Option<(CommandDecision, &'static str)> {
    Some(match (key, amendment_of(request)) {
        ('y', _) => (CommandDecision::Accept, "allowed"),
        ('a', _) => (
            CommandDecision::AcceptForSession,
            "allowed for this session",
        ),
        ('p', Some(decision)) => (decision, "always allowed"),
        ('n', _) => (CommandDecision::Decline, "not allowed"),
        ('\x1b', _) => (CommandDecision::Cancel, "not allowed, stopped"),
        _ => return None,
    })
}

/// What a key says about a patch.
fn patch_answer(key: char) -> Option<(FileDecision, &'static str)> {
    Some(match key {
        'y' => (FileDecision::Accept, "allowed"),
        'a' => (FileDecision::AcceptForSession, "allowed for this session"),
        'n' => (FileDecision::Decline, "not allowed"),
        '\x1b' => (FileDecision::Cancel, "not allowed, stopped"),
        _ => return None,
    })
}

/// The rule that would allow commands like this one from now on.
fn amendment_of(request: &CommandExecutionRequestApprovalParams) -> Option<CommandDecision> {
    let mut available = request.available_decisions.iter().flatten();
    let is_rule =
        |it: &&CommandDecision| matches!(it, CommandDecision::AcceptWithExecpolicyAmendment { .. });
    available.find(is_rule).cloned()
}

fn amendment(request: &CommandExecutionRequestApprovalParams) -> Option<String> {
    amendment_of(request)?;
    let words = serde_json::to_value(request.proposed_execpolicy_amendment.as_ref()?).ok()?;
    let words: Vec<_> = words
        .as_array()?
        .iter()
        .filter_map(|it| it.as_str())
        .collect();
    Some(clean(&words.join(" ")))
}

/// Passes the server's questions on to the chat.
pub struct Questions(pub mpsc::Sender<Question>);

impl Questions {
    async fn ask<T>(
        &self,
        thread_id: String,
        ask: impl FnOnce(oneshot::Sender<T>) -> Ask,
    ) -> Option<T> {
        let (reply, answer) = oneshot::channel();
        self.0
            .send(Question {
                thread_id,
                ask: ask(reply),
            })
            .await
            .ok()?;
        answer.await.ok()
    }

    /// Asks what an MCP server wants to know: yes or no, and then the fields of its form.
    async fn elicited(
        &self,
        request: McpServerElicitationRequestParams,
    ) -> (McpServerElicitationAction, Option<Value>) {
        let (server, thread) = (&request.server_name, request.thread_id);
        let (message, mut form) = match &request.request {
            McpServerElicitationRequest::Form {
                message,
                requested_schema,
                ..
            } => {
                let form = Form::new(&json!(requested_schema));
                let fields = match form.len() {
                    0 => String::new(),
                    1 => " (a form with one field)".to_owned(),
                    count => format!(" (a form with {count} fields)"),
                };
                (format!("{server}: {message}{fields}"), form)
            }
            McpServerElicitationRequest::Url { message, url, .. } => {
                let message = format!("{server}: {message} Open {url} first.");
                (message, Form::new(&Value::Null))
            }
            _ => return (McpServerElicitationAction::Decline, None),
        };
        let asked = self.ask(thread.clone(), |reply| Ask::Server(message, reply));
        let action = asked.await.unwrap_or(McpServerElicitationAction::Decline);
        if action != McpServerElicitationAction::Accept || form.len() == 0 {
            return (action, None);
        }
        while let Some(question) = form.question() {
            let ask = |reply| Ask::Input(Box::new(question), reply);
            let answer = self.ask(thread.clone(), ask).await.flatten();
            if !form.answer(answer.as_deref()) {
                return (McpServerElicitationAction::Cancel, None);
            }
        }
        (action, Some(form.content()))
    }
}

impl Handler for Questions {
    async fn approve_command(
        &self,
        request: CommandExecutionRequestApprovalParams,
    ) -> CommandDecision {
        let thread = request.thread_id.clone();
        let asked = self.ask(thread, |reply| Ask::Command(Box::new(request), reply));
        asked.await.unwrap_or(CommandDecision::Decline)
    }

    async fn approve_file_change(&self, request: FileChangeRequestApprovalParams) -> FileDecision {
        let FileChangeRequestApprovalParams {
            thread_id,
            item_id,
            reason,
            ..
        } = request;
        let asked = self.ask(thread_id, |reply| Ask::Patch(item_id, reason, reply));
        asked.await.unwrap_or(FileDecision::Decline)
    }

    async fn approve_permissions(
        &self,
        request: PermissionsRequestApprovalParams,
    ) -> PermissionsRequestApprovalResponse {
        let wanted = serde_json::to_string(&request.permissions).unwrap_or_default();
        let text = format!("{} {wanted}", request.reason.unwrap_or_default());
        let asked = self.ask(request.thread_id, |reply| Ask::Rights(text, reply));
        let scope = asked.await.flatten();
        let is_granted = scope.is_some();
        PermissionsRequestApprovalResponse {
            permissions: GrantedPermissionProfile {
                network: request.permissions.network.filter(|_| is_granted),
                file_system: request.permissions.file_system.filter(|_| is_granted),
            },
            scope: scope.unwrap_or(PermissionGrantScope::Turn),
            strict_auto_review: false,
        }
    }

    async fn answer_questions(
        &self,
        request: ToolRequestUserInputParams,
    ) -> ToolRequestUserInputResponse {
        let mut response = ToolRequestUserInputResponse {
            answers: Default::default(),
        };
        for question in request.questions {
            let id = question.id.clone();
            let thread = request.thread_id.clone();
            let asked = self.ask(thread, |reply| Ask::Input(Box::new(question), reply));
            if let Some(Some(text)) = asked.await {
                response.answers.insert(
                    id,
                    ToolRequestUserInputAnswer {
                        answers: vec![text],
                    },
                );
            }
        }
        response
    }

    async fn answer_elicitation(
        &self,
        request: McpServerElicitationRequestParams,
    ) -> McpServerElicitationRequestResponse {
        let (action, content) = self.elicited(request).await;
        McpServerElicitationRequestResponse {
            action,
            content: content.map(Into::into),
            meta: None,
        }
    }
}
