//! Does a value fit its type, and if not, what to tell the person who wrote it.
//!
//! The texts are those users of this configuration format know.

use serde_json::Value;

use quipu_wire::Word;

use super::{Absent, Int, Kind, Rule, Section, Variant};
use crate::Table;
use crate::document::Step;

/// A value that does not fit.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}\nin `{named}`\n")]
pub struct Mismatch {
    /// What is wrong.
    pub message: String,
    /// What is wrong, where the text is shown with its place in the file.
    pub in_file: String,
    /// The dotted path of the setting.
    pub named: String,
    /// The way to the value.
    pub steps: Vec<Step>,
}

/// Checks a whole table.
pub fn check(section: &Section, table: &Table) -> Result<(), Mismatch> {
    let mut checker = Checker::default();
    checker.table(section, table)
}

#[derive(Default)]
struct Checker {
    steps: Vec<Step>,
    /// The keys of `steps` that messages show.
    names: Vec<String>,
    /// How many steps and names are shown for mistakes below a table with free keys.
    frozen: Option<(usize, usize)>,
}

impl Checker {
    fn table(&mut self, section: &Section, table: &Table) -> Result<(), Mismatch> {
        for (name, value) in table {
            match (section.key(name), section.rest) {
                (Some(key), _) => self.member(name, &key.kind, value)?,
                (None, Some(kind)) => self.free_member(name, kind, value)?,
                (None, None) => {}
            }
        }
        for key in section.keys {
            let present = table.contains_key(key.name)
                || key.alias.is_some_and(|alias| table.contains_key(alias));
            if matches!(key.absent, Absent::Required) && !present {
                return Err(self.wrong(format!("missing field `{}`", key.name)));
            }
        }
        self.rule(section.rule, table)
    }

    fn rule(&self, rule: Option<Rule>, table: &Table) -> Result<(), Mismatch> {
        match rule.and_then(|rule| rule(table)) {
            Some(message) => Err(self.wrong(message)),
            None => Ok(()),
        }
    }

    fn member(&mut self, name: &str, kind: &Kind, value: &Value) -> Result<(), Mismatch> {
        self.steps.push(Step::Key(name.to_owned()));
        self.names.push(name.to_owned());
        self.value(kind, value)?;
        self.names.pop();
        self.steps.pop();
        Ok(())
    }

    /// A member whose name the user chose, next to known keys.
    fn free_member(&mut self, name: &str, kind: &Kind, value: &Value) -> Result<(), Mismatch> {
        let outer = self.frozen;
        self.frozen = outer.or(Some((self.steps.len(), self.names.len())));
        self.member(name, kind, value)?;
        self.frozen = outer;
        Ok(())
    }

    /// A feature is shown at its own place, but named by its table.
    fn switch(&mut self, name: &str, value: &Value) -> Result<(), Mismatch> {
        self.steps.push(Step::Key(name.to_owned()));
        self.value(&Kind::Bool, value)?;
        self.steps.pop();
        Ok(())
    }

    fn value(&mut self, kind: &Kind, value: &Value) -> Result<(), Mismatch> {
        match (kind, value) {
            (Kind::Bool, Value::Bool(_))
            | (Kind::Str | Kind::Path | Kind::PlainPath, Value::String(_)) => Ok(()),
            (Kind::Number, Value::Number(number)) => self.amount(number.as_f64(), value),
            (Kind::Seconds, Value::Number(_) | Value::Null) => self.seconds(value.as_f64()),
            (Kind::Int(int), value) => self.int(int, value),
            (Kind::WordSince(_, later), Value::String(word)) if later.contains(&word.as_str()) => {
                Ok(())
            }
            (Kind::OpenWord(name, _), Value::String(word)) => self.open_word(name, word),
            (Kind::Word(words) | Kind::WordSince(words, _) | Kind::OpenWord(_, words), value) => {
                self.word(words, value)
            }
            (Kind::Variant(variants), value) => self.variant(variants, value),
            (Kind::List(kind), Value::Array(items)) => {
                items.iter().enumerate().try_for_each(|(index, item)| {
                    self.steps.push(Step::Index(index));
                    self.value(kind, item)?;
                    self.steps.pop();
                    Ok(())
                })
            }
            (Kind::Map(kind, rule), Value::Object(table)) => {
                table
                    .iter()
                    .try_for_each(|(name, value)| self.member(name, kind, value))?;
                self.rule(*rule, table)
            }
            (Kind::Table(section), Value::Object(table)) => self.table(section, table),
            (Kind::Switches, Value::Object(table)) => table
                .iter()
                .try_for_each(|(name, value)| self.switch(name, value)),
            (Kind::AnyOf(name, kinds), value) => {
                let fits = |kind: &Kind| Checker::default().value(kind, value).is_ok();
                if kinds.iter().any(fits) {
                    return Ok(());
                }
                Err(self.wrong(format!(
                    "data did not match any variant of untagged enum {name}"
                )))
            }
            (kind, value) => Err(self.unexpected(value, &expectation(kind))),
        }
    }

    fn int(&self, int: &Int, value: &Value) -> Result<(), Mismatch> {
        match value.as_i64() {
            Some(number) if (int.min..=int.max).contains(&number) => Ok(()),
            Some(number) => {
                let wrong = format!(
                    "invalid value: integer `{number}`, expected {}",
                    int.expectation()
                );
                Err(match int.narrowed {
                    true => self.out_of_range(wrong),
                    false => self.wrong(wrong),
                })
            }
            None => Err(self.unexpected(value, int.name)),
        }
    }

