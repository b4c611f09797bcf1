//! A request as the body of `POST /chat/completions`. Only fields that every server of this format
//! knows are sent: many refuse a request for one field too many.

use quipu_wire::ReasoningEffort;
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::conversation::{Block, CallResult, Conversation, Entry, Part};
use crate::history::HistoryItem;
use crate::provider::{ProviderConfig, WireApi};
use crate::request::{Request, ToolChoice};
use crate::responses::encode::SCHEMA_NAME;
use crate::structured::{self, OUTPUT_TOOL, OUTPUT_TOOL_DESCRIPTION};
use crate::tools::ToolSpec;

const IMAGES_FOLLOW: &str = "(the image follows in the next message)";

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    messages: Vec<Message>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tools: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parallel_tool_calls: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_effort: Option<ReasoningEffort>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_format: Option<ResponseFormat<'a>>,
    stream: bool,
    stream_options: StreamOptions,
}

#[derive(Serialize)]
struct StreamOptions {
    include_usage: bool,
}

#[derive(Serialize)]
struct ResponseFormat<'a> {
    r#type: &'static str,
    json_schema: JsonSchema<'a>,
}

#[derive(Serialize)]
struct JsonSchema<'a> {
    name: &'static str,
    strict: bool,
    schema: &'a RawValue,
}

#[derive(Serialize)]
#[serde(tag = "role", rename_all = "lowercase")]
enum Message {
    System {
        content: String,
    },
    User {
        content: Content,
    },
    Assistant {
        /// Empty rather than absent or null, beside calls as well: some servers refuse either.
        content: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        reasoning_content: Option<String>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        tool_calls: Vec<ToolCall>,
    },
    Tool {
        tool_call_id: String,
        content: String,
    },
}

#[derive(Serialize)]
#[serde(untagged)]
enum Content {
    Text(String),
    Parts(Vec<ContentPart>),
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum ContentPart {
    Text { text: String },
    ImageUrl { image_url: ImageUrl },
}

#[derive(Serialize)]
struct ImageUrl {
    url: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<String>,
}

#[derive(Serialize)]
struct ToolCall {
    id: String,
    r#type: &'static str,
    function: FunctionCall,
}

#[derive(Serialize)]
struct FunctionCall {
    name: String,
    arguments: String,
}

/// The body of a sampling request.
pub(crate) fn body(
    request: &Request,
    history: &[HistoryItem],
    provider: &ProviderConfig,
) -> serde_json::Result<Vec<u8>> {
    let style = provider.output_style();
    let conversation = Conversation::new(history, &provider.id);
    let output_tool = structured::as_tool(request, style)
        .map(|schema| {
            serde_json::to_string(&function(OUTPUT_TOOL, OUTPUT_TOOL_DESCRIPTION, schema))
        })
        .transpose()?;
    let tools = structured::with_tool(request.tools.printed(WireApi::Chat, tools), output_tool);
    let has_tools = tools.get() != "[]";
    serde_json::to_vec(&Body {
        model: &request.model,
        messages: messages(conversation, request, structured::as_words(request, style)),
        tools: has_tools.then_some(tools),
        tool_choice: has_tools.then(|| match &request.tool_choice {
            ToolChoice::Auto => "auto".into(),
            ToolChoice::Function(name) => json!({"type": "function", "function": {"name": name}}),
        }),
        parallel_tool_calls: has_tools.then_some(request.parallel_tool_calls),
        reasoning_effort: request.reasoning.as_ref().and_then(|it| it.effort),
        response_format: structured::as_field(request, style).map(|schema| ResponseFormat {
            r#type: "json_schema",
            json_schema: JsonSchema {
                name: SCHEMA_NAME,
                strict: true,
                schema,
            },
        }),
        stream: true,
        stream_options: StreamOptions {
            include_usage: true,
        },
    })
}

#[derive(Serialize)]
pub(crate) struct Tool<'a, P> {
    r#type: &'static str,
    function: Function<'a, P>,
}

#[derive(Serialize)]
struct Function<'a, P> {
    name: &'a str,
    description: std::borrow::Cow<'a, str>,
    parameters: P,
}

