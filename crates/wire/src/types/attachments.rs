//! Attachments: what clients store with a thread, by a key of their own.

use quipu_wire_macros::wire;

use crate::Json;

/// What a client stored with a thread.
#[wire]
pub struct ThreadAttachment {
    pub id: String,
    pub attachment_type: String,
    /// Unique among the attachments of this type in the thread.
    pub identity_key: String,
    pub payload: Json,
    /// In Unix seconds.
    pub created_at: i64,
}

/// Parameters of `thread/attachment/add`.
#[wire(params)]
pub struct ThreadAttachmentAddParams {
    pub thread_id: String,
    /// Must not be empty.
    pub attachment_type: String,
    /// Must not be empty.
    pub identity_key: String,
    /// At most 65536 bytes of JSON.
    pub payload: Json,
}

/// Whether an attachment was there before.
#[wire]
pub enum ThreadAttachmentAddOutcome {
    Created,
    /// The one that was there stays as it is.
    Existing,
}

/// Result of `thread/attachment/add`.
#[wire]
pub struct ThreadAttachmentAddResponse {
    pub outcome: ThreadAttachmentAddOutcome,
    pub attachment: ThreadAttachment,
}

/// Parameters of `thread/attachment/list`.
#[wire(params, default)]
pub struct ThreadAttachmentListParams {
    pub thread_id: String,
    /// The `nextCursor` of the page before; absent for the first.
    pub cursor: Option<String>,
    /// Attachments per page, from 1 to 100; 25 if absent.
    pub limit: Option<u32>,
}

/// Result of `thread/attachment/list`.
#[wire]
pub struct ThreadAttachmentListResponse {
    /// The oldest first.
    pub data: Vec<ThreadAttachment>,
    /// Null on the last page.
    pub next_cursor: Option<String>,
}

/// Parameters of `thread/attachment/remove`. Removing an attachment that does not exist is not an error.
#[wire(params, default)]
pub struct ThreadAttachmentRemoveParams {
    pub thread_id: String,
    pub attachment_type: String,
    pub identity_key: String,
}

/// Result of `thread/attachment/remove`.
#[wire]
pub struct ThreadAttachmentRemoveResponse {}

/// Parameters of `thread/attachmentOwner/list`.
#[wire(params, default)]
pub struct ThreadAttachmentOwnerListParams {
    pub attachment_type: String,
    pub identity_key: String,
    /// Only archived threads, or only others; all if absent.
    pub archived: Option<bool>,
    /// The `nextCursor` of the page before; absent for the first.
    pub cursor: Option<String>,
    /// Threads per page, from 1 to 100; 25 if absent.
    pub limit: Option<u32>,
}

/// A thread that has an attachment.
#[wire]
pub struct ThreadAttachmentOwner {
    pub thread_id: String,
    pub archived: bool,
}

/// Result of `thread/attachmentOwner/list`.
#[wire]
pub struct ThreadAttachmentOwnerListResponse {
    pub data: Vec<ThreadAttachmentOwner>,
    /// Null on the last page.
    pub next_cursor: Option<String>,
}

/// What happened to an attachment.
#[wire]
pub enum ThreadAttachmentOperation {
    Created,
    Deleted,
}

/// Parameters of the notification `thread/attachment/updated`.
#[wire]
pub struct ThreadAttachmentUpdatedNotification {
    pub thread_id: String,
    pub attachment_type: String,
    pub identity_key: String,
    pub attachment_id: String,
    pub operation: ThreadAttachmentOperation,
}
