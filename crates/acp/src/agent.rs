//! What an editor can ask: the methods of the protocol, on sessions that are threads of the server.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use parking_lot::Mutex;
use quipu_client::wire::{
    ThreadArchiveParams, ThreadListCwdFilter, ThreadListParams, ThreadResumeParams,
    ThreadStartParams, ThreadUnsubscribeParams,
};
use quipu_client::{Client, Connect};
use quipu_rpc::{Id, RawJson};
use serde_json::{Value, json};

use crate::choices::Choices;
use crate::directory::{self, absolute};
use crate::editor::Editor;
use crate::error::{Result, invalid, missing, refused};
use crate::schema::{
    AuthenticateRequest, ClientCapabilities, Empty, InitializeRequest, ListRequest, OpenRequest,
    Opened, PromptRequest, PromptResponse, SessionInfo, SessionList, SessionRequest,
    SetModeRequest, SetOptionRequest,
};
use crate::session::{Cancellation, Session, Started};
use crate::startup::Startup;
use crate::{account, commands, editor_tools, history, input, turn};

/// Sessions in one page of a list.
const PAGE: u32 = 50;

/// The agent as one editor sees it.
pub struct Agent {
    pub connect: Connect,
    pub connection: tokio::sync::Mutex<Option<Client>>,
    pub editor: Editor,
    version: &'static str,
    choices: Choices,
    /// What the editor said about itself.
    hello: Mutex<Option<InitializeRequest>>,
    sessions: Mutex<HashMap<String, Arc<Session>>>,
    /// The sessions of running prompts, by the id of their request.
    prompts: Mutex<HashMap<Id, Arc<Session>>>,
}

impl Agent {
    pub fn new(connect: Connect, version: &'static str, home: &Path, editor: Editor) -> Agent {
        Agent {
            connect,
            connection: tokio::sync::Mutex::default(),
            editor,
            version,
            choices: Choices::new(home),
            hello: Mutex::default(),
            sessions: Mutex::default(),
            prompts: Mutex::default(),
        }
    }

    /// Leaves the server.
    pub async fn close(&self) {
        self.sessions.lock().clear();
        if let Some(client) = self.connection.lock().await.take() {
            client.disconnect().await;
        }
    }

    pub fn session(&self, id: &str) -> Result<Arc<Session>> {
        let found = self.sessions.lock().get(id).cloned();
        let why = || format!("unknown session {id}; start or load one first");
        found.ok_or_else(|| missing(why()))
    }

    pub fn unload_sessions(&self) {
        for session in self.sessions.lock().values() {
            session.unload();
        }
    }

    pub fn capabilities(&self) -> ClientCapabilities {
        let hello = self.hello.lock();
        let capabilities = hello.as_ref().map(|it| it.client_capabilities.clone());
        capabilities.unwrap_or_default()
    }

    /// The editor's name and version.
    pub fn editor_name(&self) -> (String, String) {
        let hello = self.hello.lock();
        let info = hello.as_ref().and_then(|it| it.client_info.as_ref());
        info.map_or_else(
            || ("acp".to_owned(), "0".to_owned()),
            |it| (it.name.clone(), it.version.clone()),
        )
    }

    pub fn is_initialized(&self) -> bool {
        self.hello.lock().is_some()
    }

    /// The version of the protocol is always ours; an editor that cannot speak it closes the connection.
    pub fn initialize(&self, request: InitializeRequest) -> Value {
        let version = request.protocol_version;
        tracing::debug!(version, "editor connected");
        let answer = json!({
            "protocolVersion": 1,
            "agentCapabilities": {
                "loadSession": true,
                "promptCapabilities": { "image": true, "embeddedContext": true },
                "mcpCapabilities": { "http": true },
                "sessionCapabilities": {
                    "list": {}, "resume": {}, "close": {}, "delete": {}, "additionalDirectories": {},
                },
                "auth": { "logout": {} },
            },
            "authMethods": account::methods(&request.client_capabilities),
            "agentInfo": { "name": "quipu", "title": "Quipu", "version": self.version },
        });
        *self.hello.lock() = Some(request);
        answer
    }

    pub async fn authenticate(self: &Arc<Self>, request: AuthenticateRequest) -> Result<Empty> {
        account::log_in(&self.client().await?, &request.method_id).await
    }

    pub async fn log_out(self: &Arc<Self>, _request: Empty) -> Result<Empty> {
        let client = self.client().await?;
        client.account_logout().await.map_err(refused)?;
        Ok(Empty {})
    }

    pub async fn new_session(self: &Arc<Self>, request: OpenRequest) -> Result<Opened> {
        let params = ThreadStartParams {
            cwd: Some(absolute("cwd", &request.cwd)?),
            config: input::settings(&request.mcp_servers, &request.additional_directories)?,
            dynamic_tools: editor_tools::specs(&self.capabilities()),
            ..ThreadStartParams::default()
        };
        let client = self.client().await?;
        account::check(&client).await?;
        directory::check(&client, &request.cwd).await?;
        let startup = Startup::of(&request.mcp_servers, || client.events());
        let started = client.thread_start(params).await.map_err(refused)?;
        let id = started.thread.id.clone();
        let opened = self.keep(&client, Started::from(&started), startup).await;
        Ok(Opened {
            session_id: Some(id),
            ..opened
        })
    }

    /// Shows what the editor could not be shown before it knew the session.
    pub async fn announce(&self, session_id: &str) {
        commands::announce(&self.editor, session_id).await;
        let startup = self.session(session_id).ok();
        let startup = startup.and_then(|it| it.startup.lock().take());
        if let Some(startup) = startup {
            tokio::spawn(startup.report(self.editor.clone(), session_id.to_owned()));
        }
    }

