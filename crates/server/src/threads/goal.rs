//! The goal of a loaded thread. While it is active, the end of a turn starts the next one, so this is also where a goal
//! is kept from running away: an interrupt pauses it, a failure blocks it, the budget and a number of turns in a row
//! limit it, and without a client that could answer questions no turn starts.

use std::time::Instant;

use quipu_engine::{Input, TurnEnd};
use quipu_journal::Kept;
use quipu_prompt::goal as texts;
use quipu_wire::method::request;
use quipu_wire::{
    CodexErrorInfo, ServerNotification, ThreadGoal, ThreadGoalClearResponse,
    ThreadGoalClearedNotification, ThreadGoalGetResponse, ThreadGoalSetParams,
    ThreadGoalSetResponse, ThreadGoalStatus, ThreadGoalUpdatedNotification, ThreadTokenUsage,
    TurnError,
};
use serde::{Deserialize, Serialize};
use tokio::sync::oneshot;

use super::actor::Actor;
use super::message::Message;
use super::turn_start;
use crate::{Refusal, Reply, clock, goals};

/// Turns that the server starts in a row without a word of the user.
const MAX_TURNS: u32 = 200;

/// About the goal of a thread.
pub(crate) enum GoalMessage {
    Set {
        params: Box<ThreadGoalSetParams>,
        reply: Reply<request::ThreadGoalSet>,
    },
    Get {
        reply: Reply<request::ThreadGoalGet>,
    },
    Clear {
        reply: Reply<request::ThreadGoalClear>,
    },
    /// The model says how far the goal has come; the answer is what it reads.
    Report {
        status: ThreadGoalStatus,
        done: oneshot::Sender<String>,
    },
    /// The next turn may start, if one is due.
    Continue,
}

/// A goal as it is stored: with what a crash must not make it forget, or it could run away.
#[derive(Serialize, Deserialize)]
struct Stored {
    #[serde(flatten)]
    goal: ThreadGoal,
    /// The turns that were started in a row.
    #[serde(default)]
    turns: u32,
    /// The tokens of the thread at the start of the turn that runs.
    #[serde(default)]
    turn_began_at: Option<i64>,
}

/// The goal of a thread and how it goes on.
pub(super) struct GoalKeeper {
    /// `None` for threads that live in memory only.
    file: Option<Kept>,
    goal: Option<ThreadGoal>,
    /// The turns that were started in a row.
    turns: u32,
    /// The tokens of the thread that are counted already.
    counted: i64,
    turn_began: Option<Instant>,
    /// Whether a message to go on is under way.
    is_called: bool,
}

impl GoalKeeper {
    /// The goal that a thread has kept. What a turn cost that was cut off by a crash still counts.
    pub fn new(file: Option<Kept>, usage: Option<&ThreadTokenUsage>) -> GoalKeeper {
        let stored: Option<Stored> = file.as_ref().and_then(Kept::read);
        let turns = stored.as_ref().map_or(0, |it| it.turns);
        let goal = stored.map(
            |Stored {
                 mut goal,
                 turn_began_at,
                 ..
             }| {
                let lost = turn_began_at.map_or(0, |began_at| spent(usage) - began_at);
                goal.tokens_used += lost.max(0);
                if goal.status == ThreadGoalStatus::Active {
                    goal.status = limited(&goal, turns);
                }
                goal
            },
        );
        GoalKeeper {
            goal,
            file,
            turns,
            counted: 0,
            turn_began: None,
            is_called: false,
        }
    }

    pub fn is_active(&self) -> bool {
        let goal = self.goal.as_ref();
        goal.is_some_and(|goal| goal.status == ThreadGoalStatus::Active)
    }

    /// The user did something: turns in a row are counted from now on.
    pub fn user_acts(&mut self) {
        self.turns = 0;
    }

    fn store(&mut self, goal: ThreadGoal) -> Result<(), Refusal> {
        let stored = Stored {
            turns: self.turns,
            turn_began_at: self.turn_began.map(|_| self.counted),
            goal,
        };
        if let Some(file) = &self.file {
            tokio::task::block_in_place(|| file.write(&stored)).map_err(cannot_store)?;
        }
        self.goal = Some(stored.goal);
        Ok(())
    }

