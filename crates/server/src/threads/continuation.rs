//! A turn that was running when its server died or left goes on here, as the same turn, where the settings say so:
//! what is recorded of it counts, the model reads what became of its calls and is asked again.
//!
//! A turn that cannot go on (a review, a compaction, a command of the user, a turn of an agent, one whose input was not
//! recorded, one that was left long ago) counts as interrupted.

use std::convert::identity;
use std::sync::Arc;

use quipu_engine::{Input, Obstacle, Resumed, is_open_item, item_id};
use quipu_journal::event::TurnAborted;
use quipu_journal::{Event, Log, Record, Replay, Source, TurnContext};
use quipu_prompt::{resumed, stored};
use quipu_wire::{CodexErrorInfo, ThreadItem, Turn, TurnError, TurnStartParams, TurnStatus};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::actor::Actor;
use super::message::Stop;
use super::workspace_hook::Workspace;
use super::{Overrides, catch_up, goal, load, rights, turn_start, workspace_hook};
use crate::blocking::blocking;
use crate::lanes::Key;
use crate::{Refusal, Server, clock, cloud};

/// How long ago the last record of a turn may be that goes on, in seconds.
const MAX_AGE: i64 = 3600;
/// How often a turn is taken over in a row without the output of a call in between, and in all. One that goes on to end
/// its servers must not end them all.
const MAX_FUTILE: u32 = 3;
const MAX_TAKEOVERS: u32 = 10;

/// A turn that goes on here.
pub(crate) struct LeftTurn {
    /// With its items so far.
    turn: Turn,
    context: TurnContext,
    is_answered: bool,
}

/// How often the running turn of a thread was taken over, as it is stored with the thread.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Takeovers {
    turn: String,
    /// In all, and without the output of a call in between.
    total: u32,
    futile: u32,
    /// The outputs in the history at the last one.
    outputs: usize,
    /// Its server leaves as it should, so the next one does not count.
    handed_over: bool,
}

impl Takeovers {
    /// Counts another one; why the turn must not go on, if that is so.
    fn count(&mut self, outputs: usize) -> Option<TurnError> {
        let had_output = std::mem::replace(&mut self.outputs, outputs) != outputs;
        if std::mem::take(&mut self.handed_over) {
            return None;
        }
        self.total += 1;
        self.futile = match had_output {
            true => 1,
            false => self.futile + 1,
        };
        let (count, rest) = match (self.futile > MAX_FUTILE, self.total > MAX_TAKEOVERS) {
            (true, _) => (self.futile, " without the output of a call in between"),
            (_, true) => (self.total, ""),
            _ => return None,
        };
        Some(failure(format!(
            "The server that ran this turn ended {count} times{rest}, so the turn is not continued again."
        )))
    }
}

fn failure(message: String) -> TurnError {
    TurnError {
        message,
        codex_error_info: Some(CodexErrorInfo::Other),
        additional_details: None,
    }
}

fn open_turn(replay: &Replay) -> Option<&Turn> {
    let last = replay.turns.last();
    last.filter(|turn| turn.status == TurnStatus::InProgress)
}

/// Whether the open turn of a stored thread goes on when the thread is loaded.
pub(super) fn goes_on(server: &Server, replay: &Replay) -> bool {
    let Some(turn) = open_turn(replay) else {
        return false;
    };
    let settings = server.left_turns.as_ref();
    if !settings.is_some_and(|it| it.go_on) || matches!(replay.meta.source, Source::SubAgent(_)) {
        return false;
    }
    let context = replay.context.as_ref();
    let has_context = context.is_some_and(|it| it.turn_id.as_deref() == Some(&turn.id));
    let is_review = |item: &ThreadItem| matches!(item, ThreadItem::EnteredReviewMode { .. });
    let is_input = |item: &ThreadItem| matches!(item, ThreadItem::UserMessage { .. });
    let id = replay.meta.id;
    let has_goal = || matches!(server.store.goal(id).text(), Ok(Some(_)));
    if !has_context || turn.items.iter().any(is_review) {
        return false;
    }
    if !turn.items.iter().any(is_input) && !has_goal() {
        return false;
    }
    let summary = server.store.summary(id).ok().flatten();
    summary.is_some_and(|it| clock::unix_seconds() - it.updated_at <= MAX_AGE)
}

