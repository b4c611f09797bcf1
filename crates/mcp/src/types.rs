//! What servers offer and answer, read as far as anyone here looks into it.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::error::Error;

/// A tool with its description and schema may have so many bytes: every request to the model repeats it.
const MAX_TOOL_BYTES: usize = 256 * 1024;

/// A tool of a server.
#[derive(Debug, Clone)]
pub struct Tool {
    /// The name the server gave it.
    pub name: String,
    /// A name for people.
    pub title: Option<String>,
    /// What it does.
    pub description: Option<String>,
    /// A JSON Schema of its arguments.
    pub input_schema: Arc<RawValue>,
    /// What it says about its dangers.
    pub hints: Hints,
    /// What it says to those who know the server.
    pub meta: Option<Arc<RawValue>>,
    /// All of it, as the server wrote it.
    pub raw: Arc<RawValue>,
}

/// What a tool says about itself.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Hints {
    /// It changes nothing.
    pub read_only_hint: Option<bool>,
    /// It may destroy something.
    pub destructive_hint: Option<bool>,
    /// It reaches beyond its own data.
    pub open_world_hint: Option<bool>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ToolFields {
    name: String,
    title: Option<String>,
    description: Option<String>,
    input_schema: Box<RawValue>,
    annotations: Option<Hints>,
    #[serde(rename = "_meta")]
    meta: Option<Box<RawValue>>,
}

impl Tool {
    /// Reads a tool; `None` if it has no name or no schema, or is too large.
    pub(crate) fn read(raw: Box<RawValue>) -> Option<Tool> {
        if raw.get().len() > MAX_TOOL_BYTES {
            return None;
        }
        let fields: ToolFields = serde_json::from_str(raw.get()).ok()?;
        Some(Tool {
            name: fields.name,
            title: fields.title,
            description: fields.description,
            input_schema: fields.input_schema.into(),
            hints: fields.annotations.unwrap_or_default(),
            meta: fields.meta.map(Arc::from),
            raw: raw.into(),
        })
    }
}

/// One page of a list; the entries are as the server wrote them.
#[derive(Debug, Default)]
pub struct Page {
    /// The entries.
    pub entries: Vec<Box<RawValue>>,
    /// Where the next page begins.
    pub next_cursor: Option<String>,
}

/// What a list is a list of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Listing {
    /// `tools/list`
    Tools,
    /// `resources/list`
    Resources,
    /// `resources/templates/list`
    ResourceTemplates,
}

impl Listing {
    pub(crate) fn method(self) -> &'static str {
        match self {
            Listing::Tools => "tools/list",
            Listing::Resources => "resources/list",
            Listing::ResourceTemplates => "resources/templates/list",
        }
    }

    pub(crate) fn read(self, result: &RawValue) -> Result<Page, Error> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Lists {
            tools: Option<Vec<Box<RawValue>>>,
            resources: Option<Vec<Box<RawValue>>>,
            resource_templates: Option<Vec<Box<RawValue>>>,
            next_cursor: Option<String>,
        }
        let lists: Lists = read(self.method(), result)?;
        let entries = match self {
            Listing::Tools => lists.tools,
            Listing::Resources => lists.resources,
            Listing::ResourceTemplates => lists.resource_templates,
        };
        let entries = entries.ok_or_else(|| Error::BadAnswer {
            method: self.method(),
            why: "there is no list in it".to_owned(),
        })?;
        Ok(Page {
            entries,
            next_cursor: lists.next_cursor,
        })
    }
}

/// What a tool answered.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CallResult {
    /// Blocks of text, images and the like.
    #[serde(default)]
    pub content: Vec<Box<RawValue>>,
    /// The result as data.
    pub structured_content: Option<Box<RawValue>>,
    /// The tool itself says that it failed.
    pub is_error: Option<bool>,
}

/// Reads a result as what its request asked for.
pub(crate) fn read<'a, T: Deserialize<'a>>(
    method: &'static str,
    result: &'a RawValue,
) -> Result<T, Error> {
    serde_json::from_str(result.get()).map_err(|error| Error::BadAnswer {
        method,
        why: error.to_string(),
    })
}

/// A server asks the user.
#[derive(Debug, Clone)]
pub enum Elicitation {
    /// To fill in a form.
    Form {
        /// The question.
        message: String,
        /// The fields, as the server wrote them.
        schema: Box<RawValue>,
    },
    /// To do something on a web page.
    Url {
        /// The question.
        message: String,
        /// The page.
        url: String,
        /// The server's id for the question.
        elicitation_id: String,
    },
}

/// What came of it.
#[derive(Debug, Clone)]
pub enum Reaction {
    /// The form's values; none counts as empty.
    Accept(Option<Box<RawValue>>),
    /// The user does not want to.
    Decline,
    /// The question was put away.
    Cancel,
    /// The question cannot be shown; the text says why.
    Unsupported(String),
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ElicitationFields {
    mode: Option<String>,
    message: String,
    requested_schema: Option<Box<RawValue>>,
    url: Option<String>,
    elicitation_id: Option<String>,
}

impl Elicitation {
    /// Reads the params of `elicitation/create`; the error is for the server.
    pub(crate) fn read(params: Option<&RawValue>) -> Result<Elicitation, String> {
        let params = params.ok_or("params are missing")?;
        let fields: ElicitationFields =
            serde_json::from_str(params.get()).map_err(|error| error.to_string())?;
        match fields.mode.as_deref() {
            None | Some("form") => Ok(Elicitation::Form {
                message: fields.message,
                schema: fields
                    .requested_schema
                    .ok_or("requestedSchema is missing")?,
            }),
            Some("url") => Ok(Elicitation::Url {
                message: fields.message,
                url: fields.url.ok_or("url is missing")?,
                elicitation_id: fields.elicitation_id.ok_or("elicitationId is missing")?,
            }),
            Some(mode) => Err(format!("unknown mode `{mode}`")),
        }
    }
}
