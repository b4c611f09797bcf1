//! What a directory wants to have evaluated: its settings, prompts and cases.

use std::fs;
use std::path::Path;
use std::time::Duration;

use quipu_adapter::{Budget, Case, Money, Prices, Score};
use serde::Deserialize;
use serde_json::{Map, Value};

/// A file of a directory, at most.
const LARGEST: u64 = 64 << 20;

/// All that is read before anything is started.
#[derive(Debug)]
pub struct Plan {
    pub model: Option<String>,
    pub concurrency: usize,
    pub timeout: Option<Duration>,
    pub budget: Budget,
    pub prices: Prices,
    pub scores: Vec<Score>,
    /// The schema of the answers; text if there is none.
    pub schema: Option<Value>,
    /// Names and templates, by name.
    pub prompts: Vec<(String, String)>,
    pub cases: Vec<Case<Input>>,
}

/// What a case gives a prompt, and what it expects.
#[derive(Clone, Debug)]
pub struct Input {
    pub values: Map<String, Value>,
    pub expected: Value,
}

/// `eval.toml`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct File {
    model: Option<String>,
    concurrency: Option<usize>,
    timeout_seconds: Option<u64>,
    scores: Vec<String>,
    budget: BudgetFile,
    prices: Prices,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct BudgetFile {
    tokens: Option<u64>,
    money: Option<Money>,
}

/// A line of `cases.jsonl`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    name: Option<String>,
    input: Map<String, Value>,
    #[serde(default)]
    expected: Value,
}

impl Plan {
    /// Reads `eval.toml`, `cases.jsonl`, `prompts/*.md` and `schema.json`, of which the first and the last may
    /// be missing.
    pub fn read(directory: &Path) -> Result<Plan, String> {
        let file: File = match optional(&directory.join("eval.toml"))? {
            Some(text) => toml::from_str(&text).map_err(|error| format!("eval.toml: {error}"))?,
            None => File::default(),
        };
        let schema = optional(&directory.join("schema.json"))?;
        let schema = schema
            .map(|text| serde_json::from_str::<Map<String, Value>>(&text))
            .transpose();
        let schema = schema.map_err(|error| format!("schema.json: {error}"))?;
        if file.timeout_seconds == Some(0) {
            return Err("eval.toml: `timeout_seconds` is 0, which no evaluation meets".into());
        }
        let mut budget = Budget::new();
        if let Some(tokens) = file.budget.tokens {
            budget = budget.tokens(tokens);
        }
        if let Some(money) = file.budget.money {
            budget = budget.money(money);
        }
        let scores = match file.scores.is_empty() {
            true => vec![Score::Exact],
            false => file
                .scores
                .iter()
                .map(|name| name.parse())
                .collect::<Result<_, _>>()?,
        };
        Ok(Plan {
            model: file.model,
            concurrency: file.concurrency.unwrap_or(4),
            timeout: file.timeout_seconds.map(Duration::from_secs),
            budget,
            prices: file.prices,
            scores,
            schema: schema.map(Value::Object),
            prompts: prompts(&directory.join("prompts"))?,
            cases: cases(&directory.join("cases.jsonl"))?,
        })
    }
}

fn prompts(directory: &Path) -> Result<Vec<(String, String)>, String> {
    let failed = |error: std::io::Error| format!("{}: {error}", directory.display());
    let mut prompts = Vec::new();
    for entry in fs::read_dir(directory).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        let is_prompt = path.extension().is_some_and(|it| it == "md");
        if let (true, Some(name)) = (is_prompt, path.file_stem()) {
            prompts.push((name.to_string_lossy().into_owned(), required(&path)?));
        }
    }
    prompts.sort();
    match prompts.is_empty() {
        true => Err(format!(
            "{} has no prompts; add at least one `NAME.md`",
            directory.display()
        )),
        false => Ok(prompts),
    }
}

fn cases(path: &Path) -> Result<Vec<Case<Input>>, String> {
    let text = required(path)?;
    let lines = text
        .lines()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty());
    let case = |(at, line): (usize, &str)| {
        let read = serde_json::from_str::<Line>(line);
        let Line {
            name,
            input,
            expected,
        } = read.map_err(|error| format!("{}, line {}: {error}", path.display(), at + 1))?;
        let name = name.unwrap_or_else(|| format!("line {}", at + 1));
        Ok(Case::new(
            name,
            Input {
                values: input,
                expected,
            },
        ))
    };
    let cases = lines.map(case).collect::<Result<Vec<_>, String>>()?;
    match cases.is_empty() {
        true => Err(format!(
            "{} has no cases; add at least one line with an `input`",
            path.display()
        )),
        false => Ok(cases),
    }
}

fn required(path: &Path) -> Result<String, String> {
    optional(path)?.ok_or_else(|| format!("{} is missing", path.display()))
}

fn optional(path: &Path) -> Result<Option<String>, String> {
    match quipu_disk::read_text(path, LARGEST) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(format!("{}: {error}", path.display())),
    }
}
