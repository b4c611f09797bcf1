//! The new text of a file: its old text with the hunks of one update put in. Pure.

use crate::parse::{Hunk, HunkLine};
use crate::seek::find;

/// How many blank lines at the end of a hunk may be only there to set it apart from what follows.
const MAX_BLANKS: usize = 3;

/// Which part of an update is not in the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Mismatch {
    /// The line a `@@` marker names.
    Context(String),
    /// The removed and context lines of a hunk.
    Lines(String),
}

/// Applies `hunks` to `content`, each at or after the end of the one before.
///
/// A hunk that only adds lines adds them at the end of the file. Unless it is empty, the result
/// ends with a newline.
pub fn rewrite(content: &str, hunks: &[Hunk]) -> Result<String, Mismatch> {
    let file = Text::new(content);
    let mut cursor = 0;
    let mut edits = Vec::with_capacity(hunks.len());
    for hunk in hunks {
        for context in &hunk.contexts {
            let found = find(&file.lines, &[context], cursor, false);
            cursor = found.ok_or_else(|| Mismatch::Context(context.clone()))? + 1;
        }
        let edit = place(&file, hunk, cursor)?;
        if edit.replaces > 0 {
            cursor = edit.at + edit.replaces;
        }
        edits.push(edit);
    }
    edits.sort_by_key(|edit| edit.at);
    Ok(file.with(&edits))
}

/// A file's lines; a carriage return belongs to its line.
struct Text<'a> {
    lines: Vec<&'a str>,
    /// Whether added lines end with a carriage return, as the file's first line does.
    crlf: bool,
    /// Whether the last line has no newline.
    unterminated: bool,
    bytes: usize,
}

impl<'a> Text<'a> {
    fn new(content: &'a str) -> Self {
        let mut lines: Vec<&str> = content.split('\n').collect();
        let unterminated = lines.last().is_some_and(|last| !last.is_empty());
        if !unterminated {
            lines.pop();
        }
        let crlf = lines.first().is_some_and(|first| first.ends_with('\r'));
        Self {
            lines,
            crlf,
            unterminated,
            bytes: content.len(),
        }
    }

    fn with(&self, edits: &[Edit]) -> String {
        let mut out = String::with_capacity(self.bytes + 1024);
        let mut line = 0;
        for edit in edits {
            self.keep(&mut out, line..edit.at);
            line = edit.at;
            for step in &edit.steps {
                match step {
                    Step::Keep(_) => self.keep(&mut out, line..line + 1),
                    Step::Drop(_) => {}
                    Step::Insert(text) => push_line(&mut out, text, self.crlf),
                }
                line += usize::from(!matches!(step, Step::Insert(_)));
            }
        }
        self.keep(&mut out, line..self.lines.len());
        out
    }

    fn keep(&self, out: &mut String, range: std::ops::Range<usize>) {
        for index in range {
            let unterminated = self.unterminated && index + 1 == self.lines.len();
            push_line(out, self.lines[index], self.crlf && unterminated);
        }
    }
}

fn push_line(out: &mut String, text: &str, crlf: bool) {
    out.push_str(text);
    out.push_str(if crlf && !text.ends_with('\r') {
        "\r\n"
    } else {
        "\n"
    });
}

/// One hunk with its place in the file.
struct Edit<'a> {
    at: usize,
    replaces: usize,
    steps: Vec<Step<'a>>,
}

#[derive(Clone, Copy)]
enum Step<'a> {
    Keep(&'a str),
    Drop(&'a str),
    Insert(&'a str),
}

impl<'a> Step<'a> {
    fn text(self) -> &'a str {
        match self {
            Self::Keep(text) | Self::Drop(text) | Self::Insert(text) => text,
        }
    }

    fn is_old(self) -> bool {
        !matches!(self, Self::Insert(_))
    }

    fn is_new(self) -> bool {
        !matches!(self, Self::Drop(_))
    }
}

fn place<'a>(file: &Text, hunk: &'a Hunk, cursor: usize) -> Result<Edit<'a>, Mismatch> {
    let mut steps: Vec<Step> = hunk.lines.iter().map(step).collect();
    let old = |steps: &[Step<'a>]| -> Vec<&'a str> {
        steps
            .iter()
            .filter(|step| step.is_old())
            .map(|step| step.text())
            .collect()
    };
    let mut pattern = old(&steps);
    if pattern.is_empty() {
        return Ok(Edit {
            at: file.lines.len(),
            replaces: 0,
            steps,
        });
    }
    for _ in 0..=MAX_BLANKS {
        if let Some(at) = find(&file.lines, &pattern, cursor, hunk.end_of_file) {
            return Ok(Edit {
                at,
                replaces: pattern.len(),
                steps,
            });
        }
        if !without_last_blank(&mut steps) {
            break;
        }
        pattern = old(&steps);
    }
    let all: Vec<Step> = hunk.lines.iter().map(step).collect();
    Err(Mismatch::Lines(old(&all).join("\n")))
}

