//! The `apply_patch` command, case by case as the reference ran it.

use quipu_patch::{CommandOutput, run};
use serde::Deserialize;

use crate::workspace::{Files, Workspace, fixture};

#[derive(Deserialize)]
struct Case {
    name: String,
    files: Files,
    patch: String,
    code: i32,
    stdout: String,
    stderr: String,
    after: Files,
}

#[test]
fn does_what_the_reference_does_or_better() {
    for case in fixture::<Case>("command.jsonl") {
        let workspace = Workspace::new(&case.files);
        let output = run(&case.patch, &workspace.root);
        let after = workspace.files();
        let expected = CommandOutput {
            exit_code: case.code,
            stdout: case.stdout,
            stderr: case.stderr,
        };
        let same = output == expected && after == case.after;
        match BETTER.iter().find(|(name, _)| *name == case.name) {
            None => assert!(same, "{}\n{output:?}\n{after:?}", case.name),
            Some((name, _)) if same => panic!("{name} is not better"),
            Some((name, Error(message))) => {
                assert_eq!(output.stderr, format!("{message}\n"), "{name}");
                assert_eq!(after, case.files, "{name}");
            }
            Some((name, Gives(files))) => {
                assert_eq!(output.exit_code, 0, "{name}: {output:?}");
                let files = files
                    .iter()
                    .map(|&(path, text)| (path.to_owned(), text.to_owned()));
                assert_eq!(after, files.collect::<Files>(), "{name}");
            }
        }
    }
}

enum Better {
    /// Fails with this message and leaves all files alone.
    Error(&'static str),
    /// Succeeds with these files.
    Files(&'static [(&'static str, &'static str)]),
}
use Better::{Error, Files as Gives};

/// The cases of the fixture where this crate does something else on purpose.
const BETTER: &[(&str, Better)] = &[
    // Blank lines mean nothing.
    ("begin blank end", Error("No files were modified.")),
    ("add blank line within", Gives(&[("x", "a\n\nc\n")])),
    (
        "add trailing blank then next",
        Gives(&[("x", "a\n"), ("y", "b\n")]),
    ),
    ("delete blank after", Gives(&[])),
    ("delete blank after then", Gives(&[("z", "z\n")])),
    ("2 blank at end", Gives(&[("f.txt", "a\nB\nc\nd\ne\n")])),
    (
        "upd 2 blank lines then next op",
        Gives(&[("f.txt", "a\nb\nc\nd\nA\n"), ("g", "1\n")]),
    ),
    // Messages have a reason and the right line.
    (
        "add dir exists",
        Error("Failed to write file q: Is a directory (os error 21)"),
    ),
    (
        "move to dir",
        Error("Failed to write file q: Is a directory (os error 21)"),
    ),
    (
        "add parent is file",
        Error("Failed to create parent directories for f.txt/x: Not a directory (os error 20)"),
    ),
    (
        "delete missing",
        Error("Failed to read g.txt: No such file or directory (os error 2)"),
    ),
    (
        "delete dir",
        Error("Failed to read q: Is a directory (os error 21)"),
    ),
    (
        "move empty",
        Error("Invalid patch hunk on line 3: '*** Move to: ' is not followed by a path"),
    ),
    (
        "@@ctx no space",
        Error(
            "Invalid patch hunk on line 3: Unexpected line found in update hunk: '@@b'. Every line should start with ' ' (context line), '+' (added line), or '-' (removed line)",
        ),
    ),
    (
        "bad first line",
        Error(
            "Invalid patch hunk on line 3: Unexpected line found in update hunk: 'foo'. Every line should start with ' ' (context line), '+' (added line), or '-' (removed line)",
        ),
    ),
    // A patch that cannot be applied wholly is not applied at all.
    (
        "delete twice",
        Error("Failed to read f.txt: No such file or directory (os error 2)"),
    ),
    (
        "partial failure",
        Error("Failed to read zz: No such file or directory (os error 2)"),
    ),
    (
        "upd fail second",
        Error("Failed to find expected lines in f.txt:\nzzz"),
    ),
    (
        "eof overlapping",
        Error("Failed to find expected lines in f.txt:\ne"),
    ),
    // More markers are understood.
    ("only @@ then @@", Gives(&[("f.txt", "a\nB\nc\nd\ne\n")])),
    ("@@ twice nested", Gives(&[("f.txt", "a\nb\nc\nd\nE\n")])),
    ("@@ trailing spaces", Gives(&[("f.txt", "a\nB\nc\nd\ne\n")])),
    (
        "@@ trailing 2spaces",
        Gives(&[("f.txt", "a\nB\nc\nd\ne\n")]),
    ),
    ("@@ -1,2 +1,2 @@", Gives(&[("f.txt", "a\nB\nc\nd\ne\n")])),
    // Nothing is lost or changed that the patch does not speak of.
    ("insert file just nl", Gives(&[("f.txt", "\nz\n")])),
    ("insert file ends blank", Gives(&[("f.txt", "a\n\nz\n")])),
    ("crlf file", Gives(&[("f.txt", "a\r\nB\r\nc\r\n")])),
    ("crlf file ctx", Gives(&[("f.txt", "a\r\nB\r\nc\r\n")])),
    (
        "replacement keeps ctx from patch or file?",
        Gives(&[("f.txt", "a\nB\nc\n")]),
    ),
    ("trail blank replace", Gives(&[("f.txt", "a\n\n")])),
    (
        "file with trailing blank, change a",
        Gives(&[("f.txt", "A\nb\n\n")]),
    ),
    (
        "file with 2 trailing blank, change a",
        Gives(&[("f.txt", "A\nb\n\n\n")]),
    ),
    (
        "add trailing blank lines",
        Gives(&[("f.txt", "a\nb\n\n\n")]),
    ),
    ("insert blank", Gives(&[("f.txt", "a\nb\n\n")])),
    ("move to self", Gives(&[("f.txt", "a\nB\nc\nd\ne\n")])),
    ("move to ./self", Gives(&[("f.txt", "a\nB\nc\nd\ne\n")])),
    ("move trailing ws", Gives(&[("g.txt", "a\nB\nc\nd\ne\n")])),
];
