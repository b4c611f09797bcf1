//! No process outlives its owner, however it tries.

use std::{
    fs,
    io::{self, BufRead, BufReader, Write},
    path::Path,
    process::Stdio as StdStdio,
    time::Duration,
};

use quipu_sandbox::{Command, Linger, Policy, Spawned, spawn};

use crate::{
    actor::{cast, say, supervisor},
    lab::{
        BACKENDS, Marked, NOBODY, Scratch, is_in_role, new_mark, read_until, shell, test_process,
        user_id,
    },
};

/// How many processes a hydra is made of.
const HEADS: usize = 7;

pub fn deed(role: &str) -> Option<fn() -> io::Result<()>> {
    match role {
        "hydra" => Some(hydra),
        "phoenix" => Some(phoenix),
        "siege" => Some(siege),
        _ => None,
    }
}

/// Each process has a child that takes its place, and makes another child, when it dies.
fn phoenix() -> io::Result<()> {
    say("ready\n");
    // SAFETY: a process with one thread forks and calls simple system functions.
    unsafe {
        loop {
            let mut alive = [0; 2];
            libc::pipe(alive.as_mut_ptr());
            if libc::fork() > 0 {
                loop {
                    libc::pause();
                }
            }
            libc::close(alive[1]);
            libc::setsid();
            let mut byte = 0_u8;
            // Returns when the parent is gone.
            libc::read(alive[0], (&raw mut byte).cast(), 1);
            libc::close(alive[0]);
        }
    }
}

/// Forks twice over, starts sessions, ignores every signal, gives up its streams, and stays.
fn hydra() -> io::Result<()> {
    // SAFETY: a process with one thread forks and calls simple system functions.
    unsafe {
        for signal in 1..=libc::SIGRTMAX() {
            libc::signal(signal, libc::SIG_IGN);
        }
        let mut ready = [0; 2];
        libc::pipe(ready.as_mut_ptr());
        for _ in 0..3 {
            if libc::fork() == 0 {
                libc::setsid();
                if libc::fork() == 0 {
                    libc::setsid();
                    // A child of an orphan, in a group of its own.
                    libc::fork();
                    libc::setpgid(0, 0);
                    for fd in 0..3 {
                        libc::close(fd);
                    }
                    libc::write(ready[1], b"!".as_ptr().cast(), 1);
                    loop {
                        libc::pause();
                    }
                }
                libc::_exit(0);
            }
        }
        let mut byte = 0_u8;
        for _ in 1..HEADS {
            libc::read(ready[0], (&raw mut byte).cast(), 1);
        }
        say("ready\n");
        loop {
            libc::pause();
        }
    }
}

/// Leaves a process behind that nobody watches any more: it kills or stops supervisor and zygote.
fn siege() -> io::Result<()> {
    let supervisor = supervisor();
    let watchers = [supervisor, parent(supervisor)].map(u32::cast_signed);
    let tactic = std::env::var("TACTIC").unwrap();
    // SAFETY: a process with one thread forks and calls simple system functions.
    unsafe {
        if libc::fork() == 0 {
            libc::setsid();
            if libc::fork() > 0 {
                libc::_exit(0);
            }
            for signal in 1..=libc::SIGRTMAX() {
                libc::signal(signal, libc::SIG_IGN);
            }
            let signal = |it: &i32, signal| {
                libc::kill(*it, signal);
            };
            match tactic.as_str() {
                "kill" => watchers.iter().for_each(|it| signal(it, libc::SIGKILL)),
                "kill the zygote first" => {
                    watchers.iter().for_each(|it| signal(it, libc::SIGSTOP));
                    watchers
                        .iter()
                        .rev()
                        .for_each(|it| signal(it, libc::SIGKILL));
                }
                _ => watchers.iter().for_each(|it| signal(it, libc::SIGSTOP)),
            }
            say("ready\n");
        }
        loop {
            libc::pause();
        }
    }
}

/// The process that started another.
fn parent(pid: u32) -> u32 {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let fields = stat.rsplit_once(')').unwrap().1.to_owned();
    let parent = fields.split_ascii_whitespace().nth(1);
    parent.unwrap().parse().unwrap()
}

/// The role of a server whose commands turn on those who watch them.
#[tokio::test]
async fn besieged() {
    if !is_in_role() {
        return;
    }
    for tactic in ["kill", "kill the zygote first", "stop"] {
        let mark = new_mark();
        let command = Command {
            linger: Linger::Keep,
            ..shell("", Path::new("/"), Policy::FullAccess)
        };
        let properties = [("MARK", Path::new(&mark)), ("TACTIC", Path::new(tactic))];
        let mut spawned = spawn(cast("siege", &properties, command)).await.unwrap();
        // Who kills those that watch may be killed before it says so.
        if tactic == "stop" {
            read_until(&mut spawned.output, "ready").await;
            spawned.process.kill();
        }
        spawned.process.gone().await;
        assert_eq!(Marked::find(&mark).count(), 0, "{tactic}");
    }
}

