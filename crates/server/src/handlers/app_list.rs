//! `app/list`: no apps are connected yet.

use quipu_wire::method::request::AppList;
use quipu_wire::{AppsListParams, AppsListResponse};

use super::Handler;
use crate::{Cx, Reply};

impl Handler for AppList {
    async fn handle(_cx: Cx, _params: AppsListParams, reply: Reply<Self>) {
        let empty = AppsListResponse {
            data: Vec::new(),
            next_cursor: None,
        };
        reply.send(Ok(empty)).await;
    }
}
