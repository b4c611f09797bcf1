//! A thread whose process dies at any moment, or hands the thread over, and that goes on in the next one with what the log
//! has. However often that happens, every turn ends once and every item completes once.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use quipu_engine::{Effect, Input, Obstacle, Record, Resumed, TurnEnd, TurnId, TurnKind, item_id};
use quipu_wire::{Json, ServerNotification, ThreadItem};

use crate::facts::recorded_item;
use crate::make::{completed, context, finished, json, model, tool};
use crate::run::Run;
use crate::world::{Action, World, action};

/// What is left of a process: its log, and what clients saw.
#[derive(Default)]
struct Left {
    history: Vec<Json>,
    open: Option<(TurnId, TurnKind)>,
    started: BTreeMap<String, ThreadItem>,
    /// The items of the open turn that the log has or clients saw complete.
    completed: BTreeSet<String>,
    /// How often each turn was recorded as ended, and clients were notified of that.
    ends: BTreeMap<String, (usize, usize)>,
}

impl Left {
    fn take(&mut self, effect: &Effect) -> Result<(), String> {
        match effect {
            Effect::Record(record) => self.record(record),
            Effect::Notify(ServerNotification::ItemStarted(params))
                if self.is_open(&params.turn_id) =>
            {
                let id = item_id(&params.item).to_owned();
                let before = self.started.insert(id.clone(), params.item.clone());
                if before.is_some() {
                    return Err(format!("item {id} started twice"));
                }
            }
            Effect::Notify(ServerNotification::TurnCompleted(params)) => {
                self.ends.entry(params.turn.id.clone()).or_default().1 += 1;
            }
            _ => {}
        }
        Ok(())
    }

    fn is_open(&self, turn: &str) -> bool {
        let open = self.open.as_ref();
        open.is_some_and(|(id, kind)| id.as_str() == turn && *kind == TurnKind::Regular)
    }

    fn record(&mut self, record: &Record) {
        match record {
            Record::TurnStarted { turn_id, kind } => {
                self.open = Some((turn_id.clone(), *kind));
                self.started.clear();
                self.completed.clear();
            }
            Record::TurnEnded { turn_id, .. } => {
                self.open = None;
                self.ends.entry(turn_id.to_string()).or_default().0 += 1;
            }
            Record::History(item) => self.history.push(item.clone()),
            Record::Compacted { history, .. } => self.history.clone_from(history),
            record => {
                let turn = self.open.as_ref().map(|(id, _)| id.to_string());
                let item = recorded_item(record, &turn.unwrap_or_default());
                self.completed
                    .extend(item.map(|it| item_id(&it).to_owned()));
            }
        }
    }

    /// The turn to go on with. One that cannot be gone on with is over, as a server records when it loads the thread.
    fn resumed(&mut self) -> Option<Resumed> {
        let (turn_id, kind) = self.open.clone()?;
        if kind != TurnKind::Regular {
            let ended = self.ends.entry(turn_id.to_string()).or_default();
            *ended = (1, 1);
            self.open = None;
            return None;
        }
        let open = self.started.iter();
        let open = open.filter(|(id, _)| !self.completed.contains(*id));
        Some(Resumed {
            turn_id,
            item_ids: self.completed.iter().map(|id| id.as_str().into()).collect(),
            open: open.map(|(_, item)| item.clone()).collect(),
            ..Resumed::default()
        })
    }
}

/// A process: what happens in it, how much of what it did counts before it dies, and whether it hands over instead.
fn process() -> impl Strategy<Value = (Vec<Action>, prop::sample::Index, Option<bool>)> {
    let actions = prop::collection::vec(action(), 0..30);
    (
        actions,
        any::<prop::sample::Index>(),
        prop::option::of(any::<bool>()),
    )
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: ProptestConfig::default().cases.max(600),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn a_turn_ends_once_over_any_number_of_processes(
        hooks in any::<bool>(),
        processes in prop::collection::vec(process(), 1..5),
    ) {
        let mut left = Left::default();
        for (number, (actions, cut, hands_over)) in processes.iter().enumerate() {
            let mut world = World::new(None, hooks);
            world.count = 1000 * number as u64;
            world.run.thread.restore_history(left.history.clone());
            if let Some(resumed) = left.resumed() {
                world.step(Input::Resume(resumed));
            }
            actions.iter().for_each(|action| world.act(action.clone()));
            let is_last = number + 1 == processes.len();
            if let Some(now) = hands_over.filter(|_| !is_last) {
                world.step(Input::HandOver { now });
            }
            if is_last || hands_over.is_some() {
                world.settle();
            }
            let effects: Vec<&Effect> = world.run.trace.iter().flat_map(|(_, effects)| effects).collect();
            let counts = match is_last || hands_over.is_some() || effects.is_empty() {
                true => effects.len(),
                false => cut.index(effects.len()) + 1,
            };
            for effect in &effects[..counts] {
                left.take(effect).map_err(TestCaseError::fail)?;
            }
            // A turn that was recorded as ended and not shown so is shown when the thread is loaded.
            left.ends.values_mut().for_each(|(recorded, shown)| *shown = (*shown).max(*recorded));
        }
        prop_assert_eq!(left.open.as_ref(), None);
        for (turn, ends) in &left.ends {
            prop_assert_eq!(*ends, (1, 1), "turn {}", turn);
        }
    }
}

