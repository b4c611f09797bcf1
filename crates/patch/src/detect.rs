//! Recognises a patch in a command, because models also call `apply_patch` as if it were a program.
//!
//! Only commands that do nothing else are recognised: the argv form, and a shell script that is one
//! here-document for `apply_patch`, perhaps after one `cd`. Everything else is an ordinary command.

use std::path::{Path, PathBuf};

use crate::parse::Patch;

/// A command that stands for a patch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Call {
    /// `apply_patch` with a patch, right or wrong.
    Patch {
        text: String,
        /// The directory that the script changes to first, as written.
        cd: Option<PathBuf>,
    },
    /// The command is a patch itself, with no program to take it ([`crate::PrepareError::Bare`]).
    Bare,
}

const NAMES: [&str; 2] = ["apply_patch", "applypatch"];

/// Finds the patch that `argv` stands for, if it does.
pub fn detect(argv: &[String]) -> Option<Call> {
    let argv: Vec<&str> = argv.iter().map(String::as_str).collect();
    let script = match argv.as_slice() {
        [name, text] if NAMES.contains(name) => {
            return Some(Call::Patch {
                text: (*text).to_owned(),
                cd: None,
            });
        }
        [script] => return is_patch(script).then_some(Call::Bare),
        _ => shell_script(&argv)?,
    };
    if is_patch(script) {
        return Some(Call::Bare);
    }
    Script { rest: script }.call()
}

fn is_patch(text: &str) -> bool {
    Patch::parse(text).is_ok()
}

/// The script of a shell's command line.
fn shell_script<'a>(argv: &[&'a str]) -> Option<&'a str> {
    let shell = Path::new(argv.first()?)
        .file_stem()?
        .to_str()?
        .to_ascii_lowercase();
    match (shell.as_str(), &argv[1..]) {
        ("bash" | "zsh" | "sh", ["-lc" | "-c", script]) => Some(script),
        ("powershell" | "pwsh", ["-Command", script] | ["-NoProfile", "-Command", script]) => {
            Some(script)
        }
        ("cmd", ["/c", script]) => Some(script),
        _ => None,
    }
}

/// What is left of a script to read.
struct Script<'a> {
    rest: &'a str,
}

impl Script<'_> {
    fn call(mut self) -> Option<Call> {
        self.rest = self.rest.trim_start();
        let mut words = self.words()?;
        let mut cd = None;
        if words.first().is_some_and(|word| word == "cd") && self.take("&&") {
            let [_, directory] = words.as_slice() else {
                return None;
            };
            // `-` and `~` mean something to a shell that nobody but a shell should guess.
            if directory.is_empty() || directory.starts_with(['-', '~']) {
                return None;
            }
            cd = Some(directory.into());
            self.rest = self.rest.trim_start();
            words = self.words()?;
        }
        let mut words = words.iter().skip_while(|word| is_assignment(word));
        let is_program = words
            .next()
            .is_some_and(|name| NAMES.contains(&name.as_str()));
        // Any other argument would be the patch, and the program has words for that.
        if !is_program || words.any(|argument| argument != "-") {
            return None;
        }
        Some(Call::Patch {
            text: self.here_document()?,
            cd,
        })
    }

    fn take(&mut self, token: &str) -> bool {
        self.skip_blanks();
        let rest = self.rest.strip_prefix(token);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn skip_blanks(&mut self) {
        while let Some(rest) = [" ", "\t", "\\\n"]
            .iter()
            .find_map(|blank| self.rest.strip_prefix(blank))
        {
            self.rest = rest;
        }
    }

    /// The plain and quoted words up to an operator; nothing if one of them needs a shell to know
    /// what it means.
    fn words(&mut self) -> Option<Vec<String>> {
        let mut words = Vec::new();
        loop {
            self.skip_blanks();
            if self.rest.starts_with(['&', '<']) {
                return Some(words);
            }
            words.push(self.word()?);
        }
    }

    fn word(&mut self) -> Option<String> {
        let mut word = String::new();
        let mut quoted = false;
        loop {
            let mut chars = self.rest.chars();
            match chars.next() {
                Some(quote @ ('\'' | '"')) => {
                    let (inner, rest) = chars.as_str().split_once(quote)?;
                    if quote == '"' && inner.contains(['$', '`', '\\']) {
                        return None;
                    }
                    word += inner;
                    quoted = true;
                    self.rest = rest;
                    continue;
                }
                Some('\\') => word.push(chars.next().filter(|&c| c != '\n')?),
                None | Some(' ' | '\t' | '&' | '<') if quoted || !word.is_empty() => {
                    return Some(word);
                }
                None | Some(' ' | '\t' | '&' | '<' | '\n' | '\r') => return None,
                Some(
                    '$' | '`' | '*' | '?' | '[' | '{' | '(' | ')' | ';' | '|' | '>' | '#' | '!',
                ) => return None,
                Some(c) => word.push(c),
            }
            self.rest = chars.as_str();
        }
    }

    /// The text of a here-document with which the script ends.
    fn here_document(&mut self) -> Option<String> {
        if !self.take("<<") {
            return None;
        }
        let indented = self.rest.strip_prefix('-');
        self.rest = indented.unwrap_or(self.rest);
        self.skip_blanks();
        let (delimiter, body) = self.rest.split_once('\n')?;
        let delimiter = delimiter_word(delimiter.trim_end())?;
        let mut text = String::new();
        let mut lines = body.split_inclusive('\n');
        for line in lines.by_ref() {
            let line = if indented.is_some() {
                line.trim_start_matches('\t')
            } else {
                line
            };
            if line.trim_end_matches(['\r', '\n']) == delimiter {
                return lines.all(|line| line.trim().is_empty()).then_some(text);
            }
            text += line;
        }
        None
    }
}

fn delimiter_word(word: &str) -> Option<&str> {
    let quoted = |quote| {
        let inner = word.strip_prefix(quote)?.strip_suffix(quote)?;
        (!inner.contains(quote)).then_some(inner)
    };
    let plain = |word: &str| {
        word.chars()
            .all(|c| c.is_alphanumeric() || "_-.".contains(c))
    };
    let bare = word.strip_prefix('\\').unwrap_or(word);
    quoted('\'')
        .or_else(|| quoted('"'))
        .or_else(|| plain(bare).then_some(bare))
        .filter(|delimiter| !delimiter.is_empty())
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    })
}
