//! The file system as the command sees it.
//!
//! Everything is mounted read-only in one step; copies of the writable directories, made before, are
//! attached on top, and read-only copies of protected paths on top of those; what is hidden lies below
//! something empty. Device files open nowhere but in a handful of places.

use std::{
    fs, io,
    os::{
        fd::{AsFd, OwnedFd},
        unix::{ffi::OsStrExt, fs::symlink},
    },
    path::{Path, PathBuf},
};

use super::{
    DEVICES,
    sys::{self, MOUNT_ATTR_NODEV, MOUNT_ATTR_NOSUID, MOUNT_ATTR_RDONLY},
};
use crate::{
    report::{Failure, Step},
    rules::{Access, Reserved, Rules},
};

const DEV_LINKS: [(&str, &str); 5] = [
    ("/proc/self/fd", "dev/fd"),
    ("/proc/self/fd/0", "dev/stdin"),
    ("/proc/self/fd/1", "dev/stdout"),
    ("/proc/self/fd/2", "dev/stderr"),
    ("pts/ptmx", "dev/ptmx"),
];

const HARMLESS: libc::c_ulong = libc::MS_NOSUID | libc::MS_NODEV;

/// Where a view that shows only part of the file system is put together.
const STAGE: &str = "/dev";

/// A copy of some mounts and where it belongs.
struct Layer {
    path: PathBuf,
    tree: OwnedFd,
    /// An empty directory that becomes read-only once all else is in its place.
    blank: bool,
}

/// Puts something at a reserved path: only what exists can be protected. It stays there, since other
/// commands may rely on it by then.
pub(super) fn reserve(reserved: &Reserved) {
    // Where we cannot create anything, neither can the command.
    if reserved.directory {
        fs::create_dir(&reserved.path).ok();
    } else {
        fs::File::create_new(&reserved.path).ok();
    }
}

/// Changes this mount namespace to what the rules allow.
pub(super) fn build(rules: &Rules) -> Result<(), Failure> {
    let layers = layers(rules)?;
    let devices = DEVICES
        .iter()
        .filter_map(|path| copy(path.as_ref()).transpose());
    let devices = devices.collect::<Result<Vec<_>, _>>()?;

    let all_writable = rules
        .entries
        .iter()
        .any(|entry| entry.path == Path::new("/"));
    let read_only = if all_writable { 0 } else { MOUNT_ATTR_RDONLY };
    let root = Path::new("/");
    let attributes = read_only | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOSUID;
    let open_root = sys::open_path(root).map_err(at(root))?;
    sys::set_tree_attributes(open_root.as_fd(), attributes).map_err(at(root))?;

    let stage = match &rules.readable {
        None => root,
        Some(readable) => {
            stage(readable)?;
            Path::new(STAGE)
        }
    };
    for layer in layers.iter().chain(&devices) {
        layer.attach(stage)?;
    }
    cover(stage, rules)?;
    for layer in layers.iter().filter(|layer| layer.blank) {
        sys::set_attributes(layer.tree.as_fd(), MOUNT_ATTR_RDONLY).map_err(at(&layer.path))?;
    }
    mount_private(stage, rules)?;
    if rules.readable.is_some() {
        leave_for(stage)?;
    }
    Ok(())
}

fn at(path: &Path) -> impl Fn(io::Error) -> Failure {
    move |error| Failure::at(Step::Mount, path.as_os_str().as_bytes(), &error)
}

/// Copies of everything that differs from its surroundings, taken before these are locked.
fn layers(rules: &Rules) -> Result<Vec<Layer>, Failure> {
    let mut layers = Vec::new();
    for path in rules.readable.iter().flatten() {
        if !path.is_symlink() {
            layers.extend(copy_with(path, MOUNT_ATTR_RDONLY)?);
        }
    }
    for entry in &rules.entries {
        match entry.access {
            // The root itself is not copied but left writable.
            Access::Write if entry.path == Path::new("/") => {}
            Access::Write => layers.extend(copy_with(&entry.path, 0)?),
            Access::Read => layers.push(protected(&entry.path)?),
            Access::Masked => {
                let null = copy(Path::new("/dev/null"))?;
                layers.extend(null.map(|null| Layer {
                    path: entry.path.clone(),
                    ..null
                }));
            }
            Access::Hidden => layers.extend(blank(&entry.path, rules)?),
        }
    }
    for reserved in &rules.reserved {
        layers.extend(copy_with(&reserved.path, MOUNT_ATTR_RDONLY)?);
    }
    Ok(layers)
}

