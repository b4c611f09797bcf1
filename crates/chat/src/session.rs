//! What the chat asks of the server, each in a task of its own; what came of it returns as an [`Outcome`].

use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

use quipu_client::wire::{
    AskForApproval, FuzzyFileSearchParams, Model, ModelListParams, ReasoningEffort,
    ReviewStartParams, ReviewTarget, SandboxPolicy, Thread, ThreadCompactStartParams,
    ThreadForkParams, ThreadForkResponse, ThreadListParams, ThreadResumeParams,
    ThreadResumeResponse, ThreadStartParams, ThreadStartResponse, TurnInterruptParams,
    TurnStartParams, TurnSteerParams, UserInput,
};
use quipu_client::{Client, Error};
use tokio::sync::mpsc;

use crate::diff;

/// Threads and models that are offered.
const MOST_OFFERED: u32 = 50;

/// Something to ask of the server.
#[derive(Debug)]
pub enum Effect {
    New,
    Resume(String),
    Fork(String),
    Send(Box<TurnStartParams>, String),
    /// More for the running turn.
    Steer {
        thread_id: String,
        turn_id: String,
        text: String,
    },
    Interrupt {
        thread_id: String,
        turn_id: String,
    },
    Review(String, ReviewTarget),
    Compact(String),
    Diff(String),
    Models,
    Threads,
    Files {
        root: String,
        query: String,
        at: usize,
    },
}

impl Effect {
    /// Whether it opens a conversation.
    pub fn opens(&self) -> bool {
        matches!(self, Effect::New | Effect::Resume(_) | Effect::Fork(_))
    }
}

/// What came of it.
pub enum Outcome {
    Opened(Box<Opened>),
    /// Text that the server did not take, and why.
    NotSent(String, String),
    /// Text that a running turn did not take, most often because it has ended.
    NotSteered {
        turn_id: String,
        text: String,
    },
    Models(Vec<Model>),
    Threads {
        threads: Vec<Thread>,
        /// The time, in Unix seconds.
        now: i64,
    },
    Diff(String),
    Files {
        query: String,
        at: usize,
        paths: Vec<String>,
    },
    Done,
    /// Why no conversation was opened.
    NotOpened(String),
    Failed(String),
}

/// A thread as the server opened it.
pub struct Opened {
    pub thread: Thread,
    pub model: String,
    pub cwd: String,
    pub effort: Option<ReasoningEffort>,
    pub approval_policy: AskForApproval,
    pub sandbox: SandboxPolicy,
}

/// The answers have the same members.
macro_rules! opened_from {
    ($($answer:ty),*) => {$(
        impl From<$answer> for Opened {
            fn from(answer: $answer) -> Opened {
                Opened {
                    thread: answer.thread,
                    model: answer.model,
                    cwd: answer.cwd,
                    effort: answer.reasoning_effort,
                    approval_policy: answer.approval_policy,
                    sandbox: answer.sandbox,
                }
            }
        }
    )*};
}
opened_from!(
    ThreadStartResponse,
    ThreadResumeResponse,
    ThreadForkResponse
);

/// How threads are begun.
#[derive(Clone, Debug, Default)]
pub struct Start {
    pub model: Option<String>,
    pub cwd: Option<PathBuf>,
}

/// Does it in the background.
pub fn perform(client: &Client, start: &Start, effect: Effect, done: &mpsc::Sender<Outcome>) {
    let (client, start, done) = (client.clone(), start.clone(), done.clone());
    tokio::spawn(async move {
        let outcome = outcome(&client, start, effect).await;
        if done.send(outcome).await.is_err() {
            tracing::debug!("an outcome was dropped: the chat has ended");
        }
    });
}

async fn outcome(client: &Client, start: Start, effect: Effect) -> Outcome {
    // Text comes back to who typed it.
    let text = match &effect {
        Effect::Send(_, text) | Effect::Steer { text, .. } => Some(text.clone()),
        _ => None,
    };
    let opens = effect.opens();
    match (ask(client, start, effect).await, text) {
        (Ok(outcome), _) => outcome,
        (Err(error), Some(text)) => Outcome::NotSent(text, reason(error)),
        (Err(error), None) if opens => Outcome::NotOpened(reason(error)),
        (Err(error), None) => Outcome::Failed(reason(error)),
    }
}

