//! Laws that hold for all texts, tried with random ones.

use std::fmt::Write as _;
use std::fs;

use proptest::prelude::*;
use quipu_patch::{Operation, Patch, detect, prepare, rewrite, run};

use crate::any_bytes;
use crate::workspace::{Workspace, patch};

/// A text with blank lines, repeated lines and lines that look like parts of a patch.
fn text() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        4 => "[abc]{0,2}",
        1 => Just("*** End Patch".to_owned()),
        1 => Just("@@".to_owned()),
        1 => Just("+ -".to_owned()),
        1 => "[^\r\n]{0,6}",
    ];
    proptest::collection::vec(line, 0..20).prop_map(|lines| {
        lines
            .iter()
            .fold(String::new(), |text, line| text + line + "\n")
    })
}

/// A text without equal lines, and another made from it by taking out and putting in lines.
fn edited() -> impl Strategy<Value = (String, String)> {
    proptest::collection::vec(0..5u8, 0..60).prop_map(|choices| {
        let (mut old, mut new) = (String::new(), String::new());
        for (number, choice) in choices.into_iter().enumerate() {
            if choice != 0 {
                writeln!(old, "line {number}").unwrap();
            }
            match choice {
                0 => writeln!(new, "new {number}").unwrap(),
                1 => {}
                _ => writeln!(new, "line {number}").unwrap(),
            }
        }
        (old, new)
    })
}

/// One hunk that has all lines of both texts.
fn whole_hunk(old: &str, new: &str) -> String {
    let lines = |mark: char, text: &str| -> String {
        text.lines().map(|line| format!("{mark}{line}\n")).collect()
    };
    format!("@@\n{}{}", lines('-', old), lines('+', new))
}

/// Small hunks with the context a diff has. It is the diff of this crate, so this law checks that
/// too.
fn small_hunks(workspace: &Workspace) -> String {
    let old = fs::read_to_string(workspace.path("old")).unwrap();
    let new = fs::read_to_string(workspace.path("new")).unwrap();
    let text = patch(&format!(
        "*** Update File: old\n{}",
        whole_hunk(&old, &new).trim_end_matches('\n')
    ));
    prepare(&text, &workspace.root).unwrap().changes()[0].diff()
}

fn apply(old: &str, hunks: &str) -> String {
    let text = patch(&format!(
        "*** Update File: f\n{}",
        hunks.trim_end_matches('\n')
    ));
    let patch = Patch::parse(&text).unwrap();
    let Operation::Update { hunks, .. } = &patch.operations[0] else {
        panic!("{text}")
    };
    rewrite(old, hunks).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_was_diffed_as_one_hunk_applies(old in text(), new in text()) {
        prop_assume!(!old.is_empty() || !new.is_empty());
        prop_assert_eq!(apply(&old, &whole_hunk(&old, &new)), new);
    }

    #[test]
    fn line_endings_and_missing_newlines_do_not_matter(old in text(), new in text()) {
        prop_assume!(!old.is_empty());
        let hunk = whole_hunk(&old, &new);
        prop_assert_eq!(apply(&old.replace('\n', "\r\n"), &hunk), new.replace('\n', "\r\n"));
        if !old.ends_with("\n\n") && old != "\n" {
            prop_assert_eq!(apply(old.trim_end_matches('\n'), &hunk), new);
        }
    }

    #[test]
    fn any_text_is_parsed_or_refused(text in any::<String>(), lines in text()) {
        let framed = patch(&lines);
        for text in [&text, &framed, &format!("*** Update File: f\n{lines}"), &patch(&format!("*** Update File: f\n{text}"))] {
            let _unused = Patch::parse(text).is_ok();
            detect(&["sh".to_owned(), "-c".to_owned(), text.clone()]);
            detect(&["sh".to_owned(), "-c".to_owned(), format!("apply_patch <<{text}")]);
        }
    }

    #[test]
    fn bytes_do_not_break_it(data in any::<Vec<u8>>()) {
        any_bytes::check(&data);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_was_diffed_as_small_hunks_applies((old, new) in edited()) {
        prop_assume!(old != new);
        let workspace = Workspace::with([("old", &old), ("new", &new)]);
        prop_assert_eq!(apply(&old, &small_hunks(&workspace)), new);
    }

    #[test]
    fn planning_never_writes_and_failing_never_does_either(old in text(), hunk in text(), more in text()) {
        let workspace = Workspace::with([("f", &old), ("d/g", &more)]);
        let before = workspace.files();
        let text = patch(&format!(
            "*** Add File: n/n\n+1\n*** Update File: f\n*** Move to: d/h\n@@\n{hunk}*** Update File: d/g\n-{}",
            more.replace('\n', "\n-"),
        ));
        let planned = prepare(&text, &workspace.root).is_ok();
        prop_assert_eq!(&workspace.files(), &before);
        let output = run(&text, &workspace.root);
        prop_assert_eq!(output.exit_code == 0, planned);
        prop_assert!(planned || workspace.files() == before);
    }
}

#[test]
fn the_corpus_of_the_fuzzer_does_not_break_it() {
    let corpus = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus/patch");
    let inputs: Vec<_> = fs::read_dir(corpus).unwrap().collect();
    assert!(inputs.len() > 3, "the corpus is missing");
    for input in inputs {
        any_bytes::check(&fs::read(input.unwrap().path()).unwrap());
    }
}
