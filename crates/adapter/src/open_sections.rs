//! The tool with which the model asks for sections of which it has read the summary only.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::{Tool, ToolError, ToolOutput};

pub(crate) const NAME: &str = "open_sections";

#[derive(Deserialize, JsonSchema)]
struct Wanted {
    /// The keys of the sections to read in full.
    sections: Vec<String>,
    /// Why they are needed.
    reason: String,
}

/// The tool, for the sections that are summarised.
pub(crate) fn tool(summarised: Vec<String>) -> Tool {
    let description = "Asks for the full text of sections that are shown as summaries. The work starts over with them.";
    Tool::new(NAME, description, move |wanted: Wanted, _| {
        let unknown = wanted
            .sections
            .iter()
            .find(|key| !summarised.contains(key))
            .cloned();
        let known = summarised.join("`, `");
        async move {
            match unknown {
                Some(key) => Err::<ToolOutput, _>(ToolError::new(format!(
                    "No section `{key}` is shown as a summary; there are `{known}`."
                ))),
                None if wanted.sections.is_empty() => Err(ToolError::new(format!(
                    "Name at least one of the sections `{known}`."
                ))),
                None => Err(ToolError::expand(wanted.sections, wanted.reason)),
            }
        }
    })
}
