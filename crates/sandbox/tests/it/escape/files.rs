//! Attacks on files outside the workspace and on protected ones inside.

use std::{
    fs::{self, File, OpenOptions, Permissions},
    io::{self, Write},
    os::unix::fs::{OpenOptionsExt, PermissionsExt, chown, symlink},
    path::{Path, PathBuf},
};

use super::{
    Deed, Works, append, at_cwd, c_string, number, outside, property, relative, workspace,
};
use crate::lab::system_call;
use Works::{ForAnybody, ForRoot, Unknown};

pub const ATTACKS: &[(&str, Works, Deed)] = &[
    ("write by path", ForAnybody, || {
        fs::write(outside("file"), "x")
    }),
    ("append by path", ForAnybody, || append(&outside("file"))),
    ("create by path", ForAnybody, || {
        fs::write(outside("new"), "x")
    }),
    ("write by dots", ForAnybody, || {
        fs::write(workspace("../outside/file"), "x")
    }),
    ("write by symbolic link", ForAnybody, || {
        symlink(property("OUTSIDE"), workspace("directory/link"))?;
        fs::write(workspace("directory/link/file"), "x")
    }),
    ("write by the root of a process", ForAnybody, || {
        fs::write(Path::new("/proc/self/root").join(relative("file")), "x")
    }),
    ("write by the root of the server", ForAnybody, || {
        fs::write(server("root").join(relative("file")), "x")
    }),
    (
        "write by a descriptor of the server",
        ForAnybody,
        by_descriptor_of_the_server,
    ),
    ("rename out", ForAnybody, || {
        fs::write(workspace("directory/new"), "x")?;
        fs::rename(workspace("directory/new"), outside("file"))
    }),
    ("rename in", ForAnybody, || {
        fs::rename(outside("file"), workspace("directory/file"))
    }),
    ("exchange", ForAnybody, exchange),
    ("hard link in and write", ForAnybody, || {
        fs::hard_link(outside("file"), workspace("directory/hard"))?;
        fs::write(workspace("directory/hard"), "x")
    }),
    ("hard link out", ForAnybody, || {
        fs::write(workspace("directory/new"), "x")?;
        fs::hard_link(workspace("directory/new"), outside("new"))
    }),
    ("symbolic link out", ForAnybody, || {
        symlink("/", outside("new"))
    }),
    ("truncate", ForAnybody, || {
        let path = c_string(&outside("file"));
        system_call(libc::SYS_truncate, &[path.as_ptr() as usize, 0]).map(drop)
    }),
    ("truncate by opening", ForAnybody, || {
        OpenOptions::new()
            .write(true)
            .truncate(true)
            .open(outside("file"))
            .map(drop)
    }),
    ("remove", ForAnybody, || fs::remove_file(outside("file"))),
    ("make a directory", ForAnybody, || {
        fs::create_dir(outside("new"))
    }),
    ("make a pipe", ForAnybody, || {
        let path = c_string(&outside("new"));
        let mode = libc::S_IFIFO as usize | 0o600;
        system_call(
            libc::SYS_mknodat,
            &[at_cwd(), path.as_ptr() as usize, mode, 0],
        )
        .map(drop)
    }),
    ("change the mode", ForAnybody, || {
        fs::set_permissions(outside("file"), Permissions::from_mode(0o666))
    }),
    ("change the mode of a descriptor", ForAnybody, || {
        File::open(outside("file"))?.set_permissions(Permissions::from_mode(0o666))
    }),
    ("change the owner", ForRoot, || {
        chown(outside("file"), Some(1), Some(1))
    }),
    ("change the time", ForAnybody, || {
        let path = c_string(&outside("file"));
        system_call(
            libc::SYS_utimensat,
            &[at_cwd(), path.as_ptr() as usize, 0, 0],
        )
        .map(drop)
    }),
    ("change the time of a descriptor", ForAnybody, || {
        File::open(outside("file"))?.set_modified(std::time::SystemTime::UNIX_EPOCH)
    }),
    ("set an attribute", ForAnybody, || {
        let path = c_string(&outside("file"));
        let (path, name) = (path.as_ptr() as usize, c"user.x".as_ptr() as usize);
        system_call(libc::SYS_setxattr, &[path, name, name, 1, 0]).map(drop)
    }),
    ("write a hook", ForAnybody, || {
        fs::write(workspace(".git/hooks/pre-commit"), "x")
    }),
    ("add a hook", ForAnybody, || {
        fs::write(workspace(".git/hooks/post-commit"), "x")
    }),
    ("link a hook", ForAnybody, || {
        symlink("/evil", workspace(".git/hooks/post-commit"))
    }),
    ("write the configuration of git", ForAnybody, || {
        append(&workspace(".git/config"))
    }),
    ("make a hook executable", ForAnybody, || {
        fs::set_permissions(
            workspace(".git/hooks/pre-commit"),
            Permissions::from_mode(0o755),
        )
    }),
    ("replace the repository", ForAnybody, || {
        fs::rename(workspace(".git"), workspace("directory/git"))?;
        fs::create_dir(workspace(".git"))
    }),
    ("exchange the repository", ForAnybody, || {
        exchange_paths(&workspace(".git"), &workspace("directory"))
    }),
    ("hard link the configuration of git", ForAnybody, || {
        fs::hard_link(workspace(".git/config"), workspace("directory/config"))?;
        append(&workspace("directory/config"))
    }),
    ("write the configuration of the home", ForAnybody, || {
        append(&workspace("home/config.toml"))
    }),
    ("make a configuration directory", ForAnybody, || {
        fs::create_dir(workspace(".codex"))?;
        fs::write(workspace(".codex/config.toml"), "x")
    }),
    ("rename to a configuration directory", ForAnybody, || {
        fs::create_dir(workspace("directory/new"))?;
        fs::rename(workspace("directory/new"), workspace(".codex"))?;
        fs::write(workspace(".codex/config.toml"), "x")
    }),
    ("link a configuration directory", ForAnybody, || {
        symlink(workspace("directory"), workspace(".codex"))?;
        fs::write(workspace(".codex/config.toml"), "x")
    }),
    ("replace the workspace", ForAnybody, || {
        fs::rename(property("WORKSPACE"), outside("new"))
    }),
    ("write shared memory of the host", ForAnybody, || {
        append(&property("SHM_FILE"))
    }),
    ("open by handle", ForRoot, by_handle),
    ("exchange the text of a path", Unknown, race_text),
    ("exchange a directory for a link", Unknown, race_link),
    ("link in, write later", ForAnybody, || {
        symlink(outside("file"), workspace("directory/link"))?;
        append(&workspace("directory/link"))
    }),
    ("create by a dangling link", ForAnybody, || {
        symlink(outside("new"), workspace("directory/link"))?;
        fs::write(workspace("directory/link"), "x")
    }),
    ("change the mode by a link", ForAnybody, || {
        symlink(outside("file"), workspace("directory/link"))?;
        fs::set_permissions(workspace("directory/link"), Permissions::from_mode(0o666))
    }),
    ("write into a pipe", ForAnybody, || {
        open_at_once(&outside("pipe"), libc::O_WRONLY)?.write_all(b"x")
    }),
    (
        "write into a pipe, opened to read and write",
        ForAnybody,
        || open_at_once(&outside("pipe"), libc::O_RDWR)?.write_all(b"x"),
    ),
    ("write into a pipe by a symbolic link", ForAnybody, || {
        symlink(outside("pipe"), workspace("directory/link"))?;
        open_at_once(&workspace("directory/link"), libc::O_WRONLY)?.write_all(b"x")
    }),
    ("write into a pipe by a hard link", ForAnybody, || {
        fs::hard_link(outside("pipe"), workspace("directory/link"))?;
        open_at_once(&workspace("directory/link"), libc::O_WRONLY)?.write_all(b"x")
    }),
    (
        "write into a pipe by the root of a process",
        ForAnybody,
        || {
            let path = Path::new("/proc/self/root").join(relative("pipe"));
            open_at_once(&path, libc::O_WRONLY)?.write_all(b"x")
        },
    ),
    ("move a pipe into the workspace", ForAnybody, || {
        fs::rename(outside("pipe"), workspace("directory/pipe"))
    }),
    ("write to a device outside", ForRoot, || {
        open_at_once(&outside("device"), libc::O_WRONLY)?.write_all(b"x")
    }),
    (
        "name a file, then open it by its name in /proc",
        ForAnybody,
        || {
            let text = c_string(&outside("file"));
            let arguments = [at_cwd(), text.as_ptr() as usize, libc::O_PATH as usize];
            let fd = system_call(libc::SYS_openat, &arguments)?;
            append(format!("/proc/self/fd/{fd}").as_ref())
        },
    ),
    (
        "open a file, then open it again to write",
        ForAnybody,
        || {
            use std::os::fd::AsRawFd;
            let file = File::open(outside("file"))?;
            append(format!("/proc/self/fd/{}", file.as_raw_fd()).as_ref())
        },
    ),
    ("write from a directory outside", ForAnybody, || {
        std::env::set_current_dir(property("OUTSIDE"))?;
        fs::write("file", "x")
    }),
    ("write by the directory of a process", ForAnybody, || {
        std::env::set_current_dir(property("OUTSIDE"))?;
        fs::write("/proc/self/cwd/file", "x")
    }),
    ("write by openat2", ForAnybody, || {
        let text = c_string(&outside("file"));
        let how = [libc::O_WRONLY as u64, 0, 0];
        let arguments = [at_cwd(), text.as_ptr() as usize, how.as_ptr() as usize, 24];
        system_call(libc::SYS_openat2, &arguments).map(drop)
    }),
    ("a file without a name outside", ForAnybody, || {
        let text = c_string(&property("OUTSIDE"));
        let flags = (libc::O_TMPFILE | libc::O_WRONLY) as usize;
        let arguments = [at_cwd(), text.as_ptr() as usize, flags, 0o600];
        system_call(libc::SYS_openat, &arguments).map(drop)
    }),
    ("remove a directory", ForAnybody, || {
        fs::remove_dir(outside("empty"))
    }),
    ("set an attribute of a descriptor", ForAnybody, || {
        use std::os::fd::AsRawFd;
        let file = File::open(outside("file"))?;
        let name = c"user.x".as_ptr() as usize;
        let arguments = [file.as_raw_fd() as usize, name, name, 1, 0];
        system_call(libc::SYS_fsetxattr, &arguments).map(drop)
    }),
    ("set an attribute by the newest call", Unknown, || {
        let path = c_string(&outside("file"));
        let value = [0x78_u8];
        let value = [value.as_ptr() as u64, 1];
        let arguments = [
            at_cwd(),
            path.as_ptr() as usize,
            0,
            c"user.x".as_ptr() as usize,
            value.as_ptr() as usize,
            16,
        ];
        system_call(463, &arguments).map(drop)
    }),
    ("change the owner of a descriptor", ForRoot, || {
        let file = File::open(outside("file"))?;
        std::os::unix::fs::fchown(file, Some(1), Some(1))
    }),
    ("replace a writable directory by a link", ForAnybody, || {
        fs::rename(
            property("WORKSPACE"),
            property("WORKSPACE").with_extension("old"),
        )?;
        symlink(property("OUTSIDE"), property("WORKSPACE"))
    }),
    ("keep others from a file", ForAnybody, || {
        use std::os::fd::AsRawFd;
        let file = File::open(outside("victim"))?;
        let (fd, lease) = (file.as_raw_fd() as usize, libc::F_SETLEASE as usize);
        system_call(libc::SYS_fcntl, &[fd, lease, libc::F_RDLCK as usize]).map(drop)
    }),
    ("set flags of a file", ForAnybody, || {
        use std::os::fd::AsRawFd;
        let file = File::open(outside("file"))?;
        let mut flags = 0_u64;
        let at = &raw mut flags as usize;
        // Get them, set them.
        system_call(
            libc::SYS_ioctl,
            &[file.as_raw_fd() as usize, 0x8008_6601, at],
        )?;
        system_call(
            libc::SYS_ioctl,
            &[file.as_raw_fd() as usize, 0x4008_6602, at],
        )
        .map(drop)
    }),
];

