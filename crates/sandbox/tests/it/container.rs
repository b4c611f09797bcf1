//! A server that itself runs in a container, where the kernel allows less.

use std::{io, os::unix::process::CommandExt};

use quipu_sandbox::{Command, Enforcement, Exit, Policy, WorkspaceWrite, capabilities};

use crate::{
    escape::QUICK,
    lab::{IN_ROLE, Scratch, finish, is_in_role, program, shell, test_process, user_id},
    work::EVERYDAY,
};

/// The role of a server in a place where namespaces are forbidden.
#[tokio::test]
async fn server() {
    if !is_in_role() {
        return;
    }
    let found = capabilities().await.unwrap();
    println!("{found}");
    assert!(found.namespaces.is_err());
    let bare = Scratch::new();
    let expected = finish(shell(EVERYDAY, &bare.workspace, Policy::FullAccess)).await;
    let scratch = Scratch::new();
    let done = finish(scratch.shell(EVERYDAY, Enforcement::Auto)).await;
    assert_eq!(done.stdout, expected.stdout, "{}", done.stderr);
    assert_eq!(done.exit, Exit::Code(0));
    let outside = scratch.outside.join("new");
    let escape = format!("echo x > {}", outside.display());
    assert_ne!(
        finish(scratch.shell(&escape, Enforcement::Auto)).await.exit,
        Exit::Code(0)
    );
    assert!(!outside.exists());
}

#[tokio::test]
async fn without_namespaces_landlock_takes_over() {
    // A sandbox of our own forbids new namespaces, as containers do.
    let scratch = Scratch::new();
    let policy = Policy::WorkspaceWrite(WorkspaceWrite::new(&scratch.workspace));
    let mut command = shell("", &scratch.workspace, policy);
    command.enforcement = Enforcement::Namespaces;
    command.argv = vec![program().into()];
    command
        .argv
        .extend(["container::server", "--exact", "--nocapture"].map(Into::into));
    command.env.push((IN_ROLE.into(), "yes".into()));
    let done = finish(Command { ..command }).await;
    assert_eq!(done.exit, Exit::Code(0), "{done:?}");
    assert!(
        done.stdout.contains("sandbox: Landlock and seccomp"),
        "{done:?}"
    );
}

/// Hides parts of `/proc`, as container engines do. The kernel then allows no new one.
fn mask_proc() -> io::Result<()> {
    let mount =
        |kind: *const libc::c_char, source: *const libc::c_char, at: &std::ffi::CStr, flags| {
            // SAFETY: terminated strings or none.
            match unsafe { libc::mount(source, at.as_ptr(), kind, flags, std::ptr::null()) } {
                0 => Ok(()),
                _ => Err(io::Error::last_os_error()),
            }
        };
    let none = std::ptr::null();
    // SAFETY: concerns this process only.
    unsafe { libc::unshare(libc::CLONE_NEWNS) };
    mount(none, none, c"/", libc::MS_REC | libc::MS_PRIVATE)?;
    mount(none, c"/dev/null".as_ptr(), c"/proc/version", libc::MS_BIND)?;
    mount(c"tmpfs".as_ptr(), none, c"/proc/fs", libc::MS_RDONLY)
}

#[test]
fn hidden_parts_of_proc_do_not_matter() {
    if user_id() != 0 {
        eprintln!("only root can hide parts of /proc");
        return;
    }
    // The second one becomes an ordinary user after that.
    for test in [
        "escape::every_attack_is_prevented",
        "escape::every_attack_is_prevented_for_an_ordinary_user",
    ] {
        let mut server = test_process(test, 0);
        server.env(QUICK, "yes");
        // SAFETY: only system calls between fork and exec.
        unsafe { server.pre_exec(mask_proc) };
        let done = server.output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        assert!(
            done.status.success(),
            "{}\n{}",
            text(&done.stdout),
            text(&done.stderr)
        );
    }
}
