//! MODDOC

use quipu_wire_macros::wire;

use crate::AbsolutePath;

/// Parameters of `fs/readFile`.
#[wire(params)]
pub struct FsReadFileParams {
    pub path: AbsolutePath,
}

/// Parameters of `fs/writeFile`.
#[wire(params)]
pub struct FsWriteFileParams {
    pub path: AbsolutePath,
    pub data_base64: String,
}

/// Parameters of `fs/createDirectory`.
#[wire(params)]
pub struct FsCreateDirectoryParams {
    pub path: AbsolutePath,
    pub recursive: Option<bool>,
}

/// Parameters of `fs/getMetadata`.
#[wire(params)]
pub struct FsGetMetadataParams {
    pub path: AbsolutePath,
}

/// Parameters of `fs/readDirectory`.
#[wire(params)]
pub struct FsReadDirectoryParams {
    pub path: AbsolutePath,
}

/// Parameters of `fs/remove`.
#[wire(params)]
pub struct FsRemoveParams {
    pub path: AbsolutePath,
    pub recursive: Option<bool>,
    pub force: Option<bool>,
}

/// Parameters of `fs/copy`.
#[wire(params)]
pub struct FsCopyParams {
    pub source_path: AbsolutePath,
    pub destination_path: AbsolutePath,
    #[wire(sparse)]
    pub recursive: bool,
}

/// Parameters of `fs/watch`.
#[wire(params)]
pub struct FsWatchParams {
    pub path: AbsolutePath,
}

/// Parameters of `fs/unwatch`.
#[wire(params, default)]
pub struct FsUnwatchParams {
    pub watch_id: String,
}

/// Result of `fs/readFile`.
#[wire]
pub struct FsReadFileResponse {
    pub data_base64: String,
}

/// Result of `fs/writeFile`.
#[wire]
pub struct FsWriteFileResponse {}

/// Result of `fs/createDirectory`.
#[wire]
pub struct FsCreateDirectoryResponse {}

/// Result of `fs/getMetadata`.
#[wire]
pub struct FsGetMetadataResponse {
    pub is_directory: bool,
    pub is_file: bool,
    pub created_at_ms: i64,
    pub modified_at_ms: i64,
}

/// DOC
#[wire]
pub struct FsReadDirectoryEntry {
    pub file_name: String,
    pub is_directory: bool,
    pub is_file: bool,
}

/// Result of `fs/readDirectory`.
#[wire]
pub struct FsReadDirectoryResponse {
    pub entries: Vec<FsReadDirectoryEntry>,
}

/// Result of `fs/remove`.
#[wire]
pub struct FsRemoveResponse {}

/// Result of `fs/copy`.
#[wire]
pub struct FsCopyResponse {}

/// Result of `fs/watch`.
#[wire]
pub struct FsWatchResponse {
    pub watch_id: String,
    pub path: AbsolutePath,
}

/// Result of `fs/unwatch`.
#[wire]
pub struct FsUnwatchResponse {}

/// Parameters of the notification `fs/changed`.
#[wire]
pub struct FsChangedNotification {
    pub watch_id: String,
    pub changed_paths: Vec<AbsolutePath>,
}
