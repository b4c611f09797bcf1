//! Attempts to leave a program behind that lends this user's rights to everybody who runs it.

use std::{
    ffi::CString,
    fs::{self, File, Permissions},
    io,
    os::{
        fd::{AsRawFd, FromRawFd, OwnedFd},
        unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt, chown},
    },
    path::{Path, PathBuf},
};

use super::{Deed, Works, at_cwd, c_string, workspace};
use crate::lab::system_call;
use Works::{ForAnybody, ForRoot};

/// Set-user-id, set-group-id, and what makes a program.
const LENDING: u32 = 0o4755;
const LENDING_GROUP: u32 = 0o2755;

pub const ATTACKS: &[(&str, Works, Deed)] = &[
    ("chmod 4755", ForAnybody, || by_path(LENDING)),
    ("chmod 2755", ForAnybody, || by_path(LENDING_GROUP)),
    ("chmod 2775 on a directory", ForAnybody, || {
        let directory = workspace("directory/new");
        fs::create_dir(&directory)?;
        fs::set_permissions(&directory, Permissions::from_mode(0o2775))?;
        lends(&directory)
    }),
    ("fchmod 4755", ForAnybody, || {
        let path = made()?;
        File::open(&path)?.set_permissions(Permissions::from_mode(LENDING))?;
        lends(&path)
    }),
    ("fchmodat 4755", ForAnybody, || {
        let path = made()?;
        let text = c_string(&path);
        let arguments = [at_cwd(), text.as_ptr() as usize, LENDING as usize];
        system_call(libc::SYS_fchmodat, &arguments)?;
        lends(&path)
    }),
    ("fchmodat2 4755", ForAnybody, || {
        let path = made()?;
        let text = c_string(&path);
        let arguments = [at_cwd(), text.as_ptr() as usize, LENDING as usize, 0];
        system_call(452, &arguments)?;
        lends(&path)
    }),
    (
        "chmod 4755 with unused bits of the mode set",
        ForAnybody,
        || {
            let path = made()?;
            let text = c_string(&path);
            let mode = 0xffff_ffff_0000_0000 | LENDING as usize;
            system_call(
                libc::SYS_fchmodat,
                &[at_cwd(), text.as_ptr() as usize, mode],
            )?;
            lends(&path)
        },
    ),
    ("chmod 4755 through a link of /proc", ForAnybody, || {
        let path = made()?;
        let file = File::open(&path)?;
        let link = format!("/proc/self/fd/{}", file.as_raw_fd());
        fs::set_permissions(link, Permissions::from_mode(LENDING))?;
        lends(&path)
    }),
    ("open a new file with mode 4755", ForAnybody, || {
        let path = workspace("directory/program");
        let mut options = File::options();
        options.write(true).create_new(true).mode(LENDING);
        options.open(&path)?;
        lends(&path)
    }),
    ("openat2 with mode 4755", ForAnybody, || {
        let path = workspace("directory/program");
        let text = c_string(&path);
        let how = [
            (libc::O_CREAT | libc::O_WRONLY) as u64,
            u64::from(LENDING),
            0,
        ];
        let how = how.as_ptr() as usize;
        system_call(
            libc::SYS_openat2,
            &[at_cwd(), text.as_ptr() as usize, how, 24],
        )?;
        lends(&path)
    }),
    #[cfg(target_arch = "x86_64")]
    ("creat with mode 4755", ForAnybody, || {
        let path = workspace("directory/program");
        let text = c_string(&path);
        system_call(libc::SYS_creat, &[text.as_ptr() as usize, LENDING as usize])?;
        lends(&path)
    }),
    (
        "a file without a name and with mode 4755, linked later",
        ForAnybody,
        || {
            let directory = c_string(&workspace("directory"));
            let flags = (libc::O_TMPFILE | libc::O_WRONLY) as usize;
            let arguments = [
                at_cwd(),
                directory.as_ptr() as usize,
                flags,
                LENDING as usize,
            ];
            let fd = system_call(libc::SYS_openat, &arguments)?;
            // SAFETY: the descriptor is new.
            let file = unsafe { OwnedFd::from_raw_fd(fd as i32) };
            let source = CString::new(format!("/proc/self/fd/{}", file.as_raw_fd()))?;
            let path = workspace("directory/program");
            let text = c_string(&path);
            let arguments = [
                at_cwd(),
                source.as_ptr() as usize,
                at_cwd(),
                text.as_ptr() as usize,
                libc::AT_SYMLINK_FOLLOW as usize,
            ];
            system_call(libc::SYS_linkat, &arguments)?;
            lends(&path)
        },
    ),
    ("mknod with mode 4755", ForAnybody, || {
        let path = workspace("directory/program");
        let text = c_string(&path);
        let mode = (libc::S_IFREG | LENDING) as usize;
        system_call(
            libc::SYS_mknodat,
            &[at_cwd(), text.as_ptr() as usize, mode, 0],
        )?;
        lends(&path)
    }),
    // A user that may not keep the bits loses them by writing.
    ("write a set-user-id program that is there", ForRoot, || {
        let path = workspace("lender");
        fs::OpenOptions::new().write(true).open(&path)?;
        super::append(&path)?;
        lends(&path)
    }),
    ("give a set-user-id program away and back", ForRoot, || {
        let path = workspace("lender");
        chown(&path, Some(1), Some(1))?;
        chown(&path, Some(0), Some(0))?;
        fs::set_permissions(&path, Permissions::from_mode(LENDING))?;
        lends(&path)
    }),
    ("give a program capabilities", ForRoot, || {
        let path = c_string(&made()?);
        // Version 2, effective; all of the first word.
        let value = [0x0200_0001_u32, u32::MAX, 0, 0, 0];
        let arguments = [
            path.as_ptr() as usize,
            c"security.capability".as_ptr() as usize,
            value.as_ptr() as usize,
            size_of_val(&value),
            0,
        ];
        system_call(libc::SYS_setxattr, &arguments).map(drop)
    }),
];

/// A program of this user.
fn made() -> io::Result<PathBuf> {
    let path = workspace("directory/program");
    fs::write(&path, "x")?;
    Ok(path)
}

fn by_path(mode: u32) -> io::Result<()> {
    let path = made()?;
    fs::set_permissions(&path, Permissions::from_mode(mode))?;
    lends(&path)
}

/// Whether the file really has one of the bits.
fn lends(path: &Path) -> io::Result<()> {
    match fs::metadata(path)?.mode() & 0o6000 {
        0 => Err(io::ErrorKind::PermissionDenied.into()),
        _ => Ok(()),
    }
}
