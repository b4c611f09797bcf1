//! The tools offered to a model, in the shape the Responses API has, with their JSON printed once
//! per set: a set lives for many requests.

use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

use crate::item::Item;
use crate::provider::WireApi;

/// One tool.
#[derive(Debug, Clone)]
pub enum ToolSpec {
    /// Called with a JSON object.
    Function {
        /// What the model calls it.
        name: String,
        /// What the model is told about it.
        description: String,
        /// Whether arguments must match the schema exactly.
        strict: bool,
        /// Whether the model has to search for it first.
        defer_loading: Option<bool>,
        /// The JSON Schema of its arguments.
        parameters: Box<RawValue>,
    },
    /// Called with free text. Providers that only know JSON functions get one with a single string.
    Custom {
        /// What the model calls it.
        name: String,
        /// What the model is told about it.
        description: String,
        /// The grammar of the text, if any.
        format: Option<Grammar>,
    },
    /// Run by the provider itself, or known to it alone (`web_search`, `local_shell`, …); only a
    /// Responses provider gets it.
    Hosted(Box<RawValue>),
}

/// The grammar of a free-form tool's input.
#[derive(Debug, Clone, Serialize)]
pub struct Grammar {
    /// The grammar's notation, such as `lark`.
    pub syntax: String,
    /// The grammar itself.
    pub definition: String,
}

impl ToolSpec {
    fn name(&self) -> Option<&str> {
        match self {
            Self::Function { name, .. } | Self::Custom { name, .. } => Some(name),
            Self::Hosted(_) => None,
        }
    }
}

impl Serialize for ToolSpec {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Function {
                name,
                description,
                strict,
                defer_loading,
                parameters,
            } => {
                let mut map = serializer.serialize_map(None)?;
                map.serialize_entry("type", "function")?;
                map.serialize_entry("name", name)?;
                map.serialize_entry("description", description)?;
                map.serialize_entry("strict", strict)?;
                if let Some(defer) = defer_loading {
                    map.serialize_entry("defer_loading", defer)?;
                }
                map.serialize_entry("parameters", parameters)?;
                map.end()
            }
            Self::Custom {
                name,
                description,
                format,
            } => {
                #[derive(Serialize)]
                struct Format<'a> {
                    r#type: &'static str,
                    #[serde(flatten)]
                    grammar: Option<&'a Grammar>,
                }
                let kind = if format.is_some() { "grammar" } else { "text" };
                let mut map = serializer.serialize_map(Some(4))?;
                map.serialize_entry("type", "custom")?;
                map.serialize_entry("name", name)?;
                map.serialize_entry("description", description)?;
                map.serialize_entry(
                    "format",
                    &Format {
                        r#type: kind,
                        grammar: format.as_ref(),
                    },
                )?;
                map.end()
            }
            Self::Hosted(raw) => raw.serialize(serializer),
        }
    }
}

/// The tools of a request; cheap to clone and to send again.
#[derive(Debug, Clone, Default)]
pub struct ToolSet(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    specs: Vec<ToolSpec>,
    printed: [OnceLock<Box<RawValue>>; WireApi::COUNT],
}

impl ToolSet {
    /// A set of tools in the order the model sees them.
    pub fn new(specs: Vec<ToolSpec>) -> Self {
        Self(Arc::new(Inner {
            specs,
            ..Inner::default()
        }))
    }

    /// The tools, in order.
    pub fn specs(&self) -> &[ToolSpec] {
        &self.0.specs
    }

    /// Whether the free-form tool of that name is offered.
    pub fn offers_custom(&self, wanted: &str) -> bool {
        self.specs()
            .iter()
            .any(|tool| matches!(tool, ToolSpec::Custom { .. }) && tool.name() == Some(wanted))
    }

    /// A call that came as one of a JSON function, as the history keeps it.
    pub(crate) fn call_item(&self, call_id: String, name: String, arguments: String) -> Item {
        if self.offers_custom(&name) {
            return Item::CustomToolCall {
                id: None,
                status: None,
                call_id,
                name,
                input: custom_input(arguments),
            };
        }
        let arguments = match arguments.trim().is_empty() {
            true => "{}".into(),
            false => arguments,
        };
        Item::FunctionCall {
            id: None,
            name,
            namespace: None,
            arguments,
            call_id,
        }
    }

    /// The tools as one wire format writes them, printed once.
    pub(crate) fn printed<'a, T: Serialize>(
        &'a self,
        wire: WireApi,
        shape: impl FnOnce(&'a [ToolSpec]) -> T,
    ) -> &'a RawValue {
        self.0.printed[wire as usize].get_or_init(|| print(&shape(self.specs())))
    }
}

/// Tools hold only strings and JSON that was parsed before, so printing them cannot fail; an empty
/// list stands in for the impossible.
fn print<T: Serialize>(tools: &T) -> Box<RawValue> {
    serde_json::value::to_raw_value(tools).unwrap_or_else(|error| {
        tracing::error!(%error, "tools could not be printed");
        RawValue::NULL.to_owned()
    })
}

/// A tool where only JSON functions exist.
pub(crate) struct FunctionSpec<'a> {
    pub name: &'a str,
    pub description: Cow<'a, str>,
    pub parameters: Box<RawValue>,
}

impl ToolSpec {
    /// The tool as a JSON function; `None` for what only the provider of another format runs.
    pub(crate) fn as_function(&self) -> Option<FunctionSpec<'_>> {
        match self {
            ToolSpec::Function {
                name,
                description,
                parameters,
                ..
            } => Some(FunctionSpec {
                name,
                description: description.into(),
                parameters: parameters.clone(),
            }),
            ToolSpec::Custom {
                name,
                description,
                format,
            } => Some(FunctionSpec {
                name,
                description: custom_description(description, format.as_ref()).into(),
                parameters: serde_json::value::to_raw_value(&custom_parameters()).ok()?,
            }),
            ToolSpec::Hosted(_) => None,
        }
    }
}

/// What a free-form tool becomes where only JSON functions exist: a function with one string.
pub(crate) const CUSTOM_INPUT: &str = "input";

fn custom_parameters() -> serde_json::Value {
    serde_json::json!({
        "type": "object",
        "properties": { CUSTOM_INPUT: { "type": "string" } },
        "required": [CUSTOM_INPUT],
        "additionalProperties": false,
    })
}

fn custom_description(description: &str, format: Option<&Grammar>) -> String {
    let mut text = format!("{description}\n\nPut the whole text into the string `{CUSTOM_INPUT}`.");
    if let Some(Grammar { syntax, definition }) = format {
        text.push_str(&format!(
            " It must follow this {syntax} grammar:\n{definition}"
        ));
    }
    text
}

/// The text inside the arguments of such a function. Models sometimes forget the wrapping; then the
/// arguments are the text, and the tool itself tells the model what is wrong with it.
fn custom_input(arguments: String) -> String {
    #[derive(serde::Deserialize)]
    struct Wrapped {
        input: String,
    }
    match serde_json::from_str::<Wrapped>(&arguments) {
        Ok(wrapped) => wrapped.input,
        Err(_) => arguments,
    }
}