/// Whether clients were notified of the end of a turn.
fn is_known_as_ended(server: &Server, thread: Uuid, turn: &str) -> bool {
    let stored = server.store.events(thread).read();
    let stored = stored.ok().flatten();
    stored.is_some_and(|it| it.last_turn() == (turn, false))
}

/// Decides about the open turn of a thread that is being loaded: gives it back if it goes on, and records that it was
/// interrupted otherwise. A thread whose files other programs write, too, only counts as interrupted.
pub(super) fn settle(
    server: &Server,
    replay: &mut Replay,
    log: &mut Log,
    overrides: &mut Overrides,
) -> Result<Option<Box<LeftTurn>>, Refusal> {
    let id = replay.meta.id;
    let open = open_turn(replay).cloned();
    let (goes_on, context) = (goes_on(server, replay), replay.context.clone());
    replay.settle();
    let Some(turn) = open else {
        return Ok(None);
    };
    let goes_on = goes_on && !is_known_as_ended(server, id, &turn.id);
    if let Some(context) = context.filter(|_| goes_on) {
        if let Some(last) = replay.turns.last_mut() {
            last.status = TurnStatus::InProgress;
        }
        let provider = replay.meta.model_provider.clone();
        overrides.model_provider = overrides.model_provider.take().or(provider);
        return Ok(Some(Box::new(LeftTurn {
            turn,
            context,
            is_answered: replay.is_answered,
        })));
    }
    let settings = server.left_turns.as_ref();
    if server.nodes.is_some() || settings.is_some_and(|it| it.go_on) {
        let aborted = Event::TurnAborted(TurnAborted {
            turn_id: Some(turn.id),
            reason: "interrupted".to_owned(),
        });
        let recorded = log
            .append(&[Record::from(aborted)])
            .and_then(|()| log.flush());
        recorded.map_err(|error| {
            Refusal::internal(format!("failed to record the end of a turn: {error}"))
        })?;
    }
    Ok(None)
}

/// Goes on with a turn, or ends it and says why.
pub(super) async fn go_on(actor: &mut Actor, left: LeftTurn) {
    let turn_id = left.turn.id.clone();
    tracing::info!(thread = %actor.handle.id, turn = turn_id, "turn of another server continued");
    let ready = actor.load_history();
    let ready = ready.and_then(|()| actor.recorder.reserve());
    let items = &left.turn.items;
    let history = actor.engine.own_history();
    let mut added = resumed::outputs(history, |call| {
        let mut ended = items.iter().filter(|item| !is_open_item(item));
        ended.find(|item| item_id(item) == call)
    });
    let outputs = resumed::count_outputs(history) + added.len();
    let is_answered = left.is_answered && added.is_empty();
    if added.is_empty() && !is_answered {
        added.extend(resumed::cut_off(history));
    }
    let mut obstacle = match ready {
        Ok(()) => count(actor, &turn_id, outputs).map(Obstacle::Failure),
        Err(error) => Some(Obstacle::Failure(failure(error.to_string()))),
    };
    if obstacle.is_none() {
        let restored = restore_settings(actor, &left.context);
        obstacle = restored
            .err()
            .map(|error| Obstacle::Interrupt(error.to_string()));
    }
    if obstacle.is_none() {
        let workspace = Workspace {
            thread_id: actor.handle.id.to_string(),
            turn_id: turn_id.clone(),
            cwd: actor.session.cwd_text(),
        };
        let server = Arc::clone(&actor.server);
        let ready = workspace_hook::run(&server, workspace).await;
        obstacle = ready.err().map(Obstacle::Interrupt);
    }
    turn_start::prepare(actor, left.context.final_output_json_schema).await;
    actor.recorder.begin_turn();
    actor.audience.prepare();
    goal::turn_started(actor);
    let open = open_items(actor, &left.turn);
    let ids = left.turn.items.iter().map(|item| item_id(item).into());
    let resumed = Resumed {
        turn_id: turn_id.into(),
        item_ids: ids.collect(),
        open,
        history: added,
        is_answered,
        last_agent_message: last_message(&left.turn.items),
        obstacle,
    };
    actor.step(Input::Resume(resumed)).await;
}