/// A copy that cannot be written. If the path was there a moment ago and is not any more, nothing can
/// be protected, so nothing is run.
fn protected(path: &Path) -> Result<Layer, Failure> {
    copy_with(path, MOUNT_ATTR_RDONLY)?
        .ok_or_else(|| at(path)(io::Error::from_raw_os_error(libc::ENOENT)))
}

/// What is seen in place of something hidden of which a part is not, or of a file: an empty directory,
/// or a device that cannot be opened. Other directories are [covered](cover).
fn blank(path: &Path, rules: &Rules) -> Result<Option<Layer>, Failure> {
    let layer = match is_directory(path)? {
        Some(false) => copy_with(Path::new("/dev/null"), MOUNT_ATTR_RDONLY)?,
        Some(true) if rules.has_exception_below(path) => {
            let attributes = MOUNT_ATTR_NODEV | MOUNT_ATTR_NOSUID;
            Some(Layer {
                path: PathBuf::new(),
                tree: sys::new_tmpfs(c"0555", attributes).map_err(at(path))?,
                blank: true,
            })
        }
        Some(true) | None => None,
    };
    Ok(layer.map(|layer| Layer {
        path: path.to_path_buf(),
        ..layer
    }))
}

/// Puts one and the same empty directory over all directories that are hidden as a whole: a file system
/// for each would cost more than all else here.
fn cover(stage: &Path, rules: &Rules) -> Result<(), Failure> {
    let mut empty: Option<PathBuf> = None;
    for entry in rules.entries.iter().filter(|entry| entry.is_hidden()) {
        let path = &entry.path;
        let place = below(stage, path);
        if rules.has_exception_below(path) || is_directory(&place)? != Some(true) {
            continue;
        }
        let tree = match &empty {
            Some(first) => sys::open_path(first).and_then(|first| sys::clone_tree(first.as_fd())),
            None => {
                let attributes = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOSUID;
                sys::new_tmpfs(c"0000", attributes)
            }
        };
        let layer = Layer {
            path: path.clone(),
            tree: tree.map_err(at(path))?,
            blank: false,
        };
        layer.attach(stage)?;
        empty.get_or_insert(place);
    }
    Ok(())
}

/// Whether something is a directory; `None` if it is gone.
fn is_directory(path: &Path) -> Result<Option<bool>, Failure> {
    match sys::open_path(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        file => file
            .and_then(|file| fs::File::from(file).metadata())
            .map(|found| Some(found.is_dir()))
            .map_err(at(path)),
    }
}

fn copy_with(path: &Path, attributes: u64) -> Result<Option<Layer>, Failure> {
    let layer = copy(path)?;
    if let Some(layer) = &layer {
        let attributes = attributes | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOSUID;
        sys::set_tree_attributes(layer.tree.as_fd(), attributes).map_err(at(path))?;
    }
    Ok(layer)
}

/// A detached copy; `None` if there is nothing at the path.
fn copy(path: &Path) -> Result<Option<Layer>, Failure> {
    let file = match sys::open_path(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        file => file.map_err(at(path))?,
    };
    let tree = sys::clone_tree(file.as_fd()).map_err(at(path))?;
    Ok(Some(Layer {
        path: path.to_path_buf(),
        tree,
        blank: false,
    }))
}

