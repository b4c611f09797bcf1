//! `thread/attachment/*` and `thread/attachmentOwner/list`: what clients store with threads, one file per thread.

use std::sync::Arc;

use quipu_wire::method::event;
use quipu_wire::method::request::{
    ThreadAttachmentAdd, ThreadAttachmentList, ThreadAttachmentOwnerList, ThreadAttachmentRemove,
};
use quipu_wire::{
    ThreadAttachment, ThreadAttachmentAddOutcome, ThreadAttachmentAddParams,
    ThreadAttachmentAddResponse, ThreadAttachmentListParams, ThreadAttachmentListResponse,
    ThreadAttachmentOperation, ThreadAttachmentOwner, ThreadAttachmentOwnerListParams,
    ThreadAttachmentOwnerListResponse, ThreadAttachmentRemoveParams,
    ThreadAttachmentRemoveResponse, ThreadAttachmentUpdatedNotification,
};
use uuid::Uuid;

use super::{Handler, ReplyHandler};
use crate::blocking::blocking;
use crate::paging::{after, page_size};
use crate::{Cx, Refusal, Reply, Server, clock, threads};

/// Bytes of a payload, and of each of its two names.
const MAX_BYTES: usize = 65_536;
/// Attachments of a thread.
const MAX_ATTACHMENTS: usize = 1_000;

/// Errors of these methods have the code of invalid parameters.
fn parse_id(id: &str) -> Result<Uuid, Refusal> {
    threads::parse_id(id).map_err(|error| Refusal::invalid_params(error.to_string()))
}

impl ReplyHandler for ThreadAttachmentAdd {
    async fn handle(cx: Cx, params: ThreadAttachmentAddParams, reply: Reply<Self>) {
        let thread_id = params.thread_id.clone();
        let added = blocking(&cx.server, move |server| add(server, params)).await;
        let added = added.and_then(std::convert::identity);
        let created = added
            .as_ref()
            .ok()
            .filter(|added| added.outcome == ThreadAttachmentAddOutcome::Created);
        let created = created.map(|added| added.attachment.clone());
        reply.send(added).await;
        if let Some(created) = created {
            notify(&cx, thread_id, created, ThreadAttachmentOperation::Created).await;
        }
    }
}

fn add(
    server: &Arc<Server>,
    params: ThreadAttachmentAddParams,
) -> Result<ThreadAttachmentAddResponse, Refusal> {
    let ThreadAttachmentAddParams {
        thread_id,
        attachment_type,
        identity_key,
        payload,
    } = params;
    let names = [
        ("attachmentType", &attachment_type),
        ("identityKey", &identity_key),
    ];
    for (name, value) in names {
        if value.is_empty() {
            return Err(Refusal::invalid_params(format!("{name} must not be empty")));
        }
        if value.len() > MAX_BYTES {
            let text = format!("{name} must not exceed {MAX_BYTES} bytes");
            return Err(Refusal::invalid_params(text));
        }
    }
    if payload.get().len() > MAX_BYTES {
        let text = format!("attachment payload must not exceed {MAX_BYTES} bytes");
        return Err(Refusal::invalid_params(text));
    }
    let id = parse_id(&thread_id)?;
    threads::require_stored(server, id)
        .map_err(|error| Refusal::invalid_params(error.to_string()))?;
    let new = ThreadAttachment {
        id: Uuid::now_v7().to_string(),
        attachment_type,
        identity_key,
        payload,
        created_at: clock::unix_seconds(),
    };
    let stored = server.store.attachments(id);
    stored.change(not_stored, |all: &mut Vec<ThreadAttachment>| {
        let known = all
            .iter()
            .find(|it| is_same(it, &new.attachment_type, &new.identity_key));
        if let Some(known) = known {
            return Ok(ThreadAttachmentAddResponse {
                outcome: ThreadAttachmentAddOutcome::Existing,
                attachment: known.clone(),
            });
        }
        if all.len() >= MAX_ATTACHMENTS {
            let text = format!("a thread has at most {MAX_ATTACHMENTS} attachments");
            return Err(Refusal::invalid_params(text));
        }
        all.push(new.clone());
        Ok(ThreadAttachmentAddResponse {
            outcome: ThreadAttachmentAddOutcome::Created,
            attachment: new.clone(),
        })
    })
}

fn not_stored(error: quipu_journal::Error) -> Refusal {
    Refusal::internal(format!("failed to store attachments: {}", error.reason()))
}

fn is_same(attachment: &ThreadAttachment, kind: &str, key: &str) -> bool {
    attachment.attachment_type == kind && attachment.identity_key == key
}