fn step(line: &HunkLine) -> Step<'_> {
    match line {
        HunkLine::Context(text) => Step::Keep(text),
        HunkLine::Remove(text) => Step::Drop(text),
        HunkLine::Add(text) => Step::Insert(text),
    }
}

/// Takes a blank last line out of what is looked for, and out of what is put there if that ends
/// with one too. Returns whether there was one.
fn without_last_blank(steps: &mut Vec<Step>) -> bool {
    let Some(old) = steps
        .iter()
        .rposition(|step| step.is_old() && step.text().is_empty())
    else {
        return false;
    };
    if steps[old + 1..].iter().any(|step| step.is_old()) {
        return false;
    }
    let new = steps.iter().rposition(|step| step.is_new());
    let new = new.filter(|&new| steps[new].text().is_empty());
    if steps[old].is_new() && new != Some(old) {
        steps[old] = Step::Insert("");
    }
    let mut index = 0;
    steps.retain(|step| {
        let gone = (index == old && step.is_old()) || Some(index) == new;
        index += 1;
        !gone
    });
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::{Operation, Patch};

    fn check(content: &str, hunks: &str, expected: Result<&str, Mismatch>) {
        let text = format!("*** Begin Patch\n*** Update File: f\n{hunks}\n*** End Patch");
        let patch = Patch::parse(&text).unwrap();
        let [Operation::Update { hunks, .. }] = patch.operations.as_slice() else {
            panic!("not one update: {patch:?}");
        };
        assert_eq!(
            rewrite(content, hunks).as_deref(),
            expected.as_ref().copied(),
            "{text}"
        );
    }

    #[test]
    fn context_that_matched_loosely_stays_as_it_is() {
        check(
            "  a\t\nb\n\u{201C}c\u{201D}\n",
            " a\n-b\n+B\n \"c\"",
            Ok("  a\t\nB\n\u{201C}c\u{201D}\n"),
        );
    }

    #[test]
    fn added_lines_take_the_line_ending_of_the_file() {
        check(
            "a\r\nb\r\nc\r\n",
            " a\n-b\n+B\n+BB\n c",
            Ok("a\r\nB\r\nBB\r\nc\r\n"),
        );
        check("a\r\nb", "@@\n+c", Ok("a\r\nb\r\nc\r\n"));
        check("a\r\nb", "-a\n+A", Ok("A\r\nb\r\n"));
        check("a\nb\r\n", "-a\n+A", Ok("A\nb\r\n"));
    }

    #[test]
    fn blank_lines_at_the_end_survive() {
        check("a\n\n", "-a\n+A", Ok("A\n\n"));
        check("a\n\n", "@@\n+z", Ok("a\n\nz\n"));
        check("a\nb\n", "-b\n+", Ok("a\n\n"));
        check("\n", "@@\n+z", Ok("\nz\n"));
    }

    #[test]
    fn several_markers_narrow_the_place() {
        let file = "class A\n  f\n  x\nclass B\n  x\n  f\n  x\n";
        let new = "class A\n  f\n  x\nclass B\n  x\n  f\n  y\n";
        check(file, "@@ class B\n@@ f\n-  x\n+  y", Ok(new));
        check(
            file,
            "@@ class B\n@@ class A\n-  x",
            Err(Mismatch::Context("class A".into())),
        );
    }

    #[test]
    fn end_of_file_never_reaches_back_before_the_cursor() {
        let hunks = "-a\n-b\n+X\n@@\n b\n+Z\n*** End of File";
        check("a\nb\n", hunks, Err(Mismatch::Lines("b".into())));
    }
}