    fn amount(&self, amount: Option<f64>, value: &Value) -> Result<(), Mismatch> {
        match amount {
            Some(amount) if amount < 0.0 => Err(self.out_of_range(format!(
                "invalid value: {}, expected a number of at least 0",
                describe(value)
            ))),
            _ => Ok(()),
        }
    }

    fn seconds(&self, seconds: Option<f64>) -> Result<(), Mismatch> {
        let problem = match seconds {
            Some(seconds) if seconds < 0.0 => "value is negative",
            Some(seconds) if seconds < u64::MAX as f64 => return Ok(()),
            _ => "value is either too big or NaN",
        };
        Err(self.wrong(format!(
            "cannot convert float seconds to Duration: {problem}"
        )))
    }

    fn word(&self, words: &[&str], value: &Value) -> Result<(), Mismatch> {
        let (word, _) = self.chosen(value)?;
        if words.contains(&word) {
            Ok(())
        } else {
            Err(self.unknown_word(word, words))
        }
    }

    fn open_word(&self, name: &str, word: &str) -> Result<(), Mismatch> {
        match (Word::new(word), word) {
            (Some(_), _) => Ok(()),
            (None, "") => Err(self.wrong(format!("{name} must not be empty"))),
            (None, _) => Err(self.wrong(format!("{name} must not exceed 48 bytes"))),
        }
    }

    fn variant(&mut self, variants: &[Variant], value: &Value) -> Result<(), Mismatch> {
        let (word, payload) = self.chosen(value)?;
        let Some(variant) = variants.iter().find(|variant| variant.name == word) else {
            let words: Vec<&str> = variants.iter().map(|variant| variant.name).collect();
            return Err(self.unknown_word(word, &words));
        };
        let Some(section) = variant.section else {
            return Ok(());
        };
        let Some(payload) = payload else {
            let message = format!("invalid type: unit variant, expected {}", variant.shape);
            return Err(self.wrong(message));
        };
        self.steps.push(Step::Key(word.to_owned()));
        self.value(&Kind::Table(section), payload)?;
        self.steps.pop();
        Ok(())
    }

    /// The word a value chooses, and the table that comes with it.
    fn chosen<'a>(&self, value: &'a Value) -> Result<(&'a str, Option<&'a Value>), Mismatch> {
        match value {
            Value::String(word) => Ok((word, None)),
            Value::Object(table) => {
                let mut members = table.iter();
                match (members.next(), members.next()) {
                    (Some((word, payload)), None) => Ok((word, Some(payload))),
                    (None, _) => Err(self.wrong("wanted exactly 1 element, found 0 elements")),
                    _ => Err(self.wrong("wanted exactly 1 element, more than 1 element")),
                }
            }
            other if self.frozen.is_some() => Err(self.unexpected(other, "string or map")),
            _ => {
                let mut mismatch = self.wrong("invalid type: unit variant, expected string only");
                mismatch.in_file = "wanted string or table".to_owned();
                Err(mismatch)
            }
        }
    }

    fn unknown_word(&self, word: &str, words: &[&str]) -> Mismatch {
        let quoted: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
        let expected = match quoted.as_slice() {
            [one] => one.clone(),
            [one, other] => format!("{one} or {other}"),
            many => format!("one of {}", many.join(", ")),
        };
        self.wrong(format!("unknown variant `{word}`, expected {expected}"))
    }

    fn unexpected(&self, value: &Value, expected: &str) -> Mismatch {
        self.wrong(format!(
            "invalid type: {}, expected {expected}",
            describe(value)
        ))
    }

    /// A number of the right type that cannot work; the official program has no text for it.
    fn out_of_range(&self, message: String) -> Mismatch {
        let mut mismatch = self.wrong(message);
        mismatch.in_file = format!("{} in `{}`", mismatch.message, mismatch.named);
        mismatch
    }

    fn wrong(&self, message: impl Into<String>) -> Mismatch {
        let message = message.into();
        let (steps, names) = self.frozen.unwrap_or((self.steps.len(), self.names.len()));
        Mismatch {
            in_file: message.clone(),
            message,
            named: self.names[..names].join("."),
            steps: self.steps[..steps].to_vec(),
        }
    }
}

fn expectation(kind: &Kind) -> String {
    match kind {
        Kind::Bool => "a boolean".to_owned(),
        Kind::Path | Kind::PlainPath => "path string".to_owned(),
        Kind::Seconds | Kind::Number => "f64".to_owned(),
        Kind::List(_) => "a sequence".to_owned(),
        Kind::Map(..) => "a map".to_owned(),
        Kind::Table(section) => format!("struct {}", section.name),
        Kind::Switches => "struct FeaturesToml".to_owned(),
        _ => "a string".to_owned(),
    }
}

fn describe(value: &Value) -> String {
    match value {
        Value::Null => "floating point `NaN`".to_owned(),
        Value::Bool(flag) => format!("boolean `{flag}`"),
        Value::Number(number) if number.is_f64() => {
            let text = number.as_f64().unwrap_or_default().to_string();
            let point = if text.contains('.') { "" } else { ".0" };
            format!("floating point `{text}{point}`")
        }
        Value::Number(number) => format!("integer `{number}`"),
        Value::String(text) => format!("string {text:?}"),
        Value::Array(_) => "sequence".to_owned(),
        Value::Object(_) => "map".to_owned(),
    }
}