async fn notify(
    cx: &Cx,
    thread_id: String,
    attachment: ThreadAttachment,
    operation: ThreadAttachmentOperation,
) {
    let updated = ThreadAttachmentUpdatedNotification {
        thread_id,
        attachment_type: attachment.attachment_type,
        identity_key: attachment.identity_key,
        attachment_id: attachment.id,
        operation,
    };
    let hub = &cx.server.hub;
    hub.broadcast::<event::ThreadAttachmentUpdated>(&updated)
        .await;
}

impl ReplyHandler for ThreadAttachmentRemove {
    async fn handle(cx: Cx, params: ThreadAttachmentRemoveParams, reply: Reply<Self>) {
        let thread_id = params.thread_id.clone();
        let removed = blocking(&cx.server, move |server| remove(server, &params)).await;
        match removed.and_then(std::convert::identity) {
            Ok(removed) => {
                reply.send(Ok(ThreadAttachmentRemoveResponse {})).await;
                if let Some(removed) = removed {
                    notify(&cx, thread_id, removed, ThreadAttachmentOperation::Deleted).await;
                }
            }
            Err(error) => reply.send(Err(error)).await,
        }
    }
}

fn remove(
    server: &Arc<Server>,
    params: &ThreadAttachmentRemoveParams,
) -> Result<Option<ThreadAttachment>, Refusal> {
    let stored = server.store.attachments(parse_id(&params.thread_id)?);
    stored.change(not_stored, |all: &mut Vec<ThreadAttachment>| {
        let place = all
            .iter()
            .position(|it| is_same(it, &params.attachment_type, &params.identity_key));
        Ok(place.map(|place| all.remove(place)))
    })
}

impl Handler for ThreadAttachmentList {
    async fn run(cx: Cx, params: ThreadAttachmentListParams) -> Result<Self::Result, Refusal> {
        let id = parse_id(&params.thread_id)?;
        let all = blocking(&cx.server, move |server| {
            server.store.attachments(id).read::<Vec<ThreadAttachment>>()
        });
        let mut rest = all.await?.unwrap_or_default();
        if let Some(cursor) = &params.cursor {
            let cursor = Uuid::parse_str(cursor)
                .map_err(|_| bad_cursor())?
                .to_string();
            rest.retain(|it| it.id > cursor);
        }
        let (data, last) = after(rest, page_size(params.limit));
        let next_cursor = last.map(|last| data[last].id.clone());
        Ok(ThreadAttachmentListResponse { data, next_cursor })
    }
}

fn bad_cursor() -> Refusal {
    Refusal::invalid_params("invalid pagination cursor")
}

impl Handler for ThreadAttachmentOwnerList {
    async fn run(cx: Cx, params: ThreadAttachmentOwnerListParams) -> Result<Self::Result, Refusal> {
        let cursor = params.cursor.as_deref().map(Uuid::parse_str).transpose();
        let cursor = cursor.map_err(|_| bad_cursor())?;
        let limit = page_size(params.limit);
        let owners = blocking(&cx.server, move |server| owners(server, &params, cursor));
        let (data, last) = after(owners.await??, limit);
        let next_cursor = last.map(|last| data[last].thread_id.clone());
        Ok(ThreadAttachmentOwnerListResponse { data, next_cursor })
    }
}

/// The threads after `cursor` that have such an attachment, by id.
fn owners(
    server: &Arc<Server>,
    params: &ThreadAttachmentOwnerListParams,
    cursor: Option<Uuid>,
) -> Result<Vec<ThreadAttachmentOwner>, Refusal> {
    let failed = |error: &dyn std::fmt::Display| {
        Refusal::internal(format!("failed to list attachments: {error}"))
    };
    let mut ids = server
        .store
        .attached_threads()
        .map_err(|error| failed(&error))?;
    ids.sort_unstable();
    let mut owners = Vec::new();
    for id in ids.into_iter().filter(|id| cursor < Some(*id)) {
        let all: Option<Vec<ThreadAttachment>> = server.store.attachments(id).read();
        let mut all = all.into_iter().flatten();
        if !all.any(|it| is_same(&it, &params.attachment_type, &params.identity_key)) {
            continue;
        }
        let summary = server.store.summary(id).map_err(|error| failed(&error))?;
        let Some(summary) = summary else { continue };
        if params
            .archived
            .is_none_or(|archived| archived == summary.archived)
        {
            owners.push(ThreadAttachmentOwner {
                thread_id: id.to_string(),
                archived: summary.archived,
            });
        }
    }
    Ok(owners)
}
