//! The everyday names: what most programs do with threads, turns, models and commands.

use std::time::Duration;

use futures_util::{Stream, stream};
use quipu_wire::method::{Method as _, request};
use quipu_wire::{
    CommandExecParams, CommandExecResponse, ModelListParams, ModelListResponse, ReviewStartParams,
    ReviewStartResponse, SessionSource, SubAgentSource, Thread, ThreadArchiveParams,
    ThreadCompactStartParams, ThreadForkParams, ThreadListParams, ThreadListResponse,
    ThreadReadParams, ThreadResumeParams, ThreadStartParams, Turn, TurnInterruptParams,
    TurnStartParams, TurnSteerParams,
};

use crate::{Client, Error, Result};

/// What a server gives a command that names no time limit.
const COMMAND_LIMIT: Duration = Duration::from_secs(10);

/// Refuses what a server began without saying under which id: nothing could be done with it.
pub(crate) fn identified(method: &'static str, id: &str) -> Result<()> {
    match id {
        "" => Err(Error::Unreadable {
            method,
            error: "the id is missing or empty".to_owned(),
        }),
        _ => Ok(()),
    }
}

impl Client {
    /// Starts a thread. Model, working directory, approval policy and sandbox that the params leave
    /// open are those of the [`Options`](crate::Options).
    pub async fn start_thread(&self, params: ThreadStartParams) -> Result<Thread> {
        let params = self.with_defaults(params);
        let thread = self.thread_start(params).await?.thread;
        identified(request::ThreadStart::NAME, &thread.id)?;
        Ok(thread)
    }

    /// The params with what the [`Options`](crate::Options) say in the fields that are open, for use
    /// with [`thread_start`](Self::thread_start), whose result also tells the settings in force.
    #[must_use]
    pub fn with_defaults(&self, params: ThreadStartParams) -> ThreadStartParams {
        let defaults = (*self.defaults).clone();
        ThreadStartParams {
            model: params.model.or(defaults.model),
            cwd: params.cwd.or(defaults.cwd),
            approval_policy: params.approval_policy.or(defaults.approval_policy),
            sandbox: params.sandbox.or(defaults.sandbox),
            ..params
        }
    }

    /// Loads a stored thread, or joins it if it is loaded, with its turns. Approval policy and sandbox
    /// that the params leave open are those of the [`Options`](crate::Options); model and working
    /// directory stay the thread's own. The id in the params is replaced.
    pub async fn resume_thread(
        &self,
        thread_id: impl Into<String>,
        params: ThreadResumeParams,
    ) -> Result<Thread> {
        let defaults = (*self.defaults).clone();
        let params = ThreadResumeParams {
            thread_id: thread_id.into(),
            approval_policy: params.approval_policy.or(defaults.approval_policy),
            sandbox: params.sandbox.or(defaults.sandbox),
            ..params
        };
        let thread = self.thread_resume(params).await?.thread;
        identified(request::ThreadResume::NAME, &thread.id)?;
        Ok(thread)
    }

    /// Copies a thread's history into a new thread. Model, approval policy and sandbox are those of the
    /// [`Options`](crate::Options).
    pub async fn fork_thread(&self, thread_id: impl Into<String>) -> Result<Thread> {
        let defaults = (*self.defaults).clone();
        let params = ThreadForkParams {
            thread_id: thread_id.into(),
            model: defaults.model,
            approval_policy: defaults.approval_policy,
            sandbox: defaults.sandbox,
            ..ThreadForkParams::default()
        };
        let thread = self.thread_fork(params).await?.thread;
        identified(request::ThreadFork::NAME, &thread.id)?;
        Ok(thread)
    }

    /// Reads a stored thread without loading it.
    pub async fn read_thread(
        &self,
        thread_id: impl Into<String>,
        include_turns: bool,
    ) -> Result<Thread> {
        let params = ThreadReadParams {
            thread_id: thread_id.into(),
            include_turns,
        };
        Ok(self.thread_read(params).await?.thread)
    }

