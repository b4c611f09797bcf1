//! Scores that need no code of their own.

use std::collections::HashMap;
use std::str::FromStr;

use serde_json::Value;

/// How an answer compares with the expected one, from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Score {
    /// The answer is the expected text, white space around it aside.
    Exact,
    /// The answer has the expected text in it, whatever the case; of several, which part of them.
    Contains,
    /// The answer is JSON with the expected value; of an object, which part of its members.
    Json,
    /// The words that both have, as the harmonic mean of precision and recall.
    Words,
}

impl Score {
    /// The score's name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Score::Exact => "exact",
            Score::Contains => "contains",
            Score::Json => "json",
            Score::Words => "words",
        }
    }

    /// The score of an answer.
    #[must_use]
    pub fn of(self, answer: &str, expected: &Value) -> f64 {
        match self {
            Score::Exact => f64::from(answer.trim() == text(expected).trim()),
            Score::Contains => contains(answer, expected),
            Score::Json => json(answer, expected),
            Score::Words => words(answer, &text(expected)),
        }
    }
}

impl FromStr for Score {
    type Err = String;

    fn from_str(name: &str) -> Result<Score, String> {
        let all = [Score::Exact, Score::Contains, Score::Json, Score::Words];
        let found = all.into_iter().find(|it| it.name() == name);
        found.ok_or_else(|| {
            format!("there is no score `{name}`; there are exact, contains, json and words")
        })
    }
}

fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn contains(answer: &str, expected: &Value) -> f64 {
    let answer = answer.to_lowercase();
    let found = |it: &Value| answer.contains(&text(it).to_lowercase());
    match expected {
        Value::Array(all) => share(all.iter().filter(|it| found(it)).count(), all.len()),
        one => f64::from(found(one)),
    }
}

fn json(answer: &str, expected: &Value) -> f64 {
    let Ok(answer) = serde_json::from_str::<Value>(answer) else {
        return 0.0;
    };
    match (&answer, expected) {
        (Value::Object(answer), Value::Object(expected)) => {
            let equal = expected
                .iter()
                .filter(|(name, value)| answer.get(*name) == Some(value));
            share(equal.count(), expected.len())
        }
        _ => f64::from(answer == *expected),
    }
}

fn words(answer: &str, expected: &str) -> f64 {
    let split = |text: &str| -> Vec<String> {
        let words = text
            .split(|it: char| !it.is_alphanumeric())
            .filter(|it| !it.is_empty());
        words.map(str::to_lowercase).collect()
    };
    let (answer, expected) = (split(answer), split(expected));
    let mut left = HashMap::<&str, usize>::new();
    expected
        .iter()
        .for_each(|word| *left.entry(word).or_default() += 1);
    let mut common = 0;
    for word in &answer {
        if let Some(count @ 1..) = left.get_mut(word.as_str()) {
            *count -= 1;
            common += 1;
        }
    }
    share(2 * common, answer.len() + expected.len())
}

/// A part of a whole; all of nothing.
fn share(part: usize, whole: usize) -> f64 {
    match whole {
        0 => 1.0,
        whole => part as f64 / whole as f64,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn answers_are_scored() {
        let table = [
            (Score::Exact, " 42\n", json!(42), 1.0),
            (Score::Exact, "42!", json!("42"), 0.0),
            (Score::Contains, "It is Lima.", json!("lima"), 1.0),
            (
                Score::Contains,
                "Lima, Cusco",
                json!(["Lima", "Quito"]),
                0.5,
            ),
            (
                Score::Json,
                "{\"a\":1,\"b\":2}",
                json!({ "a": 1, "b": 3 }),
                0.5,
            ),
            (Score::Json, "[1]", json!([1]), 1.0),
            (Score::Json, "no", json!({}), 0.0),
            (Score::Words, "the the cat", json!("the cat"), 0.8),
            (Score::Words, "", json!(""), 1.0),
        ];
        for (score, answer, expected, value) in table {
            assert_eq!(score.of(answer, &expected), value, "{score:?} {answer}");
        }
        assert_eq!("json".parse(), Ok(Score::Json));
        assert!("bleu".parse::<Score>().is_err());
    }
}
