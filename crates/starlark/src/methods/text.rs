//! The methods of strings. Places are counted in characters.

use std::rc::Rc;

use super::super::arguments::{self, Arguments, number};
use super::super::eval::Machine;
use super::super::format::{Fields, fields};
use super::super::lexer::{Fault, Located, Position};
use super::super::value::Value;
use super::split::{partition, rpartition, rsplit, split, splitlines};
use super::{Method, method};

pub(super) static METHODS: [Method; 33] = [
    method("capitalize", capitalize),
    method("codepoints", codepoints),
    method("count", count),
    method("elems", elems),
    method("endswith", endswith),
    method("find", find),
    method("format", format),
    method("index", index),
    method("isalnum", isalnum),
    method("isalpha", isalpha),
    method("isdigit", isdigit),
    method("islower", islower),
    method("isspace", isspace),
    method("istitle", istitle),
    method("isupper", isupper),
    method("join", join),
    method("lower", lower),
    method("lstrip", lstrip),
    method("partition", partition),
    method("removeprefix", removeprefix),
    method("removesuffix", removesuffix),
    method("replace", replace),
    method("rfind", rfind),
    method("rindex", rindex),
    method("rpartition", rpartition),
    method("rsplit", rsplit),
    method("rstrip", rstrip),
    method("split", split),
    method("splitlines", splitlines),
    method("startswith", startswith),
    method("strip", strip),
    method("title", title),
    method("upper", upper),
];

/// The text that a method is called on, which is paid for as if it were read once.
pub(super) fn own(machine: &Machine, text: &Value, at: Position) -> Result<Rc<str>, Fault> {
    let text = arguments::text(text, at)?;
    machine.heap.spend_text(text.len()).at(at)?;
    Ok(text.clone())
}

/// A method without arguments that makes another text.
fn changed(
    machine: &mut Machine,
    text: &Value,
    given: Arguments,
    change: impl Fn(&str) -> String,
) -> Result<Value, Fault> {
    let at = given.call;
    let [] = given.exactly()?;
    let text = own(machine, text, at)?;
    machine.heap.new_text(change(&text)).at(at)
}

fn upper(machine: &mut Machine, text: &Value, given: Arguments) -> Result<Value, Fault> {
    changed(machine, text, given, str::to_uppercase)
}

fn lower(machine: &mut Machine, text: &Value, given: Arguments) -> Result<Value, Fault> {
    changed(machine, text, given, str::to_lowercase)
}

fn capitalize(machine: &mut Machine, text: &Value, given: Arguments) -> Result<Value, Fault> {
    changed(machine, text, given, |text| {
        let mut rest = text.chars();
        let first = rest.next().into_iter().flat_map(char::to_uppercase);
        first.chain(rest.flat_map(char::to_lowercase)).collect()
    })
}

fn title(machine: &mut Machine, text: &Value, given: Arguments) -> Result<Value, Fault> {
    changed(machine, text, given, |text| {
        let mut titled = String::with_capacity(text.len());
        let mut inside = false;
        for c in text.chars() {
            match inside {
                true => titled.extend(c.to_lowercase()),
                false => titled.extend(c.to_uppercase()),
            }
            inside = c.is_alphabetic();
        }
        titled
    })
}

/// A method without arguments that tells something about the text.
fn predicate(
    machine: &mut Machine,
    text: &Value,
    given: Arguments,
    tell: impl Fn(&str) -> bool,
) -> Result<Value, Fault> {
    let at = given.call;
    let [] = given.exactly()?;
    Ok(Value::Bool(tell(&own(machine, text, at)?)))
}

fn all_are(text: &str, kind: impl Fn(char) -> bool) -> bool {
    !text.is_empty() && text.chars().all(kind)
}

fn isalnum(machine: &mut Machine, text: &Value, given: Arguments) -> Result<Value, Fault> {
    predicate(machine, text, given, |text| {
        all_are(text, char::is_alphanumeric)
    })
}

fn isalpha(machine: &mut Machine, text: &Value, given: Arguments) -> Result<Value, Fault> {
    predicate(machine, text, given, |text| {
        all_are(text, char::is_alphabetic)
    })
}

fn isdigit(machine: &mut Machine, text: &Value, given: Arguments) -> Result<Value, Fault> {
    predicate(machine, text, given, |text| all_are(text, char::is_numeric))
}

fn isspace(machine: &mut Machine, text: &Value, given: Arguments) -> Result<Value, Fault> {
    predicate(machine, text, given, |text| {
        all_are(text, char::is_whitespace)
    })
}

fn islower(machine: &mut Machine, text: &Value, given: Arguments) -> Result<Value, Fault> {
    predicate(machine, text, given, |text| {
        text.chars().any(char::is_lowercase) && !text.chars().any(char::is_uppercase)
    })
}

