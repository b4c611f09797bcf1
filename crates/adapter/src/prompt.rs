//! Prompts: sections of text, tools and a workspace, and the type of the answer.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::open_sections;
use crate::schema::{self, WRAPPED};
use crate::template::{self, TemplateError};
use crate::workspace::Workspace;
use crate::{Error, Result, Tool};

/// A question to an agent whose answer has a type.
///
/// ```
/// use quipu_adapter::{Prompt, Section};
/// use schemars::JsonSchema;
/// use serde::Deserialize;
///
/// #[derive(Deserialize, JsonSchema)]
/// struct Summary {
///     title: String,
///     files: Vec<String>,
/// }
///
/// let prompt = Prompt::<Summary>::new("demo/summary")
///     .section(Section::new("Task", "Summarise the repository."));
/// ```
pub struct Prompt<O> {
    name: String,
    sections: Vec<Section>,
    tools: Vec<Tool>,
    workspace: Option<Arc<Workspace>>,
    output: Output<O>,
}

/// How an answer becomes an output.
struct Output<O> {
    schema: Option<Value>,
    parse: Arc<Parse<O>>,
}

type Parse<O> = dyn Fn(&str) -> std::result::Result<O, String> + Send + Sync;

impl<O: DeserializeOwned + JsonSchema> Prompt<O> {
    /// A prompt whose answer is of a type that has a JSON Schema. The name is for people and events.
    pub fn new(name: impl Into<String>) -> Prompt<O> {
        let (schema, wrapped) = schema::output::<O>();
        Prompt::with_output(name, Some(schema), move |text| parse(text, wrapped))
    }
}

impl Prompt<String> {
    /// A prompt whose answer is text.
    pub fn text(name: impl Into<String>) -> Prompt<String> {
        Prompt::with_output(name, None, |text| Ok(text.to_owned()))
    }
}

impl Prompt<Value> {
    /// A prompt whose answer fits a JSON Schema that is only known at run time.
    pub fn with_schema(name: impl Into<String>, schema: Value) -> Prompt<Value> {
        let (schema, wrapped) = schema::strict(schema);
        Prompt::with_output(name, Some(schema), move |text| parse(text, wrapped))
    }
}

fn parse<O: DeserializeOwned>(text: &str, wrapped: bool) -> std::result::Result<O, String> {
    let read = match wrapped {
        false => serde_json::from_str(text),
        true => serde_json::from_str::<Value>(text)
            .and_then(|mut outer| serde_json::from_value(outer[WRAPPED].take())),
    };
    read.map_err(|error| error.to_string())
}

impl<O> Prompt<O> {
    fn with_output(
        name: impl Into<String>,
        schema: Option<Value>,
        parse: impl Fn(&str) -> std::result::Result<O, String> + Send + Sync + 'static,
    ) -> Prompt<O> {
        Prompt {
            name: name.into(),
            sections: Vec::new(),
            tools: Vec::new(),
            workspace: None,
            output: Output {
                schema,
                parse: Arc::new(parse),
            },
        }
    }

    /// Adds a section after the others.
    #[must_use]
    pub fn section(mut self, section: Section) -> Prompt<O> {
        self.sections.push(section);
        self
    }

    /// Adds a tool that the model may call.
    #[must_use]
    pub fn tool(mut self, tool: Tool) -> Prompt<O> {
        self.tools.push(tool);
        self
    }

    /// Lets the agent work in a workspace, which a section at the end describes.
    #[must_use]
    pub fn workspace(mut self, workspace: impl Into<Arc<Workspace>>) -> Prompt<O> {
        self.workspace = Some(workspace.into());
        self
    }

    /// The prompt's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The schema that the answer has to fit; nothing if it is text.
    #[must_use]
    pub fn schema(&self) -> Option<&Value> {
        self.output.schema.as_ref()
    }

    pub(crate) fn mounted(&self) -> Option<&Workspace> {
        self.workspace.as_deref()
    }

    /// The Markdown that the model reads, with these sections in full whatever their visibility. The
    /// same prompt always gives the same text.
    pub fn render(&self, expanded: &BTreeSet<String>) -> Result<Rendered> {
        let mut rendering = Rendering {
            expanded,
            text: String::new(),
            tools: self.tools.clone(),
            keys: BTreeMap::new(),
        };
        for section in &self.sections {
            rendering.section(section, "", 2)?;
        }
        if let Some(workspace) = &self.workspace {
            rendering.section(&workspace.section(), "", 2)?;
        }
        rendering.finish()
    }

    pub(crate) fn parse(&self, text: &str) -> Result<O> {
        if self.output.schema.is_some() && text.trim().is_empty() {
            return Err(Error::response(
                "the answer is empty, but an output was asked for",
            ));
        }
        (self.output.parse)(text).map_err(|error| {
            Error::response(format!(
                "the answer is not of the prompt's output type: {error}"
            ))
        })
    }
}

