//! `WORKFLOW.md`: YAML front matter that configures the service, then the prompt for the agent.

use std::io;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

/// The longest file that is read.
const MAX_BYTES: u64 = 1 << 20;

/// The file, split but not yet understood.
#[derive(Clone, Debug, PartialEq)]
pub struct Workflow {
    /// The root object of the front matter.
    pub config: Map<String, Value>,
    /// The text below it, trimmed.
    pub prompt: String,
}

/// Why a workflow cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum WorkflowError {
    #[error("missing_workflow_file: {}: {source}; give its path, or run where there is a WORKFLOW.md", path.display())]
    Missing {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("workflow_parse_error: {message}")]
    Parse { message: String },
    #[error("workflow_front_matter_not_a_map: the front matter must be a YAML map, not {found}")]
    NotAMap { found: &'static str },
}

impl Workflow {
    /// Reads a file.
    pub fn load(path: &Path) -> Result<Workflow, WorkflowError> {
        Workflow::parse(&read(path)?)
    }

    /// Splits the text of a file.
    pub fn parse(text: &str) -> Result<Workflow, WorkflowError> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let Some(split) = split(text) else {
            return Ok(Workflow {
                config: Map::new(),
                prompt: text.trim().to_owned(),
            });
        };
        let (front, body) = split?;
        Ok(Workflow {
            config: front_matter(front)?,
            prompt: body.trim().to_owned(),
        })
    }
}

/// The text of a workflow file.
pub fn read(path: &Path) -> Result<String, WorkflowError> {
    quipu_disk::read_text(path, MAX_BYTES).map_err(|source| match source.kind() {
        io::ErrorKind::NotFound => WorkflowError::Missing {
            path: path.to_owned(),
            source,
        },
        _ => WorkflowError::Parse {
            message: format!("cannot read {}: {source}", path.display()),
        },
    })
}

/// Front matter and the rest; nothing if the text does not begin with front matter.
pub(crate) fn split(text: &str) -> Option<Result<(&str, &str), WorkflowError>> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut lines = text.split_inclusive('\n');
    let first = lines.next()?;
    if first.trim_end() != "---" {
        return None;
    }
    let mut end = first.len();
    for line in lines {
        if line.trim_end() == "---" {
            return Some(Ok((&text[first.len()..end], &text[end + line.len()..])));
        }
        end += line.len();
    }
    let message = "the front matter has no closing `---` line".to_owned();
    Some(Err(WorkflowError::Parse { message }))
}

/// YAML as the object that it must be. Empty front matter is an empty object; a key that is there twice is an error.
pub(crate) fn front_matter(text: &str) -> Result<Map<String, Value>, WorkflowError> {
    let wrong = |error: &dyn std::fmt::Display| WorkflowError::Parse {
        message: format!("front matter: {error}"),
    };
    // In place of the line before it, so that errors name lines of the file.
    let text = format!("\n{text}");
    let yaml: serde_yaml_ng::Value =
        serde_yaml_ng::from_str(&text).map_err(|error| wrong(&error))?;
    let value = serde_json::to_value(yaml).map_err(|error| wrong(&error))?;
    let found = match value {
        Value::Object(map) => return Ok(map),
        Value::Null => return Ok(Map::new()),
        Value::Bool(_) => "a truth value",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
    };
    Err(WorkflowError::NotAMap { found })
}
