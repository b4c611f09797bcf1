//! A server that itself runs in a container, where the kernel allows less.

use std::{io, os::unix::process::CommandExt};

use quipu_sandbox::{
    Command, Enforcement, Exit, Policy, SpawnError, WorkspaceWrite, capabilities, spawn,
};

use crate::{
    escape::ONLY,
    lab::{IN_ROLE, NOBODY, Scratch, finish, is_in_role, program, shell, test_process, user_id},
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
    let policy = Policy::WorkspaceWrite(WorkspaceWrite {
        writable_roots: vec![std::env::temp_dir()],
        ..WorkspaceWrite::new(&scratch.workspace)
    });
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
        server.env(ONLY, "Namespaces");
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

/// What container engines forbid by default, each with what a program is told.
const FORBIDDEN: [(libc::c_long, i32); 10] = [
    (libc::SYS_unshare, libc::EPERM),
    (libc::SYS_setns, libc::EPERM),
    (libc::SYS_mount, libc::EPERM),
    (libc::SYS_umount2, libc::EPERM),
    (libc::SYS_pivot_root, libc::EPERM),
    (libc::SYS_fsopen, libc::EPERM),
    (libc::SYS_open_tree, libc::EPERM),
    (libc::SYS_bpf, libc::EPERM),
    (libc::SYS_userfaultfd, libc::EPERM),
    // Its flags are in memory, where a filter cannot look.
    (libc::SYS_clone3, libc::ENOSYS),
];

/// The flags of `clone` that make namespaces.
const NEW_NAMESPACES: u32 = 0x7e02_0000;

/// Forbids what containers forbid, and more.
fn contain(more: &[(libc::c_long, i32)]) -> io::Result<()> {
    let word = |code: u32, k: u32| libc::sock_filter {
        code: code as u16,
        jt: 0,
        jf: 0,
        k,
    };
    let load = |at: u32| word(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, at);
    let end = |action: u32| word(libc::BPF_RET | libc::BPF_K, action);
    let unless = |test: u32, k: u32, skip: u8| libc::sock_filter {
        jf: skip,
        ..word(libc::BPF_JMP | libc::BPF_K | test, k)
    };
    let (number, first_argument) = (0, 16);
    let mut program = [end(libc::SECCOMP_RET_ALLOW); 64];
    let mut length = 0;
    let mut add = |part: libc::sock_filter| {
        program[length] = part;
        length += 1;
    };
    add(load(number));
    for (call, error) in FORBIDDEN.iter().chain(more) {
        add(unless(libc::BPF_JEQ, *call as u32, 1));
        add(end(libc::SECCOMP_RET_ERRNO | error.cast_unsigned()));
    }
    add(unless(libc::BPF_JEQ, libc::SYS_clone as u32, 3));
    add(load(first_argument));
    add(unless(libc::BPF_JSET, NEW_NAMESPACES, 1));
    add(end(libc::SECCOMP_RET_ERRNO | libc::EPERM.cast_unsigned()));
    let filter = libc::sock_fprog {
        len: length as u16 + 1,
        filter: program.as_mut_ptr(),
    };
    // SAFETY: concerns this process only; the filter lives through the call.
    let done = unsafe {
        libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
        libc::prctl(
            libc::PR_SET_SECCOMP,
            libc::SECCOMP_MODE_FILTER,
            &raw const filter,
        )
    };
    if done == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

/// Runs a test in a container that forbids this besides what all do, as each kind of user.
fn run_contained(test: &str, more: &'static [(libc::c_long, i32)]) {
    let users = match user_id() {
        0 => vec![0, NOBODY],
        own => vec![own],
    };
    for user in users {
        let mut server = test_process(test, user);
        server.env(ONLY, "Landlock");
        // SAFETY: only system calls between fork and exec.
        unsafe { server.pre_exec(|| contain(more)) };
        let done = server.output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let (stdout, stderr) = (text(&done.stdout), text(&done.stderr));
        assert!(done.status.success(), "user {user}: {stdout}\n{stderr}");
        assert!(
            stdout.contains("1 passed"),
            "{test} is not the name of a test"
        );
    }
}

#[test]
fn in_a_container_with_the_usual_filter_work_is_done_and_attacks_are_prevented() {
    run_contained("container::server", &[]);
    run_contained("escape::every_attack_is_prevented", &[]);
}

/// The role of a server in a place where nothing can be enforced.
#[tokio::test]
async fn helpless_server() {
    if !is_in_role() {
        return;
    }
    let found = capabilities().await.unwrap().to_string();
    assert!(
        found.starts_with("sandbox: none, sandboxed commands are refused"),
        "{found}"
    );
    let scratch = Scratch::new();
    let error = spawn(scratch.shell("touch made", Enforcement::Auto))
        .await
        .unwrap_err();
    assert!(matches!(error, SpawnError::CannotEnforce { .. }), "{error}");
    let text = error.to_string();
    for words in [
        "no namespaces: ",
        "no Landlock in this kernel",
        "Allow unprivileged user namespaces",
    ] {
        assert!(text.contains(words), "{text}");
    }
    assert!(!scratch.workspace.join("made").exists());
    let bare = finish(shell("echo ran", &scratch.workspace, Policy::FullAccess)).await;
    assert_eq!(bare.stdout, "ran\n");
}

#[test]
fn where_nothing_can_be_enforced_commands_are_refused_with_the_reason_and_the_fix() {
    run_contained(
        "container::helpless_server",
        &[(libc::SYS_landlock_create_ruleset, libc::ENOSYS)],
    );
}