fn last_message(items: &[ThreadItem]) -> Option<String> {
    items.iter().rev().find_map(|item| match item {
        ThreadItem::AgentMessage { text, .. } if !text.trim().is_empty() => Some(text.clone()),
        _ => None,
    })
}

/// Counts the takeover, durably; why the turn must not go on, if that is so.
fn count(actor: &Actor, turn: &str, outputs: usize) -> Option<TurnError> {
    let id = super::parse_id(&actor.handle.id).ok()?;
    let kept = actor.server.store.takeovers(id);
    let before: Option<Takeovers> = tokio::task::block_in_place(|| kept.read());
    let mut takeovers = before.filter(|it| it.turn == turn).unwrap_or_default();
    turn.clone_into(&mut takeovers.turn);
    let obstacle = takeovers.count(outputs);
    match tokio::task::block_in_place(|| kept.write(&takeovers)) {
        Ok(()) => obstacle,
        Err(error) => Some(failure(format!("The turn cannot go on here: {error}"))),
    }
}

/// Gives the thread the settings of the turn, within the administrator's limits.
fn restore_settings(actor: &mut Actor, context: &TurnContext) -> Result<(), Refusal> {
    let baseline = stored::baseline(context);
    let baseline =
        baseline.ok_or_else(|| Refusal::internal("the settings of the turn cannot be read"))?;
    let params = TurnStartParams {
        cwd: Some(context.cwd.clone()),
        approval_policy: Some(baseline.approval_policy),
        sandbox_policy: Some(baseline.sandbox),
        model: Some(context.model.clone()),
        effort: word(context.effort.as_deref()),
        summary: word(context.summary.as_deref()),
        personality: baseline.personality,
        ..TurnStartParams::default()
    };
    let rights = actor.session.rights(&actor.server, &params)?;
    rights::change_session(actor, rights, &params);
    if let Some(mode) = baseline.collaboration_mode {
        actor.session.mode = mode;
    }
    if baseline.developer_instructions.is_some() {
        actor.session.developer_instructions = baseline.developer_instructions;
    }
    Ok(())
}

fn word<T: DeserializeOwned>(word: Option<&str>) -> Option<T> {
    serde_json::from_value(word?.into()).ok()
}

/// The items that are stored as begun, or that clients saw begin, on another server.
fn open_items(actor: &Actor, turn: &Turn) -> Vec<ThreadItem> {
    let recorded = turn.items.iter().filter(|item| is_open_item(item));
    let mut open: Vec<ThreadItem> = recorded.cloned().collect();
    let Ok(id) = super::parse_id(&actor.handle.id) else {
        return open;
    };
    let stored = tokio::task::block_in_place(|| actor.server.store.events(id).read());
    let stored = stored.inspect_err(|error| {
        tracing::error!(thread = %id, %error, "failed to read events");
    });
    let shown = stored.ok().flatten();
    let shown = shown.map_or_else(Vec::new, |it| catch_up::open_items(&it, &turn.id));
    for item in shown {
        if !open.iter().any(|it| item_id(it) == item_id(&item)) {
            open.push(item);
        }
    }
    open
}

