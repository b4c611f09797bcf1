//! What a shell script would run, as far as that can be told without running it.
//!
//! Approval is asked for programs, but models send scripts. A script made only of literal words
//! joined by `&&`, `||`, `;`, `|` and newlines is the same as a list of argument vectors, and each of
//! those can be judged on its own. Anything else (expansions, redirections, control flow) stays
//! opaque: guessing there would let a rule for one program vouch for another.
//!
//! The splitter knows exactly this much of the language and gives up at the first sign of more. It
//! takes linear time and is plain Rust on purpose: it reads whatever a model comes up with.

mod here_doc;
mod words;

use std::path::Path;

use words::{Lexer, Operator, Token, Word};

/// Scripts beyond this size are not looked into; they are judged as a whole.
const MAX_SCRIPT_BYTES: usize = 256 * 1024;

/// One program with its arguments.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Command {
    /// The words as written: quotes removed, escapes kept.
    pub words: Vec<String>,
    /// The words as the program would get them: escapes resolved as well.
    pub resolved: Vec<String>,
    /// The first word that the shell would still expand, by file name patterns or braces.
    pub expands_at: Option<usize>,
    /// Whether the shell may turn a word into options: by braces, or by a pattern at its beginning, which
    /// matches files that have the names of options.
    pub can_gain_options: bool,
}

impl Command {
    /// A command that no shell will touch.
    #[must_use]
    pub fn verbatim(argv: &[String]) -> Command {
        Command {
            words: argv.to_vec(),
            resolved: argv.to_vec(),
            expands_at: None,
            can_gain_options: false,
        }
    }

    /// The two readings of the words: as written, and as the program would get them.
    pub(crate) fn readings(&self) -> impl Iterator<Item = &[String]> {
        [self.words.as_slice(), self.resolved.as_slice()].into_iter()
    }

    fn push(&mut self, word: Word) {
        if (word.globs || word.braces) && self.expands_at.is_none() {
            self.expands_at = Some(self.words.len());
        }
        self.can_gain_options |= word.braces || word.begins_with_pattern;
        self.words.push(word.written);
        self.resolved.push(word.resolved);
    }
}

/// What is known about the commands of a script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Script {
    /// Exactly these commands, in order; at least one.
    Plain(Vec<Command>),
    /// One command of literal words that reads a here-document.
    HereDoc {
        /// The command.
        command: Command,
        /// Whether the here-document is all there is: nothing expanded, nothing redirected elsewhere.
        /// Only then does approval of the command cover the script.
        alone: bool,
    },
    /// Nothing that can be distinguished.
    Opaque,
}

/// The script of a command line that is exactly `bash|zsh|sh -c|-lc SCRIPT`.
#[must_use]
pub fn script_of(argv: &[String]) -> Option<&str> {
    let [shell, flag, script] = argv else {
        return None;
    };
    let name = Path::new(shell).file_name()?.to_str()?;
    let is_shell = matches!(name, "bash" | "zsh" | "sh") && matches!(flag.as_str(), "-c" | "-lc");
    is_shell.then_some(script)
}

/// Looks into a script.
#[must_use]
pub fn parse_script(script: &str) -> Script {
    if script.len() > MAX_SCRIPT_BYTES {
        return Script::Opaque;
    }
    match plain_commands(script) {
        Some(commands) => Script::Plain(commands),
        None => here_doc::parse(script).unwrap_or(Script::Opaque),
    }
}

fn plain_commands(script: &str) -> Option<Vec<Command>> {
    let mut lexer = Lexer::new(script);
    let mut commands = Vec::new();
    let mut command = Command::default();
    // What the script still owes: a command after `&&`, `||` and `|`, nothing after `;` and newlines.
    let mut owed = true;
    while let Some(token) = lexer.next()? {
        match token {
            Token::Word(word) => {
                if command.words.is_empty() && !word.names_program() {
                    return None;
                }
                command.push(word);
                owed = false;
            }
            Token::Operator(operator) => {
                let empty = command.words.is_empty();
                match operator {
                    Operator::Newline if empty => continue,
                    Operator::Newline | Operator::Semicolon if !empty => {}
                    Operator::And | Operator::Or | Operator::Pipe if !empty => owed = true,
                    _ => return None,
                }
                commands.push(std::mem::take(&mut command));
            }
        }
    }
    if !command.words.is_empty() {
        commands.push(command);
    }
    (!owed).then_some(commands)
}
