//! The map of calls: each is completed once, whatever happens to it.

use std::time::Duration;

use proptest::prelude::*;
use quipu_rpc::{Answer, Arrival, CallError, Calls, CloseReason, ErrorObject, Id, RawJson};
use serde_json::json;

fn result(id: impl Into<Id>) -> Answer {
    Answer {
        id: id.into(),
        outcome: Ok(RawJson::from(json!("ok"))),
    }
}

#[tokio::test]
async fn an_answer_completes_its_call_once() {
    let calls = Calls::new(0);
    let (first, second) = (calls.register(), calls.register());
    assert_eq!((first.id(), second.id()), (0, 1));
    assert_eq!(calls.answer(result(1)), Arrival::Delivered);
    assert_eq!(calls.answer(result(1)), Arrival::Late);
    assert_eq!(calls.answer(result(2)), Arrival::Unknown);
    assert_eq!(calls.answer(result("0")), Arrival::Unknown);
    assert_eq!(second.await.unwrap().as_bytes(), b"\"ok\"");
    let error = ErrorObject::internal("broken");
    let outcome = Err(error.clone());
    assert_eq!(
        calls.answer(Answer {
            id: 0.into(),
            outcome
        }),
        Arrival::Delivered
    );
    assert!(matches!(first.await, Err(CallError::Rejected(it)) if it == error));
    assert!(calls.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_timeout_gives_the_call_up() {
    let calls = Calls::new(5);
    let waiter = calls.register();
    let outcome = waiter.within(Duration::from_secs(3)).await;
    assert!(matches!(outcome, Err(CallError::TimedOut(_))));
    assert!(calls.is_empty());
    assert_eq!(calls.answer(result(5)), Arrival::Late);
}

#[tokio::test]
async fn the_end_fails_all_calls_with_one_reason() {
    let calls = Calls::new(0);
    let before = calls.register();
    calls.close(&CloseReason::Remote);
    calls.close(&CloseReason::Overflow);
    let after = calls.register();
    for waiter in [before, after] {
        let outcome = waiter.await;
        assert!(
            matches!(outcome, Err(CallError::Closed(CloseReason::Remote))),
            "{outcome:?}"
        );
    }
}

#[derive(Clone, Debug)]
enum Step {
    Register,
    Answer(i64),
    Fail(i64),
    Drop(i64),
}

proptest! {
    #[test]
    fn each_call_completes_at_most_once(steps in proptest::collection::vec(
        prop_oneof![
            3 => Just(Step::Register),
            3 => (0..12_i64).prop_map(Step::Answer),
            1 => (0..12_i64).prop_map(Step::Fail),
            1 => (0..12_i64).prop_map(Step::Drop),
        ],
        0..60,
    )) {
        let calls = Calls::new(0);
        let mut waiters = Vec::new();
        let mut open = Vec::new();
        for step in steps {
            let (id, arrival) = match step {
                Step::Register => {
                    open.push(true);
                    waiters.push(Some(calls.register()));
                    continue;
                }
                Step::Answer(id) => (id, calls.answer(result(id))),
                Step::Fail(id) => (id, calls.fail(id, CallError::Full)),
                Step::Drop(id) => {
                    if let Some(waiter) = waiters.get_mut(id as usize) {
                        *waiter = None;
                        open[id as usize] = false;
                    }
                    continue;
                }
            };
            let expected = match open.get_mut(id as usize) {
                None => Arrival::Unknown,
                Some(open) if *open => {
                    *open = false;
                    Arrival::Delivered
                }
                Some(_) => Arrival::Late,
            };
            prop_assert_eq!(arrival, expected);
            prop_assert_eq!(calls.len(), open.iter().filter(|open| **open).count());
        }
    }
}