impl Layer {
    fn attach(&self, stage: &Path) -> Result<(), Failure> {
        let place = below(stage, &self.path);
        let file = match sys::open_path(&place) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => self
                .make_place(&place)
                .and_then(|()| sys::open_path(&place)),
            file => file,
        };
        file.and_then(|file| sys::attach(self.tree.as_fd(), file.as_fd()))
            .map_err(at(&self.path))
    }

    fn make_place(&self, place: &Path) -> io::Result<()> {
        if fs::File::from(self.tree.try_clone()?).metadata()?.is_dir() {
            return fs::create_dir_all(place);
        }
        if let Some(parent) = place.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::File::create_new(place).map(drop)
    }
}

/// File systems that belong to the sandbox alone.
fn mount_private(stage: &Path, rules: &Rules) -> Result<(), Failure> {
    let shared_memory = Path::new("/dev/shm");
    if !rules
        .entries
        .iter()
        .any(|entry| entry.path.starts_with(shared_memory))
    {
        mount_if_possible(
            c"tmpfs",
            &below(stage, shared_memory),
            HARMLESS,
            c"mode=1777",
        )?;
    }
    let terminals = below(stage, Path::new("/dev/pts"));
    let options = c"newinstance,ptmxmode=0666,mode=620";
    mount_if_possible(
        c"devpts",
        &terminals,
        libc::MS_NOSUID | libc::MS_NOEXEC,
        options,
    )?;
    let ptmx = below(stage, Path::new("/dev/ptmx"));
    if !ptmx.is_symlink()
        && let Some(own) = copy(&terminals.join("ptmx"))?
    {
        Layer { path: ptmx, ..own }.attach(Path::new("/"))?;
    }
    // The files of /proc belong to the real root, whatever it has given up.
    let read_only = if sys::is_root() { libc::MS_RDONLY } else { 0 };
    let flags = HARMLESS | libc::MS_NOEXEC | read_only;
    mount_if_possible(c"proc", &below(stage, Path::new("/proc")), flags, c"")
}

/// Mounts over a directory; where that is not there or the kernel does not let us (some containers hide
/// parts of `/proc`), what was visible before stays, read-only.
fn mount_if_possible(
    kind: &std::ffi::CStr,
    place: &Path,
    flags: libc::c_ulong,
    options: &std::ffi::CStr,
) -> Result<(), Failure> {
    match sys::mount(kind, place, flags, options) {
        Err(error)
            if !matches!(
                error.kind(),
                io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied
            ) =>
        {
            Err(at(place)(error))
        }
        _ => Ok(()),
    }
}

/// Starts an empty view.
fn stage(readable: &[PathBuf]) -> Result<(), Failure> {
    let stage = Path::new(STAGE);
    sys::mount(c"tmpfs", stage, HARMLESS, c"mode=755").map_err(at(stage))?;
    for directory in ["proc", "tmp", "dev/shm", "dev/pts"] {
        fs::create_dir_all(stage.join(directory)).map_err(at(stage))?;
    }
    for (target, link) in DEV_LINKS {
        symlink(target, stage.join(link)).map_err(at(stage))?;
    }
    for link in readable.iter().filter(|path| path.is_symlink()) {
        let place = below(stage, link);
        if let Some(parent) = place.parent() {
            fs::create_dir_all(parent).map_err(at(link))?;
        }
        fs::read_link(link)
            .and_then(|target| symlink(target, place))
            .map_err(at(link))?;
    }
    Ok(())
}

/// Makes the view the only one.
fn leave_for(stage: &Path) -> Result<(), Failure> {
    std::env::set_current_dir(stage)
        .and_then(|()| sys::pivot_to_current_directory())
        .and_then(|()| std::env::set_current_dir("/"))
        .map_err(at(stage))?;
    let root = Path::new("/");
    let own = sys::open_path(root).map_err(at(root))?;
    sys::set_attributes(own.as_fd(), MOUNT_ATTR_RDONLY).map_err(at(root))
}

fn below(stage: &Path, path: &Path) -> PathBuf {
    stage.join(path.strip_prefix("/").unwrap_or(path))
}
