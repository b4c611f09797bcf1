//! `"…" % values` and `"…".format(values)`.

use std::rc::Rc;

use super::heap::Heap;
use super::numbers;
use super::operators::{to_float, truncated};
use super::value::Value;

/// `format % value`; a tuple gives one value for each place.
pub(super) fn percent(heap: &Heap, format: &str, value: &Value) -> Result<Value, String> {
    let values = match value {
        Value::Tuple(id) => heap.tuple(*id).to_vec(),
        single => vec![single.clone()],
    };
    heap.spend_text(format.len())?;
    let mut values = values.iter();
    let mut text = String::new();
    let mut characters = format.chars();
    while let Some(c) = characters.next() {
        if c != '%' {
            text.push(c);
            continue;
        }
        let letter = characters
            .next()
            .ok_or("the format ends with `%`; write `%%`")?;
        if letter == '%' {
            text.push('%');
            continue;
        }
        let value = values.next().ok_or("too few values for the format")?;
        let part = converted(heap, letter, value)?;
        heap.spend_text(part.len())?;
        text.push_str(&part);
    }
    if values.next().is_some() {
        return Err("too many values for the format".to_owned());
    }
    heap.new_text(text)
}

fn converted(heap: &Heap, letter: char, value: &Value) -> Result<String, String> {
    let whole = || match value {
        Value::Number(number) => Ok(*number),
        Value::Float(number) if letter == 'd' => truncated(*number),
        other => Err(format!(
            "`%{letter}` needs a number, not {}",
            other.described()
        )),
    };
    let fraction = || match value {
        Value::Number(number) => Ok(to_float(*number)),
        Value::Float(number) => Ok(*number),
        other => Err(format!(
            "`%{letter}` needs a number, not {}",
            other.described()
        )),
    };
    let signed = |number: i128, digits: String| match number {
        ..0 => format!("-{digits}"),
        _ => digits,
    };
    Ok(match letter {
        's' => heap.shown(value)?,
        'r' => heap.quoted(value)?,
        'd' => whole()?.to_string(),
        'o' => signed(whole()?, format!("{:o}", whole()?.unsigned_abs())),
        'x' => signed(whole()?, format!("{:x}", whole()?.unsigned_abs())),
        'X' => signed(whole()?, format!("{:X}", whole()?.unsigned_abs())),
        'e' => numbers::scientific(fraction()?),
        'E' => numbers::scientific(fraction()?).to_uppercase(),
        'f' | 'F' => format!("{:.6}", fraction()?),
        'g' => numbers::shown(fraction()?),
        'G' => numbers::shown(fraction()?).to_uppercase(),
        other => return Err(format!("`%{other}` is no format")),
    })
}

/// The values of `"…".format(…)`.
pub(super) struct Fields {
    pub positional: Vec<Value>,
    pub named: Vec<(Rc<str>, Value)>,
}

/// Fills the `{}`, `{0}` and `{name}` of a text.
pub(super) fn fields(heap: &Heap, format: &str, given: &Fields) -> Result<Value, String> {
    heap.spend_text(format.len())?;
    let mut text = String::new();
    let mut rest = format;
    let mut numbering = Numbering::Open;
    while let Some(start) = rest.find(['{', '}']) {
        text.push_str(&rest[..start]);
        let (brace, after) = rest[start..].split_at(1);
        if let Some(after) = after.strip_prefix(brace) {
            text.push_str(brace);
            rest = after;
            continue;
        }
        if brace == "}" {
            return Err("a single `}` in the format; write `}}`".to_owned());
        }
        let (field, after) = after
            .split_once('}')
            .ok_or("a `{` in the format is not closed")?;
        rest = after;
        let (name, quoted) = match field.split_once('!') {
            None | Some((_, "s")) => (field.split('!').next().unwrap_or(field), false),
            Some((name, "r")) => (name, true),
            Some((_, other)) => return Err(format!("`!{other}` is no conversion")),
        };
        let value = numbering.value(name, given)?;
        let part = match quoted {
            true => heap.quoted(value)?,
            false => heap.shown(value)?,
        };
        heap.spend_text(part.len())?;
        text.push_str(&part);
    }
    text.push_str(rest);
    heap.new_text(text)
}

/// Whether fields are numbered by hand or one after the other.
enum Numbering {
    Open,
    ByHand,
    Next(usize),
}

impl Numbering {
    fn value<'v>(&mut self, field: &str, given: &'v Fields) -> Result<&'v Value, String> {
        let index = if field.is_empty() {
            let next = match self {
                Numbering::Open => 0,
                Numbering::Next(next) => *next,
                Numbering::ByHand => return Err(MIXED.to_owned()),
            };
            *self = Numbering::Next(next + 1);
            next
        } else if field.chars().all(|c| c.is_ascii_digit()) {
            if matches!(self, Numbering::Next(_)) {
                return Err(MIXED.to_owned());
            }
            *self = Numbering::ByHand;
            field.parse().unwrap_or(usize::MAX)
        } else {
            let named = given.named.iter().find(|(name, _)| name.as_ref() == field);
            let value = named.map(|(_, value)| value);
            return value.ok_or_else(|| format!("the format wants `{field}`, which is not given"));
        };
        let value = given.positional.get(index);
        value.ok_or_else(|| "too few values for the format".to_owned())
    }
}

const MIXED: &str = "`{}` and `{0}` cannot stand in one format";
