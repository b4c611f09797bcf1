//! Whole turns of patches: what the model and the clients are told, step by step as the reference
//! told it.

use std::path::PathBuf;

use quipu_patch::{Change, ChangeKind, TurnDiff, prepare};
use serde::Deserialize;

use crate::workspace::{Files, Workspace, fixture, patch};

#[derive(Deserialize)]
struct Case {
    name: String,
    git: bool,
    /// The directory of the work tree that the turn works in.
    directory: String,
    files: Files,
    steps: Vec<Step>,
    diff: String,
    after: Files,
}

#[derive(Deserialize)]
struct Step {
    patch: String,
    /// None if the patch was refused.
    changes: Option<Vec<Shown>>,
    output: String,
}

/// A change as a `fileChange` item has it.
#[derive(Debug, PartialEq, Deserialize)]
struct Shown {
    path: String,
    kind: Kind,
    diff: String,
}

#[derive(Debug, PartialEq, Deserialize)]
struct Kind {
    r#type: String,
    #[serde(default)]
    move_path: Option<String>,
}

impl Shown {
    fn new(change: &Change, cwd: &str) -> Self {
        let local = |text: &str| text.replace(cwd, "$CWD");
        let (kind, move_path) = match &change.kind {
            ChangeKind::Add => ("add", None),
            ChangeKind::Delete => ("delete", None),
            ChangeKind::Update { move_to } => ("update", move_to.as_deref()),
        };
        let move_path = move_path.map(|path| local(path.to_str().unwrap()));
        Self {
            path: local(change.path.to_str().unwrap()),
            kind: Kind {
                r#type: kind.to_owned(),
                move_path,
            },
            diff: local(&change.diff()),
        }
    }
}

/// Where this crate does better on purpose.
const BETTER: [&str; 5] = [
    "update twice in one",            // shows both edits, not only the last
    "update twice in one, dependent", // the second update sees the first
    "add and update in one",          // the update sees the added file
    "move onto itself",               // is an update, not a deletion
    "carriage returns",               // stay
];

#[test]
fn tells_what_the_reference_tells_or_better() {
    for case in fixture::<Case>("turns.jsonl") {
        let result = compare(&case);
        let better = BETTER.contains(&case.name.as_str());
        assert_eq!(result.is_err(), better, "{}: {result:?}", case.name);
    }
}

#[test]
fn operations_on_one_file_are_one_change() {
    let check = |operations: &str, expected: &[(&str, &str, &str)]| {
        let workspace = Workspace::with([("f", "a\nb\n"), ("g", "g\n")]);
        let plan = prepare(&patch(operations), &workspace.root).unwrap();
        let root = workspace.root.to_str().unwrap();
        let shown: Vec<Shown> = plan.changes().iter().map(|c| Shown::new(c, root)).collect();
        let shown: Vec<(&str, &str, &str)> = shown
            .iter()
            .map(|shown| {
                (
                    &shown.path["$CWD/".len()..],
                    &*shown.kind.r#type,
                    &*shown.diff,
                )
            })
            .collect();
        assert_eq!(shown, expected, "{operations}");
        plan.apply().unwrap();
    };
    let update =
        |path: &str, old: &str, new: &str| format!("*** Update File: {path}\n-{old}\n+{new}\n");
    let moved = |path: &str, to: &str, line: &str| {
        format!("*** Update File: {path}\n*** Move to: {to}\n {line}\n")
    };
    let two = update("f", "a", "A") + &update("f", "A", "AA");
    check(&two, &[("f", "update", "@@ -1,2 +1,2 @@\n-a\n+AA\n b\n")]);
    let add = "*** Add File: n\n+1\n";
    check(
        &(add.to_owned() + &update("n", "1", "2")),
        &[("n", "add", "2\n")],
    );
    check(&(add.to_owned() + "*** Delete File: n"), &[]);
    check(
        &(add.to_owned() + &moved("n", "m", "1")),
        &[("m", "add", "1\n")],
    );
    check(
        &(update("f", "a", "A") + "*** Delete File: f"),
        &[("f", "delete", "a\nb\n")],
    );
    check(
        "*** Delete File: f\n*** Add File: f\n+1",
        &[("f", "add", "1\n")],
    );
    check(&moved("f", "./f", "a"), &[("f", "update", "")]);
    check(
        &(moved("f", "x", "a") + &moved("x", "f", "a")),
        &[("f", "update", "")],
    );
    let edited = moved("f", "x", "a") + &update("x", "b", "B");
    check(
        &edited,
        &[(
            "f",
            "update",
            "@@ -1,2 +1,2 @@\n a\n-b\n+B\n\n\nMoved to: $CWD/x",
        )],
    );
    let again = moved("f", "x", "a") + "*** Add File: f\n+1";
    check(
        &again,
        &[("f", "add", "1\n"), ("f", "update", "\n\nMoved to: $CWD/x")],
    );
    let swap = moved("f", "x", "a") + &moved("g", "f", "g") + &moved("x", "g", "a");
    let expected = [
        ("f", "update", "\n\nMoved to: $CWD/g"),
        ("g", "update", "\n\nMoved to: $CWD/f"),
    ];
    check(&swap, &expected);
}

/// The first difference from the reference.
fn compare(case: &Case) -> Result<(), String> {
    let workspace = Workspace::new(&Files::new());
    if case.git {
        workspace.write(".git/HEAD", "");
    }
    let cwd: PathBuf = workspace.root.join(&case.directory).components().collect();
    for (path, content) in &case.files {
        workspace.write(&format!("{}/{path}", cwd.display()), content);
    }
    let mut turn = TurnDiff::new(&cwd);
    let cwd_text = cwd.to_str().unwrap();
    let local = |text: &str| text.replace(cwd_text, "$CWD");
    let equal = |what: &str, is: String, was: &str| {
        (is == was)
            .then_some(())
            .ok_or(format!("{what} is\n{is}\nwas\n{was}"))
    };
    for step in &case.steps {
        let plan = match prepare(&step.patch.replace("$CWD", cwd_text), &cwd) {
            Ok(plan) => plan,
            Err(error) => {
                equal("error", local(&error.to_string()), &step.output)?;
                continue;
            }
        };
        if plan.changes().is_empty() && step.output == "patch rejected: empty patch" {
            continue;
        }
        let shown: Vec<Shown> = plan
            .changes()
            .iter()
            .map(|c| Shown::new(c, cwd_text))
            .collect();
        if Some(&shown) != step.changes.as_ref() {
            return Err(format!("changes are {shown:#?}\nwere {:#?}", step.changes));
        }
        turn.track(&plan);
        equal(
            "output",
            local(&plan.apply().unwrap().to_string()),
            &step.output,
        )?;
    }
    equal("diff", local(&turn.unified()), &case.diff)?;
    let after = workspace.files();
    let prefix = if case.directory.is_empty() {
        String::new()
    } else {
        format!("{}/", case.directory)
    };
    let expected = case
        .after
        .iter()
        .map(|(path, text)| (format!("{prefix}{path}"), text.clone()));
    let expected: Files = expected.collect();
    (after == expected)
        .then_some(())
        .ok_or(format!("files are {after:#?}\nwere {expected:#?}"))
}