/// Opens without waiting for the other end.
fn open_at_once(path: &Path, access: libc::c_int) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(access == libc::O_RDWR).write(true);
    options.custom_flags(libc::O_NONBLOCK).open(path)
}

fn server(entry: &str) -> PathBuf {
    PathBuf::from(format!("/proc/{}/{entry}", number("SERVER")))
}

fn by_descriptor_of_the_server() -> io::Result<()> {
    let mut result = Err(io::ErrorKind::NotFound.into());
    for entry in fs::read_dir(server("fd"))? {
        let path = entry?.path();
        if fs::read_link(&path).is_ok_and(|target| target == outside("file")) {
            result = append(&path);
        }
    }
    result
}

fn exchange() -> io::Result<()> {
    fs::write(workspace("directory/new"), "x")?;
    exchange_paths(&outside("file"), &workspace("directory/new"))
}

fn exchange_paths(one: &Path, other: &Path) -> io::Result<()> {
    let (one, other) = (c_string(one), c_string(other));
    let arguments = [
        at_cwd(),
        one.as_ptr() as usize,
        at_cwd(),
        other.as_ptr() as usize,
        libc::RENAME_EXCHANGE as usize,
    ];
    system_call(libc::SYS_renameat2, &arguments).map(drop)
}

/// A file handle is opened without any path, past everything that looks at paths.
fn by_handle() -> io::Result<()> {
    let path = c_string(&outside("file"));
    let mut handle = [0_u32; 40];
    handle[0] = 128;
    let mut mount = 0_i32;
    let (handle_at, mount_at) = (handle.as_mut_ptr() as usize, &raw mut mount as usize);
    let arguments = [at_cwd(), path.as_ptr() as usize, handle_at, mount_at, 0];
    system_call(libc::SYS_name_to_handle_at, &arguments)?;
    let root = File::open("/")?;
    let arguments = [
        std::os::fd::AsRawFd::as_raw_fd(&root) as usize,
        handle_at,
        libc::O_WRONLY as usize,
    ];
    system_call(libc::SYS_open_by_handle_at, &arguments).map(drop)
}

