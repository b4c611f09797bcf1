//! What can be done to a value before it is shown.

use serde_json::Value;

/// A filter by its name.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Filter {
    Append,
    Capitalize,
    Default,
    Downcase,
    First,
    Join,
    Json,
    Last,
    Prepend,
    Replace,
    Size,
    Strip,
    Truncate,
    Upcase,
}

impl Filter {
    pub fn named(name: &str) -> Option<Filter> {
        Some(match name {
            "append" => Filter::Append,
            "capitalize" => Filter::Capitalize,
            "default" => Filter::Default,
            "downcase" => Filter::Downcase,
            "first" => Filter::First,
            "join" => Filter::Join,
            "json" => Filter::Json,
            "last" => Filter::Last,
            "prepend" => Filter::Prepend,
            "replace" => Filter::Replace,
            "size" => Filter::Size,
            "strip" => Filter::Strip,
            "truncate" => Filter::Truncate,
            "upcase" => Filter::Upcase,
            _ => return None,
        })
    }

    /// How many arguments it takes, at least and at most.
    pub fn arity(self) -> (usize, usize) {
        match self {
            Filter::Append | Filter::Prepend | Filter::Default => (1, 1),
            Filter::Replace => (2, 2),
            Filter::Join => (0, 1),
            Filter::Truncate => (1, 2),
            _ => (0, 0),
        }
    }

    pub fn apply(self, value: &Value, arguments: &[Value]) -> Result<Value, String> {
        let argument = |at: usize| match arguments.get(at) {
            Some(argument) => text(argument),
            None => Ok(String::new()),
        };
        Ok(match self {
            Filter::Append => (text(value)? + &argument(0)?).into(),
            Filter::Prepend => (argument(0)? + &text(value)?).into(),
            Filter::Capitalize => capitalized(&text(value)?).into(),
            Filter::Downcase => text(value)?.to_lowercase().into(),
            Filter::Upcase => text(value)?.to_uppercase().into(),
            Filter::Strip => text(value)?.trim().into(),
            Filter::Replace => text(value)?.replace(&argument(0)?, &argument(1)?).into(),
            Filter::Json => value.to_string().into(),
            Filter::Default => match is_blank(value) || *value == Value::Bool(false) {
                true => arguments.first().cloned().unwrap_or_default(),
                false => value.clone(),
            },
            Filter::First => list(value)?.first().cloned().unwrap_or_default(),
            Filter::Last => list(value)?.last().cloned().unwrap_or_default(),
            Filter::Size => match value {
                Value::Array(all) => all.len().into(),
                other => text(other)?.chars().count().into(),
            },
            Filter::Join => {
                let with = match arguments.first() {
                    Some(with) => text(with)?,
                    None => " ".to_owned(),
                };
                let texts: Result<Vec<_>, _> = list(value)?.iter().map(text).collect();
                texts?.join(&with).into()
            }
            Filter::Truncate => {
                let most = arguments.first().and_then(Value::as_u64);
                let most = most.ok_or("`truncate` takes a number of characters")?;
                let end = match arguments.get(1) {
                    Some(end) => text(end)?,
                    None => "...".to_owned(),
                };
                truncated(
                    text(value)?,
                    usize::try_from(most).unwrap_or(usize::MAX),
                    &end,
                )
                .into()
            }
        })
    }
}

/// Whether there is nothing to show.
pub fn is_blank(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.trim().is_empty(),
        Value::Array(all) => all.is_empty(),
        Value::Object(all) => all.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    }
}

/// How a value is shown. Lists and objects have no text of their own.
pub fn text(value: &Value) -> Result<String, String> {
    match value {
        Value::Null => Ok(String::new()),
        Value::String(text) => Ok(text.clone()),
        Value::Bool(it) => Ok(it.to_string()),
        Value::Number(number) => Ok(number.to_string()),
        Value::Array(_) => Err("a list has no text; use `join`, `json` or `for`".to_owned()),
        Value::Object(_) => Err("an object has no text; name a member or use `json`".to_owned()),
    }
}

fn list(value: &Value) -> Result<&Vec<Value>, String> {
    value
        .as_array()
        .ok_or_else(|| "this is not a list".to_owned())
}

fn capitalized(text: &str) -> String {
    let mut letters = text.chars();
    match letters.next() {
        Some(first) => first.to_uppercase().chain(letters).collect(),
        None => String::new(),
    }
}

fn truncated(text: String, most: usize, end: &str) -> String {
    if text.chars().count() <= most {
        return text;
    }
    let kept = most.saturating_sub(end.chars().count());
    text.chars().take(kept).chain(end.chars()).collect()
}