fn function<'a, P>(
    name: &'a str,
    description: impl Into<std::borrow::Cow<'a, str>>,
    parameters: P,
) -> Tool<'a, P> {
    let function = Function {
        name,
        description: description.into(),
        parameters,
    };
    Tool {
        r#type: "function",
        function,
    }
}

/// The tools as JSON functions.
fn tools(specs: &[ToolSpec]) -> Vec<Tool<'_, Box<RawValue>>> {
    let functions = specs.iter().filter_map(ToolSpec::as_function);
    functions
        .map(|it| function(it.name, it.description, it.parameters))
        .collect()
}

fn messages(conversation: Conversation, request: &Request, words: Option<String>) -> Vec<Message> {
    let system = [request.instructions.to_string()]
        .into_iter()
        .chain(conversation.preface)
        .chain(words)
        .filter(|text| !text.is_empty())
        .collect::<Vec<_>>()
        .join("\n\n");
    let mut out = Vec::new();
    if !system.is_empty() {
        out.push(Message::System { content: system });
    }
    let last_user = conversation
        .entries
        .iter()
        .rposition(|e| matches!(e, Entry::User(_)));
    let mut images = Vec::new();
    for (at, entry) in conversation.entries.into_iter().enumerate() {
        if !matches!(entry, Entry::User(_)) && !images.is_empty() {
            out.push(user(std::mem::take(&mut images)));
        }
        match entry {
            Entry::User(parts) => {
                images.extend(parts);
                out.push(user(std::mem::take(&mut images)));
            }
            // Servers want the reasoning of the turn they are in, and no older one.
            Entry::Assistant(blocks) => {
                out.push(assistant(blocks, last_user.is_none_or(|u| at > u)))
            }
            Entry::Results(results) => {
                out.extend(results.into_iter().map(|result| tool(result, &mut images)));
            }
        }
    }
    if !images.is_empty() {
        out.push(user(images));
    }
    out
}

fn user(parts: Vec<Part>) -> Message {
    let only_text = parts.iter().all(|part| matches!(part, Part::Text(_)));
    let parts = parts.into_iter().map(|part| match part {
        Part::Text(text) => ContentPart::Text { text },
        Part::Image { url, detail } => ContentPart::ImageUrl {
            image_url: ImageUrl { url, detail },
        },
    });
    if !only_text {
        return Message::User {
            content: Content::Parts(parts.collect()),
        };
    }
    let texts = parts.filter_map(|part| match part {
        ContentPart::Text { text } => Some(text),
        ContentPart::ImageUrl { .. } => None,
    });
    Message::User {
        content: Content::Text(texts.collect::<Vec<_>>().join("\n\n")),
    }
}

fn assistant(blocks: Vec<Block>, with_reasoning: bool) -> Message {
    let (mut texts, mut thoughts, mut tool_calls) = (Vec::new(), Vec::new(), Vec::new());
    for block in blocks {
        match block {
            Block::Text(text) => texts.push(text),
            Block::Reasoning { text, .. } => thoughts.push(text),
            Block::Call {
                id,
                name,
                arguments,
            } => tool_calls.push(ToolCall {
                id,
                r#type: "function",
                function: FunctionCall {
                    name,
                    arguments: arguments.0.get().to_owned(),
                },
            }),
        }
    }
    let has_thoughts = with_reasoning && !thoughts.is_empty();
    Message::Assistant {
        content: texts.join("\n\n"),
        reasoning_content: has_thoughts.then(|| thoughts.join("\n\n")),
        tool_calls,
    }
}

/// Images cannot stand in a tool's answer here; they follow as a message of their own.
fn tool(result: CallResult, images: &mut Vec<Part>) -> Message {
    let mut texts = Vec::new();
    for part in result.parts {
        match part {
            Part::Text(text) => texts.push(text),
            image @ Part::Image { .. } => {
                texts.push(IMAGES_FOLLOW.into());
                images.push(image);
            }
        }
    }
    Message::Tool {
        tool_call_id: result.call_id,
        content: texts.join("\n"),
    }
}