/// How long a race is run.
const RACE: std::time::Duration = std::time::Duration::from_millis(20);

/// A thread changes the path while others look at it, from one that may be written to one that may
/// not. What comes of it shows afterwards.
fn race_text() -> io::Result<()> {
    let [good, bad] = ["directory/safe/a", ".git/hooks/a"].map(|name| c_string(&workspace(name)));
    fs::create_dir(workspace("directory/safe"))?;
    let mut text = [0_u8; 512];
    let at = text.as_mut_ptr() as usize;
    let end = std::time::Instant::now() + RACE;
    std::thread::scope(|scope| {
        scope.spawn(move || {
            while std::time::Instant::now() < end {
                for path in [&good, &bad] {
                    let bytes = path.as_bytes_with_nul();
                    // SAFETY: the buffer outlives the thread and is large enough; that others read it
                    // meanwhile is the point.
                    unsafe {
                        std::ptr::copy_nonoverlapping(bytes.as_ptr(), at as *mut u8, bytes.len());
                    }
                }
            }
        });
        while std::time::Instant::now() < end {
            let flags = (libc::O_CREAT | libc::O_WRONLY) as usize;
            if let Ok(fd) = system_call(libc::SYS_openat, &[at_cwd(), at, flags, 0o700]) {
                system_call(libc::SYS_close, &[fd as usize]).ok();
            }
            system_call(libc::SYS_fchmodat, &[at_cwd(), at, 0o777]).ok();
            system_call(libc::SYS_mkdirat, &[at_cwd(), at, 0o700]).ok();
        }
    });
    Err(io::ErrorKind::PermissionDenied.into())
}

/// A directory on the way is exchanged for a link to a protected one, again and again.
fn race_link() -> io::Result<()> {
    let [way, link] = ["directory/way", "directory/link"].map(workspace);
    fs::create_dir(&way)?;
    symlink(workspace(".git/hooks"), &link)?;
    let end = std::time::Instant::now() + RACE;
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while std::time::Instant::now() < end {
                exchange_paths(&way, &link).ok();
            }
        });
        while std::time::Instant::now() < end {
            fs::write(way.join("a"), "x").ok();
            fs::set_permissions(way.join("pre-commit"), Permissions::from_mode(0o777)).ok();
            fs::rename(way.join("a"), way.join("b")).ok();
            fs::remove_file(way.join("pre-commit")).ok();
        }
    });
    Err(io::ErrorKind::PermissionDenied.into())
}
