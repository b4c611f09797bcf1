//! `threadSection/*` and `thread/section/move`: groups of threads, stored in the home.

use quipu_wire::method::request::{
    ThreadSectionCreate, ThreadSectionDelete, ThreadSectionList, ThreadSectionMove,
    ThreadSectionUpdate,
};
use quipu_wire::{
    ThreadSectionCreateParams, ThreadSectionCreateResponse, ThreadSectionDeleteParams,
    ThreadSectionDeleteResponse, ThreadSectionListParams, ThreadSectionListResponse,
    ThreadSectionMoveParams, ThreadSectionMoveResponse, ThreadSectionUpdateParams,
    ThreadSectionUpdateResponse,
};

use super::Handler;
use crate::blocking::blocking;
use crate::paging::{after, page_size};
use crate::sections::Sections;
use crate::{Cx, Refusal, threads};

impl Handler for ThreadSectionList {
    async fn run(cx: Cx, params: ThreadSectionListParams) -> Result<Self::Result, Refusal> {
        let cursor = params.cursor.clone();
        let rest = blocking(&cx.server, move |server| {
            Sections::read(&server.store).after(cursor.as_deref())
        });
        let (data, last) = after(rest.await?, page_size(params.limit));
        let next_cursor = last.map(|last| data[last].id.clone());
        Ok(ThreadSectionListResponse { data, next_cursor })
    }
}

/// Changes the sections, away from the threads that serve connections.
async fn change<R: Send + 'static>(
    cx: &Cx,
    change: impl FnMut(&mut Sections) -> Result<R, Refusal> + Send + 'static,
) -> Result<R, Refusal> {
    let changed = blocking(&cx.server, move |server| {
        Sections::change(&server.store, change)
    });
    changed.await?
}

impl Handler for ThreadSectionCreate {
    async fn run(cx: Cx, params: ThreadSectionCreateParams) -> Result<Self::Result, Refusal> {
        let ThreadSectionCreateParams { name, appearance } = params;
        let section = change(&cx, move |sections| {
            sections.create(&name, appearance.clone())
        })
        .await?;
        Ok(ThreadSectionCreateResponse { section })
    }
}

impl Handler for ThreadSectionUpdate {
    async fn run(cx: Cx, params: ThreadSectionUpdateParams) -> Result<Self::Result, Refusal> {
        let section = change(&cx, move |sections| sections.update(params.clone())).await?;
        Ok(ThreadSectionUpdateResponse { section })
    }
}

impl Handler for ThreadSectionDelete {
    async fn run(cx: Cx, params: ThreadSectionDeleteParams) -> Result<Self::Result, Refusal> {
        change(&cx, move |sections| sections.delete(&params.section_id)).await?;
        Ok(ThreadSectionDeleteResponse {})
    }
}

impl Handler for ThreadSectionMove {
    async fn run(cx: Cx, params: ThreadSectionMoveParams) -> Result<Self::Result, Refusal> {
        let id = threads::parse_id(&params.thread_id)?;
        if let Some(thread) = cx.server.threads.get(&id.to_string()) {
            threads::refuse_ephemeral(&thread, |id| {
                format!("ephemeral thread does not support section moves: {id}")
            })
            .await?;
        }
        let section = params.section_id.clone();
        let section = section.ok_or_else(|| {
            Refusal::invalid_request("Invalid request: missing field `sectionId`")
        })?;
        let before = params.before_thread_id.as_deref();
        let before = before.map(threads::parse_id).transpose()?;
        let moved = blocking(&cx.server, move |server| {
            threads::require_stored(server, id)?;
            let params = ThreadSectionMoveParams {
                thread_id: id.to_string(),
                before_thread_id: before.map(|it| it.to_string()),
                section_id: Some(section),
            };
            Sections::change(&server.store, |sections| {
                sections.move_thread(params.clone())
            })
        });
        moved.await??;
        Ok(ThreadSectionMoveResponse {})
    }
}