    fn clear(&mut self) -> Result<bool, Refusal> {
        if let Some(file) = &self.file {
            tokio::task::block_in_place(|| file.remove()).map_err(cannot_store)?;
        }
        Ok(self.goal.take().is_some())
    }

    fn turn_started(&mut self, spent: i64) -> Result<(), Refusal> {
        self.turn_began = Some(Instant::now());
        self.counted = spent;
        match self.goal.clone() {
            Some(goal) if self.is_active() => self.store(goal),
            _ => Ok(()),
        }
    }

    /// The goal after a turn: what it cost, and whether it goes on.
    fn after_turn(&mut self, spent: i64, end: &TurnEnd, is_leaving: bool) -> Option<ThreadGoal> {
        let began = self.turn_began.take();
        let mut goal = self.goal.clone().filter(|goal| {
            let counts = [ThreadGoalStatus::Active, ThreadGoalStatus::Complete];
            began.is_some() && counts.contains(&goal.status)
        })?;
        goal.tokens_used += (spent - self.counted).max(0);
        self.counted = spent;
        let seconds = began.map_or(0, |it| it.elapsed().as_secs());
        goal.time_used_seconds += i64::try_from(seconds).unwrap_or(i64::MAX);
        goal.updated_at = clock::unix_seconds();
        if goal.status == ThreadGoalStatus::Active {
            goal.status = match end {
                // Nobody meant to stop the work: it goes on when the thread is loaded again.
                TurnEnd::Interrupted if is_leaving => ThreadGoalStatus::Active,
                TurnEnd::Interrupted => ThreadGoalStatus::Paused,
                TurnEnd::Failed(error) if is_usage_limit(error) => ThreadGoalStatus::UsageLimited,
                TurnEnd::Failed(_) => ThreadGoalStatus::Blocked,
                _ => limited(&goal, self.turns),
            };
        }
        Some(goal)
    }
}

/// Whether an active goal may go on.
fn limited(goal: &ThreadGoal, turns: u32) -> ThreadGoalStatus {
    match turns {
        _ if goals::is_spent(goal) => ThreadGoalStatus::BudgetLimited,
        MAX_TURNS.. => ThreadGoalStatus::Paused,
        _ => ThreadGoalStatus::Active,
    }
}

fn is_usage_limit(error: &TurnError) -> bool {
    error.codex_error_info == Some(CodexErrorInfo::UsageLimitExceeded)
}

fn cannot_store(error: quipu_journal::Error) -> Refusal {
    Refusal::internal(format!("failed to store the goal: {}", error.reason()))
}

/// The tokens of a thread that count towards budgets: without those that the provider had cached.
fn spent(usage: Option<&ThreadTokenUsage>) -> i64 {
    usage.map_or(0, |it| it.total.total_tokens - it.total.cached_input_tokens)
}

fn updated(actor: &Actor, turn_id: Option<String>) -> Option<ServerNotification> {
    let params = ThreadGoalUpdatedNotification {
        thread_id: actor.handle.id.to_string(),
        turn_id,
        goal: actor.goal.goal.clone()?,
    };
    Some(ServerNotification::ThreadGoalUpdated(params))
}

/// A turn began.
pub(super) fn turn_started(actor: &mut Actor) {
    let spent = spent(actor.engine.usage());
    if let Err(error) = actor.goal.turn_started(spent) {
        tracing::warn!(thread = %actor.handle.id, %error, "start of a turn not stored with its goal");
    }
}

/// A turn is recorded as ended; clients are notified of the goal before they are of the end.
pub(super) fn turn_ended(actor: &mut Actor, turn_id: &str, end: &TurnEnd) {
    let spent = spent(actor.engine.usage());
    let is_leaving = actor.is_leaving();
    let Some(goal) = actor.goal.after_turn(spent, end, is_leaving) else {
        return;
    };
    if let Err(error) = actor.goal.store(goal) {
        tracing::error!(thread = %actor.handle.id, %error, "goal stopped");
        actor.goal.goal = None;
        return;
    }
    if let Some(updated) = updated(actor, Some(turn_id.to_owned())) {
        actor.audience.hold(&updated);
    }
}

