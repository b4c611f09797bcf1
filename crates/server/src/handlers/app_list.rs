//! `app/list`: the apps that the user has connected or could connect.

use std::sync::Arc;

use quipu_config::Snapshot;
use quipu_wire::method::request::AppList;
use quipu_wire::{AppsListParams, AppsListResponse};

use super::Handler;
use crate::paging::{check_cursor, page};
use crate::{Cx, Refusal, apps, threads};

impl Handler for AppList {
    async fn run(cx: Cx, params: AppsListParams) -> Result<Self::Result, Refusal> {
        let settings = settings(&cx, params.thread_id.as_deref()).await?;
        if !apps::are_on(&cx.server, &settings) {
            return Ok(AppsListResponse {
                data: Vec::new(),
                next_cursor: None,
            });
        }
        let cursor = params.cursor.as_deref();
        check_cursor(cursor)?;
        let list = apps::list(&cx.server, &settings, params.force_refetch).await;
        let list = list.map_err(|error| Refusal::internal(error.to_string()))?;
        let page = page(list, cursor, params.limit, "apps")?;
        Ok(AppsListResponse {
            data: page.data,
            next_cursor: page.next_cursor,
        })
    }
}

/// The settings of a thread, else those of the server's own directory.
async fn settings(cx: &Cx, thread: Option<&str>) -> Result<Arc<Snapshot>, Refusal> {
    let own = cx.config().await?;
    let Some(thread) = thread else {
        return Ok(own);
    };
    let handle = threads::loaded(&cx.server, thread)?;
    let snapshot = handle.snapshot().await;
    Ok(snapshot.map_or(own, |snapshot| snapshot.settings))
}
