//! Starting, streaming and ending processes.

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    time::Duration,
};

use quipu_sandbox::{
    Command, Enforcement, Exit, Linger, Network, Policy, Readable, SpawnError, Spawned, StdinError,
    Stdio, capabilities, spawn,
};

use crate::lab::{BACKENDS, Scratch, finish, read_all, read_until, shell};

fn read_only() -> Policy {
    Policy::ReadOnly {
        hidden: quipu_sandbox::Hidden::default(),
        readable: Readable::Everything,
        network: Network::Off,
    }
}

/// Full access and a sandbox by each mechanism.
fn all_ways() -> [(Policy, Enforcement); 3] {
    [
        (Policy::FullAccess, Enforcement::Auto),
        (read_only(), BACKENDS[0]),
        (read_only(), BACKENDS[1]),
    ]
}

fn command(script: &str, way: &(Policy, Enforcement)) -> Command {
    Command {
        enforcement: way.1,
        ..shell(script, Path::new("/"), way.0.clone())
    }
}

#[tokio::test]
async fn output_and_exit_code() {
    for way in all_ways() {
        let done = finish(command("echo out; echo err >&2; exit 3", &way)).await;
        assert_eq!(done.exit, Exit::Code(3), "{done:?}");
        assert_eq!(
            (done.stdout.as_str(), done.stderr.as_str()),
            ("out\n", "err\n")
        );
    }
}

#[tokio::test]
async fn a_signal_is_reported_as_such() {
    for way in all_ways() {
        for (name, number) in [("TERM", libc::SIGTERM), ("KILL", libc::SIGKILL)] {
            let done = finish(command(&format!("kill -{name} $$"), &way)).await;
            assert_eq!(done.exit, Exit::Signal(number), "{done:?}");
        }
    }
}

#[tokio::test]
async fn stdin_is_passed_and_closed() {
    for way in all_ways() {
        let mut command = command("cat; echo end", &way);
        command.stdio = Stdio::Pipes;
        let Spawned {
            process,
            mut output,
        } = spawn(command).await.unwrap();
        process.write_stdin(b"hello ").await.unwrap();
        read_until(&mut output, "hello ").await;
        process.write_stdin(b"world\n").await.unwrap();
        process.close_stdin().await.unwrap();
        process.close_stdin().await.unwrap();
        assert!(matches!(
            process.write_stdin(b"x").await,
            Err(StdinError::Closed)
        ));
        assert_eq!(read_all(&mut output).await.0, "world\nend\n");
        assert_eq!(process.wait().await, Exit::Code(0));
    }
}

#[tokio::test]
async fn without_stdin_there_is_an_immediate_end() {
    for way in all_ways() {
        let Spawned {
            process,
            mut output,
        } = spawn(command("cat; echo end", &way)).await.unwrap();
        assert!(matches!(
            process.write_stdin(b"x").await,
            Err(StdinError::Closed)
        ));
        assert_eq!(read_all(&mut output).await.0, "end\n");
    }
}

#[tokio::test]
async fn a_write_nobody_reads_ends_with_the_command() {
    let mut command = shell("sleep 100", Path::new("/"), Policy::FullAccess);
    command.stdio = Stdio::Pipes;
    let Spawned {
        process,
        output: _output,
    } = spawn(command).await.unwrap();
    let data = vec![0; 1024 * 1024];
    let write = process.write_stdin(&data);
    let kill = async {
        tokio::task::yield_now().await;
        process.kill();
    };
    let (written, ()) = tokio::join!(write, kill);
    assert!(matches!(written, Err(StdinError::Io(_))), "{written:?}");
}

#[tokio::test]
async fn ten_thousand_lines_arrive_in_order() {
    for way in all_ways() {
        let done = finish(command(
            "i=0; while [ $i -lt 10000 ]; do echo $i; i=$((i+1)); done",
            &way,
        ));
        let expected: String = (0..10_000).map(|line| format!("{line}\n")).collect();
        assert_eq!(done.await.stdout, expected);
    }
}