    /// Adds a session, and says what can be chosen for it.
    async fn keep(&self, client: &Client, started: Started, startup: Option<Startup>) -> Opened {
        let id = started.thread_id.clone();
        let session = Session::new(client, started).await;
        session.settings().restore(&self.choices.read(&id));
        let (modes, config_options) = session.offers();
        *session.startup.lock() = startup;
        self.sessions.lock().insert(id, Arc::new(session));
        Opened {
            session_id: None,
            modes,
            config_options,
        }
    }

    /// Loads a thread; an editor that has its history already does not want it again.
    pub async fn load_session(
        self: &Arc<Self>,
        request: OpenRequest,
        wants_history: bool,
    ) -> Result<Opened> {
        let id = request.session_id;
        let id = id.ok_or_else(|| invalid("invalid params: missing field `sessionId`"))?;
        let params = ThreadResumeParams {
            thread_id: id.clone(),
            cwd: Some(absolute("cwd", &request.cwd)?),
            config: input::settings(&request.mcp_servers, &request.additional_directories)?,
            ..ThreadResumeParams::default()
        };
        let client = self.client().await?;
        directory::check(&client, &request.cwd).await?;
        let startup = Startup::of(&request.mcp_servers, || client.events());
        let resumed = client.thread_resume(params).await.map_err(refused)?;
        if wants_history {
            history::replay(&self.editor, &id, &resumed.thread.turns).await;
        }
        Ok(self.keep(&client, Started::from(&resumed), startup).await)
    }

    pub async fn list_sessions(self: &Arc<Self>, request: ListRequest) -> Result<SessionList> {
        let cwd = request.cwd.as_deref();
        let cwd = cwd.map(|it| absolute("cwd", it)).transpose()?;
        let params = ThreadListParams {
            cursor: request.cursor,
            limit: Some(PAGE),
            cwd: cwd.map(ThreadListCwdFilter::One),
            ..ThreadListParams::default()
        };
        let client = self.client().await?;
        let page = client.list_threads(params).await.map_err(refused)?;
        let sessions = page.data.into_iter().map(|thread| SessionInfo {
            session_id: thread.id,
            cwd: thread.cwd,
            title: thread.name.unwrap_or(thread.preview),
            updated_at: history::rfc3339(thread.updated_at),
        });
        Ok(SessionList {
            sessions: sessions.collect(),
            next_cursor: page.next_cursor,
        })
    }

    pub async fn close_session(self: &Arc<Self>, request: SessionRequest) -> Result<Empty> {
        let session = self.session(&request.session_id)?;
        session.cancel();
        // The running prompt ends first, so that its editor is not left without an answer.
        let _ended = session.prompting.lock().await;
        let client = self.client().await?;
        let params = ThreadUnsubscribeParams {
            thread_id: session.thread_id.clone(),
        };
        client.thread_unsubscribe(params).await.map_err(refused)?;
        self.sessions.lock().remove(&session.thread_id);
        Ok(Empty {})
    }

    /// The thread is archived, from where people can bring it back.
    pub async fn delete_session(self: &Arc<Self>, request: SessionRequest) -> Result<Empty> {
        let thread_id = request.session_id;
        if let Ok(session) = self.session(&thread_id) {
            session.cancel();
            drop(session.prompting.lock().await);
        }
        let client = self.client().await?;
        let params = ThreadArchiveParams {
            thread_id: thread_id.clone(),
        };
        client.thread_archive(params).await.map_err(refused)?;
        self.sessions.lock().remove(&thread_id);
        self.choices.remove(&thread_id);
        Ok(Empty {})
    }

    pub async fn set_mode(&self, request: SetModeRequest) -> Result<Empty> {
        let session = self.session(&request.session_id)?;
        session.settings().set_mode(&request.mode_id)?;
        self.keep_choice(&session);
        session.show_settings(&self.editor).await;
        Ok(Empty {})
    }

    pub async fn set_option(&self, request: SetOptionRequest) -> Result<Value> {
        let session = self.session(&request.session_id)?;
        session.settings().set(&request.config_id, &request.value)?;
        self.keep_choice(&session);
        session.show_settings(&self.editor).await;
        let (_, options) = session.offers();
        Ok(json!({ "configOptions": options }))
    }

    /// Keeps what the user chose, for the next time that the session is loaded.
    fn keep_choice(&self, session: &Session) {
        let choice = session.settings().choice();
        tokio::task::block_in_place(|| self.choices.write(&session.thread_id, &choice));
    }

    pub async fn prompt(
        self: &Arc<Self>,
        request: PromptRequest,
        cancellation: Option<Cancellation>,
    ) -> Result<PromptResponse> {
        let session = self.session(&request.session_id)?;
        let cancellation = cancellation.unwrap_or_else(|| session.cancellation());
        turn::run(self, &session, request.prompt, cancellation).await
    }

    /// Notes a prompt as soon as it comes, so that what is cancelled afterwards includes it.
    pub fn expect_prompt(&self, id: &Id, params: &RawJson) -> Option<Cancellation> {
        let prompt: SessionRequest = params.decode().ok()?;
        let session = self.session(&prompt.session_id).ok()?;
        let cancellation = session.cancellation();
        self.prompts.lock().insert(id.clone(), session);
        Some(cancellation)
    }

    pub fn forget_prompt(&self, id: &Id) {
        self.prompts.lock().remove(id);
    }

    pub fn cancel_prompt(&self, id: &Id) {
        if let Some(session) = self.prompts.lock().get(id) {
            session.cancel();
        }
    }

    pub fn cancel(&self, session_id: &str) {
        if let Ok(session) = self.session(session_id) {
            session.cancel();
        }
    }

    pub fn cancel_all(&self) {
        for session in self.sessions.lock().values() {
            session.cancel();
        }
    }
}
