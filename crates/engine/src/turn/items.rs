//! The open items of a turn and the ids it has used. Each item starts once and completes once.

use std::collections::BTreeMap;

use quipu_wire::ThreadItem;

use crate::fit::encoded_len;
use crate::ids::{CallId, ItemId, TurnId};
use crate::item;
use crate::out::TurnOut;
use crate::shared::Shared;

/// Who writes an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Writer {
    /// The model, in a slot of its stream.
    Slot(u32),
    /// The model, as the plan in its text.
    Plan,
    /// A tool, or the engine itself.
    Other,
}

/// The open items of a turn in the order they began, and every id the turn has used.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Items {
    open: Vec<(Writer, ThreadItem)>,
    /// The bytes that the text of items that are being written takes as JSON.
    sizes: BTreeMap<ItemId, usize>,
    ids: BTreeMap<ItemId, Use>,
}

/// How an id has been used.
#[derive(Debug, Clone, PartialEq, Default)]
struct Use {
    /// How many more items asked for the same id.
    repeats: u32,
    /// An item of this id was shown.
    shown: bool,
}

impl Items {
    /// An id that is new in this turn: the one asked for, or one made from it when a model repeats itself.
    pub fn claim(&mut self, wanted: &str) -> ItemId {
        let mut id = ItemId::from(wanted);
        while self.ids.contains_key(&id) {
            let repeats = &mut self.ids.entry(wanted.into()).or_default().repeats;
            *repeats += 1;
            id = format!("{wanted}-{}", *repeats + 1).into();
        }
        self.ids.insert(id.clone(), Use::default());
        id
    }

    /// Takes note of an id that the turn has used in another process.
    pub fn restore(&mut self, id: ItemId) {
        let shown = Use {
            shown: true,
            ..Use::default()
        };
        self.ids.insert(id, shown);
    }

    /// Gives an item an id that is new in this turn.
    pub fn claim_for(&mut self, item: &mut ThreadItem) {
        if let Some(id) = item::id_mut(item) {
            *id = self.claim(id).into();
        }
    }

    /// Starts an item, unless one of its id was shown before.
    pub fn start(&mut self, item: ThreadItem, writer: Writer, out: &mut TurnOut<'_>) {
        if self.show(&item) {
            self.open.push((writer, item.clone()));
            out.item_started(item);
        }
    }

    /// Completes an item, and starts it first if it has no start.
    pub fn finish(&mut self, item: ThreadItem, out: &mut TurnOut<'_>) {
        if self.take(item::id(&item)).is_none() {
            self.show(&item);
            out.item_started(item.clone());
        }
        out.complete_item(item);
    }

    /// Completes the item that is being written there. If it is of another kind or there is none, the given
    /// one had no start.
    pub fn finish_written(&mut self, by: Writer, mut item: ThreadItem, out: &mut TurnOut<'_>) {
        match self.written(by) {
            Some(open) if item::same_kind(open, &item) => {
                if let Some(id) = item::id_mut(&mut item) {
                    item::id(open).clone_into(id);
                }
            }
            _ => {
                self.close_written(by, out);
                self.claim_for(&mut item);
            }
        }
        self.finish(item, out);
    }

    /// Completes the item that is being written there, as it stands.
    pub fn close_written(&mut self, by: Writer, out: &mut TurnOut<'_>) {
        if let Some(index) = self.open.iter().position(|(writer, _)| *writer == by) {
            out.complete_item(self.open.remove(index).1);
        }
    }

    /// Completes the items that the model was still writing, as they stand.
    pub fn close_streamed(&mut self, out: &mut TurnOut<'_>) {
        let is_streamed = |(writer, _): &mut (Writer, ThreadItem)| *writer != Writer::Other;
        for (_, item) in self.open.extract_if(.., is_streamed) {
            out.complete_item(item);
        }
    }

    /// Completes the item of a call that has ended without doing so itself, unless its process lives on.
    pub fn close_ended(&mut self, wanted: &str, out: &mut TurnOut<'_>) {
        let is_ended =
            |(_, item): &(Writer, ThreadItem)| item::id(item) == wanted && !item::is_process(item);
        if let Some(index) = self.open.iter().position(is_ended) {
            out.complete_item(item::abandoned(self.open.remove(index).1));
        }
    }

    /// The item that is being written there.
    pub fn written(&mut self, by: Writer) -> Option<&mut ThreadItem> {
        let found = self.open.iter_mut().find(|(writer, _)| *writer == by);
        found.map(|(_, item)| item)
    }

    /// Counts text that is added to the item that is being written there. Returns its size before.
    pub fn grow(&mut self, by: Writer, added: usize) -> usize {
        let Some((_, item)) = self.open.iter().find(|(writer, _)| *writer == by) else {
            return 0;
        };
        let id = item::id(item);
        match self.sizes.get_mut(id) {
            Some(size) => std::mem::replace(size, *size + added),
            None => {
                let seed = text_len(item);
                self.sizes.insert(id.into(), seed + added);
                seed
            }
        }
    }

    /// Whether a tool's item of this id is open.
    pub fn has_tool_item(&self, wanted: &str) -> bool {
        let mut items = self
            .open
            .iter()
            .filter(|(writer, _)| *writer == Writer::Other);
        items.any(|(_, item)| item::id(item) == wanted)
    }

    /// Whether an item of this id was shown, open or not.
    pub fn was_shown(&self, id: &str) -> bool {
        self.ids.get(id).is_some_and(|id| id.shown)
    }

    /// Takes an open item.
    fn take(&mut self, wanted: &str) -> Option<ThreadItem> {
        let index = self
            .open
            .iter()
            .position(|(_, item)| item::id(item) == wanted)?;
        Some(self.open.remove(index).1)
    }

    /// Leaves a command of the user, which goes on after its turn, to the background.
    pub fn keep_shell(&mut self, id: CallId, turn_id: &TurnId, shared: &mut Shared) {
        let was_shown = self.was_shown(&id);
        let item = self.take(&id);
        let background = &mut shared.background;
        background.keep_shell(id.into(), turn_id.clone(), item, was_shown);
    }

    /// Completes the open items at the end of the turn, except those of processes, which may live on.
    pub fn close_all(&mut self, turn_id: &TurnId, shared: &mut Shared) {
        for (_, item) in std::mem::take(&mut self.open) {
            let item = item::abandoned(item);
            match item::is_process(&item) {
                true => shared.background.keep_process(turn_id.clone(), item),
                false => shared.out.of_turn(turn_id).complete_item(item),
            }
        }
    }

    /// Notes that an item is shown; `false` if one of its id was shown before.
    fn show(&mut self, item: &ThreadItem) -> bool {
        let known = self.ids.entry(item::id(item).into()).or_default();
        !std::mem::replace(&mut known.shown, true)
    }
}

/// The bytes that the text of an item takes as JSON.
fn text_len(item: &ThreadItem) -> usize {
    match item {
        ThreadItem::AgentMessage { text, .. } | ThreadItem::Plan { text, .. } => encoded_len(text),
        ThreadItem::Reasoning {
            summary, content, ..
        } => summary
            .iter()
            .chain(content)
            .map(|it| encoded_len(it))
            .sum(),
        _ => 0,
    }
}
