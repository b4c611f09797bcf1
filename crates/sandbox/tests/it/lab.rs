//! What the tests share: commands, scratch folders, and a look at what is left running.

use std::{ffi::OsString, path::Path};

use quipu_sandbox::{Chunk, Command, Exit, Output, Policy, Spawned, Stream, spawn};

/// Everything a command wrote, and how it ended.
#[derive(Debug)]
pub struct Finished {
    pub exit: Exit,
    pub stdout: String,
    pub stderr: String,
}

pub fn env() -> Vec<(OsString, OsString)> {
    vec![("PATH".into(), "/usr/local/bin:/usr/bin:/bin".into())]
}

pub fn shell(script: &str, cwd: &Path, policy: Policy) -> Command {
    let mut command = Command::new(["/bin/sh", "-c", script], cwd, policy);
    command.env = env();
    command
}

pub async fn read_all(output: &mut Output) -> (String, String) {
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    while let Some(Chunk { stream, bytes }) = output.next().await {
        match stream {
            Stream::Stdout => stdout.extend(bytes),
            Stream::Stderr => stderr.extend(bytes),
        }
    }
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    (text(stdout), text(stderr))
}

pub async fn finish(command: Command) -> Finished {
    let Spawned {
        process,
        mut output,
    } = spawn(command).await.unwrap();
    let (stdout, stderr) = read_all(&mut output).await;
    Finished {
        exit: process.wait().await,
        stdout,
        stderr,
    }
}
