//! What a thread spends: each answer is counted in the ledger of the home, and before the model is asked again the
//! budgets are checked. A turn whose budget is used up ends as failed, which says which limit it was.

use std::sync::Arc;
use std::time::{Duration, Instant};

use chrono::{DateTime, Utc};
use quipu_config::settings::BudgetLimit;
use quipu_engine::{Input, TurnId};
use quipu_model::catalogue::ModelInfo;
use quipu_model::{Price, Usage};
use quipu_spending::{Amount, Budget, Entry, Limit, Meter, Spent, Verdict};
use quipu_wire::{CodexErrorInfo, ServerNotification, TokenCost, TurnError};
use tokio::task::AbortHandle;

use super::actor::Actor;
use super::message::{Message, ThreadHandle};
use super::session::Session;
use crate::Server;

/// The meter of a thread, and the clock of its turn.
pub(super) struct Spending {
    meter: Arc<Meter>,
    /// Ends the turn when its time is over.
    clock: Option<AbortHandle>,
    /// When the turn began.
    began: Instant,
    /// Models without a price that users were warned of.
    unpriced: Option<String>,
}

impl Spending {
    /// For a thread that has run since a time, in Unix seconds; for a new one without.
    pub fn new(server: &Server, thread: &ThreadHandle, since: Option<i64>) -> Self {
        let (ledger, id) = (Arc::clone(&server.ledger), thread.id.to_string());
        let meter = match since {
            None => Meter::new_thread(ledger, id),
            Some(since) => {
                let began = DateTime::from_timestamp(since, 0).unwrap_or_else(Utc::now);
                Meter::new(ledger, id, began.date_naive())
            }
        };
        Self {
            meter: Arc::new(meter),
            clock: None,
            began: Instant::now(),
            unpriced: None,
        }
    }

    pub fn begin_turn(&mut self) {
        self.stop_clock();
        self.began = Instant::now();
        self.meter.begin_turn();
    }

    /// What counts the answers of a request.
    pub fn counter(&self, session: &Session, turn_id: &TurnId, model: &ModelInfo) -> Counter {
        Counter {
            meter: Arc::clone(&self.meter),
            entry: Entry {
                at: 0,
                thread: String::new(),
                turn: turn_id.to_string(),
                cwd: session.cwd.display().to_string(),
                provider: session.provider.id.clone(),
                model: model.slug.clone(),
                input: 0,
                cached: 0,
                output: 0,
                reasoning: 0,
                total: 0,
                dollars: None,
                seconds: 0.0,
            },
            price: model.price,
        }
    }

    /// Whether the budgets allow another request; an error says which one does not. Limits that are nearly used
    /// up are returned as warnings.
    pub fn check(
        &mut self,
        session: &Session,
        thread: &ThreadHandle,
    ) -> Result<Vec<String>, TurnError> {
        let budget = budget(session);
        if budget == Budget::default() {
            return Ok(Vec::new());
        }
        let cwd = session.cwd.display().to_string();
        let near = match self.meter.check(&budget, &cwd) {
            Verdict::Exceeded(spent) => return Err(used_up(&spent)),
            Verdict::Allowed { near } => near,
        };
        let mut warnings: Vec<String> = near
            .iter()
            .map(|spent| format!("The budget is nearly used up: {spent}."))
            .collect();
        let model = &session.model;
        let is_unpriced = budget.limits_money() && session.info.price.is_none();
        if is_unpriced && self.unpriced.as_ref() != Some(model) {
            warnings.push(format!(
                "No price is known for `{model}`, so its answers do not count towards the budget in dollars; \
                 `prices` of its provider can name one."
            ));
            self.unpriced = Some(model.clone());
        }
        if self.clock.is_none()
            && let Some((left, spent)) = self.meter.time_left(&budget, &cwd)
        {
            self.clock = Some(start_clock(thread.clone(), left, spent));
        }
        Ok(warnings)
    }

    /// Adds what answers cost to a report of what they used.
    pub fn add_cost(&self, notification: &mut ServerNotification) {
        if let ServerNotification::ThreadTokenUsageUpdated(it) = notification {
            it.token_usage.cost = self.meter.paid().map(|paid| TokenCost {
                last: paid.last,
                turn: paid.turn,
                thread: paid.thread,
            });
        }
    }

    /// Logs the start and the end of turns, with what they used.
    pub fn log(&self, notification: &ServerNotification) {
        match notification {
            ServerNotification::TurnStarted(it) => {
                tracing::info!(thread = it.thread_id, turn = it.turn.id, "turn started");
            }
            ServerNotification::TurnCompleted(it) => {
                let used = self.meter.turn();
                tracing::info!(
                    thread = it.thread_id,
                    turn = it.turn.id,
                    status = %it.turn.status,
                    error = it.turn.error.as_ref().map(|it| it.message.as_str()),
                    tokens = used.tokens,
                    dollars = used.dollars,
                    seconds = self.began.elapsed().as_secs_f64(),
                    "turn ended"
                );
            }
            _ => {}
        }
    }

    fn stop_clock(&mut self) {
        if let Some(clock) = self.clock.take() {
            clock.abort();
        }
    }
}

impl Drop for Spending {
    fn drop(&mut self) {
        self.stop_clock();
    }
}

/// Counts the answers of one request.
pub(super) struct Counter {
    meter: Arc<Meter>,
    /// What is the same for all of them.
    entry: Entry,
    price: Option<Price>,
}

impl Counter {
    /// Counts an answer. Returns what it cost and what the thread has used.
    pub fn count(&self, usage: &Usage) -> (Option<f64>, Amount) {
        let tokens = |count: i64| u64::try_from(count).unwrap_or(0);
        let dollars = self.price.map(|price| price.cost(usage));
        let entry = Entry {
            at: Utc::now().timestamp(),
            input: tokens(usage.input),
            cached: tokens(usage.cached_input),
            output: tokens(usage.output),
            reasoning: tokens(usage.reasoning_output),
            total: tokens(usage.total),
            dollars,
            ..self.entry.clone()
        };
        (dollars, self.meter.count(entry))
    }
}

/// The limits in force.
fn budget(session: &Session) -> Budget {
    let limit = |it: BudgetLimit| Limit {
        tokens: it.tokens,
        dollars: it.dollars,
        seconds: it.seconds,
    };
    let set = session.snapshot.budget();
    Budget {
        turn: limit(set.turn),
        thread: limit(set.thread),
        directory: limit(set.directory),
        day: limit(set.day),
    }
}

/// Why a turn ends whose budget is used up.
fn used_up(spent: &Spent) -> TurnError {
    TurnError {
        message: format!("The budget is used up: {spent}. Raise it in the configuration to go on."),
        codex_error_info: Some(CodexErrorInfo::UsageLimitExceeded),
        additional_details: None,
    }
}

/// The time of the turn is over.
pub(super) async fn out_of_time(actor: &mut Actor, spent: Spent) {
    actor.sampler.spending_mut().clock = None;
    if actor.engine.active_turn().is_some() {
        let error = used_up(&spent);
        actor.step(Input::Fault { error }).await;
    }
}

fn start_clock(thread: ThreadHandle, left: Duration, spent: Spent) -> AbortHandle {
    let clock = tokio::spawn(async move {
        tokio::time::sleep(left).await;
        thread.send(Message::OutOfTime(spent)).await;
    });
    clock.abort_handle()
}