    /// The thread whose agent started the agent of this one; none for a thread that a client started, and for one that
    /// cannot be read.
    pub async fn parent_thread(&self, thread_id: impl Into<String>) -> Option<String> {
        let thread = self.read_thread(thread_id, false).await.ok()?;
        match thread.source {
            SessionSource::SubAgent(SubAgentSource::ThreadSpawn {
                parent_thread_id, ..
            }) => Some(parent_thread_id.to_string()),
            _ => None,
        }
    }

    /// One page of the stored threads.
    pub async fn list_threads(&self, params: ThreadListParams) -> Result<ThreadListResponse> {
        self.thread_list(params).await
    }

    /// All stored threads from the params' cursor on, a page at a time as they are taken. An error
    /// ends the stream.
    pub fn threads(
        &self,
        params: ThreadListParams,
    ) -> impl Stream<Item = Result<Thread>> + Send + Unpin + 'static {
        let client = self.clone();
        let first = (Vec::new().into_iter(), Some(params));
        Box::pin(stream::try_unfold(first, move |(mut page, mut next)| {
            let client = client.clone();
            async move {
                loop {
                    if let Some(thread) = page.next() {
                        return Ok(Some((thread, (page, next))));
                    }
                    let Some(params) = next else {
                        return Ok(None);
                    };
                    let answer = client.list_threads(params.clone()).await?;
                    page = answer.data.into_iter();
                    // A cursor that does not move would go on for ever.
                    next = answer
                        .next_cursor
                        .filter(|cursor| params.cursor.as_ref() != Some(cursor))
                        .map(|cursor| ThreadListParams {
                            cursor: Some(cursor),
                            ..params
                        });
                }
            }
        }))
    }

    /// Moves a thread out of the ordinary lists.
    pub async fn archive_thread(&self, thread_id: impl Into<String>) -> Result<()> {
        let thread_id = thread_id.into();
        self.thread_archive(ThreadArchiveParams { thread_id })
            .await?;
        Ok(())
    }

    /// Begins to summarise a thread's history; events tell when it is done.
    pub async fn compact_thread(&self, thread_id: impl Into<String>) -> Result<()> {
        let thread_id = thread_id.into();
        self.thread_compact_start(ThreadCompactStartParams { thread_id })
            .await?;
        Ok(())
    }

    /// Begins a turn and does not wait for its end; see [`run_turn`](Self::run_turn).
    pub async fn start_turn(&self, params: TurnStartParams) -> Result<Turn> {
        let turn = self.turn_start(params).await?.turn;
        identified(request::TurnStart::NAME, &turn.id)?;
        Ok(turn)
    }

    /// Adds input to the running turn; returns the turn's id.
    pub async fn steer_turn(&self, params: TurnSteerParams) -> Result<String> {
        Ok(self.turn_steer(params).await?.turn_id)
    }

    /// Ends a running turn early.
    pub async fn interrupt_turn(
        &self,
        thread_id: impl Into<String>,
        turn_id: impl Into<String>,
    ) -> Result<()> {
        let params = TurnInterruptParams {
            thread_id: thread_id.into(),
            turn_id: turn_id.into(),
        };
        self.turn_interrupt(params).await?;
        Ok(())
    }

    /// Begins a review and does not wait for its end; see [`run_review`](Self::run_review).
    pub async fn start_review(&self, params: ReviewStartParams) -> Result<ReviewStartResponse> {
        self.review_start(params).await
    }

    /// The models that can be chosen.
    pub async fn list_models(&self, params: ModelListParams) -> Result<ModelListResponse> {
        self.model_list(params).await
    }

    /// Runs a command outside any thread and waits for its end: as long as the command itself may
    /// take, and the time limit for requests beyond that.
    pub async fn exec_command(&self, params: CommandExecParams) -> Result<CommandExecResponse> {
        let own = match (params.disable_timeout, params.timeout_ms) {
            (true, _) => None,
            (false, None) => Some(COMMAND_LIMIT),
            (false, Some(limit)) => Some(Duration::from_millis(limit.try_into().unwrap_or(0))),
        };
        let limit = own.map(|own| own.saturating_add(self.link.timeouts.request));
        self.command_exec(params).timeout(limit).await
    }
}
