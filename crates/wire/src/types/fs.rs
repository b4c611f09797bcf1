//! Files of the server's machine, with the rights of the server and no sandbox.

use quipu_wire_macros::wire;

use crate::AbsolutePath;

/// Parameters of `fs/readFile`.
#[wire(params)]
pub struct FsReadFileParams {
    /// A file of at most 512 MiB; links are followed.
    pub path: AbsolutePath,
}

/// Parameters of `fs/writeFile`.
#[wire(params)]
pub struct FsWriteFileParams {
    /// Created or overwritten; its directory must exist.
    pub path: AbsolutePath,
    /// The whole content, in base64.
    pub data_base64: String,
}

/// Parameters of `fs/createDirectory`.
#[wire(params)]
pub struct FsCreateDirectoryParams {
    pub path: AbsolutePath,
    /// Also creates missing parents and accepts an existing directory; `true` if absent.
    pub recursive: Option<bool>,
}

/// Parameters of `fs/getMetadata`.
#[wire(params)]
pub struct FsGetMetadataParams {
    /// Links are followed.
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
    /// A link is removed, not what it points to.
    pub path: AbsolutePath,
    /// Removes a directory with all it holds; `true` if absent.
    pub recursive: Option<bool>,
    /// Accepts that there is nothing to remove; `true` if absent.
    pub force: Option<bool>,
}

/// Parameters of `fs/copy`.
#[wire(params)]
pub struct FsCopyParams {
    /// A file, a directory or a link, which is copied as a link.
    pub source_path: AbsolutePath,
    /// An existing file is overwritten, an existing directory is added to.
    pub destination_path: AbsolutePath,
    /// Needed to copy a directory.
    #[wire(sparse)]
    pub recursive: bool,
}

/// Parameters of `fs/watch`.
#[wire(params)]
pub struct FsWatchParams {
    /// A file, or a directory whose direct children count.
    pub path: AbsolutePath,
    /// The name of the watch; if absent, the server makes one.
    #[wire(since = "0.166")]
    pub watch_id: Option<String>,
}

/// Parameters of `fs/unwatch`.
#[wire(params, default)]
pub struct FsUnwatchParams {
    pub watch_id: String,
}

/// Result of `fs/readFile`.
#[wire]
pub struct FsReadFileResponse {
    /// The whole content, in base64.
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
    /// Whether the path itself is a link; the other members are about what it points to.
    #[wire(since = "0.166", hidden_default)]
    pub is_symlink: bool,
    /// In Unix milliseconds; 0 if unknown.
    pub created_at_ms: i64,
    /// In Unix milliseconds; 0 if unknown.
    pub modified_at_ms: i64,
}

/// One child of a directory; links count as what they point to.
#[wire]
pub struct FsReadDirectoryEntry {
    /// The name without the directory.
    pub file_name: String,
    pub is_directory: bool,
    pub is_file: bool,
}

/// Result of `fs/readDirectory`.
#[wire]
pub struct FsReadDirectoryResponse {
    /// In no particular order, hidden ones included.
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
    /// Names the watch on this connection.
    pub watch_id: String,
    /// The watched path without `.` and `..`; links are kept.
    pub path: AbsolutePath,
}

/// Result of `fs/unwatch`.
#[wire]
pub struct FsUnwatchResponse {}

/// Parameters of the notification `fs/changed`.
#[wire]
pub struct FsChangedNotification {
    pub watch_id: String,
    /// What was created, changed, renamed or removed; sorted, each path once.
    pub changed_paths: Vec<AbsolutePath>,
}
