//! `app/list`: no apps are connected yet, so there are none for anybody.

use quipu_rpc::ErrorObject;
use quipu_wire::method::request::AppList;
use quipu_wire::{AppsListParams, AppsListResponse};

use super::Handler;
use crate::{Cx, Reply, threads};

impl Handler for AppList {
    async fn handle(cx: Cx, params: AppsListParams, reply: Reply<Self>) {
        reply.send(list(&cx, &params).await).await;
    }
}

async fn list(cx: &Cx, params: &AppsListParams) -> Result<AppsListResponse, ErrorObject> {
    cx.config().await?;
    if let Some(thread) = &params.thread_id {
        threads::loaded(&cx.server, thread)?;
    }
    Ok(AppsListResponse {
        data: Vec::new(),
        next_cursor: None,
    })
}