#[tokio::test]
async fn a_flood_of_output_takes_no_memory() {
    let resident = || {
        let status = fs::read_to_string("/proc/self/status").unwrap();
        let line = status
            .lines()
            .find(|line| line.starts_with("VmRSS:"))
            .unwrap();
        line.split_ascii_whitespace()
            .nth(1)
            .unwrap()
            .parse::<u64>()
            .unwrap()
            * 1024
    };
    let total = 100 * 1024 * 1024;
    let script = format!("head -c {total} /dev/zero");
    let Spawned {
        process,
        mut output,
    } = spawn(shell(&script, Path::new("/"), Policy::FullAccess))
        .await
        .unwrap();
    let (before, mut seen) = (resident(), 0);
    while let Some(chunk) = output.next().await {
        assert!(!chunk.bytes.is_empty() && chunk.bytes.len() <= 64 * 1024);
        seen += chunk.bytes.len();
    }
    assert_eq!((seen, process.wait().await), (total, Exit::Code(0)));
    let grown = resident().saturating_sub(before);
    assert!(grown < 20 * 1024 * 1024, "{grown} bytes more in memory");
}

#[tokio::test]
async fn output_waits_until_somebody_reads() {
    let script = "head -c 1000000 /dev/zero; echo done >&2";
    let Spawned {
        process,
        mut output,
    } = spawn(shell(script, Path::new("/"), Policy::FullAccess))
        .await
        .unwrap();
    let early = tokio::time::timeout(Duration::from_millis(100), process.wait()).await;
    assert!(
        early.is_err(),
        "it ended though nobody read a megabyte from its pipe"
    );
    let (stdout, stderr) = read_all(&mut output).await;
    assert_eq!((stdout.len(), stderr.as_str()), (1_000_000, "done\n"));
}

#[tokio::test]
async fn many_at_once() {
    let runs = (0..100).map(|number| {
        let way = all_ways()[number % 3].clone();
        tokio::spawn(async move {
            let done = finish(command(
                &format!("echo {number}; exit {}", number % 7),
                &way,
            ))
            .await;
            assert_eq!(done.stdout, format!("{number}\n"));
            assert_eq!(done.exit, Exit::Code((number % 7) as i32));
        })
    });
    for run in runs.collect::<Vec<_>>() {
        run.await.unwrap();
    }
}

#[tokio::test]
async fn late_output_of_a_background_process_is_kept() {
    for way in all_ways() {
        // The background process writes when the shell, whose pipe it watches, is gone.
        let script = "exec 3>&1; { sh -c 'cat >/dev/null; echo late >&3' & } | { exit 5; }; exit 5";
        let done = finish(command(script, &way)).await;
        assert_eq!((done.exit, done.stdout.as_str()), (Exit::Code(5), "late\n"));
    }
}

#[tokio::test]
async fn a_background_process_is_killed_when_its_time_is_over() {
    for way in all_ways() {
        let mut command = command("sleep 1000 & exit 0", &way);
        command.linger = Linger::Kill(Duration::from_millis(50));
        let Spawned {
            process,
            mut output,
        } = spawn(command).await.unwrap();
        assert_eq!(process.wait().await, Exit::Code(0));
        assert_eq!(output.next().await, None);
        process.gone().await;
    }
}

#[tokio::test]
async fn a_background_process_can_be_kept() {
    for way in all_ways() {
        let mut command = command("exec 3<&0; (cat <&3; echo bye) & exit 0", &way);
        command.stdio = Stdio::Pipes;
        command.linger = Linger::Keep;
        let Spawned {
            process,
            mut output,
        } = spawn(command).await.unwrap();
        assert_eq!(process.wait().await, Exit::Code(0));
        process.write_stdin(b"still here\n").await.unwrap();
        read_until(&mut output, "still here").await;
        process.close_stdin().await.unwrap();
        read_until(&mut output, "bye").await;
        process.gone().await;
    }
}

#[tokio::test]
async fn the_environment_is_what_was_given_and_no_more() {
    for way in all_ways() {
        let mut command = command("", &way);
        command.argv = vec!["/usr/bin/env".into()];
        command.env = vec![("A".into(), "1".into()), ("B".into(), "".into())];
        assert_eq!(finish(command).await.stdout, "A=1\nB=\n");
    }
}

