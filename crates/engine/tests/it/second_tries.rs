//! What is tried again: a final message of the wrong shape, and a summary of too long a history. And
//! what is reported when the end of a turn cannot be stored.

use quipu_engine::{Effect, Input, ModelEvent, Purpose, SchemaMismatch};
use quipu_wire::{ServerNotification, TurnStatus};

use crate::lines::assert_lines;
use crate::make::{
    call, compact, compacted, completed, context, done, error, finished, json, mismatch, model,
    output, start, steer, tool, words,
};
use crate::run::Run;

/// A run whose first turn waits for the model.
fn asking() -> Run {
    let mut run = Run::new();
    run.steps([start(1, "turn", "hi"), context("turn")]);
    run
}

fn wrong() -> ModelEvent {
    ModelEvent::Completed {
        usage: None,
        mismatch: Some(mismatch()),
    }
}

fn full() -> ModelEvent {
    ModelEvent::Failed {
        error: error("full"),
        window_exceeded: true,
    }
}

#[test]
fn a_final_message_of_the_wrong_shape_may_be_corrected_once() {
    let mut run = asking();
    let effects = run.steps([
        model(1, done(0, output("m", words("not JSON")))),
        model(1, wrong()),
    ]);
    assert_lines(
        &effects[effects.len() - 2..],
        r#"
        record history "wrong shape"
        sample 2: Turn
    "#,
    );
    run.step(model(2, completed()));
    run.assert_lawful();

    let mut run = asking();
    run.step(model(1, wrong()));
    assert_lines(
        &run.step(model(2, wrong()))[2..],
        r#"
        record error "wrong shape"
        thread/status/changed SystemError
        error "wrong shape" will retry: false
        record turn ended Failed "wrong shape" None
        sync
        turn/completed failed "wrong shape"
    "#,
    );
    run.assert_lawful();

    let mut run = asking();
    run.step(model(1, wrong()));
    let usable = ModelEvent::Completed {
        usage: None,
        mismatch: Some(Box::new(SchemaMismatch {
            is_fatal: false,
            ..*mismatch()
        })),
    };
    let effects = run.step(model(2, usable));
    assert!(effects.contains(&Effect::Warn("wrong shape".to_owned())));
    let is_end = |it: &&Effect| matches!(it, Effect::Notify(ServerNotification::TurnCompleted(_)));
    let Some(Effect::Notify(ServerNotification::TurnCompleted(end))) = effects.iter().find(is_end)
    else {
        panic!("{effects:?}");
    };
    assert_eq!(end.turn.status, TurnStatus::Completed);
    run.assert_lawful();
}

#[test]
fn a_message_that_is_not_the_last_has_any_shape() {
    let mut run = asking();
    run.steps([
        model(1, done(0, call("cmd"))),
        tool("cmd", finished("output")),
        model(1, wrong()),
        steer(2, "turn", "more"),
        model(2, wrong()),
    ]);
    assert!(!run.thread.history().contains(&json("wrong shape")));
    run.step(model(3, wrong()));
    assert!(run.thread.history().contains(&json("wrong shape")));
    run.step(model(4, completed()));
    run.assert_lawful();
}

#[test]
fn a_history_too_long_to_be_summarised_loses_its_oldest_items_first() {
    let mut run = Run::new();
    for n in 1..=5 {
        let turn = format!("turn{n}");
        run.steps([start(n, &turn, "hi"), context(&turn), model(n, completed())]);
    }
    let items = run.thread.history().len();
    run.step(compact("compact"));
    let mut dropped = Vec::new();
    while run.thread.active_turn().is_some() && dropped.len() < 10 {
        for effect in run.step(model(run.last_sample(), full())) {
            if let Effect::Sample {
                purpose: Purpose::Compaction { dropped: count },
                ..
            } = effect
            {
                dropped.push(count);
            }
        }
    }
    assert_eq!(dropped, [1, 2, 4, 8, items - 1], "then it is given up");
    run.assert_lawful();
    run.steps([compact("again"), model(run.last_sample() + 1, full())]);
    run.steps([model(run.last_sample(), completed()), compacted("again")]);
    assert_eq!(run.thread.history(), [json("summary")]);
    run.assert_lawful();
}

#[test]
fn a_completed_turn_that_cannot_be_stored_is_reported_as_failed() {
    let mut run = asking();
    let effects = run.step(model(1, completed()));
    let sync = effects.iter().position(|it| *it == Effect::Sync).unwrap();
    let messages = run.thread.step(Input::NotStored {
        error: error("no room"),
        rest: effects[sync + 1..].to_vec(),
    });
    assert_lines(
        &messages,
        r#"
        record error "no room"
        thread/status/changed SystemError
        error "no room" will retry: false
        turn/completed failed "no room"
    "#,
    );
    run.steps([start(2, "turn2", "again"), context("turn2")]);
    let ended = run.step(model(2, completed()));
    let [
        ..,
        Effect::Notify(ServerNotification::TurnCompleted(params)),
        Effect::Announce { .. },
    ] = ended.as_slice()
    else {
        panic!("{ended:?}");
    };
    assert_eq!(params.turn.status, TurnStatus::Completed);
}

/// Only a success would be a lie.
#[test]
fn any_other_end_stays_what_it_is() {
    let mut run = asking();
    let effects = run.step(crate::make::interrupt(2));
    assert_eq!(
        run.thread.step(Input::NotStored {
            error: error("no room"),
            rest: effects.clone()
        }),
        effects
    );
}
