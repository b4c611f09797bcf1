//! Forms of MCP servers, filled in one field after the other. What is typed is checked before the next field.

use std::collections::VecDeque;

use quipu_client::wire::{ToolRequestUserInputOption, ToolRequestUserInputQuestion};
use serde_json::{Map, Value, json};

/// Options that one key can choose.
const KEYS: usize = 9;

/// One field of a form.
struct Field {
    name: String,
    schema: Value,
    is_required: bool,
}

/// A form that is being filled in.
pub struct Form {
    /// The fields that are left, the required ones first.
    fields: VecDeque<Field>,
    /// What was wrong with the last answer.
    problem: Option<String>,
    content: Map<String, Value>,
}

impl Form {
    pub fn new(schema: &Value) -> Form {
        let required = schema["required"].as_array();
        let is_required = |name: &str| required.is_some_and(|it| it.iter().any(|it| it == name));
        let properties = schema["properties"].as_object().into_iter().flatten();
        let mut fields: Vec<_> = properties
            .map(|(name, schema)| Field {
                name: name.clone(),
                schema: schema.clone(),
                is_required: is_required(name),
            })
            .collect();
        fields.sort_by_key(|it| !it.is_required);
        Form {
            fields: fields.into(),
            problem: None,
            content: Map::new(),
        }
    }

    /// How many fields are left.
    pub fn len(&self) -> usize {
        self.fields.len()
    }

    /// What to ask next; nothing when the form is complete.
    pub fn question(&self) -> Option<ToolRequestUserInputQuestion> {
        let field = self.fields.front()?;
        Some(field.question(self.problem.as_deref()))
    }

    /// Takes the answer to the question, or that there is none. Whether the form can still be completed.
    pub fn answer(&mut self, text: Option<&str>) -> bool {
        let Some(field) = self.fields.pop_front() else {
            return true;
        };
        let value = match text.map(|text| field.value(text.trim())) {
            Some(Ok(value)) => Some(value),
            Some(Err(problem)) => {
                self.problem = Some(problem);
                self.fields.push_front(field);
                return true;
            }
            None => field.schema.get("default").cloned(),
        };
        self.problem = None;
        let is_missing = value.is_none() && field.is_required;
        if let Some(value) = value {
            self.content.insert(field.name, value);
        }
        !is_missing
    }

    pub fn content(self) -> Value {
        Value::Object(self.content)
    }
}

impl Field {
    fn text(&self, key: &str) -> Option<&str> {
        self.schema[key].as_str()
    }

    fn is_list(&self) -> bool {
        self.schema["type"] == "array"
    }

    /// What can be chosen: the values, and how they are shown.
    fn choices(&self) -> Vec<(Value, String)> {
        if self.schema["type"] == "boolean" {
            return vec![(true.into(), "yes".into()), (false.into(), "no".into())];
        }
        let of = match self.is_list() {
            true => &self.schema["items"],
            false => &self.schema,
        };
        let titled = of["oneOf"].as_array().or(of["anyOf"].as_array());
        if let Some(titled) = titled {
            let choice = |it: &Value| {
                let title = it["title"].as_str().unwrap_or_default();
                (it["const"].clone(), title.to_owned())
            };
            return titled.iter().map(choice).collect();
        }
        let names = self.schema["enumNames"].as_array();
        let values = of["enum"].as_array().into_iter().flatten();
        let choice = |(index, value): (usize, &Value)| {
            let name = names.and_then(|it| it.get(index)?.as_str());
            let name = name.or(value.as_str()).unwrap_or_default();
            (value.clone(), name.to_owned())
        };
        values.enumerate().map(choice).collect()
    }

    /// What is asked, after what was wrong with the last answer.
    fn question(&self, problem: Option<&str>) -> ToolRequestUserInputQuestion {
        let title = self.text("title").unwrap_or(&self.name);
        let mut text = problem.map_or_else(String::new, |it| format!("{it} "));
        text.push_str(title);
        if let Some(description) = self.text("description") {
            text.push_str(&format!(": {description}"));
        }
        let choices = self.choices();
        let is_typed = self.is_list() || choices.len() > KEYS;
        if is_typed && !choices.is_empty() {
            let listed = choices.iter().enumerate();
            let listed = listed.map(|(index, (_, name))| format!("{} {name}", index + 1));
            let listed: Vec<_> = listed.collect();
            let kind = if self.is_list() {
                "numbers"
            } else {
                "a number"
            };
            text.push_str(&format!(" ({kind} of: {})", listed.join(", ")));
        }
        match self.schema.get("default") {
            Some(default) => text.push_str(&format!(" (else {default})")),
            None if !self.is_required => text.push_str(" (optional)"),
            None => {}
        }
        let option = |(_, label): (Value, String)| ToolRequestUserInputOption {
            label,
            description: String::new(),
        };
        let options = (!is_typed).then(|| choices.into_iter().map(option).collect());
        ToolRequestUserInputQuestion {
            id: self.name.clone(),
            header: title.to_owned(),
            question: text,
            is_other: false,
            is_secret: false,
            options,
        }
    }