fn isupper(machine: &mut Machine, text: &Value, given: Arguments) -> Result<Value, Fault> {
    predicate(machine, text, given, |text| {
        text.chars().any(char::is_uppercase) && !text.chars().any(char::is_lowercase)
    })
}

fn istitle(machine: &mut Machine, text: &Value, given: Arguments) -> Result<Value, Fault> {
    predicate(machine, text, given, |text| {
        let (mut inside, mut found) = (false, false);
        for c in text.chars() {
            let fits = match inside {
                true => !c.is_uppercase(),
                false => !c.is_lowercase(),
            };
            if !fits {
                return false;
            }
            inside = c.is_alphabetic();
            found |= inside;
        }
        found
    })
}

fn elems(machine: &mut Machine, text: &Value, given: Arguments) -> Result<Value, Fault> {
    let at = given.call;
    let [] = given.exactly()?;
    let characters = own(machine, text, at)?;
    let items = characters.chars().map(|c| Value::text(c.to_string()));
    machine
        .heap
        .new_tuple_id(items.collect())
        .map(Value::Characters)
        .at(at)
}

fn codepoints(machine: &mut Machine, text: &Value, given: Arguments) -> Result<Value, Fault> {
    let at = given.call;
    let [] = given.exactly()?;
    let characters = own(machine, text, at)?;
    let codes = characters
        .chars()
        .map(|c| Value::Number(u32::from(c).into()));
    machine
        .heap
        .new_tuple_id(codes.collect())
        .map(Value::Characters)
        .at(at)
}

fn stripped(
    machine: &mut Machine,
    text: &Value,
    given: Arguments,
    [start, end]: [bool; 2],
) -> Result<Value, Fault> {
    let at = given.call;
    let [set] = given.positional(0)?;
    let text = own(machine, text, at)?;
    let set = match &set {
        None | Some(Value::None) => None,
        Some(set) => Some(own(machine, set, at)?),
    };
    let cost = set
        .as_ref()
        .map_or(0, |set| set.len().saturating_mul(text.len()));
    machine.heap.spend_text(cost).at(at)?;
    let goes = |c: char| match &set {
        None => c.is_whitespace(),
        Some(set) => set.contains(c),
    };
    let mut rest = text.as_ref();
    if start {
        rest = rest.trim_start_matches(goes);
    }
    if end {
        rest = rest.trim_end_matches(goes);
    }
    machine.heap.new_text(rest).at(at)
}

fn strip(machine: &mut Machine, text: &Value, given: Arguments) -> Result<Value, Fault> {
    stripped(machine, text, given, [true, true])
}

fn lstrip(machine: &mut Machine, text: &Value, given: Arguments) -> Result<Value, Fault> {
    stripped(machine, text, given, [true, false])
}

fn rstrip(machine: &mut Machine, text: &Value, given: Arguments) -> Result<Value, Fault> {
    stripped(machine, text, given, [false, true])
}

fn removeprefix(machine: &mut Machine, text: &Value, given: Arguments) -> Result<Value, Fault> {
    let at = given.call;
    let [prefix] = given.exactly()?;
    let (text, prefix) = (own(machine, text, at)?, own(machine, &prefix, at)?);
    let rest = text.strip_prefix(prefix.as_ref()).unwrap_or(&text);
    machine.heap.new_text(rest).at(at)
}

fn removesuffix(machine: &mut Machine, text: &Value, given: Arguments) -> Result<Value, Fault> {
    let at = given.call;
    let [suffix] = given.exactly()?;
    let (text, suffix) = (own(machine, text, at)?, own(machine, &suffix, at)?);
    let rest = text.strip_suffix(suffix.as_ref()).unwrap_or(&text);
    machine.heap.new_text(rest).at(at)
}

fn startswith(machine: &mut Machine, text: &Value, given: Arguments) -> Result<Value, Fault> {
    matches_one(machine, text, given, |text, part| text.starts_with(part))
}

fn endswith(machine: &mut Machine, text: &Value, given: Arguments) -> Result<Value, Fault> {
    matches_one(machine, text, given, |text, part| text.ends_with(part))
}

/// One text to look for, or a tuple of them.
fn matches_one(
    machine: &mut Machine,
    text: &Value,
    given: Arguments,
    matches: impl Fn(&str, &str) -> bool,
) -> Result<Value, Fault> {
    let at = given.call;
    let [parts] = given.exactly()?;
    let text = own(machine, text, at)?;
    let parts = match parts {
        Value::Tuple(_) => machine.heap.all_items(&parts).at(at)?,
        single => vec![single],
    };
    let mut found = false;
    for part in &parts {
        found |= matches(&text, &own(machine, part, at)?);
    }
    Ok(Value::Bool(found))
}

