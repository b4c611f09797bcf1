//! Files, functions and types stay small enough to be read in one go; tests may be as long as they need.

use std::collections::BTreeMap;

use super::allow_list::AllowList;
use super::{Problem, type_sizes};
use crate::rust_text::{self, Function};
use crate::tree::{File, Tree};

const FILE_LIMIT: usize = 500;
const FUNCTION_LIMIT: usize = 70;

/// The size of one file, function or type.
pub struct Measure<'a> {
    pub file: &'a File,
    /// `path`, `path::fn`, `path::Type.impl` or `path::Type.fields`, as the allow-list names it.
    pub subject: String,
    pub line: usize,
    pub size: usize,
    /// What the size counts.
    pub unit: &'static str,
    /// The limit for all of its kind.
    pub rule: usize,
}

pub fn check(tree: &Tree) -> Vec<Problem> {
    let allowed = AllowList::read(tree);
    let mut needed = BTreeMap::new();
    let mut problems = Vec::new();
    let files = tree.rust_files().flat_map(measure);
    for measure in files.chain(type_sizes::measure(tree)) {
        let Measure {
            file,
            subject,
            line,
            size,
            unit,
            rule,
        } = measure;
        let limit = allowed.limit(&subject, rule);
        if size > limit {
            let message = format!("`{subject}` has {size} {unit}, the limit is {limit}; split it");
            problems.push(Problem::at(file, line, message));
        }
        if size > rule {
            // Functions of one name share an entry: the largest of them counts.
            let most = needed.entry(subject).or_insert(size);
            *most = size.max(*most);
        }
    }
    problems.extend(allowed.slack(&needed));
    problems
}

fn measure(file: &File) -> Vec<Measure<'_>> {
    let code = file.code();
    let lines = code.product_lines;
    let mut measures = vec![Measure {
        file,
        subject: file.path.clone(),
        line: 1,
        size: lines,
        unit: "lines",
        rule: FILE_LIMIT,
    }];
    for function in rust_text::functions(&code.text) {
        if function.line <= code.product_lines {
            let subject = format!("{}::{}", file.path, function.name);
            let Function { line, lines, .. } = function;
            measures.push(Measure {
                file,
                subject,
                line,
                size: lines,
                unit: "lines",
                rule: FUNCTION_LIMIT,
            });
        }
    }
    measures
}

#[cfg(test)]
mod tests {
    use super::super::assert_says;

    const PATH: &str = "crates/a/src/lib.rs";

    fn function(lines: usize) -> String {
        format!("fn long() {{\n{}}}\n", "    x();\n".repeat(lines - 2))
    }

    fn check(text: &str, allow: &str, expected: &[&str]) {
        let files = [(PATH, text), ("crates/xtask/allow.txt", allow)];
        assert_says(super::check, &files, expected);
    }

    #[test]
    fn limits_are_inclusive() {
        check(&function(70), "# nothing\n", &[]);
        check(&"\n".repeat(500), "", &[]);
    }

    #[test]
    fn larger_is_reported() {
        check(
            &function(71),
            "",
            &[
                "crates/a/src/lib.rs:1: `crates/a/src/lib.rs::long` has 71 lines, the limit is 70; split it",
            ],
        );
        check(
            &"\n".repeat(501),
            "",
            &[
                "crates/a/src/lib.rs:1: `crates/a/src/lib.rs` has 501 lines, the limit is 500; split it",
            ],
        );
    }

    #[test]
    fn tests_do_not_count() {
        let text = format!(
            "fn a() {{}}\n#[cfg(test)]\nmod tests {{\n{}{}}}\n",
            function(90),
            "\n".repeat(600)
        );
        check(&text, "", &[]);
        assert_says(
            super::check,
            &[("crates/a/tests/it/main.rs", &function(90))],
            &[],
        );
    }

    #[test]
    fn the_list_allows_exactly_what_is_needed() {
        check(&function(71), "crates/a/src/lib.rs::long 71\n", &[]);
        check(
            &function(71),
            "crates/a/src/lib.rs::long 80\n",
            &[
                "crates/xtask/allow.txt:1: allows more than is needed; write `crates/a/src/lib.rs::long 71`",
            ],
        );
        check(
            &function(70),
            "crates/a/src/lib.rs::long 80\n",
            &["crates/xtask/allow.txt:1: no longer needed; remove `crates/a/src/lib.rs::long 80`"],
        );
        check(
            "",
            "crates/b/src/lib.rs 600\nnonsense\n",
            &[
                "crates/xtask/allow.txt:1: no longer needed; remove `crates/b/src/lib.rs 600`",
                "crates/xtask/allow.txt:2: write `subject limit`",
            ],
        );
    }
}
