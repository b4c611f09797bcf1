//! From patch text to typed operations, with the line number of whatever is wrong.
//!
//! The parser forgives what models often get wrong without changing the meaning: white space and a
//! heredoc around the patch, blank lines between operations, a missing `@@` before the first hunk,
//! an empty line where one with nothing but its mark is meant, and line numbers behind `@@` as
//! other diff formats have them.

use std::path::PathBuf;

const BEGIN: &str = "*** Begin Patch";
const END: &str = "*** End Patch";
const ADD: &str = "*** Add File: ";
const DELETE: &str = "*** Delete File: ";
const UPDATE: &str = "*** Update File: ";
const MOVE: &str = "*** Move to: ";
const END_OF_FILE: &str = "*** End of File";
const MARKER: &str = "@@";

/// A parsed patch: operations in the order they were written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Patch {
    pub operations: Vec<Operation>,
}

/// What a patch does to one file. Paths are as written, relative to a directory the patch does not
/// name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Operation {
    /// Writes a file, whether or not it exists.
    Add { path: PathBuf, content: String },
    /// Removes a file.
    Delete { path: PathBuf },
    /// Edits a file and, with `move_to`, gives it a new place.
    Update {
        path: PathBuf,
        move_to: Option<PathBuf>,
        hunks: Vec<Hunk>,
    },
}

/// One place of a file to edit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hunk {
    /// Lines to find one after the other before `lines` are looked for.
    pub contexts: Vec<String>,
    pub lines: Vec<HunkLine>,
    /// Whether `lines` are the last of the file.
    pub end_of_file: bool,
}

/// One line of a hunk, without its leading mark.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HunkLine {
    Context(String),
    Remove(String),
    Add(String),
}

/// Why a text is not a patch.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ParseError {
    #[error("invalid patch: {}", self.detail())]
    MissingBegin,
    #[error("invalid patch: {}", self.detail())]
    MissingEnd,
    #[error("invalid hunk at line {line}, {problem}")]
    Line {
        /// Counted from 1, which is the `*** Begin Patch` line.
        line: usize,
        problem: LineProblem,
    },
}

impl ParseError {
    /// The message without the words in front of it, which depend on who asks.
    pub(crate) fn detail(&self) -> String {
        match self {
            Self::MissingBegin => format!("The first line of the patch must be '{BEGIN}'"),
            Self::MissingEnd => format!("The last line of the patch must be '{END}'"),
            Self::Line { problem, .. } => problem.to_string(),
        }
    }
}

/// What is wrong with one line of a patch.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LineProblem {
    #[error(
        "'{0}' is not a valid hunk header. Valid hunk headers: '*** Add File: {{path}}', '*** Delete File: {{path}}', '*** Update File: {{path}}'"
    )]
    UnknownHeader(String),
    #[error("Update file hunk for path '{}' is empty", .0.display())]
    EmptyUpdate(PathBuf),
    #[error("Update hunk does not contain any lines")]
    EmptyHunk,
    #[error("Expected update hunk to start with a @@ context marker, got: '{0}'")]
    MissingMarker(String),
    #[error(
        "Unexpected line found in update hunk: '{0}'. Every line should start with ' ' (context line), '+' (added line), or '-' (removed line)"
    )]
    UnmarkedLine(String),
    #[error("'*** Move to: ' is not followed by a path")]
    EmptyMove,
}

impl Patch {
    /// Parses a whole patch.
    pub fn parse(text: &str) -> Result<Self, ParseError> {
        let lines: Vec<&str> = text.trim().lines().collect();
        let body = match body(&lines) {
            Ok(body) => body,
            Err(error) => within_heredoc(&lines).map_or(Err(error), body)?,
        };
        let mut parser = Parser {
            lines: body,
            next: 0,
        };
        let mut operations = Vec::new();
        while let Some(header) = parser.skip_blank() {
            operations.push(parser.operation(header.trim())?);
        }
        Ok(Self { operations })
    }
}

