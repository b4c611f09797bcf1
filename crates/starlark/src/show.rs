//! Values as text: `str(…)` and `repr(…)`.

use super::compare::{MAX_NESTING, TOO_NESTED};
use super::heap::Heap;
use super::numbers;
use super::value::Value;

impl Heap {
    /// What `str(…)` gives.
    pub(super) fn shown(&self, value: &Value) -> Result<String, String> {
        match value {
            Value::Text(text) => Ok(text.as_ref().to_owned()),
            other => self.quoted(other),
        }
    }

    /// What `repr(…)` gives.
    pub(super) fn quoted(&self, value: &Value) -> Result<String, String> {
        let mut text = String::new();
        self.write(value, &mut Vec::new(), &mut text)?;
        Ok(text)
    }

    /// `around` is what this value is a part of.
    fn write<'v>(
        &'v self,
        value: &'v Value,
        around: &mut Vec<&'v Value>,
        into: &mut String,
    ) -> Result<(), String> {
        let before = into.len();
        match value {
            Value::None => into.push_str("None"),
            Value::Ellipsis => into.push_str("Ellipsis"),
            Value::Bool(true) => into.push_str("True"),
            Value::Bool(false) => into.push_str("False"),
            Value::Number(number) => into.push_str(&number.to_string()),
            Value::Float(number) => into.push_str(&numbers::shown(*number)),
            Value::Text(text) => quote(text, into),
            Value::List(id) => self.write_all(value, self.list(*id), ["[", "]"], around, into)?,
            Value::Tuple(id) => {
                let items = self.tuple(*id);
                let end = if items.len() == 1 { ",)" } else { ")" };
                self.write_all(value, items, ["(", end], around, into)?;
            }
            Value::Dict(_) => self.write_dict(value, around, into)?,
            Value::Range(range) => {
                let (start, stop, step) = (range.start, range.stop, range.step);
                into.push_str(&match (start, step) {
                    (0, 1) => format!("range({stop})"),
                    (_, 1) => format!("range({start}, {stop})"),
                    _ => format!("range({start}, {stop}, {step})"),
                });
            }
            Value::Characters(_) => into.push_str("iterator"),
            Value::Function(id) => into.push_str(&self.function(*id).function.name),
            Value::Builtin(builtin) => into.push_str(builtin.name),
            Value::Method(method) => into.push_str(method.1.name),
            Value::Type(kind) => into.push_str(&kind.to_string()),
        }
        self.spend_text(into.len() - before)
    }

    fn write_all<'v>(
        &'v self,
        value: &'v Value,
        items: &'v [Value],
        [start, end]: [&str; 2],
        around: &mut Vec<&'v Value>,
        into: &mut String,
    ) -> Result<(), String> {
        into.push_str(start);
        if self.enter(value, around)? {
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    into.push_str(", ");
                }
                self.write(item, around, into)?;
            }
            around.pop();
        } else {
            into.push_str("...");
        }
        into.push_str(end);
        Ok(())
    }

    fn write_dict<'v>(
        &'v self,
        value: &'v Value,
        around: &mut Vec<&'v Value>,
        into: &mut String,
    ) -> Result<(), String> {
        let Value::Dict(id) = value else {
            return Ok(());
        };
        into.push('{');
        if self.enter(value, around)? {
            for (index, (_, key, value)) in self.dict(*id).entries().enumerate() {
                if index > 0 {
                    into.push_str(", ");
                }
                self.write(key, around, into)?;
                into.push_str(": ");
                self.write(value, around, into)?;
            }
            around.pop();
        } else {
            into.push_str("...");
        }
        into.push('}');
        Ok(())
    }

    /// `false` if the value is a part of itself.
    fn enter<'v>(&self, value: &'v Value, around: &mut Vec<&'v Value>) -> Result<bool, String> {
        let same = |other: &&&Value| match (other, value) {
            (Value::List(other), Value::List(id)) => other == id,
            (Value::Tuple(other), Value::Tuple(id)) => other == id,
            (Value::Dict(other), Value::Dict(id)) => other == id,
            _ => false,
        };
        if around.iter().find(same).is_some() {
            return Ok(false);
        }
        if around.len() >= MAX_NESTING {
            return Err(TOO_NESTED.to_owned());
        }
        around.push(value);
        Ok(true)
    }
}

fn quote(text: &str, into: &mut String) {
    into.push('"');
    for c in text.chars() {
        let code = u32::from(c);
        match c {
            '\n' => into.push_str("\\n"),
            '\r' => into.push_str("\\r"),
            '\t' => into.push_str("\\t"),
            '"' | '\\' => into.extend(['\\', c]),
            ' '..='~' => into.push(c),
            _ if code <= 0xff => into.push_str(&format!("\\x{code:02x}")),
            _ if c.escape_debug().len() == 1 => into.push(c),
            _ if code <= 0xffff => into.push_str(&format!("\\u{code:04x}")),
            _ => into.push_str(&format!("\\U{code:08x}")),
        }
    }
    into.push('"');
}
