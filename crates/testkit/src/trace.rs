//! What must hold of several servers on one database, whatever happened to them: a pure function over what clients saw and
//! what is stored at the end. Written once, so that every run of the checker is judged by the same rules.

use std::collections::{BTreeMap, HashMap, HashSet};

use serde_json::Value;

use crate::stream::StreamCheck;

/// Everything that is known of a run when it is over.
#[derive(Debug, Default)]
pub struct Trace {
    /// What each client saw, in its order over all its connections.
    pub clients: Vec<Vec<Seen>>,
    /// The turns and inputs that servers accepted.
    pub accepted: Vec<Accepted>,
    /// What is stored, by thread.
    pub stored: HashMap<String, Stored>,
    /// Processes that should have ended.
    pub processes: Vec<String>,
}

/// One step of a client.
#[derive(Debug, Clone)]
pub enum Seen {
    /// It asks for everything of a thread after a number; with what the server says will follow, once it is known.
    Follows {
        /// The thread.
        thread: String,
        /// The last number that it saw.
        after: i64,
        /// `complete`, `condensed` or `reset`.
        replay: Option<String>,
    },
    /// A notification.
    Event(Value),
}

/// A request that was answered with a turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Accepted {
    /// The thread.
    pub thread: String,
    /// The turn that was started or steered.
    pub turn: String,
    /// What the user says in it, which nobody else says.
    pub input: String,
    /// Whether the input was added to a turn that was running.
    pub is_steer: bool,
}

/// What the store has of a thread.
#[derive(Debug, Default)]
pub struct Stored {
    /// The records of its rollout.
    pub rollout: Vec<Value>,
    /// Its numbered events, without deltas.
    pub events: Vec<Value>,
}

/// The events that no client may miss.
const KEPT: [&str; 4] = [
    "turn/started",
    "turn/completed",
    "item/started",
    "item/completed",
];

/// Every rule that the trace breaks; none if all is well.
#[must_use]
pub fn violations(trace: &Trace) -> Vec<String> {
    let mut found = streams(trace);
    let numbers = Numbers::of(trace, &mut found);
    found.extend(gaps(trace, &numbers));
    found.extend(turns(trace, &numbers));
    found.extend(items(trace, &numbers));
    let left = trace.processes.iter();
    found.extend(left.map(|process| format!("a process is left: {process}")));
    found
}

/// No stream of a client has a duplicate, an event out of order, or deltas that do not add up.
fn streams(trace: &Trace) -> Vec<String> {
    let mut found = Vec::new();
    for (number, seen) in trace.clients.iter().enumerate() {
        let mut check = StreamCheck::default();
        let broken = seen.iter().find_map(|step| match step {
            Seen::Event(message) => check.take(message).err(),
            Seen::Follows { thread, replay, .. } => match replay.as_deref() {
                Some("condensed") => {
                    check.condensed(thread);
                    None
                }
                // If there was none before, those that follow are all.
                Some("reset") if check.last(thread) > 0 => {
                    Some(format!("the events of thread {thread} were reset"))
                }
                _ => None,
            },
        });
        found.extend(broken.map(|error| format!("client {number}: {error}")));
    }
    found
}

/// The events of all threads by their numbers, of all clients and of the store.
struct Numbers<'a>(HashMap<&'a str, BTreeMap<i64, &'a Value>>);

impl<'a> Numbers<'a> {
    /// No number was used for two events.
    fn of(trace: &'a Trace, found: &mut Vec<String>) -> Self {
        let mut numbers: HashMap<&str, BTreeMap<i64, &Value>> = HashMap::new();
        let seen = trace.clients.iter().flatten().filter_map(Seen::event);
        let stored = trace.stored.values().flat_map(|it| &it.events);
        for event in seen.chain(stored) {
            let Some((thread, seq)) = place(event) else {
                continue;
            };
            let first = numbers.entry(thread).or_default().entry(seq);
            let first = *first.or_insert(event);
            if first["method"] != event["method"] || first["params"] != event["params"] {
                found.push(format!("number {seq} has two events: {first} and {event}"));
            }
        }
        Self(numbers)
    }

