//! A prompt: a turn, a review or a command, from its start to its end.

use std::sync::Arc;

use quipu_client::wire::{
    CodexErrorInfo, ReviewStartParams, ReviewTarget, ThreadCompactStartParams, Turn,
    TurnStartParams, TurnStatus, UserInput,
};
use quipu_client::{Client, Error};

use crate::agent::Agent;
use crate::commands::{self, Command};
use crate::error::{Result, failed, login_refused, refused};
use crate::input;
use crate::link::sentence;
use crate::schema::{ContentBlock, PromptResponse, StopReason};
use crate::session::{Cancellation, Session};
use crate::watch::{Left, Watch};

/// What a prompt starts.
enum Work {
    Turn(Vec<UserInput>),
    Review(ReviewTarget),
    Compact,
}

impl Work {
    /// Starts it. The id of the turn may only be known later.
    async fn start(
        &self,
        client: &Client,
        session: &Session,
    ) -> std::result::Result<Option<String>, Error> {
        let thread_id = session.thread_id.clone();
        Ok(match self {
            Work::Turn(input) => {
                let mut params = TurnStartParams {
                    thread_id,
                    input: input.clone(),
                    ..TurnStartParams::default()
                };
                session.settings().apply(&mut params);
                Some(client.turn_start(params).await?.turn.id)
            }
            Work::Review(target) => {
                let params = ReviewStartParams {
                    thread_id,
                    target: target.clone(),
                    delivery: None,
                };
                Some(client.review_start(params).await?.turn.id)
            }
            Work::Compact => {
                let params = ThreadCompactStartParams { thread_id };
                client.thread_compact_start(params).await?;
                None
            }
        })
    }
}

/// Runs a prompt to its end. If the server is lost, it is connected to again and the turn is followed further; a turn
/// that did not start is started then.
pub async fn run(
    agent: &Arc<Agent>,
    session: &Session,
    prompt: Vec<ContentBlock>,
    mut cancellation: Cancellation,
) -> Result<PromptResponse> {
    let input = input::of(prompt)?;
    let _prompting = tokio::select! {
        biased;
        () = cancellation.wait() => return Ok(StopReason::Cancelled.into()),
        prompting = session.prompting.lock() => prompting,
    };
    session.begin();
    let work = match commands::of(&input) {
        Some(Command::Status) => {
            agent.editor.say(&session.thread_id, &status(session)).await;
            return Ok(StopReason::EndTurn.into());
        }
        Some(Command::Compact) => Work::Compact,
        Some(Command::Review(target)) => Work::Review(target),
        None => Work::Turn(input),
    };
    let done = follow(agent, session, &work, &mut cancellation).await;
    // Whatever came of it, later losses are not confused with this turn.
    if let Ok(Some(turn)) = &done {
        *session.last_turn.lock() = Some(turn.id.clone());
    }
    match done? {
        Some(turn) => ended(&turn),
        None => Ok(StopReason::Cancelled.into()),
    }
}

/// The turn when it has ended, or nothing if it was cancelled before.
async fn follow(
    agent: &Arc<Agent>,
    session: &Session,
    work: &Work,
    cancellation: &mut Cancellation,
) -> Result<Option<Turn>> {
    let mut watch = Watch::new(session, &agent.editor);
    let mut is_sent = false;
    loop {
        let mut joined = tokio::select! {
            biased;
            () = cancellation.wait() => return Ok(None),
            joined = agent.join(session) => joined?,
        };
        if is_sent {
            let known = session.last_turn.lock().clone();
            let turn = match &watch.turn_id {
                Some(id) => Some(joined.turn(id).ok_or_else(|| failed(MISSING))?),
                None => joined.turn_after(known.as_deref()),
            };
            if let Some(turn) = turn {
                watch.turn_id = Some(turn.id.clone());
                watch.catch_up(turn).await;
                if turn.status != TurnStatus::InProgress {
                    return Ok(Some(turn.clone()));
                }
            }
        }
        let mut cause = None;
        if watch.turn_id.is_none() {
            is_sent = true;
            match work.start(&joined.client, session).await {
                Ok(id) => watch.turn_id = id,
                Err(Error::Closed(why)) => cause = Some(why.to_string()),
                Err(error) => return Err(refused(error)),
            }
        }
        if cause.is_none() {
            match watch.follow(&mut joined, cancellation).await {
                Left::Completed(turn) => return Ok(Some(*turn)),
                Left::Lost(why) => cause = Some(why),
            }
        }
        session.unload();
        let cause = sentence(&cause.unwrap_or_default());
        let text = format!("\n\nThe connection to the server was lost. {cause}\n\n");
        agent.editor.say(&session.thread_id, &text).await;
    }
}

const MISSING: &str =
    "the connection to the server was lost, and the server does not know the turn any more";

/// What `/status` says.
fn status(session: &Session) -> String {
    let used = session
        .usage
        .lock()
        .as_ref()
        .map_or(0, |it| it.total.total_tokens);
    let settings = session.settings();
    format!(
        "- model: {}\n- mode: {}\n- tokens used: {used}\n- thread: {}\n",
        settings.model(),
        settings.mode_name(),
        session.thread_id,
    )
}

/// How a turn ended, in the words of the protocol.
fn ended(turn: &Turn) -> Result<PromptResponse> {
    match (&turn.status, &turn.error) {
        (TurnStatus::Interrupted, _) => Ok(StopReason::Cancelled.into()),
        (TurnStatus::Failed, Some(error)) => match error.codex_error_info {
            Some(CodexErrorInfo::ContextWindowExceeded) => Ok(StopReason::MaxTokens.into()),
            Some(CodexErrorInfo::Unauthorized) => Err(login_refused(&error.message)),
            _ => Err(failed(&error.message)),
        },
        (TurnStatus::Failed, None) => Err(failed("the turn failed")),
        _ => Ok(StopReason::EndTurn.into()),
    }
}
