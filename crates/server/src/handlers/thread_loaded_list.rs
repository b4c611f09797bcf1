//! `thread/loaded/list`: no thread is in memory yet.

use quipu_wire::method::request::ThreadLoadedList;
use quipu_wire::{ThreadLoadedListParams, ThreadLoadedListResponse};

use super::Handler;
use crate::{Cx, Reply};

impl Handler for ThreadLoadedList {
    async fn handle(_cx: Cx, _params: ThreadLoadedListParams, reply: Reply<Self>) {
        let empty = ThreadLoadedListResponse {
            data: Vec::new(),
            next_cursor: None,
        };
        reply.send(Ok(empty)).await;
    }
}