    fn events(&self) -> impl Iterator<Item = &'a Value> {
        self.0.values().flat_map(|it| it.values().copied())
    }
}

impl Seen {
    fn event(&self) -> Option<&Value> {
        match self {
            Self::Event(event) => Some(event),
            Self::Follows { .. } => None,
        }
    }
}

/// No client missed what another one saw, or what is stored, between the first and the last number that it saw.
fn gaps(trace: &Trace, numbers: &Numbers<'_>) -> Vec<String> {
    let mut found = Vec::new();
    for (client, seen) in trace.clients.iter().enumerate() {
        let mut first: HashMap<&str, i64> = HashMap::new();
        let mut own: HashMap<&str, HashSet<i64>> = HashMap::new();
        for step in seen {
            match step {
                Seen::Follows { thread, after, .. } => {
                    first.entry(thread).or_insert(*after);
                }
                Seen::Event(event) => {
                    if let Some((thread, seq)) = place(event) {
                        own.entry(thread).or_default().insert(seq);
                    }
                }
            }
        }
        for (thread, own) in own {
            let Some(all) = numbers.0.get(thread) else {
                continue;
            };
            let first = first.get(thread).copied().unwrap_or_default();
            let last = own.iter().max().copied().unwrap_or(first);
            let between = all.range(first + 1..last.max(first + 1));
            let missed = between.filter(|(seq, event)| {
                KEPT.contains(&text(&event["method"])) && !own.contains(seq)
            });
            found.extend(missed.map(|(_, event)| format!("client {client} missed {event}")));
        }
    }
    found
}

/// Every accepted turn is stored, began once and ended once, and nobody started another one. A crash leaves no record of the
/// end of a turn; the server that loads its thread next reports it. An input is there once, unless its turn did not get
/// to it.
fn turns(trace: &Trace, numbers: &Numbers<'_>) -> Vec<String> {
    let mut found = Vec::new();
    let mut ends: HashMap<&str, Vec<&str>> = HashMap::new();
    for event in numbers.events() {
        if event["method"] == "turn/completed" {
            let turn = &event["params"]["turn"];
            let statuses = ends.entry(text(&turn["id"])).or_default();
            statuses.push(text(&turn["status"]));
        }
    }
    let mut known: HashSet<&str> = HashSet::new();
    let nothing = Stored::default();
    for accepted in &trace.accepted {
        let Accepted { thread, turn, .. } = accepted;
        let stored = trace.stored.get(thread).unwrap_or(&nothing);
        let reported = ends.get(turn.as_str()).map_or(&[][..], |it| &it[..]);
        let is_complete = reported == ["completed"];
        let inputs = stored.payloads("user_message");
        let inputs = inputs.filter(|it| it["message"] == accepted.input.as_str());
        let (count, input) = (inputs.count(), &accepted.input);
        if count > 1 || (is_complete && count == 0) {
            found.push(format!("turn {turn} of {thread} has {count} × {input}"));
        }
        if accepted.is_steer || !known.insert(turn) {
            continue;
        }
        let of_turn = |it: &&Value| it["turn_id"] == turn.as_str();
        let begun = stored.payloads("task_started").filter(of_turn).count();
        let ended = stored.payloads("task_complete").filter(of_turn).count()
            + stored.payloads("turn_aborted").filter(of_turn).count();
        if begun != 1 || ended > 1 || (is_complete && ended == 0) || reported.len() != 1 {
            found.push(format!(
                "turn {turn} of {thread} is stored with {begun} beginnings and {ended} ends, and clients saw {reported:?}"
            ));
        }
    }
    for (thread, stored) in &trace.stored {
        let begun = stored.payloads("task_started");
        let unknown = begun.filter(|it| !known.contains(text(&it["turn_id"])));
        found.extend(unknown.map(|it| format!("nobody started this turn of {thread}: {it}")));
    }
    found
}

