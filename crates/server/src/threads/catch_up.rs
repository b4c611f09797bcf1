//! What the stored events of a thread lack of its rollout: the end of a turn that a crash cut off, an item that was
//! recorded and not shown yet, and turns that another program has run.

use std::collections::{HashMap, HashSet};

use quipu_engine::{is_open_item, item_id};
use quipu_journal::{StoredEvent, StoredEvents};
use quipu_wire::{
    ItemCompletedNotification, ServerNotification, Thread, ThreadItem, Turn,
    TurnCompletedNotification, TurnStartedNotification, TurnStatus,
};
use serde::Deserialize;
use uuid::Uuid;

use crate::clock;

/// The notifications that bring the stored events up to the thread as it is stored.
pub(super) fn missing(stored: &StoredEvents, thread: &Thread) -> Vec<ServerNotification> {
    let (last, is_open) = stored.last_turn();
    let mut missing = Vec::new();
    let place = thread.turns.iter().position(|turn| turn.id == last);
    if is_open {
        let turn = match place {
            Some(place) => thread.turns[place].clone(),
            // It was taken back, or nothing of it was recorded.
            None => Turn {
                id: last.to_owned(),
                items: Vec::new(),
                items_view: None,
                status: TurnStatus::Interrupted,
                error: None,
            },
        };
        let seen = Seen::of(&stored.events, last);
        let items = seen.rest(&turn.items);
        let goes_on = turn.status == TurnStatus::InProgress;
        let items = items.filter(|item| !(goes_on && is_open_item(item)));
        missing.extend(items.map(|item| completed(&thread.id, &turn.id, item)));
        missing.extend(ended(&thread.id, turn));
    }
    let later = match place {
        Some(place) => &thread.turns[place + 1..],
        None => thread.turns.as_slice(),
    };
    let later = later
        .iter()
        .filter(|turn| place.is_some() || is_after(&turn.id, last));
    for turn in later {
        let started = Turn {
            items: Vec::new(),
            status: TurnStatus::InProgress,
            error: None,
            ..turn.clone()
        };
        missing.push(ServerNotification::TurnStarted(TurnStartedNotification {
            thread_id: thread.id.clone(),
            turn: started,
        }));
        let items = turn.items.iter().cloned();
        missing.extend(items.map(|item| completed(&thread.id, &turn.id, item)));
        missing.extend(ended(&thread.id, turn.clone()));
    }
    missing
}

/// Whether a turn is younger than another; their ids begin with the time.
fn is_after(turn: &str, other: &str) -> bool {
    let by_time = |id: &str| {
        Uuid::try_parse(id)
            .ok()
            .filter(|it| it.get_version_num() == 7)
    };
    by_time(turn)
        .zip(by_time(other))
        .is_some_and(|(turn, other)| turn > other)
}

fn completed(thread_id: &str, turn_id: &str, item: ThreadItem) -> ServerNotification {
    ServerNotification::ItemCompleted(ItemCompletedNotification {
        item,
        thread_id: thread_id.to_owned(),
        turn_id: turn_id.to_owned(),
        completed_at_ms: clock::unix_milliseconds(),
    })
}

/// The end of a turn, unless it goes on.
fn ended(thread_id: &str, turn: Turn) -> Option<ServerNotification> {
    let turn = Turn {
        items: Vec::new(),
        ..turn
    };
    let ended = TurnCompletedNotification {
        thread_id: thread_id.to_owned(),
        turn,
    };
    let goes_on = ended.turn.status == TurnStatus::InProgress;
    (!goes_on).then_some(ServerNotification::TurnCompleted(ended))
}

/// The items of a turn that clients have seen begin and not end, as they began.
pub(super) fn open_items(stored: &StoredEvents, turn: &str) -> Vec<ThreadItem> {
    let events = stored.events.iter();
    let events = events.filter(|it| it.turn.as_deref() == Some(turn));
    let mut open: Vec<(&str, ThreadItem)> = Vec::new();
    for event in events {
        let Some((_, id)) = &event.item else { continue };
        match event.method.as_str() {
            "item/started" => open.extend(item_of(event).map(|item| (id.as_str(), item))),
            "item/completed" => open.retain(|(known, _)| known != id),
            _ => {}
        }
    }
    open.into_iter().map(|(_, item)| item).collect()
}

/// The item that an event is about.
fn item_of(event: &StoredEvent) -> Option<ThreadItem> {
    #[derive(Deserialize)]
    struct Message {
        params: Params,
    }
    #[derive(Deserialize)]
    struct Params {
        item: ThreadItem,
    }
    let message: Message = serde_json::from_slice(&event.message).ok()?;
    Some(message.params.item)
}

/// Whether an event is about a message of the model without text.
fn is_empty_message(event: &StoredEvent) -> bool {
    matches!(item_of(event), Some(ThreadItem::AgentMessage { text, .. }) if text.is_empty())
}

/// The items of a turn that clients have seen, in order, by their type. Rollouts do not have the ids of all items, so
/// those are recognised by their place among the items of their type.
#[derive(Default)]
struct Seen<'a> {
    started: HashMap<&'a str, Vec<&'a str>>,
    completed: HashSet<&'a str>,
}

impl<'a> Seen<'a> {
    fn of(events: &'a [StoredEvent], turn: &str) -> Seen<'a> {
        let mut seen = Seen::default();
        let events = events.iter().filter(|it| it.turn.as_deref() == Some(turn));
        for event in events {
            let Some((kind, id)) = &event.item else {
                continue;
            };
            let started = seen.started.entry(kind.as_str()).or_default();
            if !started.contains(&id.as_str()) {
                started.push(id);
            }
            if event.method == "item/completed" {
                seen.completed.insert(id);
                if is_empty_message(event) {
                    // A rollout does not have it.
                    seen.forget(kind, id);
                }
            }
        }
        seen
    }

    fn forget(&mut self, kind: &str, id: &str) {
        if let Some(started) = self.started.get_mut(kind) {
            started.retain(|it| *it != id);
        }
    }

    /// The items that were not seen completed, under the ids they were seen with.
    fn rest(&self, items: &[ThreadItem]) -> impl Iterator<Item = ThreadItem> {
        let mut places: HashMap<String, usize> = HashMap::new();
        let rest = items.iter().filter_map(|item| {
            let mut value = serde_json::to_value(item).ok()?;
            let kind = value["type"].as_str()?.to_owned();
            let started = self.started.get(kind.as_str());
            let started = started.map_or(&[][..], Vec::as_slice);
            let id = item_id(item);
            let place = places.entry(kind).or_default();
            let known = match started.iter().find(|it| **it == id) {
                Some(known) => Some(*known),
                None => started.get(*place).copied(),
            };
            *place += 1;
            match known {
                Some(known) if self.completed.contains(known) => None,
                Some(known) => {
                    value["id"] = known.into();
                    serde_json::from_value(value).ok()
                }
                None => Some(item.clone()),
            }
        });
        rest.collect::<Vec<_>>().into_iter()
    }
}
