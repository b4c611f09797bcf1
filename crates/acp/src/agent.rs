//! What an editor can ask: the methods of the protocol, on sessions that are threads of the server.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use agent_client_protocol::schema::ProtocolVersion;
use agent_client_protocol::v1::ConnectionTo;
use agent_client_protocol::v1::schema::{
    AgentCapabilities, AuthenticateRequest, AuthenticateResponse, ClientCapabilities,
    CloseSessionRequest, CloseSessionResponse, DeleteSessionRequest, DeleteSessionResponse,
    Implementation, InitializeRequest, InitializeResponse, ListSessionsRequest,
    ListSessionsResponse, LoadSessionRequest, LoadSessionResponse, McpCapabilities,
    NewSessionRequest, NewSessionResponse, PromptCapabilities, PromptRequest, PromptResponse,
    ResumeSessionRequest, ResumeSessionResponse, SessionCapabilities, SessionCloseCapabilities,
    SessionDeleteCapabilities, SessionInfo, SessionListCapabilities, SessionResumeCapabilities,
    SetSessionConfigOptionRequest, SetSessionConfigOptionResponse, SetSessionModeRequest,
    SetSessionModeResponse,
};
use agent_client_protocol::{Client as EditorRole, Error, Result};
use futures_util::FutureExt as _;
use quipu_client::wire::{
    ThreadArchiveParams, ThreadListCwdFilter, ThreadListParams, ThreadResumeParams,
    ThreadStartParams, ThreadUnsubscribeParams,
};
use quipu_client::{Client, Connect, Timeouts};
use serde_json::Value;

use crate::handler::Questions;
use crate::session::{Opened, Session};
use crate::{account, commands, editor, history, input, turn};

/// The other side.
pub type Editor = ConnectionTo<EditorRole>;

/// Sessions in one page of a list.
const PAGE: u32 = 50;

/// The agent as one editor sees it.
pub struct Agent {
    connect: Connect,
    version: &'static str,
    connection: tokio::sync::Mutex<Option<Client>>,
    capabilities: Mutex<ClientCapabilities>,
    editor_name: Mutex<Option<(String, String)>>,
    sessions: Mutex<HashMap<String, Arc<Session>>>,
}

/// A lock whose holder panicked still holds whole values.
pub fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// An error of the server, for the editor.
pub fn refused(error: quipu_client::Error) -> Error {
    match error {
        quipu_client::Error::Refused { error, .. } => invalid(error.message),
        other => failed(other),
    }
}

/// Something that should not have failed.
pub fn failed(error: impl std::fmt::Display) -> Error {
    Error::internal_error().data(Value::from(error.to_string()))
}

/// A request that cannot be fulfilled, and why.
pub fn invalid(why: impl Into<String>) -> Error {
    Error::invalid_params().data(Value::from(why.into()))
}

impl Agent {
    pub fn new(connect: Connect, version: &'static str) -> Agent {
        Agent {
            connect,
            version,
            connection: tokio::sync::Mutex::default(),
            capabilities: Mutex::new(ClientCapabilities::new()),
            editor_name: Mutex::default(),
            sessions: Mutex::default(),
        }
    }

    /// The connection to the server, made anew if the last one has ended.
    async fn client(self: &Arc<Self>, editor: &Editor) -> Result<Client> {
        let mut connection = self.connection.lock().await;
        if let Some(client) = &*connection
            && client.closed().now_or_never().is_none()
        {
            return Ok(client.clone());
        }
        let name = locked(&self.editor_name).clone();
        let (name, version) = name.unwrap_or_else(|| ("acp".to_owned(), "0".to_owned()));
        let options = (self.connect)()
            .client(name, version)
            .handler(Questions::new(self, editor))
            .timeouts(Timeouts {
                turn_silence: None,
                turn_total: None,
                ..Timeouts::default()
            });
        let client = Client::connect(options)
            .await
            .map_err(|error| failed(format!("cannot connect to the server: {error}")))?;
        // Threads are loaded again when they are used next.
        for session in locked(&self.sessions).values() {
            session.unload();
        }
        *connection = Some(client.clone());
        Ok(client)
    }