    /// The value that an answer means, or what is wrong with it.
    fn value(&self, text: &str) -> Result<Value, String> {
        let choices = self.choices();
        if self.is_list() {
            let parts = text.split([',', ' ']).filter(|it| !it.is_empty());
            let values: Result<Vec<_>, _> = parts.map(|it| chosen(&choices, it)).collect();
            let values = values?;
            let count = values.len() as u64;
            self.within("minItems", "maxItems", count as f64, "choices")?;
            return Ok(values.into());
        }
        if !choices.is_empty() {
            return chosen(&choices, text);
        }
        match self.text("type") {
            Some("integer") => {
                let number: i64 = text.parse().map_err(|_| "This is no whole number.")?;
                self.within("minimum", "maximum", number as f64, "")?;
                Ok(number.into())
            }
            Some("number") => {
                let number: f64 = text.parse().map_err(|_| "This is no number.")?;
                self.within("minimum", "maximum", number, "")?;
                Ok(json!(number))
            }
            _ => {
                let length = text.chars().count() as f64;
                self.within("minLength", "maxLength", length, "characters")?;
                self.formatted(text)?;
                Ok(text.into())
            }
        }
    }

    fn within(&self, least: &str, most: &str, value: f64, unit: &str) -> Result<(), String> {
        let wrong =
            |word: &str, limit: f64| Err(format!("{word} {limit} {unit}").trim().to_owned() + ".");
        match (self.schema[least].as_f64(), self.schema[most].as_f64()) {
            (Some(limit), _) if value < limit => wrong("At least", limit),
            (_, Some(limit)) if value > limit => wrong("At most", limit),
            _ => Ok(()),
        }
    }

    fn formatted(&self, text: &str) -> Result<(), String> {
        let is_date = |text: &str| {
            let digits = text
                .split('-')
                .map(|it| it.parse::<u32>().map(|_| it.len()));
            digits.collect::<Result<Vec<_>, _>>() == Ok(vec![4, 2, 2])
        };
        let (fits, example) = match self.text("format") {
            Some("email") => (
                text.split_once('@')
                    .is_some_and(|(a, b)| !a.is_empty() && !b.is_empty()),
                "name@example.org",
            ),
            Some("uri") => (
                text.split_once(':')
                    .is_some_and(|(a, b)| !a.is_empty() && !b.is_empty()),
                "https://example.org",
            ),
            Some("date") => (is_date(text), "2001-12-31"),
            Some("date-time") => (
                text.split_once('T')
                    .is_some_and(|(date, time)| is_date(date) && time.contains(':')),
                "2001-12-31T12:00:00Z",
            ),
            _ => (true, ""),
        };
        match fits {
            true => Ok(()),
            false => Err(format!("Write it like {example}.")),
        }
    }
}

/// The choice with this number or name.
fn chosen(choices: &[(Value, String)], text: &str) -> Result<Value, String> {
    let by_number = text.parse::<usize>().ok().and_then(|it| it.checked_sub(1));
    let found = match choices.iter().find(|(_, name)| name == text) {
        Some(found) => Some(found),
        None => by_number.and_then(|it| choices.get(it)),
    };
    let found = found.map(|(value, _)| value.clone());
    found.ok_or_else(|| format!("`{text}` is not one of them."))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(schema: Value) -> Field {
        let form = json!({ "properties": { "f": schema } });
        Form::new(&form).fields.remove(0).unwrap()
    }

    #[test]
    fn answers_are_checked_against_the_field() {
        let string = json!({ "type": "string", "minLength": 2, "maxLength": 3 });
        let numbers = json!({ "type": "array", "items": { "enum": ["a", "b"] }, "minItems": 1 });
        let titled = json!({ "type": "string", "oneOf": [{ "const": "x", "title": "Ex" }] });
        for (schema, text, expected) in [
            (&string, "é", Err("At least 2 characters.")),
            (&string, "four", Err("At most 3 characters.")),
            (&string, "two", Ok(json!("two"))),
            (
                &json!({ "type": "integer", "maximum": 5 }),
                "6",
                Err("At most 5."),
            ),
            (
                &json!({ "type": "integer" }),
                "1.5",
                Err("This is no whole number."),
            ),
            (&json!({ "type": "number" }), "1.5", Ok(json!(1.5))),
            (&json!({ "type": "boolean" }), "no", Ok(json!(false))),
            (&numbers, "2, a", Ok(json!(["b", "a"]))),
            (&numbers, "", Err("At least 1 choices.")),
            (&numbers, "3", Err("`3` is not one of them.")),
            (&titled, "Ex", Ok(json!("x"))),
            (
                &json!({ "format": "date" }),
                "1.2.2001",
                Err("Write it like 2001-12-31."),
            ),
            (&json!({ "format": "email" }), "a@b", Ok(json!("a@b"))),
        ] {
            let value = field(schema.clone()).value(text);
            assert_eq!(value, expected.map_err(str::to_owned), "{schema} {text}");
        }
    }

    #[test]
    fn a_form_is_asked_for_until_it_is_right() {
        let schema = json!({ "type": "object", "required": ["name"], "properties": {
            "age": { "type": "integer", "default": 7 },
            "color": { "type": "string", "enum": ["red", "blue"] },
            "name": { "type": "string", "title": "Name", "minLength": 2 },
        } });
        let mut form = Form::new(&schema);
        for (question, answer) in [
            ("Name", Some("A")),
            ("At least 2 characters. Name", Some("Ada")),
            ("age (else 7)", None),
            ("color (optional)", None),
        ] {
            assert_eq!(form.question().unwrap().question, question);
            assert!(form.answer(answer));
        }
        assert_eq!(form.question(), None);
        assert_eq!(form.content(), json!({ "name": "Ada", "age": 7 }));
        assert!(!Form::new(&schema).answer(None));
    }
}
