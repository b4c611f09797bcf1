//! What outlives the turn that started it: processes of the model, and commands of the user that ran
//! beside a turn. They go on to report under their item, with the id of their turn.

use std::collections::BTreeMap;

use quipu_wire::{
    ItemCompletedNotification, ItemStartedNotification, ServerNotification, ThreadItem,
};

use crate::fit::fit;
use crate::input::ToolEvent;
use crate::items;
use crate::thread::Thread;

/// Work without a turn, by the id of its item.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Background(BTreeMap<String, Leftover>);

/// One piece of such work.
#[derive(Debug, Clone, PartialEq)]
struct Leftover {
    turn_id: String,
    item: Progress,
    /// A command of the user: the model is told its output, at its end.
    is_shell: bool,
}

#[derive(Debug, Clone, PartialEq)]
enum Progress {
    ToCome,
    /// The item as it is to end if nothing more is heard of it.
    Open(Box<ThreadItem>),
    Ended,
}

impl Background {
    pub fn ids(&self) -> impl Iterator<Item = &String> {
        self.0.keys()
    }

    pub fn has(&self, item_id: &str) -> bool {
        self.0.contains_key(item_id)
    }

    /// The turn of an open item.
    pub fn turn_of_item(&self, item_id: &str) -> Option<&str> {
        let leftover = self.0.get(item_id)?;
        matches!(leftover.item, Progress::Open(_)).then_some(&leftover.turn_id)
    }

    /// Keeps the open item of a process.
    pub fn keep_process(&mut self, turn_id: String, item: ThreadItem) {
        let id = items::id(&item).to_owned();
        let item = Progress::Open(Box::new(item));
        self.0.insert(
            id,
            Leftover {
                turn_id,
                item,
                is_shell: false,
            },
        );
    }

    /// Keeps a command of the user. `was_shown` tells whether its item has begun.
    pub fn keep_shell(
        &mut self,
        id: String,
        turn_id: String,
        item: Option<ThreadItem>,
        was_shown: bool,
    ) {
        let item = match item {
            Some(item) => Progress::Open(Box::new(item)),
            None if was_shown => Progress::Ended,
            None => Progress::ToCome,
        };
        self.0.insert(
            id,
            Leftover {
                turn_id,
                item,
                is_shell: true,
            },
        );
    }

    /// Ends an item; gives back its turn if it was open.
    fn end(&mut self, item_id: &str) -> Option<String> {
        let leftover = self.0.get_mut(item_id)?;
        let Progress::Open(_) = std::mem::replace(&mut leftover.item, Progress::Ended) else {
            return None;
        };
        let turn_id = leftover.turn_id.clone();
        if !leftover.is_shell {
            self.0.remove(item_id);
        }
        Some(turn_id)
    }

    fn open_items(&self) -> Vec<ThreadItem> {
        let open = self.0.values().filter_map(|leftover| match &leftover.item {
            Progress::Open(item) => Some((**item).clone()),
            Progress::ToCome | Progress::Ended => None,
        });
        open.collect()
    }
}

impl Thread {
    /// A report for which no call of the running turn waits.
    pub(crate) fn late_tool(&mut self, call_id: &str, event: ToolEvent) {
        match event {
            ToolEvent::ItemStarted(item) => self.late_start(item),
            ToolEvent::Delta(delta) => self.tool_delta(call_id, delta),
            ToolEvent::ItemCompleted(item) => {
                let id = items::id(&item);
                if self
                    .active
                    .as_ref()
                    .is_some_and(|turn| turn.items.has_tool_item(id))
                {
                    return self.finish_item(item);
                }
                self.late_end(item);
            }
            ToolEvent::Note(note) => self.note(note),
            // The call is over: nobody may answer any more.
            ToolEvent::Ask { question, .. } => self.deliver(question, call_id.to_owned()),
            ToolEvent::Finished { output, .. } => {
                self.abandoned.remove(call_id);
                let Some(leftover) = self.background.0.get(call_id).filter(|it| it.is_shell) else {
                    return;
                };
                if let Progress::Open(item) = &leftover.item {
                    self.late_end((**item).clone());
                }
                self.background.0.remove(call_id);
                output.into_iter().for_each(|note| self.note(note));
            }
            ToolEvent::ApprovalReviewStarted { .. }
            | ToolEvent::ApprovalReviewCompleted { .. }
            | ToolEvent::PlanUpdated { .. }
            | ToolEvent::Hooks(_)
            | ToolEvent::DiffUpdated(_) => {}
        }
    }

    fn late_start(&mut self, item: ThreadItem) {
        let leftover = self.background.0.get_mut(items::id(&item));
        let Some(leftover) = leftover.filter(|it| it.item == Progress::ToCome) else {
            return;
        };
        leftover.item = Progress::Open(Box::new(items::abandoned(item.clone())));
        let turn_id = leftover.turn_id.clone();
        let params = ItemStartedNotification {
            item,
            thread_id: self.id.clone(),
            turn_id,
        };
        self.notify(ServerNotification::ItemStarted(params));
    }

    pub(crate) fn late_end(&mut self, mut item: ThreadItem) {
        let Some(turn_id) = self.background.end(items::id(&item)) else {
            return;
        };
        fit(&mut item);
        self.record_item(turn_id.clone(), item.clone());
        let params = ItemCompletedNotification {
            item,
            thread_id: self.id.clone(),
            turn_id,
        };
        self.notify(ServerNotification::ItemCompleted(params));
    }

    /// Ends all that goes on without a turn, as given up.
    pub(crate) fn end_background(&mut self) {
        self.background
            .open_items()
            .into_iter()
            .for_each(|item| self.late_end(item));
        self.background = Background::default();
    }
}
