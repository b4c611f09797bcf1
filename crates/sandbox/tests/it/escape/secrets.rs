//! Attempts to read what is hidden: the stores of the server, in its home inside and outside of the
//! workspace, and the credentials of the user.

use std::{
    ffi::CString,
    fs::{self, File},
    io::{self, Read},
    os::{
        fd::{AsRawFd, FromRawFd, OwnedFd},
        unix::fs::symlink,
    },
    path::{Path, PathBuf},
};

use super::{Deed, Works, at_cwd, c_string, number, outside, property, relative, workspace};
use crate::lab::system_call;
use Works::{ForAnybody, ForRoot};

pub const ATTACKS: &[(&str, Works, Deed)] = &[
    ("read a store", ForAnybody, || {
        read(&outside("home/auth.json"))
    }),
    ("read a store in the workspace", ForAnybody, || {
        read(&workspace("home/auth.json"))
    }),
    ("read a stored thread", ForAnybody, || {
        let found = fs::read_dir(outside("home/sessions"))?;
        let path = found.flatten().next().map(|it| it.path());
        read(&path.ok_or(io::ErrorKind::NotFound)?)
    }),
    ("read a store by dots", ForAnybody, || {
        read(&outside("home/skills/../auth.json"))
    }),
    ("read a store in other letters", Works::Unknown, || {
        read(&outside("HOME/AUTH.JSON"))
    }),
    ("read a store by a symbolic link", ForAnybody, || {
        symlink(outside("home"), workspace("directory/link"))?;
        read(&workspace("directory/link/auth.json"))
    }),
    ("read a store by a hard link", ForAnybody, || {
        fs::hard_link(outside("home/auth.json"), workspace("directory/link"))?;
        read(&workspace("directory/link"))
    }),
    (
        "read a store in the workspace by a hard link",
        ForAnybody,
        || {
            fs::hard_link(workspace("home/auth.json"), workspace("directory/link"))?;
            read(&workspace("directory/link"))
        },
    ),
    ("move a store into reach", ForAnybody, || {
        fs::rename(workspace("home/auth.json"), workspace("directory/file"))?;
        let result = read(&workspace("directory/file"));
        fs::rename(workspace("directory/file"), workspace("home/auth.json"))?;
        result
    }),
    ("move the home of the stores", ForAnybody, || {
        fs::rename(workspace("home"), workspace("directory/home"))?;
        let result = read(&workspace("directory/home/auth.json"));
        fs::rename(workspace("directory/home"), workspace("home"))?;
        result
    }),
    ("read a store by the root of a process", ForAnybody, || {
        read(&Path::new("/proc/self/root").join(relative("home/auth.json")))
    }),
    ("read a store by the root of the server", ForAnybody, || {
        let root = format!("/proc/{}/root", number("SERVER"));
        read(&Path::new(&root).join(relative("home/auth.json")))
    }),
    (
        "read a store by the directory of the server",
        ForAnybody,
        || {
            let directory = format!("/proc/{}/cwd", number("SERVER"));
            let up = "../".repeat(20);
            read(
                &Path::new(&directory)
                    .join(up)
                    .join(relative("home/auth.json")),
            )
        },
    ),
    ("read a store that the server has open", ForAnybody, || {
        for entry in fs::read_dir(format!("/proc/{}/fd", number("SERVER")))?.flatten() {
            if fs::read_link(entry.path()).is_ok_and(|it| it == outside("home/auth.json")) {
                return read(&entry.path());
            }
        }
        Err(io::ErrorKind::NotFound.into())
    }),
    ("read a store by openat2", ForAnybody, || {
        let text = c_string(&outside("home/auth.json"));
        let how = [0_u64; 3];
        let arguments = [at_cwd(), text.as_ptr() as usize, how.as_ptr() as usize, 24];
        taken(system_call(libc::SYS_openat2, &arguments)?)
    }),
    (
        "name a store, then open it by its name in /proc",
        ForAnybody,
        || {
            let file = named(&outside("home/auth.json"))?;
            read(format!("/proc/self/fd/{}", file.as_raw_fd()).as_ref())
        },
    ),
    (
        "name a store in the workspace, then open it",
        ForAnybody,
        || {
            let file = named(&workspace("home/auth.json"))?;
            read(format!("/proc/self/fd/{}", file.as_raw_fd()).as_ref())
        },
    ),
    ("link a named store into the workspace", ForAnybody, || {
        let file = named(&workspace("home/auth.json"))?;
        let source = CString::new(format!("/proc/self/fd/{}", file.as_raw_fd()))?;
        let path = workspace("directory/link");
        let text = c_string(&path);
        let arguments = [
            at_cwd(),
            source.as_ptr() as usize,
            at_cwd(),
            text.as_ptr() as usize,
            libc::AT_SYMLINK_FOLLOW as usize,
        ];
        system_call(libc::SYS_linkat, &arguments)?;
        read(&path)
    }),
    ("start in the home, then read a store", ForAnybody, || {
        std::env::set_current_dir(outside("home"))?;
        read(Path::new("auth.json"))
    }),
    ("read a store by its handle", ForRoot, || {
        let path = c_string(&outside("home/auth.json"));
        let mut handle = [0_u32; 40];
        handle[0] = 128;
        let mut mount = 0_i32;
        let (handle, mount) = (handle.as_mut_ptr() as usize, &raw mut mount as usize);
        let arguments = [at_cwd(), path.as_ptr() as usize, handle, mount, 0];
        system_call(libc::SYS_name_to_handle_at, &arguments)?;
        let root = File::open("/")?;
        let arguments = [root.as_raw_fd() as usize, handle, 0];
        taken(system_call(libc::SYS_open_by_handle_at, &arguments)?)
    }),
    ("uncover a store by unmounting", Works::Unknown, || {
        let path = c_string(&outside("home"));
        let arguments = [path.as_ptr() as usize, libc::MNT_DETACH as usize];
        system_call(libc::SYS_umount2, &arguments)?;
        read(&outside("home/auth.json"))
    }),
    ("change the mode of a store", ForAnybody, || {
        let open = std::os::unix::fs::PermissionsExt::from_mode(0o666);
        fs::set_permissions(workspace("home/auth.json"), open)?;
        read(&workspace("home/auth.json"))
    }),
    ("lock a stored thread", ForAnybody, || {
        let file = File::open(outside("home/sessions/thread.jsonl"))?;
        let arguments = [file.as_raw_fd() as usize, libc::LOCK_EX as usize];
        system_call(libc::SYS_flock, &arguments).map(drop)
    }),
    ("write a store", ForAnybody, || {
        super::append(&outside("home/auth.json"))
    }),
    ("put a store in place of another", ForAnybody, || {
        fs::write(workspace("directory/auth.json"), "untouched")?;
        fs::rename(
            workspace("directory/auth.json"),
            workspace("home/auth.json"),
        )
    }),
    ("read a private key of the user", ForAnybody, || {
        read(&outside("credentials/id_ed25519"))
    }),
    ("read a credential file of the user", ForAnybody, || {
        read(&outside("netrc"))
    }),
    ("read a credential by a symbolic link", ForAnybody, || {
        symlink(outside("netrc"), workspace("directory/link"))?;
        read(&workspace("directory/link"))
    }),
    ("read a credential by a hard link", ForAnybody, || {
        fs::hard_link(outside("netrc"), workspace("directory/link"))?;
        read(&workspace("directory/link"))
    }),
    ("run a store as a script", ForAnybody, run_as_script),
];

