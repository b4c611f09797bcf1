//! The methods that take strings apart.

use std::rc::Rc;

use super::super::arguments::{self, Arguments, number};
use super::super::eval::Machine;
use super::super::lexer::{Fault, Located, Position};
use super::super::value::Value;
use super::text::own;

pub(super) fn split(machine: &mut Machine, text: &Value, given: Arguments) -> Result<Value, Fault> {
    let at = given.call;
    let text = own(machine, text, at)?;
    let (separator, most) = separators(given)?;
    let parts: Vec<&str> = match &separator {
        Some(separator) => text.splitn(most, separator.as_ref()).collect(),
        None => words(&text, most),
    };
    texts(machine, parts, at)
}

pub(super) fn rsplit(
    machine: &mut Machine,
    text: &Value,
    given: Arguments,
) -> Result<Value, Fault> {
    let at = given.call;
    let text = own(machine, text, at)?;
    let (separator, most) = separators(given)?;
    let mut parts: Vec<&str> = match &separator {
        Some(separator) => text.rsplitn(most, separator.as_ref()).collect(),
        None => last_words(&text, most),
    };
    parts.reverse();
    texts(machine, parts, at)
}

/// What to split at, if it is not blanks, and into how many parts at most.
fn separators(given: Arguments) -> Result<(Option<Rc<str>>, usize), Fault> {
    let at = given.call;
    let [separator, most] = given.positional(0)?;
    let separator = match &separator {
        None | Some(Value::None) => None,
        Some(separator) => Some(arguments::text(separator, at)?.clone()),
    };
    let most = match most {
        None | Some(Value::None) => usize::MAX,
        Some(most) => usize::try_from(number(&most, at)?)
            .unwrap_or(usize::MAX)
            .saturating_add(1),
    };
    Ok((separator, most))
}

fn words(text: &str, most: usize) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        if parts.len() + 1 == most {
            parts.push(rest);
            break;
        }
        let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
        parts.push(&rest[..end]);
        rest = rest[end..].trim_start();
    }
    parts
}

/// From the end.
fn last_words(text: &str, most: usize) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut rest = text.trim_end();
    while !rest.is_empty() {
        if parts.len() + 1 == most {
            parts.push(rest);
            break;
        }
        let blank = rest.char_indices().rfind(|(_, c)| c.is_whitespace());
        let start = blank.map_or(0, |(place, c)| place + c.len_utf8());
        parts.push(&rest[start..]);
        rest = rest[..start].trim_end();
    }
    parts
}

fn texts(machine: &mut Machine, parts: Vec<&str>, at: Position) -> Result<Value, Fault> {
    let parts = parts.into_iter().map(Value::text).collect();
    machine.heap.new_list(parts).at(at)
}

pub(super) fn splitlines(
    machine: &mut Machine,
    text: &Value,
    given: Arguments,
) -> Result<Value, Fault> {
    let at = given.call;
    let text = own(machine, text, at)?;
    let [keep] = given.positional(0)?;
    let keep = match keep {
        None => false,
        Some(Value::Bool(keep)) => keep,
        Some(_) => return Err(Fault::new(at, "this needs True or False")),
    };
    let mut lines = Vec::new();
    let mut rest = text.as_ref();
    while !rest.is_empty() {
        let end = rest.find(['\n', '\r']).unwrap_or(rest.len());
        let after = match &rest[end..] {
            ending if ending.starts_with("\r\n") => end + 2,
            "" => end,
            _ => end + 1,
        };
        lines.push(if keep { &rest[..after] } else { &rest[..end] });
        rest = &rest[after..];
    }
    texts(machine, lines, at)
}

pub(super) fn partition(
    machine: &mut Machine,
    text: &Value,
    given: Arguments,
) -> Result<Value, Fault> {
    let at = given.call;
    let (text, separator) = partitioned(machine, text, given)?;
    let parts = match text.split_once(separator.as_ref()) {
        Some((before, after)) => [before, &separator, after],
        None => [text.as_ref(), "", ""],
    };
    machine
        .heap
        .new_tuple(parts.map(Value::text).to_vec())
        .at(at)
}

pub(super) fn rpartition(
    machine: &mut Machine,
    text: &Value,
    given: Arguments,
) -> Result<Value, Fault> {
    let at = given.call;
    let (text, separator) = partitioned(machine, text, given)?;
    let parts = match text.rsplit_once(separator.as_ref()) {
        Some((before, after)) => [before, &separator, after],
        None => ["", "", text.as_ref()],
    };
    machine
        .heap
        .new_tuple(parts.map(Value::text).to_vec())
        .at(at)
}

fn partitioned(
    machine: &mut Machine,
    text: &Value,
    given: Arguments,
) -> Result<(Rc<str>, Rc<str>), Fault> {
    let at = given.call;
    let text = own(machine, text, at)?;
    let [separator] = given.exactly()?;
    let separator = arguments::text(&separator, at)?.clone();
    if separator.is_empty() {
        return Err(Fault::new(at, "the separator is empty"));
    }
    Ok((text, separator))
}
