//! A session as something to read: sections of prose and code, written as Markdown or as a page of HTML.
//! What a model, a command or a file said is text in both and never markup of the page.

use std::fmt::Write as _;

use quipu_client::wire::{Thread, ThreadItem, Turn, TurnStatus, UserInput};
use serde_json::Value;

/// A part of a transcript.
enum Block {
    /// A heading: its level and its text.
    Heading(usize, String),
    /// Text as somebody wrote it.
    Prose(String),
    /// Text that keeps its lines, with the language it is in.
    Code(&'static str, String),
}

/// The whole session.
pub struct Transcript {
    title: String,
    blocks: Vec<Block>,
}

impl Transcript {
    pub fn new(thread: &Thread) -> Self {
        let title = thread.name.as_deref().unwrap_or(&thread.preview);
        let title = title.trim().lines().next().unwrap_or_default();
        let mut blocks = vec![Block::Code(
            "text",
            format!(
                "id        {}\ndirectory {}\nprovider  {}\nversion   {}",
                thread.id, thread.cwd, thread.model_provider, thread.cli_version
            ),
        )];
        for (number, turn) in thread.turns.iter().enumerate() {
            blocks.push(Block::Heading(
                2,
                format!("Turn {}{}", number + 1, ended(turn)),
            ));
            blocks.extend(turn.items.iter().flat_map(item));
            if let Some(error) = &turn.error {
                blocks.push(Block::Prose(format!("Error: {}", error.message)));
            }
        }
        Self {
            title: match title {
                "" => thread.id.clone(),
                title => title.to_owned(),
            },
            blocks,
        }
    }

    pub fn markdown(&self) -> String {
        let mut text = format!("# {}\n", self.title);
        for block in &self.blocks {
            // Writing to a string cannot fail.
            match block {
                Block::Heading(level, heading) => {
                    writeln!(text, "\n{} {heading}", "#".repeat(*level))
                }
                Block::Prose(prose) => writeln!(text, "\n{}", prose.trim_end()),
                Block::Code(language, code) => {
                    let fence = fence(code);
                    writeln!(text, "\n{fence}{language}\n{}\n{fence}", code.trim_end())
                }
            }
            .ok();
        }
        text
    }

    pub fn html(&self) -> String {
        let title = escape(&self.title);
        let mut text = format!(
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
             <meta name=\"viewport\" content=\"width=device-width\">\n<title>{title}</title>\n<style>{STYLE}</style>\n\
             </head>\n<body>\n<h1>{title}</h1>\n"
        );
        for block in &self.blocks {
            // Writing to a string cannot fail.
            match block {
                Block::Heading(level, heading) => {
                    writeln!(text, "<h{level}>{}</h{level}>", escape(heading))
                }
                Block::Prose(prose) => writeln!(text, "<p>{}</p>", escape(prose.trim_end())),
                Block::Code(_, code) => writeln!(text, "<pre>{}</pre>", escape(code.trim_end())),
            }
            .ok();
        }
        text + "</body>\n</html>\n"
    }
}

const STYLE: &str = "body{font:16px/1.5 system-ui,sans-serif;max-width:50em;margin:2em auto;padding:0 1em}\
    p{white-space:pre-wrap}pre{overflow:auto;padding:.7em;border:1px solid #8886;border-radius:4px;font-size:14px}\
    :root{color-scheme:light dark}";

fn ended(turn: &Turn) -> &'static str {
    match turn.status {
        TurnStatus::Interrupted => " (interrupted)",
        TurnStatus::Failed => " (failed)",
        TurnStatus::InProgress => " (running)",
        TurnStatus::Completed | TurnStatus::Unrecognized => "",
    }
}

fn item(item: &ThreadItem) -> Vec<Block> {
    let heading = |text: &str| Block::Heading(3, text.to_owned());
    match item {
        ThreadItem::UserMessage { content, .. } => vec![
            heading("User"),
            Block::Prose(content.iter().map(input).collect::<Vec<_>>().join("\n\n")),
        ],
        ThreadItem::AgentMessage { text, .. } => {
            vec![heading("Agent"), Block::Prose(text.clone())]
        }
        ThreadItem::Plan { text, .. } => vec![heading("Plan"), Block::Prose(text.clone())],
        ThreadItem::Reasoning { summary, .. } if summary.is_empty() => Vec::new(),
        ThreadItem::Reasoning { summary, .. } => {
            vec![heading("Reasoning"), Block::Prose(summary.join("\n\n"))]
        }
        ThreadItem::CommandExecution {
            command,
            exit_code,
            aggregated_output,
            ..
        } => {
            let code = exit_code.map_or("not run".to_owned(), |it| format!("exit code {it}"));
            let mut blocks = vec![
                Block::Heading(3, format!("Command ({code})")),
                Block::Code("sh", command.clone()),
            ];
            let output = aggregated_output.as_ref().filter(|it| !it.is_empty());
            blocks.extend(output.map(|it| Block::Code("text", it.clone())));
            blocks
        }
        ThreadItem::FileChange { changes, .. } => {
            let one = |change: &quipu_client::wire::FileUpdateChange| {
                Block::Code("diff", format!("{}\n{}", change.path, change.diff))
            };
            let changes = changes.iter().map(one);
            [heading("File change")]
                .into_iter()
                .chain(changes)
                .collect()
        }
        other => generic(other),
    }
}

/// Kinds that have no form of their own: their members, as the protocol has them.
fn generic(item: &ThreadItem) -> Vec<Block> {
    let Ok(Value::Object(mut members)) = serde_json::to_value(item) else {
        return Vec::new();
    };
    members.remove("id");
    let kind = members.remove("type");
    let kind = kind.as_ref().and_then(Value::as_str).unwrap_or("item");
    let heading = Block::Heading(3, kind.to_owned());
    if members.is_empty() {
        return vec![heading];
    }
    vec![
        heading,
        Block::Code("json", format!("{:#}", Value::Object(members))),
    ]
}

fn input(input: &UserInput) -> String {
    match input {
        UserInput::Text { text, .. } => text.clone(),
        UserInput::Image { url } if url.starts_with("data:") => "[image]".to_owned(),
        UserInput::Image { url } => format!("[image {url}]"),
        UserInput::LocalImage { path } => format!("[image {path}]"),
        UserInput::Skill { name, .. } => format!("[skill {name}]"),
        UserInput::Mention { name, path } => format!("[{name}]({path})"),
        UserInput::Unrecognized(_) => "[input of an unknown kind]".to_owned(),
    }
}

/// A fence longer than any in the text, so that the text cannot end it.
fn fence(text: &str) -> String {
    let runs = text.lines().map(|line| {
        let line = line.trim_start();
        line.len() - line.trim_start_matches('`').len()
    });
    "`".repeat(runs.max().unwrap_or(0).max(2) + 1)
}

fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            // What a terminal would obey has no place on a page either.
            letter if letter.is_control() && letter != '\n' && letter != '\t' => {}
            letter => escaped.push(letter),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fence_is_longer_than_those_inside() {
        assert_eq!(fence("plain"), "```");
        assert_eq!(fence("a\n  ````\nb"), "`````");
    }

    #[test]
    fn markup_is_text_in_a_page() {
        assert_eq!(
            escape("<b a=\"1\">\x1b[2J&'"),
            "&lt;b a=&quot;1&quot;&gt;[2J&amp;&#39;"
        );
    }
}
