//! `thread/searchOccurrences`: where a text is in the messages of a thread.

use quipu_wire::method::request::ThreadSearchOccurrences;
use quipu_wire::{
    ThreadSearchOccurrence, ThreadSearchOccurrencesParams, ThreadSearchOccurrencesResponse,
    ThreadSearchTextRange,
};

use super::Handler;
use crate::history::{self, Cursor, Key};
use crate::paging::page;
use crate::text_search::{self, Term};
use crate::{Cx, Refusal};

impl Handler for ThreadSearchOccurrences {
    async fn run(cx: Cx, params: ThreadSearchOccurrencesParams) -> Result<Self::Result, Refusal> {
        let method = "thread/searchOccurrences";
        let term = Term::new(&params.search_term, method)?;
        let turns = history::turns(&cx, &params.thread_id, method).await?;
        let mut found = Vec::new();
        for message in text_search::messages(&turns) {
            let key = Key {
                turn_id: message.turn_id.to_owned(),
                item_id: None,
            };
            let turn_cursor = Cursor::at(&params.thread_id, key).text();
            for snippet in term.all(message.text) {
                found.push(ThreadSearchOccurrence {
                    turn_id: message.turn_id.to_owned(),
                    item_id: message.item_id.to_owned(),
                    snippet: snippet.text,
                    snippet_match_range: ThreadSearchTextRange {
                        start: snippet.start,
                        end: snippet.end,
                    },
                    turn_cursor: turn_cursor.clone(),
                });
            }
        }
        let limit = params.limit.map_or(25, |limit| limit.clamp(1, 100));
        let page = page(found, params.cursor.as_deref(), Some(limit), "matches")?;
        Ok(ThreadSearchOccurrencesResponse {
            data: page.data,
            next_cursor: page.next_cursor,
        })
    }
}