#[test]
fn nothing_survives_by_turning_on_those_who_watch_it() {
    for user in users() {
        let done = test_process("ownership::besieged", user).output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let (stdout, stderr) = (text(&done.stdout), text(&done.stderr));
        assert!(done.status.success(), "{stdout}{stderr}");
        assert!(stdout.contains("1 passed"), "{stdout}");
    }
}

/// A hydra for each way to run one, with a mark to find it by.
fn hydras() -> Vec<(Command, String)> {
    let scratch = Scratch::new();
    let mut commands = vec![shell("", Path::new("/"), Policy::FullAccess)];
    // The workspace is not needed any more once the policy is in force.
    commands.extend(BACKENDS.map(|enforcement| scratch.shell("", enforcement)));
    commands
        .into_iter()
        .map(|command| {
            let mark = new_mark();
            let command = Command {
                cwd: "/".into(),
                linger: Linger::Keep,
                ..command
            };
            (cast("hydra", &[("MARK", Path::new(&mark))], command), mark)
        })
        .collect()
}

async fn start(command: Command, mark: &str) -> (Spawned, Marked) {
    let mut spawned = spawn(command).await.unwrap();
    read_until(&mut spawned.output, "ready").await;
    let heads = Marked::find(mark);
    assert_eq!(heads.count(), HEADS);
    (spawned, heads)
}

#[tokio::test]
async fn nothing_survives_kill() {
    for (command, mark) in hydras() {
        let (
            Spawned {
                process,
                mut output,
            },
            heads,
        ) = start(command, &mark).await;
        process.kill();
        process.gone().await;
        assert_eq!(output.next().await, None);
        heads.assert_end();
        assert_eq!(Marked::find(&mark).count(), 0);
        assert_eq!(
            process.wait().await,
            quipu_sandbox::Exit::Signal(libc::SIGKILL)
        );
    }
}

#[tokio::test]
async fn nothing_rises_again() {
    for (command, mark) in hydras() {
        let command = cast("phoenix", &[("MARK", Path::new(&mark))], command);
        let Spawned {
            process,
            mut output,
        } = spawn(command).await.unwrap();
        read_until(&mut output, "ready").await;
        process.kill();
        process.gone().await;
        assert_eq!(Marked::find(&mark).count(), 0);
    }
}

#[tokio::test]
async fn a_supervisor_ends_only_with_its_command() {
    for (command, mark) in hydras() {
        let (Spawned { process, .. }, heads) = start(command, &mark).await;
        let signal = |signal| {
            // SAFETY: sends a signal to a supervisor of this process.
            unsafe { libc::kill(process.supervisor_id().cast_signed(), signal) };
        };
        // What a terminal or a service manager sends to all processes of a program.
        [libc::SIGHUP, libc::SIGINT, libc::SIGQUIT, libc::SIGTERM]
            .into_iter()
            .for_each(signal);
        assert_eq!(Marked::find(&mark).count(), HEADS);
        // If it is killed all the same, the command goes with it.
        signal(libc::SIGKILL);
        heads.assert_end();
        process.gone().await;
        assert_eq!(Marked::find(&mark).count(), 0);
    }
}

#[tokio::test]
async fn nothing_survives_being_dropped() {
    for (command, mark) in hydras() {
        let (spawned, heads) = start(command, &mark).await;
        drop(spawned);
        heads.assert_end();
        assert_eq!(Marked::find(&mark).count(), 0);
    }
}

#[tokio::test]
async fn a_start_that_is_given_up_leaves_nothing() {
    for (command, mark) in hydras() {
        // Polled once: the order is on its way, the answer is not there yet.
        let mut start = Box::pin(spawn(command));
        let first = std::future::poll_fn(|cx| std::task::Poll::Ready(start.as_mut().poll(cx)));
        assert!(first.await.is_pending());
        drop(start);
        // Another command is a barrier: the zygote handles requests in order.
        spawn(shell("true", Path::new("/"), Policy::FullAccess))
            .await
            .unwrap();
        let left = Marked::find(&mark);
        left.assert_end();
    }
}

#[tokio::test]
async fn the_next_command_starts_after_the_zygote_was_killed() {
    let (command, mark) = hydras().remove(0);
    let (spawned, heads) = start(command, &mark).await;
    let zygote = parent(spawned.process.supervisor_id());
    assert_eq!(parent(zygote), std::process::id());
    // SAFETY: sends a signal to a child of this process.
    unsafe { libc::kill(zygote.cast_signed(), libc::SIGKILL) };
    let (command, other_mark) = hydras().remove(0);
    let (other, _) = start(command, &other_mark).await;
    // What it had started lives on and still has an owner.
    spawned.process.kill();
    heads.assert_end();
    drop(other);
}