async fn ask(client: &Client, start: Start, effect: Effect) -> Result<Outcome, Error> {
    Ok(match effect {
        Effect::New | Effect::Resume(_) | Effect::Fork(_) => {
            Outcome::Opened(Box::new(open(client, start, effect).await?))
        }
        Effect::Send(params, _) => {
            client.turn_start(*params).await?;
            Outcome::Done
        }
        Effect::Steer {
            thread_id,
            turn_id,
            text,
        } => steer(client, thread_id, turn_id, text).await?,
        Effect::Interrupt { thread_id, turn_id } => {
            client
                .turn_interrupt(TurnInterruptParams { thread_id, turn_id })
                .await?;
            Outcome::Done
        }
        Effect::Review(thread_id, target) => {
            let params = ReviewStartParams {
                thread_id,
                target,
                delivery: None,
            };
            client.review_start(params).await?;
            Outcome::Done
        }
        Effect::Compact(thread_id) => {
            client
                .thread_compact_start(ThreadCompactStartParams { thread_id })
                .await?;
            Outcome::Done
        }
        Effect::Diff(cwd) => match diff::uncommitted(client, &cwd).await? {
            Ok(text) => Outcome::Diff(text),
            Err(why) => Outcome::Failed(why),
        },
        Effect::Models => {
            let params = ModelListParams {
                limit: Some(MOST_OFFERED),
                ..ModelListParams::default()
            };
            Outcome::Models(client.list_models(params).await?.data)
        }
        Effect::Threads => {
            let params = ThreadListParams {
                limit: Some(MOST_OFFERED),
                ..ThreadListParams::default()
            };
            let now = SystemTime::now().duration_since(UNIX_EPOCH);
            Outcome::Threads {
                threads: client.list_threads(params).await?.data,
                now: now.map_or(0, |it| i64::try_from(it.as_secs()).unwrap_or(i64::MAX)),
            }
        }
        Effect::Files { root, query, at } => Outcome::Files {
            paths: files(client, root, &query).await?,
            query,
            at,
        },
    })
}

/// Gives a running turn more input.
async fn steer(
    client: &Client,
    thread_id: String,
    turn_id: String,
    text: String,
) -> Result<Outcome, Error> {
    let input = vec![UserInput::Text {
        text: text.clone(),
        text_elements: Vec::new(),
    }];
    let params = TurnSteerParams {
        thread_id,
        input,
        expected_turn_id: turn_id.clone(),
        ..TurnSteerParams::default()
    };
    match client.turn_steer(params).await {
        Err(Error::Refused { .. }) => Ok(Outcome::NotSteered { turn_id, text }),
        done => done.map(|_| Outcome::Done),
    }
}

/// Begins, continues or copies a conversation.
async fn open(client: &Client, start: Start, effect: Effect) -> Result<Opened, Error> {
    Ok(match effect {
        Effect::Resume(thread_id) => {
            let params = ThreadResumeParams {
                thread_id,
                ..ThreadResumeParams::default()
            };
            client.thread_resume(params).await?.into()
        }
        Effect::Fork(thread_id) => {
            let params = ThreadForkParams {
                thread_id,
                ..ThreadForkParams::default()
            };
            client.thread_fork(params).await?.into()
        }
        _ => {
            let params = ThreadStartParams {
                model: start.model,
                cwd: start.cwd.map(|it| it.display().to_string()),
                ..ThreadStartParams::default()
            };
            client.thread_start(params).await?.into()
        }
    })
}

async fn files(client: &Client, root: String, query: &str) -> Result<Vec<String>, Error> {
    let params = FuzzyFileSearchParams {
        query: query.to_owned(),
        roots: vec![root],
        // Requests may overtake each other, so that an older one would cancel the newest; what is outdated is not shown.
        cancellation_token: None,
    };
    let found = client.fuzzy_file_search(params).await?.files;
    Ok(found.into_iter().map(|it| it.path).collect())
}

fn reason(error: Error) -> String {
    match error {
        Error::Refused { error, .. } => error.message,
        other => other.to_string(),
    }
}
