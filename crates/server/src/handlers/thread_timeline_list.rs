//! `thread/timeline/list`: turns and items in one sequence, from the newest page to the oldest.

use quipu_wire::method::request::ThreadTimelineList;
use quipu_wire::{
    ThreadTimelineEntry, ThreadTimelineListParams, ThreadTimelineListResponse, Turn, TurnStatus,
};

use super::Handler;
use crate::paging::page_size;
use crate::{Cx, Refusal, history};

impl Handler for ThreadTimelineList {
    async fn run(cx: Cx, params: ThreadTimelineListParams) -> Result<Self::Result, Refusal> {
        let turns = history::turns(&cx, &params.thread_id, "thread/timeline/list").await?;
        let mut entries = timeline(turns);
        // A page ends before the entry that the cursor names. Entries before it never change their place.
        if let Some(cursor) = &params.cursor {
            let end: usize = cursor.parse().map_err(|_| bad_cursor())?;
            if end > entries.len() {
                return Err(bad_cursor());
            }
            entries.truncate(end);
        }
        let start = entries.len().saturating_sub(page_size(params.limit));
        Ok(ThreadTimelineListResponse {
            data: entries.split_off(start),
            next_cursor: (start > 0).then(|| start.to_string()),
            active_realtime_session_at_page_start: None,
        })
    }
}

fn bad_cursor() -> Refusal {
    Refusal::invalid_request("invalid thread timeline cursor")
}

/// Everything that happened, in order; the position of an entry is its number.
fn timeline(turns: Vec<Turn>) -> Vec<ThreadTimelineEntry> {
    let mut entries = Vec::new();
    let place = |entries: &Vec<_>| i64::try_from(entries.len()).unwrap_or(i64::MAX);
    for turn in turns {
        let position = place(&entries);
        entries.push(ThreadTimelineEntry::TurnStarted {
            position,
            turn_id: turn.id.clone(),
            started_at: None,
        });
        for item in turn.items {
            let position = place(&entries);
            entries.push(ThreadTimelineEntry::Item {
                position,
                turn_id: turn.id.clone(),
                item,
            });
        }
        if turn.status != TurnStatus::InProgress {
            let position = place(&entries);
            entries.push(ThreadTimelineEntry::TurnCompleted {
                position,
                turn_id: turn.id,
                status: turn.status,
                error: turn.error,
                started_at: None,
                completed_at: None,
                duration_ms: None,
            });
        }
    }
    entries
}