/// Sees to it that no turn runs. One that cannot go on elsewhere, because nothing of it is stored or because it belongs to
/// a thread that is here, ends here.
pub(super) async fn stop(actor: &mut Actor, stop: Stop) {
    let is_bound = actor.recorder.is_ephemeral() || actor.agent.is_agent();
    let input = match stop {
        Stop::Wait | Stop::HandOver { now: false } if is_bound => return,
        Stop::Wait => return,
        Stop::HandOver { now } if !is_bound => {
            mark_handed_over(actor);
            Input::HandOver { now }
        }
        Stop::Interrupt | Stop::HandOver { .. } => Input::Interrupt { reply: None },
    };
    actor.step(input).await;
}

/// Stores that the next takeover of the running turn is not due to a failure.
fn mark_handed_over(actor: &Actor) {
    let Some((turn, id)) = actor
        .engine
        .active_turn()
        .zip(super::parse_id(&actor.handle.id).ok())
    else {
        return;
    };
    let kept = actor.server.store.takeovers(id);
    let marked = tokio::task::block_in_place(|| {
        let before: Option<Takeovers> = kept.read();
        let mut takeovers = before.filter(|it| *it.turn == **turn).unwrap_or_default();
        takeovers.turn = turn.to_string();
        takeovers.handed_over = true;
        kept.write(&takeovers)
    });
    if let Err(error) = marked {
        tracing::warn!(thread = %id, %error, "takeover of a turn counts as one after a failure");
    }
}

/// Loads a thread whose server is gone, so that its turn goes on without waiting for a client.
pub(crate) fn take_over(server: &Arc<Server>, id: Uuid) {
    let taking = Arc::clone(server);
    let job = async move {
        if taking.threads.get(&id.to_string()).is_some() {
            return;
        }
        if let Err(error) = load_left(&taking, id).await {
            match error {
                Refusal::ThreadInUse(_) => {}
                error => tracing::warn!(thread = %id, %error, "failed to take a thread over"),
            }
        }
    };
    let key = Key::thread(&id.to_string());
    server.lanes.run(key, Box::pin(job));
}

async fn load_left(server: &Arc<Server>, id: Uuid) -> Result<(), Refusal> {
    cloud::ready(server).await;
    let opened = blocking(server, move |server| {
        let path = load::find(server, id)?;
        load::resume(server, None, &path, &Overrides::default(), None)
    });
    let opened = opened.await.and_then(identity)?;
    let opened = opened.with_required_servers(server, "resuming").await?;
    let goes_on = opened.thread.turns.last();
    let goes_on = goes_on.is_some_and(|turn| turn.status == TurnStatus::InProgress);
    drop(opened.hold);
    if !goes_on {
        let marked = blocking(server, move |server| server.store.not_orphaned(id)).await?;
        if let Err(error) = marked {
            tracing::warn!(thread = %id, %error, "thread still counts as one to take over");
        }
        load::unload(server, &opened.handle).await;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turn_that_ends_its_servers_is_given_up() {
        let mut takeovers = Takeovers::default();
        for _ in 0..MAX_FUTILE {
            assert_eq!(takeovers.count(5), None);
        }
        let error = takeovers.count(5).unwrap();
        assert!(error.message.contains("4 times without"), "{error:?}");
    }

    #[test]
    fn outputs_count_as_progress_but_not_forever() {
        let mut takeovers = Takeovers::default();
        let counted = (1..).map(|outputs| takeovers.count(outputs));
        let given_up = counted.take_while(Option::is_none).count();
        assert_eq!(given_up, MAX_TAKEOVERS as usize);
    }

    #[test]
    fn a_server_that_leaves_as_it_should_does_not_count() {
        let mut takeovers = Takeovers::default();
        for _ in 0..100 {
            takeovers.handed_over = true;
            assert_eq!(takeovers.count(0), None);
        }
        assert_eq!((takeovers.total, takeovers.futile), (0, 0));
    }
}