/// The lines between the first and the last, which must be the patch's own frame.
fn body<'a, 'b>(lines: &'b [&'a str]) -> Result<&'b [&'a str], ParseError> {
    let (Some(first), Some(last)) = (lines.first(), lines.last()) else {
        return Err(ParseError::MissingEnd);
    };
    if first.trim() != BEGIN {
        Err(ParseError::MissingBegin)
    } else if last.trim() != END {
        Err(ParseError::MissingEnd)
    } else {
        Ok(&lines[1..lines.len() - 1])
    }
}

/// The lines inside `<<EOF` … `EOF`: some models send the heredoc they would have typed into a
/// shell.
fn within_heredoc<'a, 'b>(lines: &'b [&'a str]) -> Option<&'b [&'a str]> {
    match lines {
        ["<<EOF" | "<<'EOF'" | "<<\"EOF\"", inner @ .., last]
            if inner.len() >= 2 && last.ends_with("EOF") =>
        {
            Some(inner)
        }
        _ => None,
    }
}

/// Walks the lines between the frame.
struct Parser<'a, 'b> {
    lines: &'b [&'a str],
    next: usize,
}

impl<'a> Parser<'a, '_> {
    fn peek(&self) -> Option<&'a str> {
        self.lines.get(self.next).copied()
    }

    fn skip_blank(&mut self) -> Option<&'a str> {
        while self.peek()?.trim().is_empty() {
            self.next += 1;
        }
        self.peek()
    }

    /// An error at `index` of `lines`; the frame's first line is line 1.
    fn error(index: usize, problem: LineProblem) -> ParseError {
        ParseError::Line {
            line: index + 2,
            problem,
        }
    }

    fn operation(&mut self, header: &str) -> Result<Operation, ParseError> {
        let at = self.next;
        self.next += 1;
        if let Some(path) = header.strip_prefix(ADD) {
            Ok(Operation::Add {
                path: path.into(),
                content: self.added_lines(),
            })
        } else if let Some(path) = header.strip_prefix(DELETE) {
            Ok(Operation::Delete { path: path.into() })
        } else if let Some(path) = header.strip_prefix(UPDATE) {
            self.update(at, path.into())
        } else {
            Err(Self::error(
                at,
                LineProblem::UnknownHeader(header.to_owned()),
            ))
        }
    }

    fn added_lines(&mut self) -> String {
        let mut content = String::new();
        loop {
            let rest = &self.lines[self.next..];
            let blanks = rest
                .iter()
                .take_while(|line| line.trim().is_empty())
                .count();
            let Some(line) = rest.get(blanks).and_then(|line| line.strip_prefix('+')) else {
                return content;
            };
            content.extend(std::iter::repeat_n('\n', blanks));
            content.push_str(line);
            content.push('\n');
            self.next += blanks + 1;
        }
    }

    fn update(&mut self, at: usize, path: PathBuf) -> Result<Operation, ParseError> {
        let move_to = self.move_to()?;
        let mut hunks = Vec::new();
        while let Some(line) = self.skip_blank() {
            if line.starts_with("***") {
                break;
            }
            hunks.push(self.hunk(hunks.is_empty())?);
        }
        if hunks.is_empty() {
            return Err(Self::error(at, LineProblem::EmptyUpdate(path)));
        }
        Ok(Operation::Update {
            path,
            move_to,
            hunks,
        })
    }

    fn move_to(&mut self) -> Result<Option<PathBuf>, ParseError> {
        let Some(path) = self.peek().and_then(|line| line.strip_prefix(MOVE)) else {
            return Ok(None);
        };
        let path = path.trim_end();
        if path.is_empty() {
            return Err(Self::error(self.next, LineProblem::EmptyMove));
        }
        self.next += 1;
        Ok(Some(path.into()))
    }

    fn hunk(&mut self, first: bool) -> Result<Hunk, ParseError> {
        let contexts = self.contexts(first)?;
        let mut hunk = Hunk {
            contexts,
            lines: Vec::new(),
            end_of_file: false,
        };
        while let Some(line) = self.peek() {
            if line == END_OF_FILE && !hunk.lines.is_empty() {
                hunk.end_of_file = true;
                self.next += 1;
                break;
            }
            match hunk_line(line) {
                Some(line) => hunk.lines.push(line),
                None if hunk.lines.is_empty() && line != END_OF_FILE => {
                    let problem = LineProblem::UnmarkedLine(line.to_owned());
                    return Err(Self::error(self.next, problem));
                }
                None => break,
            }
            self.next += 1;
        }
        if hunk.lines.is_empty() {
            return Err(Self::error(self.next, LineProblem::EmptyHunk));
        }
        Ok(hunk)
    }

    /// The `@@` lines in front of a hunk; only the first hunk may go without.
    fn contexts(&mut self, first: bool) -> Result<Vec<String>, ParseError> {
        let start = self.next;
        let mut contexts = Vec::new();
        while let Some(context) = self.peek().and_then(marker) {
            contexts.extend(context.map(str::to_owned));
            self.next += 1;
        }
        match self.peek() {
            Some(line) if self.next == start && !first => Err(Self::error(
                start,
                LineProblem::MissingMarker(line.to_owned()),
            )),
            _ => Ok(contexts),
        }
    }
}

