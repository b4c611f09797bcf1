//! What a shell script would run, as far as that can be told without running it.
//!
//! Approval is asked for programs, but models send scripts. A script made only of literal words
//! joined by `&&`, `||`, `;`, `|` and newlines is the same as a list of argument vectors, and each of
//! those can be judged on its own. Anything else (expansions, redirections, control flow) stays
//! opaque: guessing there would let a rule for one program vouch for another.

use std::path::Path;

use tree_sitter::{Node, Parser, Tree};

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
    /// Whether a word holds braces, which the shell may turn into any other words.
    pub braces: bool,
}

impl Command {
    /// A command that no shell will touch.
    #[must_use]
    pub fn verbatim(argv: &[String]) -> Command {
        Command {
            words: argv.to_vec(),
            resolved: argv.to_vec(),
            expands_at: None,
            braces: false,
        }
    }

    fn push(&mut self, word: Word) {
        if word.expands() && self.expands_at.is_none() {
            self.expands_at = Some(self.words.len());
        }
        self.braces |= word.braces;
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
    /// Nothing that can be told apart.
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
    let Some(tree) = parse(script) else {
        return Script::Opaque;
    };
    let root = tree.root_node();
    if root.has_error() {
        return Script::Opaque;
    }
    match plain_commands(root, script) {
        Some(commands) => Script::Plain(commands),
        None => here_doc(root, script).unwrap_or(Script::Opaque),
    }
}

fn parse(script: &str) -> Option<Tree> {
    if script.len() > MAX_SCRIPT_BYTES {
        return None;
    }
    let mut parser = Parser::new();
    let language = tree_sitter_bash::LANGUAGE.into();
    parser.set_language(&language).ok()?;
    parser.parse(script, None)
}

/// `root` and every node below it, parents before children, in source order.
fn nodes(root: Node<'_>) -> Vec<Node<'_>> {
    let mut found = Vec::new();
    let mut pending = vec![root];
    while let Some(node) = pending.pop() {
        found.push(node);
        let mut cursor = node.walk();
        let children: Vec<Node<'_>> = node.children(&mut cursor).collect();
        pending.extend(children.into_iter().rev());
    }
    found
}

fn plain_commands(root: Node<'_>, script: &str) -> Option<Vec<Command>> {
    let mut commands = Vec::new();
    for node in nodes(root) {
        let literal = match node.kind() {
            "program" | "list" | "pipeline" | "command" | "command_name" | "word" | "number"
            | "string" | "string_content" | "raw_string" | "concatenation" => node.is_named(),
            // Some tokens of this grammar carry the blanks around them.
            token => matches!(token.trim(), "" | "&&" | "||" | ";" | "|" | "\""),
        };
        if !literal {
            return None;
        }
        if node.kind() == "command" {
            commands.push(literal_command(node, script, literal_word)?);
        }
    }
    (!commands.is_empty()).then_some(commands)
}

fn literal_command(
    command: Node<'_>,
    script: &str,
    argument: fn(Node<'_>, &str) -> Option<Word>,
) -> Option<Command> {
    let mut found = Command::default();
    let mut cursor = command.walk();
    for child in command.named_children(&mut cursor) {
        if child.kind() == "command_name" {
            let name = child.named_child(0)?;
            if name.kind() != "word" || child.named_child_count() != 1 {
                return None;
            }
            found.push(bare_word(name, script)?);
        } else {
            found.push(argument(child, script)?);
        }
    }
    (!found.words.is_empty()).then_some(found)
}

/// One word of a command in its two readings.
#[derive(Default)]
struct Word {
    written: String,
    resolved: String,
    globs: bool,
    braces: bool,
}

impl Word {
    fn expands(&self) -> bool {
        self.globs || self.braces
    }
}

/// An argument without any quotes.
fn bare_word(node: Node<'_>, script: &str) -> Option<Word> {
    if !matches!(node.kind(), "word" | "number") {
        return None;
    }
    let written = text(node, script);
    let mut word = Word {
        written: written.to_owned(),
        ..Word::default()
    };
    let mut chars = written.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => word.resolved.extend(chars.next().filter(|c| *c != '\n')),
            _ => {
                word.globs |= matches!(c, '*' | '?' | '[');
                word.braces |= matches!(c, '{' | '}');
                word.resolved.push(c);
            }
        }
    }
    Some(word)
}

/// An argument that says its value: words, quotes without expansion, and these joined.
fn literal_word(node: Node<'_>, script: &str) -> Option<Word> {
    match node.kind() {
        "word" | "number" => bare_word(node, script),
        "raw_string" => {
            let inner = text(node, script).strip_prefix('\'')?.strip_suffix('\'')?;
            Some(Word {
                written: inner.to_owned(),
                resolved: inner.to_owned(),
                ..Word::default()
            })
        }
        "string" => {
            let inner = text(node, script).strip_prefix('"')?.strip_suffix('"')?;
            Some(Word {
                written: inner.to_owned(),
                resolved: resolve_double_quoted(inner),
                ..Word::default()
            })
        }
        "concatenation" => {
            let mut whole = Word::default();
            let mut cursor = node.walk();
            for part in node.named_children(&mut cursor) {
                let part = literal_word(part, script)?;
                whole.written.push_str(&part.written);
                whole.resolved.push_str(&part.resolved);
                whole.globs |= part.globs;
                whole.braces |= part.braces;
            }
            Some(whole)
        }
        _ => None,
    }
}

fn resolve_double_quoted(inner: &str) -> String {
    let mut resolved = String::with_capacity(inner.len());
    let mut chars = inner.chars().peekable();
    while let Some(c) = chars.next() {
        match (c, chars.peek()) {
            ('\\', Some('$' | '`' | '"' | '\\')) => resolved.extend(chars.next()),
            ('\\', Some('\n')) => drop(chars.next()),
            _ => resolved.push(c),
        }
    }
    resolved
}

fn here_doc(root: Node<'_>, script: &str) -> Option<Script> {
    let all = nodes(root);
    let redirect = all.iter().find(|node| node.kind() == "heredoc_redirect")?;
    let mut commands = all.iter().filter(|node| node.kind() == "command");
    let (Some(only), None) = (commands.next(), commands.next()) else {
        return None;
    };
    let command = literal_command(*only, script, bare_word)?;
    let alone = root.named_child_count() == 1
        && redirect.parent().is_some_and(|statement| {
            statement.kind() == "redirected_statement"
                && statement.parent() == Some(root)
                && only.parent() == Some(statement)
                && statement.named_child_count() == 2
        })
        && holds_text_only(*redirect, script);
    Some(Script::HereDoc { command, alone })
}

/// Whether a here-document is a start, a text that the shell will not expand, and an end.
fn holds_text_only(redirect: Node<'_>, script: &str) -> bool {
    let mut cursor = redirect.walk();
    let mut quoted = false;
    redirect
        .named_children(&mut cursor)
        .all(|part| match part.kind() {
            "heredoc_start" => {
                quoted = text(part, script).contains(['\'', '"', '\\']);
                true
            }
            "heredoc_body" => quoted || !text(part, script).contains(['$', '`']),
            "heredoc_end" => true,
            _ => false,
        })
}

fn text<'s>(node: Node<'_>, script: &'s str) -> &'s str {
    script.get(node.byte_range()).unwrap_or_default()
}
