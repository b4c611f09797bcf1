//! `app/list`: no apps are connected yet, so there are none for anybody.

use quipu_wire::method::request::AppList;
use quipu_wire::{AppsListParams, AppsListResponse};

use super::Handler;
use crate::{Cx, Refusal, threads};

impl Handler for AppList {
    async fn run(cx: Cx, params: AppsListParams) -> Result<Self::Result, Refusal> {
        list(&cx, &params).await
    }
}

async fn list(cx: &Cx, params: &AppsListParams) -> Result<AppsListResponse, Refusal> {
    cx.config().await?;
    if let Some(thread) = &params.thread_id {
        threads::loaded(&cx.server, thread)?;
    }
    Ok(AppsListResponse {
        data: Vec::new(),
        next_cursor: None,
    })
}