fn replace(machine: &mut Machine, text: &Value, given: Arguments) -> Result<Value, Fault> {
    let at = given.call;
    let [old, new, count] = given.positional(2)?;
    let text = own(machine, text, at)?;
    let old = own(machine, &old.unwrap_or(Value::None), at)?;
    let new = own(machine, &new.unwrap_or(Value::None), at)?;
    let most = match count {
        None | Some(Value::None) => usize::MAX,
        Some(count) => usize::try_from(number(&count, at)?)
            .map_err(|_| Fault::new(at, "the count cannot be negative"))?,
    };
    let times = text.matches(old.as_ref()).take(most).count();
    let size = text.len().saturating_add(times.saturating_mul(new.len()));
    machine.heap.spend_text(size).at(at)?;
    Ok(Value::text(text.replacen(old.as_ref(), &new, times)))
}

fn join(machine: &mut Machine, text: &Value, given: Arguments) -> Result<Value, Fault> {
    let at = given.call;
    let [parts] = given.exactly()?;
    let between = own(machine, text, at)?;
    let mut joined = String::new();
    for (index, part) in machine.heap.all_items(&parts).at(at)?.iter().enumerate() {
        let part = own(machine, part, at)?;
        if index > 0 {
            machine.heap.spend_text(between.len()).at(at)?;
            joined.push_str(&between);
        }
        joined.push_str(&part);
    }
    machine.heap.new_text(joined).at(at)
}

fn format(machine: &mut Machine, text: &Value, given: Arguments) -> Result<Value, Fault> {
    let at = given.call;
    let format = own(machine, text, at)?;
    let positional = given.positional.into_iter().map(|(value, _)| value);
    let named = given.named.into_iter();
    let given = Fields {
        positional: positional.collect(),
        named: named.map(|(name, (value, _))| (name, value)).collect(),
    };
    fields(&machine.heap, &format, &given).at(at)
}

/// The part of the text that `find` and its like look at, and how many characters are before it.
fn searched(
    machine: &Machine,
    text: &Value,
    given: Arguments,
) -> Result<(String, Rc<str>, usize), Fault> {
    let at = given.call;
    let [wanted, from, to] = given.positional(1)?;
    let wanted = own(machine, &wanted.unwrap_or(Value::None), at)?;
    let text = own(machine, text, at)?;
    let length = i128::try_from(text.chars().count()).unwrap_or(i128::MAX);
    let bound = |value: Option<Value>, default: i128| match value {
        None | Some(Value::None) => Ok(default),
        Some(value) => number(&value, at).map(|number| match number {
            ..0 => number.saturating_add(length).max(0),
            _ => number.min(length),
        }),
    };
    let (from, to) = (bound(from, 0)?, bound(to, length)?);
    let skipped = usize::try_from(from).unwrap_or(0);
    let taken = usize::try_from(to.saturating_sub(from).max(0)).unwrap_or(0);
    let part = text.chars().skip(skipped).take(taken).collect();
    Ok((part, wanted, skipped))
}

fn found(
    machine: &Machine,
    text: &Value,
    given: Arguments,
    search: impl Fn(&str, &str) -> Option<usize>,
) -> Result<Option<usize>, Fault> {
    let (part, wanted, skipped) = searched(machine, text, given)?;
    let byte = search(&part, &wanted);
    Ok(byte.map(|byte| skipped + part[..byte].chars().count()))
}

fn find(machine: &mut Machine, text: &Value, given: Arguments) -> Result<Value, Fault> {
    let place = found(machine, text, given, |text, part| text.find(part))?;
    Ok(place.map_or(Value::Number(-1), Value::count))
}

fn rfind(machine: &mut Machine, text: &Value, given: Arguments) -> Result<Value, Fault> {
    let place = found(machine, text, given, |text, part| text.rfind(part))?;
    Ok(place.map_or(Value::Number(-1), Value::count))
}

fn index(machine: &mut Machine, text: &Value, given: Arguments) -> Result<Value, Fault> {
    let at = given.call;
    let place = found(machine, text, given, |text, part| text.find(part))?;
    place.map(Value::count).ok_or_else(|| not_found(at))
}

fn rindex(machine: &mut Machine, text: &Value, given: Arguments) -> Result<Value, Fault> {
    let at = given.call;
    let place = found(machine, text, given, |text, part| text.rfind(part))?;
    place.map(Value::count).ok_or_else(|| not_found(at))
}

fn not_found(at: Position) -> Fault {
    Fault::new(at, "the string does not contain this part")
}

fn count(machine: &mut Machine, text: &Value, given: Arguments) -> Result<Value, Fault> {
    let (part, wanted, _) = searched(machine, text, given)?;
    Ok(Value::count(part.matches(wanted.as_ref()).count()))
}