    /// Ends running turns and leaves the server.
    pub async fn close(&self) {
        locked(&self.sessions).clear();
        if let Some(client) = self.connection.lock().await.take() {
            client.disconnect().await;
        }
    }

    pub fn session(&self, id: &str) -> Result<Arc<Session>> {
        let found = locked(&self.sessions).get(id).cloned();
        let missing = || format!("there is no session {id}; start or load one first");
        found.ok_or_else(|| invalid(missing()))
    }

    pub fn capabilities(&self) -> ClientCapabilities {
        locked(&self.capabilities).clone()
    }

    pub async fn initialize(
        self: Arc<Self>,
        request: InitializeRequest,
        _editor: &Editor,
    ) -> Result<InitializeResponse> {
        *locked(&self.capabilities) = request.client_capabilities.clone();
        *locked(&self.editor_name) = request.client_info.map(|it| (it.name, it.version));
        let sessions = SessionCapabilities::new()
            .list(SessionListCapabilities::new())
            .resume(SessionResumeCapabilities::new())
            .close(SessionCloseCapabilities::new())
            .delete(SessionDeleteCapabilities::new());
        let capabilities = AgentCapabilities::new()
            .load_session(true)
            .prompt_capabilities(PromptCapabilities::new().image(true).embedded_context(true))
            .mcp_capabilities(McpCapabilities::new().http(true))
            .session_capabilities(sessions);
        let methods = account::methods(&request.client_capabilities);
        let info = Implementation::new("quipu", self.version).title("Quipu".to_owned());
        Ok(InitializeResponse::new(ProtocolVersion::V1)
            .agent_capabilities(capabilities)
            .auth_methods(methods)
            .agent_info(info))
    }

    pub async fn authenticate(
        self: Arc<Self>,
        request: AuthenticateRequest,
        editor: &Editor,
    ) -> Result<AuthenticateResponse> {
        let client = self.client(editor).await?;
        account::log_in(&client, &request.method_id.0).await
    }

    pub async fn new_session(
        self: Arc<Self>,
        request: NewSessionRequest,
        editor: &Editor,
    ) -> Result<NewSessionResponse> {
        let client = self.client(editor).await?;
        account::check(&client).await?;
        let params = ThreadStartParams {
            cwd: Some(absolute(&request.cwd)?),
            config: input::settings(&request.mcp_servers, &request.additional_directories)?,
            dynamic_tools: editor::tools(&self.capabilities()),
            ..ThreadStartParams::default()
        };
        let started = client.thread_start(params).await.map_err(refused)?;
        let id = started.thread.id.clone();
        let session = self.keep(&client, Opened::from(&started)).await;
        commands::announce(editor, &id);
        let (modes, options) = session.offers();
        Ok(NewSessionResponse::new(id)
            .modes(modes)
            .config_options(options))
    }

    /// Adds a session.
    async fn keep(&self, client: &Client, opened: Opened) -> Arc<Session> {
        let id = opened.thread_id.clone();
        let session = Arc::new(Session::new(client, opened).await);
        locked(&self.sessions).insert(id, Arc::clone(&session));
        session
    }

    pub async fn load_session(
        self: Arc<Self>,
        request: LoadSessionRequest,
        editor: &Editor,
    ) -> Result<LoadSessionResponse> {
        let id = request.session_id.0.to_string();
        let params = ThreadResumeParams {
            thread_id: id.clone(),
            cwd: Some(absolute(&request.cwd)?),
            config: input::settings(&request.mcp_servers, &request.additional_directories)?,
            ..ThreadResumeParams::default()
        };
        let client = self.client(editor).await?;
        let resumed = client.thread_resume(params).await.map_err(refused)?;
        history::replay(editor, &id, &resumed.thread.turns);
        let session = self.keep(&client, Opened::from(&resumed)).await;
        commands::announce(editor, &id);
        let (modes, options) = session.offers();
        Ok(LoadSessionResponse::new()
            .modes(modes)
            .config_options(options))
    }

