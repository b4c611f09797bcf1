//! Functions of the program as tools of the agent.

use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::time::Instant;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use quipu_client::wire::DynamicToolCallOutputContentItem as Content;
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::error::Expansion;
use crate::{Budget, Resources, Session, digest, schema};

/// An async function over typed parameters that the model can call.
///
/// ```
/// use quipu_adapter::Tool;
/// use schemars::JsonSchema;
/// use serde::Deserialize;
///
/// #[derive(Deserialize, JsonSchema)]
/// struct Weather {
///     /// The city's name.
///     city: String,
/// }
///
/// let weather = Tool::new("weather", "Says what the weather is like.", async |params: Weather, _| {
///     match params.city.as_str() {
///         "Cusco" => Ok("sunny"),
///         other => Err(quipu_adapter::ToolError::new(format!("{other} is unknown"))),
///     }
/// });
/// ```
///
/// Arguments that are not of the parameters' type never reach the function; the model reads why. What
/// the function does to the session and the resources of its [`ToolContext`] holds if it succeeds, and
/// is undone if it fails, panics, is interrupted or exceeds a limit.
#[derive(Clone)]
pub struct Tool {
    name: String,
    description: String,
    schema: Value,
    run: Arc<Run>,
}

type Run = dyn Fn(&Value, ToolContext) -> Result<Running, serde_json::Error> + Send + Sync;
type Running = BoxFuture<'static, Result<ToolOutput, ToolError>>;

impl Tool {
    /// Makes a tool. Name and description are what the model goes by; the documentation of the
    /// parameters' fields is part of their schema.
    pub fn new<P, O, E, F, R>(
        name: impl Into<String>,
        description: impl Into<String>,
        run: F,
    ) -> Tool
    where
        P: DeserializeOwned + JsonSchema + Send + 'static,
        O: Into<ToolOutput>,
        E: Into<ToolError>,
        F: Fn(P, ToolContext) -> R + Send + Sync + 'static,
        R: Future<Output = Result<O, E>> + Send + 'static,
    {
        Tool {
            name: name.into(),
            description: description.into(),
            schema: schema::parameters::<P>(),
            run: Arc::new(move |arguments, context| {
                let params = parameters(arguments)?;
                let running = run(params, context);
                Ok(running
                    .map(|done| done.map(Into::into).map_err(Into::into))
                    .boxed())
            }),
        }
    }

    /// The name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The description.
    #[must_use]
    pub fn description(&self) -> &str {
        &self.description
    }

    /// The JSON Schema of the parameters.
    #[must_use]
    pub fn schema(&self) -> &Value {
        &self.schema
    }

    /// Reads the arguments and calls the function, which does not run before it is awaited.
    pub(crate) fn begin(
        &self,
        arguments: &Value,
        context: ToolContext,
    ) -> Result<Running, serde_json::Error> {
        (self.run)(arguments, context)
    }
}

/// A tool without parameters takes any arguments.
fn parameters<P: DeserializeOwned>(arguments: &Value) -> Result<P, serde_json::Error> {
    let is_empty = arguments.is_null() || arguments.as_object().is_some_and(|it| it.is_empty());
    match P::deserialize(arguments) {
        Err(_) if is_empty && arguments.is_object() => {
            P::deserialize(&Value::Null).or_else(|_| P::deserialize(arguments))
        }
        other => other,
    }
}

impl fmt::Debug for Tool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Tool").field(&self.name).finish()
    }
}

/// What a tool works with: copies and handles that belong to one call.
#[derive(Clone, Debug)]
pub struct ToolContext {
    pub(crate) session: Session,
    pub(crate) resources: Resources,
    pub(crate) deadline: Option<Instant>,
    pub(crate) budget: Option<Budget>,
    pub(crate) call_id: String,
}

