//! What a stream of numbered events must be like, whatever happened on the way: cut connections, killed servers,
//! several nodes. Written once, so that every test which breaks something checks the same.

use std::collections::HashMap;

use serde_json::Value;

/// Checks the events of one client, in the order in which it got them over all its connections.
#[derive(Debug, Default)]
pub struct StreamCheck {
    threads: HashMap<String, Thread>,
    /// How many turns have ended.
    pub ended: usize,
}

#[derive(Debug, Default)]
struct Thread {
    last: i64,
    turns: HashMap<String, Turn>,
}

#[derive(Debug, Default)]
struct Turn {
    is_started: bool,
    ends: usize,
    items: HashMap<String, Item>,
}

#[derive(Debug, Default)]
struct Item {
    deltas: String,
    /// Deltas may be missing, and the stream said so.
    is_condensed: bool,
    is_completed: bool,
}

impl StreamCheck {
    /// Takes the next message; those without a number are nothing to check.
    pub fn take(&mut self, message: &Value) -> Result<(), String> {
        let Some(seq) = message["quipu"]["seq"].as_i64() else {
            return Ok(());
        };
        let params = &message["params"];
        let id = text(&params["threadId"]);
        let thread = self.threads.entry(id).or_default();
        if seq <= thread.last {
            return Err(format!("{seq} came after {}: {message}", thread.last));
        }
        thread.last = seq;
        let is_condensed = message["quipu"]["condensed"] == true;
        let method = message["method"].as_str().unwrap_or_default();
        let turn_id = match &params["turn"]["id"] {
            Value::Null => text(&params["turnId"]),
            id => text(id),
        };
        if turn_id.is_empty() {
            return Ok(());
        }
        let turn = thread.turns.entry(turn_id).or_default();
        let fail = |what: &str| Err(format!("{what}: {message}"));
        if turn.ends > 0 {
            return fail("an event after the end of its turn");
        }
        match method {
            "turn/started" if turn.is_started => return fail("a turn started twice"),
            "turn/started" => turn.is_started = true,
            _ if !turn.is_started => return fail("an event before its turn"),
            "turn/completed" => {
                turn.ends += 1;
                self.ended += 1;
            }
            "item/started" | "item/completed" => {
                let (item, known) = turn.item(&params["item"]["id"]);
                item.is_condensed |= is_condensed;
                if item.is_completed || (known && method == "item/started") {
                    return fail("an item started or completed twice");
                }
                if method == "item/completed" {
                    item.is_completed = true;
                    let full = params["item"]["text"].as_str();
                    let is_message = params["item"]["type"] == "agentMessage";
                    if is_message && !item.is_condensed && full != Some(item.deltas.as_str()) {
                        return fail("the deltas of an item are not what it says in full");
                    }
                }
            }
            "item/agentMessage/delta" => {
                let (item, known) = turn.item(&params["itemId"]);
                if !known || item.is_completed {
                    return fail("a delta of no open item");
                }
                item.deltas.push_str(&text(&params["delta"]));
            }
            _ => {}
        }
        Ok(())
    }

    /// The events before this one came without their deltas, so those of items that are open may be incomplete.
    pub fn condensed(&mut self, thread: &str) {
        let thread = self.threads.entry(thread.to_owned()).or_default();
        let turns = thread.turns.values_mut();
        for item in turns.flat_map(|turn| turn.items.values_mut()) {
            item.is_condensed = true;
        }
    }

    /// The last number that was seen of a thread.
    #[must_use]
    pub fn last(&self, thread: &str) -> i64 {
        self.threads.get(thread).map_or(0, |it| it.last)
    }

    /// The turns that have not ended.
    #[must_use]
    pub fn open_turns(&self) -> Vec<String> {
        let turns = self.threads.values().flat_map(|it| &it.turns);
        let open = turns.filter(|(_, turn)| turn.ends == 0);
        open.map(|(id, _)| id.clone()).collect()
    }
}

impl Turn {
    /// An item, and whether it was known before.
    fn item(&mut self, id: &Value) -> (&mut Item, bool) {
        let id = text(id);
        let is_known = self.items.contains_key(&id);
        (self.items.entry(id).or_default(), is_known)
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