fn ends(effects: &[Effect]) -> Vec<&TurnEnd> {
    let ends = effects.iter().filter_map(|effect| match effect {
        Effect::Record(Record::TurnEnded { end, .. }) => Some(end),
        _ => None,
    });
    ends.collect()
}

fn samples(effects: &[Effect]) -> usize {
    let samples = effects.iter();
    samples
        .filter(|it| matches!(it, Effect::Sample { .. }))
        .count()
}

#[test]
fn the_model_reads_what_became_of_its_calls_and_is_asked_again() {
    let first = Run::calling("call");
    let mut next = Run::new();
    let history = first.thread.own_history().to_vec();
    next.thread.restore_history(history.clone());
    let unknown = json("unknown");
    let resumed = Resumed {
        turn_id: "turn".into(),
        history: vec![unknown.clone()],
        ..Resumed::default()
    };
    let effects = next.steps([Input::Resume(resumed), context("turn")]);
    assert_eq!(samples(&effects), 1);
    assert_eq!(ends(&effects), Vec::<&TurnEnd>::new());
    assert_eq!(next.thread.history()[..history.len()], history);
    assert_eq!(next.thread.history()[history.len()], unknown);
    let effects = next.step(model(1, completed()));
    assert_eq!(ends(&effects), [&TurnEnd::Completed]);
}

#[test]
fn a_turn_whose_answer_is_complete_only_ends() {
    let mut next = Run::new();
    let effects = next.step(Input::Resume(Resumed {
        turn_id: "turn".into(),
        is_answered: true,
        last_agent_message: Some("done".to_owned()),
        ..Resumed::default()
    }));
    assert_eq!(samples(&effects), 0);
    let last = effects.iter().find_map(|effect| match effect {
        Effect::Record(Record::TurnEnded {
            last_agent_message, ..
        }) => last_agent_message.as_deref(),
        _ => None,
    });
    assert_eq!(last, Some("done"));
}

#[test]
fn a_turn_that_cannot_go_on_ends_and_says_why() {
    let failure = crate::make::error("again and again");
    let obstacles = [
        Obstacle::Failure(failure.clone()),
        Obstacle::Interrupt("no workspace".to_owned()),
    ];
    let expected = [TurnEnd::Failed(failure), TurnEnd::Interrupted];
    for (obstacle, expected) in obstacles.into_iter().zip(expected) {
        let mut next = Run::new();
        let effects = next.step(Input::Resume(Resumed {
            turn_id: "turn".into(),
            obstacle: Some(obstacle),
            ..Resumed::default()
        }));
        assert_eq!((samples(&effects), ends(&effects)), (0, vec![&expected]));
        let warned = effects.contains(&Effect::Warn("no workspace".to_owned()));
        assert_eq!(warned, expected == TurnEnd::Interrupted);
    }
}

#[test]
fn a_turn_is_handed_over_where_the_model_would_be_asked_next() {
    let mut run = Run::calling("call");
    assert_eq!(
        ends(&run.step(Input::HandOver { now: false })),
        Vec::<&TurnEnd>::new()
    );
    assert!(run.thread.active_turn().is_some());
    let effects = run.step(tool("call", finished("output")));
    assert_eq!((samples(&effects), ends(&effects).len()), (0, 0));
    assert!(run.thread.active_turn().is_none());
    assert!(effects.contains(&Effect::Sync));
    // The output of the call is in the log.
    let last = run.thread.own_history().last().unwrap();
    assert!(last.get().contains("output"), "{last:?}");
}
