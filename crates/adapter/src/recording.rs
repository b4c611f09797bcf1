//! Evaluations that were recorded, and their replay without a server and a model: for tests of prompts
//! and tools, which have to give what they gave.

use std::path::Path;
use std::{fs, io};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::events::ToolInvoked;
use crate::toolbox::Toolbox;
use crate::{Error, Phase, Result, Usage};

/// An evaluation that came to its end, as data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Recording {
    /// The prompt's name.
    pub prompt: String,
    /// The text that the model read.
    pub rendered: String,
    /// The schema of the output, if it is not text.
    pub schema: Option<Value>,
    /// The tools that the model was offered.
    pub tools: Value,
    /// The keys of the sections that were shown in full although they have a summary.
    #[serde(default)]
    pub expanded: Vec<String>,
    /// The uses of tools, in order.
    pub steps: Vec<Step>,
    /// The answer.
    pub answer: String,
    /// The model that gave it.
    pub model: String,
    /// What was used.
    pub usage: Usage,
}

/// A use of a tool in a recording.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum Step {
    /// A tool of the prompt, which a replay calls again.
    Call(ToolInvoked),
    /// A tool of the agent or of an MCP server, which a replay only reports.
    Native(ToolInvoked),
}

impl Step {
    /// The id of the call, which is that of its item.
    pub(crate) fn call_id(&self) -> &str {
        let (Step::Call(invoked) | Step::Native(invoked)) = self;
        &invoked.call_id
    }
}

impl Recording {
    /// Reads a recording from a file. Errors name the file.
    pub fn load(path: impl AsRef<Path>) -> io::Result<Recording> {
        let path = path.as_ref();
        let read = fs::read(path).and_then(|text| Ok(serde_json::from_slice(&text)?));
        read.map_err(|error| named(path, &error))
    }

    /// Writes the recording to a file, as JSON for people and version control. Errors name the file.
    pub fn save(&self, path: impl AsRef<Path>) -> io::Result<()> {
        let path = path.as_ref();
        let text = serde_json::to_string_pretty(self)? + "\n";
        fs::write(path, text).map_err(|error| named(path, &error))
    }

    /// Whether a prompt is still what it was when it was recorded.
    pub(crate) fn check(
        &self,
        rendered: &str,
        schema: Option<&Value>,
        tools: &Value,
    ) -> Result<()> {
        let differs = |what: &str| {
            Error::request(format!(
                "the prompt's {what} is not what was recorded; record it again"
            ))
        };
        if self.rendered != rendered {
            return Err(Error::request(format!(
                "the prompt's text is not what was recorded; record it again. {}",
                first_difference(&self.rendered, rendered)
            )));
        }
        if self.schema.as_ref() != schema {
            return Err(differs("output type"));
        }
        match self.tools == *tools {
            true => Ok(()),
            false => Err(differs("set of tools")),
        }
    }

    /// Calls the tools as the model did, and checks that they give what they gave.
    pub(crate) async fn play(&self, toolbox: &Toolbox) -> Result<()> {
        for step in &self.steps {
            let recorded = match step {
                Step::Native(invoked) => {
                    toolbox.report(invoked.clone());
                    continue;
                }
                Step::Call(recorded) => recorded,
            };
            let answer = toolbox
                .call(&recorded.tool, &recorded.call_id, &recorded.arguments)
                .await;
            let result = answer.output.texts();
            if (answer.success, &result) != (recorded.success, &recorded.result) {
                return Err(Error::new(
                    Phase::Tool,
                    format!(
                        "`{}` gave something else than what was recorded. {}",
                        recorded.tool,
                        first_difference(&recorded.result, &result)
                    ),
                ));
            }
        }
        Ok(())
    }
}

fn named(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

/// The first line that differs, in both forms.
fn first_difference(recorded: &str, now: &str) -> String {
    let mut lines = recorded
        .lines()
        .map(Some)
        .chain([None])
        .zip(now.lines().map(Some).chain([None]));
    match lines.position(|(a, b)| a != b) {
        None => "They differ in white space at the end.".to_owned(),
        Some(at) => {
            let line = |text: &str| text.lines().nth(at).unwrap_or("(nothing)").to_owned();
            format!(
                "Line {}, recorded: {}\nnow: {}",
                at + 1,
                line(recorded),
                line(now)
            )
        }
    }
}
