//! A session: one server in one workspace, one thread, and turn after turn without a person.
//!
//! ```no_run
//! use quipu_runner::session::{Launch, Session, SessionOptions};
//!
//! # async fn work() -> Result<(), quipu_runner::session::SessionError> {
//! let launch = Launch::Shell("codex app-server".into());
//! let mut session = Session::start(SessionOptions::new(launch, "/srv/work/ABC-1")).await?;
//! let first = session.run_turn("Fix the door that does not close.").await?;
//! let second = session.run_turn("Go on until the tests pass.").await?;
//! println!("{} {}", first.session_id, second.message);
//! session.stop().await;
//! # Ok(())
//! # }
//! ```

mod error;
mod event;
mod launch;
mod monitor;
mod options;
mod questions;
mod sandbox;
mod state;
mod tool;

use std::future::pending;
use std::sync::Arc;

use quipu_client::wire::Json;
use quipu_client::wire::method::Method;
use quipu_client::{Client, ServerInfo, TurnLimit};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep_until};

pub use error::SessionError;
pub use event::{Event, EventKind, Usage};
use monitor::Monitor;
pub use options::{Launch, Limits, Observer, SessionOptions};
use state::Ending;
pub use tool::{Tool, ToolResult, ToolSpec};

/// What a turn that was completed gave.
#[derive(Clone, Debug)]
pub struct TurnOutcome {
    /// The id of the turn.
    pub turn_id: String,
    /// `<thread>-<turn>`, under which logs and events know it.
    pub session_id: String,
    /// The last message of the agent; empty if it said nothing.
    pub message: String,
    /// All that patches changed in this turn, as one diff, if they did.
    pub diff: Option<String>,
    /// The tokens that the thread has used so far, as last reported.
    pub usage: Option<Usage>,
}

/// A thread on a server of its own. Dropping it ends the server in the background; [`stop`](Session::stop) waits for
/// that.
pub struct Session {
    client: Client,
    monitor: Arc<Monitor>,
    options: SessionOptions,
    cwd: String,
    thread_id: String,
    /// The error that ended the session, or the turn that was left in the middle.
    ended: Option<&'static str>,
}

/// The requests of a session, with params and results as they are on the wire: what the workflow says is passed on as
/// it is, whatever this version knows of it.
macro_rules! untyped {
    ($($name:ident = $method:literal),*) => {$(
        struct $name;

        impl Method for $name {
            const NAME: &'static str = $method;
            type Params = Json;
            type Result = Json;
        }
    )*};
}

untyped!(
    StartThread = "thread/start",
    ResumeThread = "thread/resume",
    StartTurn = "turn/start",
    InterruptTurn = "turn/interrupt"
);

impl Session {
    /// Starts the server in the workspace, introduces this program, and starts or resumes the thread.
    ///
    /// Must be called in a tokio runtime. If it fails, or if the returned future is dropped, nothing of the server is
    /// left.
    pub async fn start(options: SessionOptions) -> Result<Session, SessionError> {
        let monitor = Monitor::new(Arc::clone(&options.observer));
        let session = Session::open(options, &monitor).await;
        if let Err(error) = &session {
            monitor.report(EventKind::StartupFailed, "", described(error));
        }
        session
    }

    async fn open(
        options: SessionOptions,
        monitor: &Arc<Monitor>,
    ) -> Result<Session, SessionError> {
        let cwd = launch::workspace(&options)?;
        let client = launch::connect(&options, monitor).await?;
        monitor.set_pid(client.server_pid());
        let mut session = Session {
            client,
            monitor: Arc::clone(monitor),
            options,
            cwd,
            thread_id: String::new(),
            ended: None,
        };
        match session.open_thread().await {
            Ok(id) => {
                session.monitor.state.set_thread(&id);
                session.thread_id = id;
                Ok(session)
            }
            Err(error) => {
                session.client.disconnect().await;
                Err(error)
            }
        }
    }

    async fn open_thread(&self) -> Result<String, SessionError> {
        let options = &self.options;
        let mut params = json!({ "approvalPolicy": options.approval_policy, "cwd": self.cwd });
        if let Some(mode) = options.thread_sandbox.as_ref().and_then(sandbox::mode) {
            params["sandbox"] = mode;
        }
        if let Some(model) = &options.model {
            params["model"] = model.as_str().into();
        }
        let (method, answer) = match &options.resume {
            Some(thread) => {
                params["threadId"] = thread.as_str().into();
                (ResumeThread::NAME, self.ask::<ResumeThread>(params).await?)
            }
            None => {
                if !options.tools.is_empty() {
                    params["dynamicTools"] = options.tools.iter().map(|it| spec(&**it)).collect();
                }
                (StartThread::NAME, self.ask::<StartThread>(params).await?)
            }
        };
        match id_in(&answer, "/thread/id") {
            Some(id) => Ok(id),
            None => Err(SessionError::InvalidThreadPayload {
                method,
                payload: answer,
            }),
        }
    }

    /// The thread, for logs and for [`SessionOptions::resume`].
    #[must_use]
    pub fn thread_id(&self) -> &str {
        &self.thread_id
    }

    /// The process of the server, if it is a child of this one.
    #[must_use]
    pub fn pid(&self) -> Option<u32> {
        self.client.server_pid()
    }

    /// What the server said of itself.
    #[must_use]
    pub fn server(&self) -> &ServerInfo {
        self.client.server()
    }

    /// Runs one turn to its end. Any error ends the session and the server with everything that it started. If the
    /// returned future is dropped in the middle of the turn, the session can only be stopped.
    pub async fn run_turn(&mut self, prompt: &str) -> Result<TurnOutcome, SessionError> {
        if let Some(code) = self.ended {
            return Err(SessionError::Ended { code });
        }
        self.ended = Some("turn_abandoned");
        self.monitor.state.prepare();
        let result = self.turn(prompt).await;
        self.ended = None;
        if let Err(error) = &result {
            self.fail(error).await;
        }
        result
    }

