//! Models that never finish: each of their turns ends all the same, and says why.

use std::collections::VecDeque;

use quipu_engine::{Effect, Input, ModelEvent, Purpose, Thread, ThreadSetup};
use quipu_wire::{ServerNotification, TokenUsageBreakdown};

use crate::make::{
    call, compacted, context, done, finished, model, output, rendered, review, start, tool, words,
};

/// An answer that used so many tokens.
fn completed(total_tokens: i64) -> ModelEvent {
    let usage = TokenUsageBreakdown {
        total_tokens,
        input_tokens: total_tokens,
        cached_input_tokens: 0,
        output_tokens: 0,
        reasoning_output_tokens: 0,
    };
    ModelEvent::Completed {
        usage: Some(usage),
        mismatch: None,
    }
}

/// Plays a model until the turn has ended; how often it was asked and to compact, and the error it ended with.
fn play(first: Input, compact_at: Option<i64>, answer: impl Fn(u64) -> Vec<ModelEvent>) -> Played {
    let mut thread = Thread::new(ThreadSetup::default());
    thread.set_limits(Some(1_000), compact_at);
    let mut inputs = VecDeque::from([first]);
    let mut played = Played::default();
    while let Some(input) = inputs.pop_front() {
        for effect in thread.step(input) {
            match effect {
                Effect::BuildContext { turn_id } => inputs.push_back(context(&turn_id)),
                Effect::Summarise { turn_id, .. } => inputs.push_back(compacted(&turn_id)),
                Effect::Sample {
                    sample,
                    purpose: Purpose::Compaction { .. },
                    ..
                } => {
                    played.compactions += 1;
                    inputs.push_back(model(sample.get(), completed(10)));
                }
                Effect::Sample { sample, .. } => {
                    let sample = sample.get();
                    played.requests += 1;
                    inputs.extend(answer(sample).into_iter().map(|event| model(sample, event)));
                }
                Effect::RunTool { call, .. } => {
                    played.calls += 1;
                    inputs.push_back(tool(&call.call_id, finished("error: no")));
                }
                Effect::RenderReview { turn_id, .. } => inputs.push_back(rendered(&turn_id)),
                Effect::CancelSample { .. } => played.cancelled = true,
                Effect::Notify(ServerNotification::TurnCompleted(ended)) => {
                    played.error = ended.turn.error.map(|error| error.message);
                }
                _ => {}
            }
        }
    }
    assert_eq!(thread.active_turn(), None);
    played
}

#[derive(Default)]
struct Played {
    requests: u32,
    compactions: u32,
    calls: u32,
    cancelled: bool,
    error: Option<String>,
}

fn calling(tokens: i64) -> Vec<ModelEvent> {
    vec![done(0, call("cmd")), completed(tokens)]
}

#[test]
fn compaction_that_does_not_help_is_given_up() {
    let played = play(start(1, "turn", "hi"), Some(50), |_| calling(80));
    assert_eq!((played.requests, played.compactions), (6, 5));
    assert_eq!(
        played.error.as_deref(),
        Some(
            "The history was over the limit of 50 tokens again right after each of 5 compactions. Raise \
             `model_auto_compact_token_limit`, or go on in a new thread."
        )
    );
    // One that fills its history again with some work is compacted as often as it takes.
    let played = play(start(1, "turn", "hi"), Some(50), |sample| match sample {
        0..100 => calling(if sample % 3 == 0 { 80 } else { 20 }),
        _ => vec![done(0, output("m", words("done"))), completed(20)],
    });
    assert_eq!(played.error, None);
    assert!(played.compactions > 20, "{}", played.compactions);
}

#[test]
fn a_turn_has_a_limited_number_of_requests() {
    for first in [start(1, "turn", "hi"), review(1, "turn", "all")] {
        let played = play(first, None, |_| calling(20));
        assert_eq!(played.requests, 5_000);
    }
    let played = play(start(1, "turn", "hi"), Some(50), |sample| {
        calling(if sample % 3 == 0 { 80 } else { 20 })
    });
    assert_eq!(played.requests + played.compactions, 5_000);
    assert_eq!(
        played.error.as_deref(),
        Some(
            "The model was asked 5000 times in this turn and did not finish it. Send another message to go on."
        )
    );
}

#[test]
fn a_turn_has_a_limited_number_of_calls() {
    let played = play(start(1, "turn", "hi"), None, |_| {
        let calls = (0..20_000).map(|slot| done(slot, call(&format!("cmd{slot}"))));
        calls.chain([completed(20)]).collect()
    });
    assert_eq!((played.requests, played.calls), (1, 10_000));
    assert!(played.cancelled, "the rest of the answer is not read");
    assert_eq!(
        played.error.as_deref(),
        Some(
            "The model made more than 10000 tool calls in this turn and did not finish it. Send another message to \
             go on."
        )
    );
}
