//! The project's own rules, checked: whatever a guide asks for and a program can see is checked
//! here, because only what is checked stays true. One rule, one file.

mod allow_list;
mod edges;
mod file_weight;
mod forbidden_code;
mod foreign_text;
mod links;
mod manifests;
mod markers;
mod module_docs;
mod sizes;
mod test_files;
mod type_sizes;
mod whitespace;

use std::fmt;
use std::path::Path;

use crate::cargo::Quipu;
use crate::tree::{File, Tree};
use crate::{Outcome, codegen};

type Check = fn(&Tree) -> Vec<Problem>;

const CHECKS: &[Check] = &[
    edges::check,
    file_weight::check,
    forbidden_code::check,
    foreign_text::check,
    links::check,
    manifests::check,
    markers::check,
    module_docs::check,
    sizes::check,
    test_files::check,
    whitespace::check,
];

/// One broken rule: where, and what to do.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Problem {
    path: String,
    line: Option<usize>,
    message: String,
}

impl Problem {
    fn in_file(file: &File, message: impl Into<String>) -> Problem {
        Problem {
            path: file.path.clone(),
            line: None,
            message: message.into(),
        }
    }

    fn at(file: &File, line: usize, message: impl Into<String>) -> Problem {
        Problem {
            line: Some(line),
            ..Problem::in_file(file, message)
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}:{line}: {}", self.path, self.message),
            None => write!(f, "{}: {}", self.path, self.message),
        }
    }
}

/// Prints every broken rule of the project, then compares the generated files.
pub fn run(root: &Path, quipu: Quipu) -> Outcome {
    let tree = Tree::load(root)?;
    let mut problems: Vec<Problem> = CHECKS.iter().flat_map(|check| check(&tree)).collect();
    problems.sort();
    for problem in &problems {
        println!("{problem}");
    }
    if !problems.is_empty() {
        return Err(format!("tidy found {} problem(s)", problems.len()));
    }
    codegen::check(root, quipu)?;
    println!(
        "tidy: {} files, {} rules, nothing to say",
        tree.files().count(),
        CHECKS.len()
    );
    Ok(())
}

/// Runs one check on a small tree and compares what it says.
#[cfg(test)]
fn assert_says(check: Check, files: &[(&str, &str)], expected: &[&str]) {
    let mut problems = check(&Tree::of(files));
    problems.sort();
    let said: Vec<String> = problems.iter().map(ToString::to_string).collect();
    assert_eq!(said, expected);
}