    /// Ends the server and everything that it started, and waits until they are gone.
    pub async fn stop(self) {
        self.client.disconnect().await;
    }

    async fn turn(&self, prompt: &str) -> Result<TurnOutcome, SessionError> {
        let began = Instant::now();
        let answer = self.ask::<StartTurn>(self.turn_params(prompt)).await?;
        let Some(turn_id) = id_in(&answer, "/turn/id") else {
            return Err(SessionError::InvalidTurnPayload { payload: answer });
        };
        let ids = json!({ "threadId": self.thread_id, "turnId": turn_id });
        let state = &self.monitor.state;
        state.set_turn(&turn_id);
        self.monitor.report(EventKind::SessionStarted, "", ids);
        let ending = tokio::select! {
            // The end of a turn counts also if the server is gone right after it.
            biased;
            ending = state.ending() => ending,
            cause = self.client.closed() => return Err(error::gone(&cause)),
            limit = self.overdue(began) => return Err(SessionError::TurnTimeout { limit }),
        };
        match ending {
            Ending::Completed(params) => {
                self.monitor
                    .report(EventKind::TurnCompleted, "turn/completed", params);
                let remains = state.remains();
                Ok(TurnOutcome {
                    session_id: format!("{}-{turn_id}", self.thread_id),
                    turn_id,
                    message: remains.message,
                    diff: remains.diff,
                    usage: remains.usage,
                })
            }
            Ending::Failed(params) => Err(SessionError::TurnFailed { params }),
            Ending::Cancelled(params) => Err(SessionError::TurnCancelled { params }),
            Ending::InputRequired(payload) => Err(SessionError::TurnInputRequired { payload }),
            Ending::ApprovalRequired(payload) => Err(SessionError::ApprovalRequired { payload }),
        }
    }

    fn turn_params(&self, prompt: &str) -> Value {
        let options = &self.options;
        let mut params = json!({
            "threadId": self.thread_id,
            "input": [{ "type": "text", "text": prompt }],
            "cwd": self.cwd,
            "approvalPolicy": options.approval_policy,
        });
        if let Some(title) = &options.title {
            params["title"] = title.as_str().into();
        }
        if let Some(policy) = sandbox::policy(options) {
            params["sandboxPolicy"] = policy;
        }
        params
    }

    /// Waits until the turn exceeds a limit.
    async fn overdue(&self, began: Instant) -> TurnLimit {
        let limits = self.options.limits;
        loop {
            let total = limits
                .turn_total
                .map(|it| (began.checked_add(it), TurnLimit::Total(it)));
            let heard = self.monitor.state.silent_since();
            let silence = limits.turn_silence;
            let silence = silence.map(|it| (heard.checked_add(it), TurnLimit::Silence(it)));
            let next = [total, silence].into_iter().flatten();
            let next = next.filter_map(|(at, limit)| Some((at?, limit)));
            let Some((at, limit)) = next.min_by_key(|(at, _)| *at) else {
                return pending().await;
            };
            if at <= Instant::now() {
                return limit;
            }
            sleep_until(at).await;
        }
    }

    /// Ends the session after an error.
    async fn fail(&mut self, error: &SessionError) {
        let code = error.code();
        self.ended = Some(code);
        tracing::warn!(session_id = self.monitor.state.session_id(), code, %error, "session ended");
        let (kind, payload) = match error {
            SessionError::TurnFailed { params } => (EventKind::TurnFailed, params.clone()),
            SessionError::TurnCancelled { params } => (EventKind::TurnCancelled, params.clone()),
            // Reported when it was asked.
            SessionError::TurnInputRequired { .. } | SessionError::ApprovalRequired { .. } => {
                self.interrupt().await;
                (EventKind::TurnEndedWithError, described(error))
            }
            SessionError::TurnTimeout { .. } => {
                self.interrupt().await;
                (EventKind::TurnEndedWithError, described(error))
            }
            _ => (EventKind::TurnEndedWithError, described(error)),
        };
        self.monitor.report(kind, "", payload);
        self.client.disconnect().await;
    }

    /// Asks for the end of the turn, so that the thread is stored as what it is.
    async fn interrupt(&self) {
        let Some(session_id) = self.monitor.state.session_id() else {
            return;
        };
        let turn = &session_id[self.thread_id.len() + 1..];
        let params = json!({ "threadId": self.thread_id, "turnId": turn });
        if let Err(error) = self.ask::<InterruptTurn>(params).await {
            tracing::debug!(session_id, %error, "the turn could not be interrupted");
        }
    }

    async fn ask<M: Method<Params = Json, Result = Json> + 'static>(
        &self,
        params: Value,
    ) -> Result<Value, SessionError> {
        let limit = self.options.limits.response;
        let call = self.client.call::<M>(params.into()).timeout(Some(limit));
        match call.await {
            Ok(answer) => Ok(answer.to_value()),
            Err(error) => Err(error::of_call(M::NAME, &error)),
        }
    }
}

/// A tool as `thread/start` has it.
fn spec(tool: &dyn Tool) -> Value {
    let ToolSpec {
        name,
        description,
        input_schema,
    } = tool.spec();
    json!({ "name": name, "description": description, "inputSchema": input_schema })
}

/// An id that is there and not empty.
fn id_in(answer: &Value, place: &str) -> Option<String> {
    let id = answer.pointer(place)?.as_str()?;
    (!id.is_empty()).then(|| id.to_owned())
}

fn described(error: &SessionError) -> Value {
    json!({ "code": error.code(), "message": error.to_string() })
}
