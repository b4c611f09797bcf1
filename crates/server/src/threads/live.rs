//! The items of the running turn as a client that joins now must see them: each in its last state.

use quipu_engine::{item_id, same_item_kind};
use quipu_wire::{ServerNotification, ThreadItem, Turn, TurnStatus};

/// The items that the running turn has so far.
#[derive(Default)]
pub(super) struct LiveItems(Vec<ThreadItem>);

impl LiveItems {
    /// Those of a turn that another server began, if it is the last one and goes on.
    pub fn of(turns: &[Turn]) -> LiveItems {
        let last = turns.last();
        let open = last.filter(|turn| turn.status == TurnStatus::InProgress);
        LiveItems(open.map(|turn| turn.items.clone()).unwrap_or_default())
    }

    pub fn items(&self) -> Vec<ThreadItem> {
        self.0.clone()
    }

    /// Takes note of what clients are notified of.
    pub fn track(&mut self, notification: &ServerNotification) {
        match notification {
            ServerNotification::TurnStarted(_) | ServerNotification::TurnCompleted(_) => {
                self.0.clear();
            }
            ServerNotification::ItemStarted(params) => self.0.push(params.item.clone()),
            ServerNotification::ItemCompleted(params) => self.complete(&params.item),
            _ => {}
        }
    }

    /// A review is entered and left under one id, so that alone does not say which item ended.
    fn complete(&mut self, done: &ThreadItem) {
        let is_it =
            |item: &&mut ThreadItem| item_id(item) == item_id(done) && same_item_kind(item, done);
        match self.0.iter_mut().find(is_it) {
            Some(item) => item.clone_from(done),
            None => self.0.push(done.clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use quipu_wire::{ItemCompletedNotification, ItemStartedNotification};

    use super::*;

    fn show(live: &mut LiveItems, item: ThreadItem) {
        let (thread_id, turn_id) = (String::new(), String::new());
        live.track(&ServerNotification::ItemStarted(ItemStartedNotification {
            item: item.clone(),
            thread_id: thread_id.clone(),
            turn_id: turn_id.clone(),
            started_at_ms: 0,
        }));
        live.track(&ServerNotification::ItemCompleted(
            ItemCompletedNotification {
                item,
                thread_id,
                turn_id,
                completed_at_ms: 0,
            },
        ));
    }

    #[test]
    fn the_end_of_a_review_does_not_take_the_place_of_its_beginning() {
        let (id, review) = ("turn".to_owned(), "text".to_owned());
        let entered = ThreadItem::EnteredReviewMode {
            id: id.clone(),
            review: review.clone(),
        };
        let exited = ThreadItem::ExitedReviewMode { id, review };
        let mut live = LiveItems::default();
        show(&mut live, entered.clone());
        show(&mut live, exited.clone());
        assert_eq!(live.items(), [entered, exited]);
    }
}
