//! What outlives the turn that started it: processes of the model, and commands of the user that ran
//! beside a turn. They go on to report under their item, with the id of their turn.

use std::collections::{BTreeMap, BTreeSet};

use quipu_wire::{Json, ThreadItem};

use crate::effect::Effect;
use crate::ids::{CallId, ItemId, TurnId};
use crate::input::ToolEvent;
use crate::item;
use crate::out::Out;

/// Work without a turn.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Background {
    /// What still runs, by the id of its item.
    tasks: BTreeMap<ItemId, Task>,
    /// Calls that were given up and have not reported their end yet.
    abandoned: BTreeSet<CallId>,
}

/// One process or command.
#[derive(Debug, Clone, PartialEq)]
struct Task {
    turn_id: TurnId,
    item: Progress,
    /// A command of the user, whose output goes into the model's history.
    is_shell: bool,
}

#[derive(Debug, Clone, PartialEq)]
enum Progress {
    NotStarted,
    /// The item as it is to end if it reports nothing more.
    Open(Box<ThreadItem>),
    Ended,
}

impl Background {
    /// The ids under which work of earlier turns may still report.
    pub fn ids(&self) -> impl Iterator<Item = &str> {
        let tasks = self.tasks.keys().map(ItemId::as_str);
        tasks.chain(self.abandoned.iter().map(CallId::as_str))
    }

    pub fn has(&self, item_id: &str) -> bool {
        self.tasks.contains_key(item_id)
    }

    /// The turn of an open item.
    pub fn turn_of_item(&self, item_id: &str) -> Option<&TurnId> {
        let task = self.tasks.get(item_id)?;
        matches!(task.item, Progress::Open(_)).then_some(&task.turn_id)
    }

    /// Keeps the ids of calls that were given up, until they report their end.
    pub fn abandon(&mut self, calls: impl IntoIterator<Item = CallId>) {
        self.abandoned.extend(calls);
    }

    /// Keeps the open item of a process.
    pub fn keep_process(&mut self, turn_id: TurnId, item: ThreadItem) {
        let id = ItemId::from(item::id(&item));
        let task = Task {
            turn_id,
            item: Progress::Open(Box::new(item)),
            is_shell: false,
        };
        self.tasks.insert(id, task);
    }

    /// Keeps a command of the user, with its open item. `was_shown` says whether the item has started.
    pub fn keep_shell(
        &mut self,
        id: ItemId,
        turn_id: TurnId,
        item: Option<ThreadItem>,
        was_shown: bool,
    ) {
        let item = match item {
            Some(item) => Progress::Open(Box::new(item::abandoned(item))),
            None if was_shown => Progress::Ended,
            None => Progress::NotStarted,
        };
        let task = Task {
            turn_id,
            item,
            is_shell: true,
        };
        self.tasks.insert(id, task);
    }

    /// Takes a report for which no call of a turn waits. Returns what the model's history is to have of it.
    #[must_use]
    pub fn report(&mut self, call_id: &CallId, event: ToolEvent, out: &mut Out) -> Vec<Json> {
        match event {
            ToolEvent::ItemStarted(item) => self.start_item(item, out),
            ToolEvent::Delta(delta) => {
                if let Some(turn_id) = self.turn_of_item(call_id) {
                    out.of_turn(turn_id)
                        .tool_delta(call_id.clone().into(), delta);
                }
            }
            ToolEvent::ItemCompleted(item) => self.end_item(item, out),
            ToolEvent::Note(note) => return vec![note],
            // The call is over, so its question is not asked any more.
            ToolEvent::Ask { question, .. } => out.emit(Effect::Deliver {
                question,
                call_id: call_id.clone(),
            }),
            ToolEvent::Finished { output, .. } => {
                self.abandoned.remove(call_id);
                return self.end_shell(call_id, output, out);
            }
            // Of a call that was given up; its turn has ended without it.
            ToolEvent::ApprovalReviewStarted { .. }
            | ToolEvent::ApprovalReviewCompleted { .. }
            | ToolEvent::PlanUpdated { .. }
            | ToolEvent::Hooks(_)
            | ToolEvent::DiffUpdated(_) => {}
        }
        Vec::new()
    }

    fn start_item(&mut self, item: ThreadItem, out: &mut Out) {
        let task = self.tasks.get_mut(item::id(&item));
        if let Some(task) = task.filter(|task| task.item == Progress::NotStarted) {
            task.item = Progress::Open(Box::new(item::abandoned(item.clone())));
            out.of_turn(&task.turn_id).item_started(item);
        }
    }

    /// Completes an item, if it is open.
    pub fn end_item(&mut self, item: ThreadItem, out: &mut Out) {
        let id = ItemId::from(item::id(&item));
        let Some(task) = self.tasks.get_mut(&id) else {
            return;
        };
        let before = std::mem::replace(&mut task.item, Progress::Ended);
        if matches!(before, Progress::Open(_)) {
            out.of_turn(&task.turn_id).complete_item(item);
            if !task.is_shell {
                self.tasks.remove(&id);
            }
        }
    }

    /// Ends a command of the user; a process only ends with its item.
    fn end_shell(&mut self, id: &CallId, output: Vec<Json>, out: &mut Out) -> Vec<Json> {
        match self.tasks.remove(id.as_str()) {
            Some(task) if task.is_shell => {
                task.give_up(out);
                output
            }
            Some(process) => {
                self.tasks.insert(id.clone().into(), process);
                Vec::new()
            }
            None => Vec::new(),
        }
    }

    /// Ends everything, as given up.
    pub fn end(&mut self, out: &mut Out) {
        self.abandoned.clear();
        for task in std::mem::take(&mut self.tasks).into_values() {
            task.give_up(out);
        }
    }
}

impl Task {
    fn give_up(self, out: &mut Out) {
        if let Progress::Open(item) = self.item {
            out.of_turn(&self.turn_id).complete_item(*item);
        }
    }
}