impl ToolContext {
    /// The session, as a copy for this call. What happens to it becomes real when the call succeeds.
    #[must_use]
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// The resource of a type.
    pub fn resource<R: crate::Resource>(&self) -> Result<Arc<R>, ToolError> {
        let missing = || {
            ToolError::new(format!(
                "there is no resource `{}`",
                std::any::type_name::<R>()
            ))
        };
        self.resources.get().ok_or_else(missing)
    }

    /// When the evaluation has to be over. The call is interrupted then.
    #[must_use]
    pub fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    /// What the evaluation may use, and has used.
    #[must_use]
    pub fn budget(&self) -> Option<&Budget> {
        self.budget.as_ref()
    }

    /// The id of this call.
    #[must_use]
    pub fn call_id(&self) -> &str {
        &self.call_id
    }
}

/// What a tool gives the model to read: texts and images. Made from text, or from nothing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ToolOutput {
    pub(crate) content: Vec<Content>,
}

impl ToolOutput {
    /// A value as JSON.
    pub fn json<T: Serialize + ?Sized>(value: &T) -> Result<ToolOutput, ToolError> {
        let text = serde_json::to_string(value);
        text.map(ToolOutput::from).map_err(ToolError::from)
    }

    /// Adds a text.
    #[must_use]
    pub fn text(mut self, text: impl Into<String>) -> ToolOutput {
        self.content.push(Content::InputText { text: text.into() });
        self
    }

    /// Adds an image by its address, which may be a `data:` one.
    #[must_use]
    pub fn image(mut self, url: impl Into<String>) -> ToolOutput {
        self.content.push(Content::InputImage {
            image_url: url.into(),
        });
        self
    }

    /// The texts one after the other, and a line in the place of each image that says which one it is.
    pub(crate) fn texts(&self) -> String {
        let text = |it: &Content| match it {
            Content::InputText { text } => Some(text.clone()),
            Content::InputImage { image_url } => Some(image_line(image_url)),
            _ => None,
        };
        self.content
            .iter()
            .filter_map(text)
            .collect::<Vec<_>>()
            .join("\n")
    }
}

/// An image in one line: by its address, or by its digest if that is the image itself.
fn image_line(url: &str) -> String {
    match url.split_once(',') {
        Some((kind, _)) if kind.starts_with("data:") => {
            let kind = kind.trim_start_matches("data:");
            format!("[image {kind}, sha256 {}]", digest::of(url))
        }
        _ => format!("[image {url}]"),
    }
}

impl From<String> for ToolOutput {
    fn from(text: String) -> ToolOutput {
        ToolOutput::default().text(text)
    }
}

impl From<&str> for ToolOutput {
    fn from(text: &str) -> ToolOutput {
        ToolOutput::default().text(text)
    }
}

impl From<()> for ToolOutput {
    fn from((): ()) -> ToolOutput {
        ToolOutput::default().text("done")
    }
}

/// Why a tool failed, for the model to read. Made from any error.
#[derive(Debug)]
pub struct ToolError(pub(crate) Kind);

#[derive(Debug)]
pub(crate) enum Kind {
    Failed(String),
    Expand(Expansion),
}

impl ToolError {
    /// A failure in words.
    pub fn new(message: impl fmt::Display) -> ToolError {
        ToolError(Kind::Failed(message.to_string()))
    }

    /// The tool cannot go on before the model has read these sections of the prompt in full. The model
    /// is told that it will, and the evaluation ends after the turn with
    /// [`Error::expansion`](crate::Error::expansion).
    pub fn expand<S: Into<String>>(
        sections: impl IntoIterator<Item = S>,
        reason: impl Into<String>,
    ) -> ToolError {
        ToolError(Kind::Expand(Expansion {
            sections: sections.into_iter().map(Into::into).collect(),
            reason: reason.into(),
        }))
    }
}

impl<E: std::error::Error> From<E> for ToolError {
    fn from(error: E) -> ToolError {
        ToolError::new(error)
    }
}
