//! TOML text as JSON values, and places inside the text.
//!
//! Layers are kept as JSON because that is what clients see and what versions are computed over.
//! The text is looked at a second time only to say where a mistake is.

use std::ops::Range;

use serde_json::{Map, Number, Value};
use toml_edit::{Document, Item};

use crate::Table;

/// A mistake at a place in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mistake {
    /// What is wrong.
    pub message: String,
    /// Where, in bytes.
    pub span: Range<usize>,
}

/// One step from a value to a value inside it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// Into a table.
    Key(String),
    /// Into an array.
    Index(usize),
}

/// A position in a text: 1-based line and column, the column in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Position {
    /// 1-based line.
    pub line: usize,
    /// 1-based column, counted in characters.
    pub column: usize,
}

/// Parses TOML text.
pub fn parse(text: &str) -> Result<Table, Mistake> {
    let document = Document::parse(text).map_err(|error| Mistake {
        message: error.message().to_owned(),
        span: error.span().unwrap_or(0..0),
    })?;
    Ok(document
        .as_table()
        .iter()
        .map(|(key, item)| (key.to_owned(), json(item)))
        .collect())
}

/// Parses one TOML value, such as the right-hand side of `-c key=value`.
pub fn parse_value(text: &str) -> Option<Value> {
    let document = Document::parse(format!("value = {text}")).ok()?;
    document.get("value").map(json)
}

/// TOML as JSON. Dates become the one-member object that clients of this protocol know; numbers JSON
/// lacks become null.
fn json(item: &Item) -> Value {
    match item {
        Item::None => Value::Null,
        Item::Value(value) => json_value(value),
        Item::Table(table) => table.iter().map(|(k, v)| (k.to_owned(), json(v))).collect(),
        Item::ArrayOfTables(tables) => tables
            .iter()
            .map(|table| {
                table
                    .iter()
                    .map(|(k, v)| (k.to_owned(), json(v)))
                    .collect::<Value>()
            })
            .collect(),
    }
}

/// The one member of the object that stands for a date.
const DATE: &str = "$__toml_private_datetime";

/// Whether a value stands for a date.
pub fn is_date(value: &Value) -> bool {
    value
        .as_object()
        .is_some_and(|table| table.len() == 1 && table.contains_key(DATE))
}

fn json_value(value: &toml_edit::Value) -> Value {
    use toml_edit::Value as Toml;
    match value {
        Toml::String(text) => Value::String(text.value().clone()),
        Toml::Integer(number) => Value::from(*number.value()),
        Toml::Float(number) => Number::from_f64(*number.value()).map_or(Value::Null, Value::Number),
        Toml::Boolean(flag) => Value::Bool(*flag.value()),
        Toml::Datetime(date) => {
            let text = Value::String(date.value().to_string());
            Value::Object(Map::from_iter([(DATE.to_owned(), text)]))
        }
        Toml::Array(array) => array.iter().map(json_value).collect(),
        Toml::InlineTable(table) => table
            .iter()
            .map(|(k, v)| (k.to_owned(), json_value(v)))
            .collect(),
    }
}

/// Where the value at `steps` is written. A table that is only implied by others is shown at its key.
pub fn locate(text: &str, steps: &[Step]) -> Option<Range<usize>> {
    let found = find(text, steps)?;
    found.value.or(found.key)
}

/// Where the key at the end of `steps` is written.
pub fn locate_key(text: &str, steps: &[Step]) -> Option<Range<usize>> {
    find(text, steps)?.key
}

#[derive(Default)]
struct Found {
    key: Option<Range<usize>>,
    value: Option<Range<usize>>,
}

fn find(text: &str, steps: &[Step]) -> Option<Found> {
    let document = Document::parse(text).ok()?;
    let mut item = document.as_item();
    let mut found = Found::default();
    for step in steps {
        match step {
            Step::Key(name) => {
                let (key, next) = item.as_table_like()?.get_key_value(name)?;
                found.key = key.span();
                item = next;
            }
            Step::Index(index) => item = item.get(*index)?,
        }
        found.value = written_span(item);
    }
    Some(found)
}

fn written_span(item: &Item) -> Option<Range<usize>> {
    match item {
        Item::Table(table) if table.is_implicit() || table.is_dotted() => None,
        item => item.span(),
    }
}