/// Every item that a client saw completed is stored once.
fn items(trace: &Trace, numbers: &Numbers<'_>) -> Vec<String> {
    // Messages have other ids in the store, so they are known by their text, which may be the same in several items.
    let mut seen: BTreeMap<(&str, &str, &str), HashSet<&str>> = BTreeMap::new();
    for event in numbers.events() {
        let params = &event["params"];
        if event["method"] != "item/completed" {
            continue;
        }
        let item = &params["item"];
        let (kind, content) = match text(&item["type"]) {
            "userMessage" => ("user_message", &item["content"][0]["text"]),
            "agentMessage" => ("agent_message", &item["text"]),
            "commandExecution" => ("exec_command_end", &item["id"]),
            _ => continue,
        };
        let key = (text(&params["threadId"]), kind, text(content));
        seen.entry(key).or_default().insert(text(&item["id"]));
    }
    let mut found = Vec::new();
    for ((thread, kind, content), ids) in seen {
        let stored = trace.stored.get(thread).map_or(0, |it| {
            let field = match kind {
                "exec_command_end" => "call_id",
                _ => "message",
            };
            let same = |it: &&Value| text(&it[field]) == content;
            it.payloads(kind).filter(same).count()
        });
        if stored != ids.len() {
            let seen = ids.len();
            found.push(format!(
                "{kind} of {thread} was seen {seen} × and is stored {stored} ×: {content}"
            ));
        }
    }
    found
}

impl Stored {
    /// The payloads of one kind of event.
    fn payloads(&self, kind: &'static str) -> impl Iterator<Item = &Value> {
        let payloads = self.rollout.iter().map(|record| &record["payload"]);
        payloads.filter(move |it| it["type"] == kind)
    }
}