/// Set for a server whose supervisors do nothing any more, nor, if it says so, the zygote.
const STOPPED: &str = "STOPPED";

/// The role of a server that owns commands; its end is what is tested.
#[tokio::test]
async fn server() {
    if !is_in_role() {
        return;
    }
    let mut marks = String::new();
    io::stdin().read_line(&mut marks).unwrap();
    let mut owned = Vec::new();
    for ((command, _), mark) in hydras().into_iter().zip(marks.split_ascii_whitespace()) {
        let command = cast("hydra", &[("MARK", Path::new(mark))], command);
        owned.push(start(command, mark).await);
    }
    if let Some(stopped) = std::env::var_os(STOPPED) {
        let supervisors = owned.iter().map(|(it, _)| it.process.supervisor_id());
        let mut helpers: Vec<u32> = supervisors.collect();
        if stopped == "all" {
            helpers.push(parent(helpers[0]));
        }
        for helper in helpers {
            // SAFETY: sends a signal to a helper of this process.
            unsafe { libc::kill(helper.cast_signed(), libc::SIGSTOP) };
        }
    }
    println!("server ready");
    let mut line = String::new();
    io::stdin().read_line(&mut line).unwrap();
}

/// Starts a server with a hydra of each kind, ends it, and looks for what is left.
fn check_server_end(user: u32, end: impl FnOnce(&mut std::process::Child)) {
    check_end(test_process("ownership::server", user), end);
}

fn check_end(mut server: std::process::Command, end: impl FnOnce(&mut std::process::Child)) {
    let marks: Vec<String> = hydras().iter().map(|_| new_mark()).collect();
    let mut server = server
        .stdin(StdStdio::piped())
        .stdout(StdStdio::piped())
        .spawn()
        .unwrap();
    // Not in its environment, where they would mark the server itself.
    writeln!(server.stdin.as_mut().unwrap(), "{}", marks.join(" ")).unwrap();
    let mut lines = BufReader::new(server.stdout.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap().contains("server ready")));
    let heads: Vec<Marked> = marks.iter().map(|mark| Marked::find(mark)).collect();
    end(&mut server);
    server.wait().unwrap();
    for (heads, mark) in heads.into_iter().zip(&marks) {
        assert_eq!(heads.count(), HEADS);
        heads.assert_end();
        assert_eq!(Marked::find(mark).count(), 0);
    }
}

fn users() -> Vec<u32> {
    if user_id() == 0 {
        vec![0, NOBODY]
    } else {
        vec![user_id()]
    }
}

#[test]
fn nothing_survives_the_end_of_the_server() {
    for user in users() {
        check_server_end(user, |server| drop(server.stdin.take()));
    }
}

#[test]
fn nothing_survives_the_killing_of_the_server() {
    for user in users() {
        check_server_end(user, |server| server.kill().unwrap());
    }
}

#[test]
fn nothing_survives_in_the_care_of_a_supervisor_that_hangs() {
    for user in users() {
        for stopped in ["supervisors", "all"] {
            let mut server = test_process("ownership::server", user);
            server.env(STOPPED, stopped);
            check_end(server, |server| server.kill().unwrap());
        }
    }
}

#[tokio::test]
async fn nothing_is_left_open() {
    // A run that does not count: the zygote and the runtime open what they keep.
    run_and_kill(3).await;
    let open = || fs::read_dir("/proc/self/fd").unwrap().count();
    let before = open();
    let rounds = if std::env::var_os("QUIPU_SOAK").is_some() {
        3000
    } else {
        30
    };
    let supervisors = run_and_kill(rounds).await;
    // Other tests of this binary open and close descriptors meanwhile.
    assert!(
        open() < before + 50,
        "{before} open before, {} after",
        open()
    );
    for supervisor in supervisors {
        Marked::process(supervisor).assert_end();
    }
}

/// Runs commands that are killed, dropped, or end by themselves; returns their supervisors.
async fn run_and_kill(rounds: usize) -> Vec<u32> {
    let scratch = Scratch::new();
    let mut supervisors = Vec::new();
    for round in 0..rounds {
        let mut command = match round % 3 {
            0 => shell("sleep 100 & exit 1", Path::new("/"), Policy::FullAccess),
            kind => scratch.shell("sleep 100 & exit 1", BACKENDS[kind - 1]),
        };
        command.linger = Linger::Kill(Duration::ZERO);
        let Spawned {
            process,
            mut output,
        } = spawn(command).await.unwrap();
        supervisors.push(process.supervisor_id());
        match round % 5 {
            0 => process.kill(),
            1 => drop(output),
            2 => drop(process),
            3 => process.gone().await,
            _ => while output.next().await.is_some() {},
        }
    }
    supervisors
}