/// Calls for the next turn if the goal wants one, now that a message was dealt with.
pub(super) fn call(actor: &mut Actor) {
    if is_due(actor) && !std::mem::replace(&mut actor.goal.is_called, true) {
        let message = Message::Goal(GoalMessage::Continue);
        actor.handle.send_now(message);
    }
}

/// Whether a turn is to start: the goal is active, nothing runs or waits, and somebody could answer questions.
fn is_due(actor: &Actor) -> bool {
    let is_free = actor.queue.is_empty() && !actor.is_leaving();
    let is_idle = actor.engine.active_turn().is_none() && is_free;
    actor.goal.is_active() && is_idle && !actor.audience.is_empty()
}

pub(super) async fn receive(actor: &mut Actor, message: GoalMessage) {
    match message {
        GoalMessage::Set { params, reply } => {
            let stored = goals::changed(actor.goal.goal.as_ref(), *params)
                .and_then(|goal| actor.goal.store(goal.clone()).map(|()| goal));
            let is_stored = stored.is_ok();
            let answer = stored.map(|goal| ThreadGoalSetResponse { goal });
            reply.send(answer).await;
            if is_stored {
                actor.goal.user_acts();
                notify_updated(actor, None).await;
            }
        }
        GoalMessage::Get { reply } => {
            let goal = actor.goal.goal.clone();
            reply.send(Ok(ThreadGoalGetResponse { goal })).await;
        }
        GoalMessage::Clear { reply } => {
            let cleared = actor.goal.clear();
            let was_set = cleared == Ok(true);
            let answer = cleared.map(|cleared| ThreadGoalClearResponse { cleared });
            reply.send(answer).await;
            if was_set {
                let thread_id = actor.handle.id.to_string();
                let params = ThreadGoalClearedNotification { thread_id };
                let cleared = ServerNotification::ThreadGoalCleared(params);
                actor.audience.notify(&cleared).await;
            }
        }
        GoalMessage::Report { status, done } => {
            let answer = report(actor, status).await;
            // A call that was cancelled no longer listens.
            done.send(answer).ok();
        }
        GoalMessage::Continue => go_on(actor).await,
    }
}

async fn notify_updated(actor: &mut Actor, turn_id: Option<String>) {
    if let Some(updated) = updated(actor, turn_id) {
        actor.audience.notify(&updated).await;
    }
}

/// The model's word about the goal.
async fn report(actor: &mut Actor, status: ThreadGoalStatus) -> String {
    let Some(goal) = actor.goal.goal.clone().filter(|_| actor.goal.is_active()) else {
        return "the thread has no active goal".to_owned();
    };
    let changed = ThreadGoal {
        status,
        updated_at: clock::unix_seconds(),
        ..goal
    };
    if let Err(error) = actor.goal.store(changed) {
        return error.to_string();
    }
    let turn = actor.engine.active_turn().map(ToString::to_string);
    notify_updated(actor, turn).await;
    format!("The goal is {status} now.")
}

/// Starts the next turn, if one is due.
async fn go_on(actor: &mut Actor) {
    actor.goal.is_called = false;
    if !is_due(actor) {
        return;
    }
    let ready = actor.load_history();
    if let Err(error) = ready.and_then(|()| actor.recorder.reserve()) {
        tracing::error!(thread = %actor.handle.id, %error, "goal paused");
        if let Some(goal) = actor.goal.goal.clone() {
            let status = ThreadGoalStatus::Blocked;
            // In memory it is blocked in any case.
            let stored = actor.goal.store(ThreadGoal { status, ..goal });
            stored.unwrap_or_else(|_| actor.goal.goal = None);
        }
        return notify_updated(actor, None).await;
    }
    let Some(note) = actor.goal.goal.as_ref().map(|goal| {
        let left = goal.token_budget.map(|budget| budget - goal.tokens_used);
        texts::continuation(&goal.objective, left)
    }) else {
        return;
    };
    actor.goal.turns += 1;
    turn_start::prepare(actor, None).await;
    let turn_id = uuid::Uuid::now_v7().to_string();
    let input = Input::Continue {
        turn_id: turn_id.into(),
        note,
    };
    actor.step(input).await;
}