/// The first and last position of a span; both the same for an empty one.
pub fn range(text: &str, span: &Range<usize>) -> (Position, Position) {
    let last = before(text, span.end).char_indices().next_back();
    let end = last.map_or(span.start, |(index, _)| index.max(span.start));
    (position(text, span.start), position(text, end))
}

fn position(text: &str, offset: usize) -> Position {
    let before = before(text, offset);
    if before.len() == text.len()
        && let Some(all) = before.strip_suffix('\n')
    {
        // What is missing at the end is missing on the last line, not on the empty one after it.
        let mut end = position(text, all.len());
        end.column += 1;
        return end;
    }
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    Position {
        line: before.matches('\n').count() + 1,
        column: before[line_start..].chars().count() + 1,
    }
}

/// The text up to an offset, or up to the last whole character before it.
fn before(text: &str, offset: usize) -> &str {
    let mut offset = offset.min(text.len());
    while !text.is_char_boundary(offset) {
        offset -= 1;
    }
    &text[..offset]
}

/// A mistake with the line it is on, as TOML parsers print it.
pub fn excerpt(text: &str, mistake: &Mistake) -> String {
    let Position { line, column } = position(text, mistake.span.start);
    let content = text.split('\n').nth(line - 1).unwrap_or_default();
    let room = content.chars().count().saturating_sub(column - 1);
    let length = mistake.span.len().min(room).max(1);
    let gutter = " ".repeat(line.to_string().len() + 1);
    let marks = " ".repeat(column) + &"^".repeat(length);
    format!(
        "TOML parse error at line {line}, column {column}\n{gutter}|\n{line} | {content}\n{gutter}|{marks}\n{}\n",
        mistake.message,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(name: &str) -> Step {
        Step::Key(name.to_owned())
    }

    fn columns(text: &str, span: Range<usize>) -> [usize; 4] {
        let (start, end) = range(text, &span);
        [start.line, start.column, end.line, end.column]
    }

    #[test]
    fn mistakes_are_located_in_characters() {
        for (text, expected) in [
            ("model = ", [1, 9, 1, 9]),
            ("model = abc", [1, 9, 1, 11]),
            ("\"é\" = \"ü\" x", [1, 11, 1, 11]),
            ("# c\n\nmodel = \"ok\"\nfoo = tru\n", [4, 7, 4, 9]),
            ("é = 1", [1, 1, 1, 1]),
        ] {
            assert_eq!(
                columns(text, parse(text).unwrap_err().span),
                expected,
                "{text}"
            );
        }
    }

    #[test]
    fn values_are_located_where_they_are_written() {
        let text = "a.b = 1\n[x.y]\nz = [1, {q = 2}]\n[[l]]\nm = 3\n";
        let at = |steps: &[Step]| columns(text, locate(text, steps).unwrap());
        assert_eq!(at(&[key("a")]), [1, 1, 1, 1], "implied by a dotted key");
        assert_eq!(at(&[key("a"), key("b")]), [1, 7, 1, 7]);
        assert_eq!(at(&[key("x")]), [2, 2, 2, 2], "implied by a header");
        assert_eq!(at(&[key("x"), key("y")]), [2, 1, 2, 5], "the header itself");
        let inner = [key("x"), key("y"), key("z"), Step::Index(1), key("q")];
        assert_eq!(at(&inner), [3, 14, 3, 14]);
        assert_eq!(at(&[key("l"), Step::Index(0), key("m")]), [5, 5, 5, 5]);
        assert_eq!(locate(text, &[key("none")]), None);
    }

    #[test]
    fn an_excerpt_points_at_the_mistake() {
        let text = "foo=\n";
        assert_eq!(
            excerpt(text, &parse(text).unwrap_err()),
            "TOML parse error at line 1, column 5\n  |\n1 | foo=\n  |     ^\n\
             string values must be quoted, expected literal string\n",
        );
    }

    #[test]
    fn toml_becomes_json() {
        let table =
            parse("f = 1.0\nn = nan\nd = 2020-01-01\n[[t]]\na = [1, {b = true}]\n").unwrap();
        let expected = serde_json::json!({
            "f": 1.0, "n": null, "d": {"$__toml_private_datetime": "2020-01-01"},
            "t": [{"a": [1, {"b": true}]}],
        });
        assert_eq!(Value::Object(table), expected);
    }
}
