//! `thread/list`: no thread is stored yet.

use quipu_wire::method::request::ThreadList;
use quipu_wire::{ThreadListParams, ThreadListResponse};

use super::Handler;
use crate::{Cx, Reply};

impl Handler for ThreadList {
    async fn handle(_cx: Cx, _params: ThreadListParams, reply: Reply<Self>) {
        let empty = ThreadListResponse {
            data: Vec::new(),
            next_cursor: None,
        };
        reply.send(Ok(empty)).await;
    }
}