/// The thread and the number of an event; none if it has no number.
fn place(event: &Value) -> Option<(&str, i64)> {
    let seq = event["quipu"]["seq"].as_i64()?;
    Some((text(&event["params"]["threadId"]), seq))
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn event(seq: i64, method: &str, mut params: Value) -> Value {
        params["threadId"] = "t".into();
        json!({ "method": method, "params": params, "quipu": { "seq": seq } })
    }

    fn item(text: &str) -> Value {
        let item = json!({ "type": "agentMessage", "id": "i", "text": text });
        json!({ "turnId": "1", "item": item })
    }

    /// A turn with one answer, as every client sees it.
    fn stream() -> Vec<Value> {
        let turn = || json!({ "turn": { "id": "1", "status": "completed" } });
        let user = json!({ "type": "userMessage", "id": "u", "content": [{ "text": "ask" }] });
        let user = json!({ "turnId": "1", "item": user });
        let delta = json!({ "turnId": "1", "itemId": "i", "delta": "done" });
        vec![
            event(1, "turn/started", turn()),
            event(2, "item/started", user.clone()),
            event(3, "item/completed", user),
            event(4, "item/started", item("")),
            event(5, "item/agentMessage/delta", delta),
            event(6, "item/completed", item("done")),
            event(7, "turn/completed", turn()),
        ]
    }

    fn record(payload: Value) -> Value {
        json!({ "type": "event_msg", "payload": payload })
    }

    fn rollout() -> Vec<Value> {
        vec![
            record(json!({ "type": "task_started", "turn_id": "1" })),
            record(json!({ "type": "user_message", "message": "ask" })),
            record(json!({ "type": "agent_message", "message": "done" })),
            record(json!({ "type": "task_complete", "turn_id": "1" })),
        ]
    }

    fn follows(after: i64, replay: &str) -> Seen {
        Seen::Follows {
            thread: "t".to_owned(),
            after,
            replay: Some(replay.to_owned()),
        }
    }

    /// Two clients that saw one turn, of which nothing went wrong.
    fn good() -> Trace {
        let client = || {
            let events = stream().into_iter().map(Seen::Event);
            [follows(0, "complete")].into_iter().chain(events).collect()
        };
        let accepted = Accepted {
            thread: "t".to_owned(),
            turn: "1".to_owned(),
            input: "ask".to_owned(),
            is_steer: false,
        };
        let stored = Stored {
            rollout: rollout(),
            events: stream(),
        };
        Trace {
            clients: vec![client(), client()],
            accepted: vec![accepted],
            stored: [("t".to_owned(), stored)].into(),
            processes: Vec::new(),
        }
    }

    fn stored(trace: &mut Trace) -> &mut Stored {
        trace.stored.get_mut("t").unwrap()
    }

    /// A change of a good trace must be found, and called what it is.
    #[track_caller]
    fn finds(what: &str, change: impl FnOnce(&mut Trace)) {
        let mut trace = good();
        change(&mut trace);
        let found = violations(&trace);
        assert!(found.iter().any(|it| it.contains(what)), "{found:?}");
    }

    #[test]
    fn a_good_trace_breaks_no_rule() {
        assert_eq!(violations(&good()), Vec::<String>::new());
    }

    #[test]
    fn a_client_may_come_late_leave_early_and_get_no_deltas() {
        let mut trace = good();
        trace.clients[0].truncate(4);
        let whole = stream().into_iter().filter(|it| it["quipu"]["seq"] != 5);
        let condensed = whole.map(|mut it| {
            it["quipu"]["condensed"] = true.into();
            Seen::Event(it)
        });
        trace.clients[1] = [follows(0, "condensed")]
            .into_iter()
            .chain(condensed)
            .collect();
        assert_eq!(violations(&trace), Vec::<String>::new());
    }

    #[test]
    fn a_turn_that_a_crash_interrupted_has_no_record_of_its_end() {
        let mut trace = good();
        let end = json!({ "turn": { "id": "1", "status": "interrupted" } });
        for client in &mut trace.clients {
            client[7] = Seen::Event(event(7, "turn/completed", end.clone()));
        }
        let stored = stored(&mut trace);
        stored.events.pop();
        stored.rollout.pop();
        assert_eq!(violations(&trace), Vec::<String>::new());
    }

    #[test]
    fn duplicates_and_gaps_of_a_client_are_found() {
        finds("3 came after 3", |it| {
            let again = it.clients[0][3].clone();
            it.clients[0].insert(4, again);
        });
        finds("client 1 missed", |it| {
            drop(it.clients[1].drain(2..4));
        });
        // What is stored was missed, too, even if no client saw it.
        finds("client 0 missed", |it| {
            for client in &mut it.clients {
                drop(client.drain(2..4));
            }
        });
        finds("the deltas of an item", |it| {
            it.clients[0].remove(5);
        });
        finds("were reset", |it| it.clients[0].push(follows(7, "reset")));
    }

    #[test]
    fn a_number_of_two_events_is_found() {
        finds("number 6 has two events", |it| {
            it.clients[1][6] = Seen::Event(event(6, "item/completed", item("other")));
        });
        finds("number 7 has two events", |it| {
            stored(it).events[6] = event(7, "item/completed", item("done"));
        });
    }

    #[test]
    fn turns_without_one_beginning_and_one_end_are_found() {
        finds("1 beginnings and 0 ends", |it| {
            stored(it).rollout.pop();
        });
        finds("1 beginnings and 2 ends", |it| {
            let end = json!({ "type": "turn_aborted", "turn_id": "1" });
            stored(it).rollout.push(record(end));
        });
        finds("clients saw []", |it| {
            for client in &mut it.clients {
                client.pop();
            }
            stored(it).events.pop();
        });
        finds("clients saw [\"completed\", \"failed\"]", |it| {
            let turn = json!({ "turn": { "id": "1", "status": "failed" } });
            let end = event(9, "turn/completed", turn);
            stored(it).events.push(end);
        });
        finds("0 beginnings and 0 ends", |it| it.stored.clear());
        finds("nobody started this turn", |it| it.accepted.clear());
    }

    #[test]
    fn inputs_and_items_that_are_not_stored_once_are_found() {
        finds("has 0 × ask", |it| {
            stored(it).rollout.remove(1);
        });
        finds("has 2 × ask", |it| {
            let again = stored(it).rollout[1].clone();
            stored(it).rollout.push(again);
        });
        finds("was seen 1 × and is stored 0 ×: done", |it| {
            stored(it).rollout.remove(2);
        });
        finds("was seen 1 × and is stored 2 ×: done", |it| {
            let again = stored(it).rollout[2].clone();
            stored(it).rollout.push(again);
        });
    }

    #[test]
    fn processes_that_are_left_are_found() {
        finds("a process is left: sleep 1", |it| {
            it.processes.push("sleep 1".to_owned());
        });
    }
}