fn hunk_line(line: &str) -> Option<HunkLine> {
    let mut rest = line.chars();
    match rest.next() {
        None => Some(HunkLine::Context(String::new())),
        Some(' ') => Some(HunkLine::Context(rest.as_str().to_owned())),
        Some('-') => Some(HunkLine::Remove(rest.as_str().to_owned())),
        Some('+') => Some(HunkLine::Add(rest.as_str().to_owned())),
        Some(_) => None,
    }
}

/// `None` if the line is no `@@` marker, else the line of the file it names, if it names one.
fn marker(line: &str) -> Option<Option<&str>> {
    let rest = line.strip_prefix(MARKER)?;
    if rest.trim().is_empty() {
        return Some(None);
    }
    let context = rest.strip_prefix(' ')?;
    Some((!is_line_range(context)).then_some(context))
}

/// Whether this is the `-1,7 +1,8 @@` of a unified diff, which says nothing here: lines are found
/// by content.
fn is_line_range(context: &str) -> bool {
    let mut words = context.split_whitespace();
    let mut range = |sign| {
        words
            .next()
            .and_then(|word| word.strip_prefix(sign))
            .is_some_and(|numbers| {
                numbers.starts_with(|c: char| c.is_ascii_digit())
                    && numbers.chars().all(|c| c.is_ascii_digit() || c == ',')
            })
    };
    range('-') && range('+') && words.next() == Some(MARKER)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn update(body: &str) -> Result<Vec<Hunk>, ParseError> {
        let text = format!("{BEGIN}\n{UPDATE}f\n{body}\n{END}");
        match Patch::parse(&text)?.operations.remove(0) {
            Operation::Update { hunks, .. } => Ok(hunks),
            other => panic!("not an update: {other:?}"),
        }
    }

    #[test]
    fn markers_may_name_several_lines_or_none() {
        let contexts = |body: &str| update(body).unwrap()[0].contexts.clone();
        assert_eq!(
            contexts("@@ class A\n@@   def f():\n+x"),
            ["class A", "  def f():"]
        );
        assert_eq!(contexts("@@ -1,7 +1,8 @@ fn main\n+x"), [""; 0]);
        assert_eq!(contexts("@@ -1 +1 @@\n+x"), [""; 0]);
        assert_eq!(contexts("@@ \n+x"), [""; 0]);
        assert_eq!(contexts("@@ -x +y\n+x"), ["-x +y"]);
    }

    #[test]
    fn errors_name_the_line() {
        let line = |body: &str| match update(body) {
            Err(ParseError::Line { line, .. }) => line,
            other => panic!("{other:?}"),
        };
        assert_eq!(line(""), 2);
        assert_eq!(line("foo"), 3);
        assert_eq!(line("@@"), 4);
        assert_eq!(line("@@\nfoo"), 4);
        assert_eq!(line("@@\n-a\nfoo"), 5);
        assert_eq!(line("*** Move to: \n@@\n-a"), 3);
    }

    #[test]
    fn blank_lines_between_operations_mean_nothing() {
        let text = format!("{BEGIN}\n\n{ADD}a\n+1\n\n \n{DELETE}b\n\n{END}");
        assert_eq!(Patch::parse(&text).unwrap().operations.len(), 2);
    }
}
