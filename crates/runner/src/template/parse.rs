//! Splits a template into text, outputs and tags, and nests the tags.

use super::expr::{Condition, Words, fail};
use super::{Node, TemplateError};

/// So deep tags may be nested.
const MAX_DEPTH: usize = 50;

/// A piece between braces, or the text between two of them.
enum Piece<'a> {
    Text(&'a str),
    Output(&'a str),
    Tag(&'a str),
}

struct Pieces<'a> {
    rest: &'a str,
    line: usize,
    /// The last braces ended with `-`: white space at the beginning of the text is left out.
    trim: bool,
}

pub fn nodes(text: &str) -> Result<Vec<Node>, TemplateError> {
    let mut pieces = Pieces {
        rest: text,
        line: 1,
        trim: false,
    };
    let (nodes, end) = block(&mut pieces, &[], 0)?;
    debug_assert!(end.is_none());
    Ok(nodes)
}

impl<'a> Pieces<'a> {
    /// The next piece, and the line in which it begins.
    fn next(&mut self) -> Result<Option<(usize, Piece<'a>)>, TemplateError> {
        loop {
            if self.rest.is_empty() {
                return Ok(None);
            }
            let line = self.line;
            let output = self.rest.starts_with("{{");
            if output || self.rest.starts_with("{%") {
                let close = if output { "}}" } else { "%}" };
                let end = closing(self.rest, close);
                let end = end.ok_or_else(|| fail(line, format!("`{close}` is missing")))?;
                let inner = &self.rest[2..end];
                self.advance(end + 2);
                let inner = inner.strip_prefix('-').unwrap_or(inner);
                let (inner, trim) = match inner.strip_suffix('-') {
                    Some(inner) => (inner, true),
                    None => (inner, false),
                };
                self.trim = trim;
                let piece = match output {
                    true => Piece::Output(inner),
                    false => Piece::Tag(inner),
                };
                return Ok(Some((line, piece)));
            }
            let text = self.text();
            if !text.is_empty() {
                return Ok(Some((line, Piece::Text(text))));
            }
        }
    }

    /// The text up to the next braces.
    fn text(&mut self) -> &'a str {
        let next = ["{{", "{%"].iter().filter_map(|it| self.rest.find(it));
        let end = next.min().unwrap_or(self.rest.len());
        let mut text = &self.rest[..end];
        let trims_before = self.rest[end..].chars().nth(2) == Some('-');
        self.advance(end);
        if std::mem::take(&mut self.trim) {
            text = text.trim_start();
        }
        if trims_before {
            text = text.trim_end();
        }
        text
    }

    fn advance(&mut self, bytes: usize) {
        self.line += self.rest[..bytes].matches('\n').count();
        self.rest = &self.rest[bytes..];
    }

    /// Everything up to a closing tag, as it is.
    fn verbatim(&mut self, end_tag: &str, line: usize) -> Result<&'a str, TemplateError> {
        let all = self.rest;
        let mut at = 0;
        while let Some(found) = all[at..].find("{%") {
            let begin = at + found;
            let Some(length) = all[begin..].find("%}") else {
                break;
            };
            let inner = all[begin + 2..begin + length].trim_matches('-').trim();
            if inner == end_tag {
                self.advance(begin + length + 2);
                return Ok(&all[..begin]);
            }
            at = begin + 2;
        }
        Err(fail(line, format!("`{{% {end_tag} %}}` is missing")))
    }
}

/// Where the closing braces are, outside of texts in quotes.
fn closing(text: &str, close: &str) -> Option<usize> {
    let mut quote = None;
    for (at, it) in text.char_indices().skip(2) {
        match quote {
            Some(open) if it == open => quote = None,
            Some(_) => {}
            None if text[at..].starts_with(close) => return Some(at),
            None if it == '"' || it == '\'' => quote = Some(it),
            None => {}
        }
    }
    None
}

/// A tag that ends a block: its name, and the words behind it.
type End = (String, Words);

