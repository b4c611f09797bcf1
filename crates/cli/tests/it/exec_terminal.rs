//! `quipu exec` on a terminal: what a person sees while a run goes on.

use std::fs::File;
use std::io::Read as _;
use std::os::fd::{FromRawFd as _, OwnedFd};
use std::path::{Path, PathBuf};
use std::ptr::null_mut;

use quipu_testkit::client::within;
use serde_json::json;

use crate::exec::{Place, call, script};

/// Both ends of a terminal: the person's and the program's.
pub fn terminal() -> (File, OwnedFd) {
    let (mut person, mut program) = (0, 0);
    // SAFETY: the call writes two descriptors to where it is told and keeps nothing.
    let opened = unsafe {
        libc::openpty(
            &raw mut person,
            &raw mut program,
            null_mut(),
            null_mut(),
            null_mut(),
        )
    };
    assert_eq!(opened, 0);
    // SAFETY: both were opened just now, for nobody else.
    unsafe { (File::from_raw_fd(person), OwnedFd::from_raw_fd(program)) }
}

/// Reads what appears on the screen until the program is gone. Once it shows `first` and that work goes on
/// below it, the command that waits at the gate is let go.
fn watch(mut screen: File, gate: &Path) -> String {
    let mut seen = String::new();
    let mut bytes = [0; 4096];
    let mut opened = false;
    // Reading fails when nobody has the other end any more.
    while let Ok(count @ 1..) = screen.read(&mut bytes) {
        seen += std::str::from_utf8(&bytes[..count]).unwrap();
        let below = seen.split_once("first\r\n").map(|(_, below)| below);
        if !opened && below.is_some_and(|below| below.contains("running ")) {
            std::fs::write(gate, "go\n").unwrap();
            opened = true;
        }
    }
    seen
}

/// A pipe in the directory that a command can wait at.
#[expect(
    clippy::disallowed_methods,
    reason = "a program of the test, which ends at once"
)]
fn gate(place: &Place) -> PathBuf {
    let path = place.work().join("gate");
    let made = std::process::Command::new("mkfifo").arg(&path).status();
    assert!(made.unwrap().success());
    path
}

#[tokio::test]
async fn a_person_sees_work_words_and_changes_as_they_come() {
    let place = Place::new();
    std::fs::write(place.work().join("file"), "old\n").unwrap();
    let gate = gate(&place);
    let command = r"printf 'first\n\033[31mred\033[0m\n'; read -r go < gate; printf 'last\n'";
    let patch = "*** Begin Patch\n*** Update File: file\n@@\n-old\n+new\n*** End Patch";
    let steps = script(json!([
        call(command),
        { "patch": patch },
        { "deltas": ["All ", "done."], "every": 10 },
    ]));
    let (person, program) = terminal();
    let mut command = place.command(&["-s", "workspace-write", &steps]);
    command
        .stdin(program.try_clone().unwrap())
        .stdout(program.try_clone().unwrap())
        .stderr(program);
    let mut child = command.spawn().unwrap();
    // The program's end must not stay open here.
    drop(command);
    let watching = tokio::task::spawn_blocking(move || watch(person, &gate));
    let seen = within("the end of a run", watching).await.unwrap();
    assert!(within("its status", child.wait()).await.unwrap().success());

    assert!(seen.contains("\r\x1b[2K"), "{seen}");
    for once in ["first\r\n", "red\r\n", "last\r\n", "All done."] {
        assert_eq!(seen.matches(once).count(), 1, "{once:?} in {seen}");
    }
    for coloured in ["\x1b[31m-old\x1b[0m", "\x1b[32m+new\x1b[0m"] {
        assert!(seen.contains(coloured), "{seen}");
    }
}