    pub async fn resume_session(
        self: Arc<Self>,
        request: ResumeSessionRequest,
        editor: &Editor,
    ) -> Result<ResumeSessionResponse> {
        let id = request.session_id.0.to_string();
        let params = ThreadResumeParams {
            thread_id: id.clone(),
            cwd: Some(absolute(&request.cwd)?),
            config: input::settings(&request.mcp_servers, &request.additional_directories)?,
            ..ThreadResumeParams::default()
        };
        let client = self.client(editor).await?;
        let resumed = client.thread_resume(params).await.map_err(refused)?;
        let session = self.keep(&client, Opened::from(&resumed)).await;
        commands::announce(editor, &id);
        let (modes, options) = session.offers();
        Ok(ResumeSessionResponse::new()
            .modes(modes)
            .config_options(options))
    }

    pub async fn list_sessions(
        self: Arc<Self>,
        request: ListSessionsRequest,
        editor: &Editor,
    ) -> Result<ListSessionsResponse> {
        let params = ThreadListParams {
            cursor: request.cursor,
            limit: Some(PAGE),
            cwd: request
                .cwd
                .map(|it| ThreadListCwdFilter::One(it.display().to_string())),
            ..ThreadListParams::default()
        };
        let client = self.client(editor).await?;
        let page = client.list_threads(params).await.map_err(refused)?;
        let sessions = page.data.into_iter().map(|thread| {
            let title = thread.name.unwrap_or(thread.preview);
            SessionInfo::new(thread.id, thread.cwd)
                .title(title)
                .updated_at(history::rfc3339(thread.updated_at))
        });
        Ok(ListSessionsResponse::new(sessions.collect()).next_cursor(page.next_cursor))
    }

    pub async fn close_session(
        self: Arc<Self>,
        request: CloseSessionRequest,
        editor: &Editor,
    ) -> Result<CloseSessionResponse> {
        let session = self.session(&request.session_id.0)?;
        session.cancel();
        let client = self.client(editor).await?;
        let params = ThreadUnsubscribeParams {
            thread_id: session.thread_id.clone(),
        };
        client.thread_unsubscribe(params).await.map_err(refused)?;
        locked(&self.sessions).remove(&session.thread_id);
        Ok(CloseSessionResponse::new())
    }

    /// The thread is archived, from where people can bring it back.
    pub async fn delete_session(
        self: Arc<Self>,
        request: DeleteSessionRequest,
        editor: &Editor,
    ) -> Result<DeleteSessionResponse> {
        let thread_id = request.session_id.0.to_string();
        let client = self.client(editor).await?;
        let params = ThreadArchiveParams {
            thread_id: thread_id.clone(),
        };
        client.thread_archive(params).await.map_err(refused)?;
        locked(&self.sessions).remove(&thread_id);
        Ok(DeleteSessionResponse::new())
    }

    pub async fn set_mode(
        self: Arc<Self>,
        request: SetSessionModeRequest,
        editor: &Editor,
    ) -> Result<SetSessionModeResponse> {
        let session = self.session(&request.session_id.0)?;
        session.settings().set_mode(&request.mode_id.0)?;
        session.show_settings(editor);
        Ok(SetSessionModeResponse::new())
    }

    pub async fn set_option(
        self: Arc<Self>,
        request: SetSessionConfigOptionRequest,
        _editor: &Editor,
    ) -> Result<SetSessionConfigOptionResponse> {
        let session = self.session(&request.session_id.0)?;
        let mut settings = session.settings();
        settings.set(&request.config_id.0, &request.value)?;
        Ok(SetSessionConfigOptionResponse::new(settings.options()))
    }

    pub async fn prompt(
        self: Arc<Self>,
        request: PromptRequest,
        editor: &Editor,
    ) -> Result<PromptResponse> {
        let session = self.session(&request.session_id.0)?;
        let client = self.client(editor).await?;
        session.load(&client).await?;
        turn::run(&client, &session, editor, request.prompt).await
    }

    pub fn cancel(&self, session_id: &str) {
        if let Ok(session) = self.session(session_id) {
            session.cancel();
        }
    }
}

/// A directory of the editor, which must be absolute.
fn absolute(path: &std::path::Path) -> Result<String> {
    match path.is_absolute() {
        true => Ok(path.display().to_string()),
        false => {
            let text = format!("cwd must be an absolute path, but is `{}`", path.display());
            Err(invalid(text))
        }
    }
}
