//! What must hold for any bytes as the answer of any provider. The fuzz target `sse` and a plain test
//! both run this.

use std::collections::HashSet;

use quipu_model::{ModelEvent, Request, WireApi, read_answer};

/// Panics if a law of reading answers is broken.
pub fn check(data: &[u8]) {
    for wire in [WireApi::Responses, WireApi::Chat, WireApi::Anthropic] {
        let (whole, whole_end) = read_answer(wire, Request::default(), [data]);
        slots_are_in_order(&whole);
        let (pieces, pieces_end) = read_answer(wire, Request::default(), data.chunks(1));
        assert_eq!(
            outline(&whole),
            outline(&pieces),
            "{wire:?}: the pieces made a difference"
        );
        assert_eq!(whole_end.is_ok(), pieces_end.is_ok(), "{wire:?}");
        let completed = |event: &ModelEvent| matches!(event, ModelEvent::Completed(_));
        let ends = whole.iter().filter(|it| completed(it)).count();
        assert!(ends <= 1, "{wire:?}: {ends} ends");
        assert_eq!(
            ends == 1,
            whole_end.is_ok(),
            "{wire:?}: an end without its event"
        );
    }
}

/// Events without the ids that are made up while reading.
fn outline(events: &[ModelEvent]) -> Vec<String> {
    let brief = |event: &ModelEvent| match event {
        ModelEvent::ItemStarted { slot, item } => format!("{slot} begins: {:?}", item.kind),
        ModelEvent::ItemDone { slot, item } => format!("{slot} is done: {:?}", item.kind),
        ModelEvent::TextDelta { slot, delta } => format!("{slot} says {delta}"),
        ModelEvent::ReasoningTextDelta { slot, delta, .. }
        | ModelEvent::ReasoningSummaryDelta { slot, delta, .. } => format!("{slot} thinks {delta}"),
        ModelEvent::Completed(end) => format!("{:?}", end.usage),
        other => format!("{:?}", std::mem::discriminant(other)),
    };
    events.iter().map(brief).collect()
}

/// An item starts once, grows while it is open, and is done once.
fn slots_are_in_order(events: &[ModelEvent]) {
    let (mut open, mut done) = (HashSet::new(), HashSet::new());
    for event in events {
        match event {
            ModelEvent::ItemStarted { slot, .. } => assert!(open.insert(*slot), "started twice"),
            ModelEvent::ItemDone { slot, .. } => {
                open.remove(slot);
                assert!(done.insert(*slot), "an item was done twice");
            }
            ModelEvent::TextDelta { slot, .. }
            | ModelEvent::ReasoningTextDelta { slot, .. }
            | ModelEvent::ReasoningPartAdded { slot, .. }
            | ModelEvent::ReasoningSummaryDelta { slot, .. } => {
                assert!(open.contains(slot), "a delta without its item");
            }
            _ => {}
        }
    }
}