/// The nodes up to one of the tags in `ends`, and that tag.
fn block(
    pieces: &mut Pieces<'_>,
    ends: &[&str],
    depth: usize,
) -> Result<(Vec<Node>, Option<End>), TemplateError> {
    let began = pieces.line;
    if depth > MAX_DEPTH {
        return Err(fail(
            began,
            format!("tags are nested deeper than {MAX_DEPTH}"),
        ));
    }
    let mut nodes = Vec::new();
    while let Some((line, piece)) = pieces.next()? {
        match piece {
            Piece::Text(text) => nodes.push(Node::Text(text.to_owned())),
            Piece::Output(text) => {
                let mut words = Words::new(text, line)?;
                nodes.push(Node::Output(words.expr()?));
                words.end()?;
            }
            Piece::Tag(text) => {
                let mut words = Words::new(text, line)?;
                let name = words.name()?;
                match name.as_str() {
                    it if ends.contains(&it) => return Ok((nodes, Some((name, words)))),
                    "if" => nodes.push(branches(pieces, words.condition()?, depth)?),
                    "unless" => nodes.push(unless(pieces, words, depth)?),
                    "for" => nodes.push(each(pieces, words, depth)?),
                    "comment" => drop(pieces.verbatim("endcomment", line)?),
                    "raw" => nodes.push(Node::Text(pieces.verbatim("endraw", line)?.to_owned())),
                    _ => return Err(fail(line, format!("unexpected tag `{name}`"))),
                }
            }
        }
    }
    match ends {
        [] => Ok((nodes, None)),
        [.., last] => Err(fail(began, format!("`{{% {last} %}}` is missing"))),
    }
}

/// The branches of an `if` whose condition was read.
fn branches(
    pieces: &mut Pieces<'_>,
    mut condition: Condition,
    depth: usize,
) -> Result<Node, TemplateError> {
    let mut branches = Vec::new();
    loop {
        let (body, end) = block(pieces, &["elsif", "else", "endif"], depth + 1)?;
        branches.push((condition, body));
        let Some((tag, mut words)) = end else {
            return Ok(Node::If(branches));
        };
        if tag == "elsif" {
            condition = words.condition()?;
            continue;
        }
        words.end()?;
        if tag == "else" {
            let body = last(pieces, "endif", depth)?;
            branches.push((Condition::Always, body));
        }
        return Ok(Node::If(branches));
    }
}

fn unless(pieces: &mut Pieces<'_>, mut words: Words, depth: usize) -> Result<Node, TemplateError> {
    let condition = Condition::Not(Box::new(words.condition()?));
    let (body, otherwise) = halves(pieces, "endunless", depth)?;
    Ok(Node::If(vec![
        (condition, body),
        (Condition::Always, otherwise),
    ]))
}

fn each(pieces: &mut Pieces<'_>, mut words: Words, depth: usize) -> Result<Node, TemplateError> {
    let name = words.name()?;
    if !words.take_name("in") {
        return Err(fail(pieces.line, "`for NAME in LIST` has no `in`"));
    }
    let list = words.expr()?;
    words.end()?;
    let (body, otherwise) = halves(pieces, "endfor", depth)?;
    Ok(Node::For {
        name,
        list,
        body,
        otherwise,
    })
}

/// What stands before and after `else`, up to the end of the tag.
fn halves(
    pieces: &mut Pieces<'_>,
    end_tag: &str,
    depth: usize,
) -> Result<(Vec<Node>, Vec<Node>), TemplateError> {
    let (body, end) = block(pieces, &["else", end_tag], depth + 1)?;
    let Some((tag, mut words)) = end else {
        return Ok((body, Vec::new()));
    };
    words.end()?;
    match tag.as_str() {
        "else" => Ok((body, last(pieces, end_tag, depth)?)),
        _ => Ok((body, Vec::new())),
    }
}

/// The nodes before the end of a tag.
fn last(pieces: &mut Pieces<'_>, end_tag: &str, depth: usize) -> Result<Vec<Node>, TemplateError> {
    let (body, end) = block(pieces, &[end_tag], depth + 1)?;
    if let Some((_, mut words)) = end {
        words.end()?;
    }
    Ok(body)
}