impl<O> fmt::Debug for Prompt<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Prompt")
            .field("name", &self.name)
            .field("sections", &self.sections)
            .field("tools", &self.tools)
            .finish_non_exhaustive()
    }
}

/// A part of a prompt: a heading, text, tools, and parts of its own.
#[derive(Clone, Debug)]
pub struct Section {
    title: String,
    key: String,
    text: String,
    summary: Option<String>,
    tools: Vec<Tool>,
    sections: Vec<Section>,
}

impl Section {
    /// A section with a title and text.
    pub fn new(title: impl Into<String>, text: impl Into<String>) -> Section {
        let title = title.into();
        Section {
            key: key_of(&title),
            title,
            text: text.into(),
            summary: None,
            tools: Vec::new(),
            sections: Vec::new(),
        }
    }

    /// A section whose text has places for parameters, such as `{{path}}`; each needs a member of that
    /// name. Texts are put in as they are, everything else as JSON.
    pub fn template<P: Serialize + ?Sized>(
        title: impl Into<String>,
        template: &str,
        params: &P,
    ) -> std::result::Result<Section, TemplateError> {
        Ok(Section::new(title, template::fill(template, params)?))
    }

    /// Names the section for expansion; by default its title in lower case with dashes.
    #[must_use]
    pub fn key(mut self, key: impl Into<String>) -> Section {
        self.key = key.into();
        self
    }

    /// Shows only this summary, without the parts and tools of the section, until the model asks for
    /// the whole.
    #[must_use]
    pub fn summary(mut self, summary: impl Into<String>) -> Section {
        self.summary = Some(summary.into());
        self
    }

    /// Adds a tool that comes with the section.
    #[must_use]
    pub fn tool(mut self, tool: Tool) -> Section {
        self.tools.push(tool);
        self
    }

    /// Adds a part.
    #[must_use]
    pub fn section(mut self, section: Section) -> Section {
        self.sections.push(section);
        self
    }
}

fn key_of(title: &str) -> String {
    let dashed = title
        .split(|it: char| !it.is_alphanumeric())
        .filter(|it| !it.is_empty());
    dashed.collect::<Vec<_>>().join("-").to_lowercase()
}

/// A prompt as the model reads it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Rendered {
    /// The text, in Markdown.
    pub text: String,
    /// The tools of everything that is shown.
    pub tools: Vec<Tool>,
}

struct Rendering<'a> {
    expanded: &'a BTreeSet<String>,
    text: String,
    tools: Vec<Tool>,
    /// All keys, and whether the section is only summarised.
    keys: BTreeMap<String, bool>,
}

impl Rendering<'_> {
    fn section(&mut self, section: &Section, parent: &str, level: usize) -> Result<()> {
        let key = match parent {
            "" => section.key.clone(),
            parent => format!("{parent}.{}", section.key),
        };
        let summary = section
            .summary
            .as_ref()
            .filter(|_| !self.expanded.contains(&key));
        if section.key.is_empty() || self.keys.insert(key.clone(), summary.is_some()).is_some() {
            return Err(Error::request(format!(
                "the prompt's section `{}` has the key `{key}`, which is empty or taken; give it another with `Section::key`",
                section.title
            )));
        }
        // Markdown has six levels of headings.
        self.text.push_str(&format!(
            "{} {}\n\n",
            "#".repeat(level.min(6)),
            section.title
        ));
        match summary {
            Some(summary) => {
                self.paragraph(summary);
                self.paragraph(&format!(
                    "_This is a summary. To read this section in full, call `{}` with the key `{key}`._",
                    open_sections::NAME
                ));
            }
            None => {
                self.paragraph(&section.text);
                self.tools.extend(section.tools.iter().cloned());
                for part in &section.sections {
                    self.section(part, &key, level + 1)?;
                }
            }
        }
        Ok(())
    }

    fn paragraph(&mut self, text: &str) {
        let text = text.trim();
        if !text.is_empty() {
            self.text.push_str(text);
            self.text.push_str("\n\n");
        }
    }

    fn finish(mut self) -> Result<Rendered> {
        if let Some(unknown) = self
            .expanded
            .iter()
            .find(|key| !self.keys.contains_key(*key))
        {
            return Err(Error::request(format!(
                "the prompt has no section `{unknown}` to expand"
            )));
        }
        let summarised: Vec<_> = self
            .keys
            .into_iter()
            .filter(|(_, it)| *it)
            .map(|(key, _)| key)
            .collect();
        if !summarised.is_empty() {
            self.tools.push(open_sections::tool(summarised));
        }
        self.text.truncate(self.text.trim_end().len());
        Ok(Rendered {
            text: self.text,
            tools: self.tools,
        })
    }
}

/// The tools as they are offered to a server, for comparing and storing.
pub(crate) fn specs(tools: &[Tool]) -> Value {
    let spec = |tool: &Tool| json!({ "name": tool.name(), "description": tool.description(), "inputSchema": tool.schema() });
    tools.iter().map(spec).collect()
}
