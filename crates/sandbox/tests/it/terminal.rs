//! Commands on a terminal of their own.

use std::path::Path;

use quipu_sandbox::{Command, Exit, Policy, Spawned, Stdio, WindowSize, spawn};

use crate::lab::{BACKENDS, Scratch, read_all, read_until, shell};

fn on_terminal(command: Command) -> Command {
    Command {
        stdio: Stdio::Pty(WindowSize { rows: 24, cols: 80 }),
        ..command
    }
}

#[tokio::test]
async fn a_command_has_a_terminal_of_its_own() {
    let scratch = Scratch::new();
    let script = "test -t 0 && test -t 1 && test -t 2 && echo three; echo to >/dev/tty; stty size";
    let mut commands = vec![shell(script, Path::new("/"), Policy::FullAccess)];
    commands.extend(BACKENDS.map(|enforcement| scratch.shell(script, enforcement)));
    for command in commands {
        let Spawned {
            process,
            mut output,
        } = spawn(on_terminal(command)).await.unwrap();
        assert_eq!(read_all(&mut output).await.0, "three\r\nto\r\n24 80\r\n");
        assert_eq!(process.wait().await, Exit::Code(0));
    }
}

#[tokio::test]
async fn a_new_size_is_seen_at_once() {
    let script = "trap 'stty size; exit 0' WINCH; echo ready; while :; do sleep 0.01; done";
    let command = on_terminal(shell(script, Path::new("/"), Policy::FullAccess));
    let Spawned {
        process,
        mut output,
    } = spawn(command).await.unwrap();
    read_until(&mut output, "ready").await;
    assert!(
        process
            .resize(WindowSize {
                rows: 50,
                cols: 132
            })
            .unwrap()
    );
    assert_eq!(read_until(&mut output, "50 132").await.trim(), "50 132");
    assert_eq!(process.wait().await, Exit::Code(0));
}

#[tokio::test]
async fn pipes_have_no_size() {
    let command = shell("cat", Path::new("/"), Policy::FullAccess);
    let Spawned { process, .. } = spawn(command).await.unwrap();
    assert!(!process.resize(WindowSize { rows: 1, cols: 1 }).unwrap());
}

#[tokio::test]
async fn what_is_typed_arrives_and_control_c_interrupts() {
    let scratch = Scratch::new();
    let mut commands = vec![shell("cat", Path::new("/"), Policy::FullAccess)];
    commands.extend(BACKENDS.map(|enforcement| scratch.shell("cat", enforcement)));
    for command in commands {
        let Spawned {
            process,
            mut output,
        } = spawn(on_terminal(command)).await.unwrap();
        process.write_stdin(b"hello\n").await.unwrap();
        // Once as the terminal's echo, once from the command.
        read_until(&mut output, "hello\r\nhello\r\n").await;
        process.write_stdin(&[3]).await.unwrap();
        assert_eq!(process.wait().await, Exit::Signal(libc::SIGINT));
    }
}

#[tokio::test]
async fn the_end_of_input_can_be_typed() {
    let command = on_terminal(shell("cat; echo over", Path::new("/"), Policy::FullAccess));
    let Spawned {
        process,
        mut output,
    } = spawn(command).await.unwrap();
    process.close_stdin().await.unwrap();
    process.close_stdin().await.unwrap();
    read_until(&mut output, "over").await;
    assert_eq!(process.wait().await, Exit::Code(0));
}
