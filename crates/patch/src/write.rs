//! Putting a text into a file so that readers see the old or the new one, never half of it.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

/// Replaces the file at `path`, or creates it with the permissions of `like`. No link is followed.
///
/// The text goes to a temporary file next to it that is renamed into place. Where this would lose
/// something (another hard link, the owner) or is not allowed (a directory that cannot be written),
/// an existing file is rewritten in place.
pub(crate) fn write(path: &Path, text: &str, like: Option<&Metadata>) -> io::Result<()> {
    let existing = match fs::symlink_metadata(path) {
        // A link is replaced itself, wherever it leads.
        Ok(metadata) if metadata.is_symlink() => None,
        Ok(metadata) => Some(metadata),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(error),
    };
    let Some(existing) = existing else {
        return replace(path, text, like, None);
    };
    if has_other_links(&existing) {
        return rewrite_in_place(path, text);
    }
    match replace(path, text, Some(&existing), Some(&existing)) {
        Err(error) if is_refusal(error.kind()) => rewrite_in_place(path, text),
        result => result,
    }
}

/// Fails if the existing file at `path` must not be written. A rename would not ask for that.
pub(crate) fn check_writable(path: &Path) -> io::Result<()> {
    OpenOptions::new().write(true).open(path).map(drop)
}

/// Renames a new file to `path`, with the permissions and the owner of others if given.
fn replace(
    path: &Path,
    text: &str,
    permissions: Option<&Metadata>,
    owner: Option<&Metadata>,
) -> io::Result<()> {
    let directory = path.parent().unwrap_or(Path::new("."));
    let mut temporary = builder(permissions.is_none()).tempfile_in(directory)?;
    temporary.write_all(text.as_bytes())?;
    if let Some(owner) = owner {
        set_owner(temporary.as_file(), owner)?;
    }
    if let Some(like) = permissions {
        temporary.as_file().set_permissions(like.permissions())?;
    }
    temporary.persist(path).map_err(|error| error.error)?;
    Ok(())
}

/// Temporary files are private unless they become a file that never had permissions of its own.
fn builder(shared: bool) -> tempfile::Builder<'static, 'static> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".patch-");
    if shared {
        share(&mut builder);
    }
    builder
}

#[cfg(unix)]
fn share(builder: &mut tempfile::Builder<'_, '_>) {
    use std::os::unix::fs::PermissionsExt;
    builder.permissions(fs::Permissions::from_mode(0o666));
}

#[cfg(not(unix))]
fn share(_: &mut tempfile::Builder<'_, '_>) {}

fn rewrite_in_place(path: &Path, text: &str) -> io::Result<()> {
    let mut options = OpenOptions::new();
    #[cfg(target_os = "linux")]
    std::os::unix::fs::OpenOptionsExt::custom_flags(
        &mut options,
        rustix::fs::OFlags::NOFOLLOW.bits().cast_signed(),
    );
    options
        .write(true)
        .truncate(true)
        .open(path)?
        .write_all(text.as_bytes())
}

fn is_refusal(kind: io::ErrorKind) -> bool {
    use io::ErrorKind::{CrossesDevices, PermissionDenied, ReadOnlyFilesystem, ResourceBusy};
    matches!(
        kind,
        CrossesDevices | PermissionDenied | ReadOnlyFilesystem | ResourceBusy
    )
}

#[cfg(unix)]
fn has_other_links(metadata: &Metadata) -> bool {
    std::os::unix::fs::MetadataExt::nlink(metadata) > 1
}

#[cfg(unix)]
fn set_owner(file: &File, like: &Metadata) -> io::Result<()> {
    use std::os::unix::fs::MetadataExt;
    let made = file.metadata()?;
    if (made.uid(), made.gid()) == (like.uid(), like.gid()) {
        return Ok(());
    }
    std::os::unix::fs::fchown(file, Some(like.uid()), Some(like.gid()))
}

#[cfg(not(unix))]
fn has_other_links(_: &Metadata) -> bool {
    false
}

#[cfg(not(unix))]
fn set_owner(_: &File, _: &Metadata) -> io::Result<()> {
    Ok(())
}