#[tokio::test]
async fn signals_start_as_usual() {
    // The test runner and the Rust runtime ignore some.
    for way in all_ways() {
        let done = finish(command("grep -E 'Sig(Blk|Ign)' /proc/self/status", &way)).await;
        assert_eq!(
            done.stdout,
            "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n"
        );
    }
}

#[tokio::test]
async fn what_cannot_be_run_is_an_error() {
    let scratch = Scratch::new();
    let script = scratch.workspace.join("script");
    fs::write(&script, "echo no").unwrap();
    for way in all_ways() {
        let attempt = async |program: &str, cwd: &Path| {
            let mut command = Command::new([program], cwd, way.0.clone());
            command.enforcement = way.1;
            command.env = vec![("PATH".into(), scratch.workspace.clone().into())];
            spawn(command).await.unwrap_err()
        };
        let root = Path::new("/");
        let code = |error: &SpawnError| error.os_error().and_then(std::io::Error::raw_os_error);
        for (program, expected) in [
            ("/no/such/program", libc::ENOENT),
            ("no-such-program", libc::ENOENT),
            ("/bin", libc::EACCES),
            ("script", libc::EACCES),
            ("/bin/sh/x", libc::ENOENT),
            ("", libc::ENOENT),
        ] {
            let error = attempt(program, root).await;
            assert!(
                matches!(error, SpawnError::BadProgram { .. }),
                "{program}: {error}"
            );
            assert_eq!(code(&error), Some(expected), "{program}: {error}");
        }
        for (cwd, expected) in [
            ("/no/such/directory", libc::ENOENT),
            ("/bin/sh", libc::ENOTDIR),
        ] {
            let error = attempt("/bin/true", Path::new(cwd)).await;
            assert!(matches!(error, SpawnError::BadCwd { .. }), "{error}");
            assert_eq!(code(&error), Some(expected), "{error}");
        }
    }
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    let error = spawn(Command::new([&script], "/", Policy::FullAccess))
        .await
        .unwrap_err();
    assert_eq!(
        error.os_error().unwrap().raw_os_error(),
        Some(libc::ENOEXEC),
        "{error}"
    );
}

#[tokio::test]
async fn what_makes_no_sense_is_an_error() {
    let empty = Command::new(Vec::<PathBuf>::new(), "/", Policy::FullAccess);
    assert!(matches!(spawn(empty).await, Err(SpawnError::EmptyCommand)));
    let zero = Command::new(["/bin/echo", "a\0b"], "/", Policy::FullAccess);
    assert!(matches!(
        spawn(zero).await,
        Err(SpawnError::ZeroByte { what: "command" })
    ));
    let long = Command::new(
        ["/bin/echo".into(), "x".repeat(9_000_000)],
        "/",
        Policy::FullAccess,
    );
    assert!(matches!(
        spawn(long).await,
        Err(SpawnError::TooLarge { .. })
    ));
    // The kernel's own limit is lower.
    let long = Command::new(
        ["/bin/echo".into(), "x".repeat(3_000_000)],
        "/",
        Policy::FullAccess,
    );
    let error = spawn(long).await.unwrap_err();
    assert_eq!(
        error.os_error().unwrap().raw_os_error(),
        Some(libc::E2BIG),
        "{error}"
    );
}

#[tokio::test]
async fn large_orders_arrive_whole() {
    let mut command = shell(
        "printf %s \"$LONG\" | wc -c",
        Path::new("/"),
        Policy::FullAccess,
    );
    command
        .env
        .push(("LONG".into(), "x".repeat(100_000).into()));
    command
        .env
        .extend((0..8).map(|n| (format!("V{n}").into(), "y".repeat(100_000).into())));
    assert_eq!(finish(command).await.stdout.trim(), "100000");
}

#[tokio::test]
async fn the_machine_reports_what_it_enforces() {
    let found = capabilities().await.unwrap();
    eprintln!("{found}");
    assert!(
        found.namespaces.is_ok() || found.landlock > 0,
        "tests need one of them: {found}"
    );
}