/// The attacks on what only commands without network must not read.
pub const CREDENTIALS: [&str; 4] = [
    "read a private key of the user",
    "read a credential file of the user",
    "read a credential by a symbolic link",
    "read a credential by a hard link",
];

/// What all secrets of the scene say.
pub const SECRET: &str = "secret";

/// Whether the secret can be read there. Something empty in its place is no secret.
fn read(path: &Path) -> io::Result<()> {
    let mut text = String::new();
    File::open(path)?.read_to_string(&mut text)?;
    if text.contains(SECRET) {
        Ok(())
    } else {
        Err(io::ErrorKind::NotFound.into())
    }
}

/// The same with a file that was opened already.
fn taken(fd: i64) -> io::Result<()> {
    // SAFETY: the descriptor is new.
    let file = unsafe { OwnedFd::from_raw_fd(fd as i32) };
    let mut text = String::new();
    File::from(file).read_to_string(&mut text)?;
    if text.contains(SECRET) {
        Ok(())
    } else {
        Err(io::ErrorKind::NotFound.into())
    }
}

/// A file that is only named, which needs no right to read it.
fn named(path: &Path) -> io::Result<OwnedFd> {
    let text = c_string(path);
    let arguments = [at_cwd(), text.as_ptr() as usize, libc::O_PATH as usize];
    let fd = system_call(libc::SYS_openat, &arguments)?;
    // SAFETY: the descriptor is new.
    Ok(unsafe { OwnedFd::from_raw_fd(fd as i32) })
}

/// Lets the kernel read it, and the shell say what it found.
#[expect(clippy::disallowed_methods, reason = "an attacker runs what it likes")]
fn run_as_script() -> io::Result<()> {
    let script: PathBuf = property("OUTSIDE").join("home/script");
    let ended = std::process::Command::new(script)
        .env_remove(crate::actor::ROLE)
        .status()?;
    if ended.success() {
        Ok(())
    } else {
        Err(io::ErrorKind::PermissionDenied.into())
    }
}
