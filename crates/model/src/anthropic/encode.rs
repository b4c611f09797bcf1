//! A request as the body of `POST /messages`, with cache marks after the parts that stay the same
//! from one request to the next: the instructions (tools come before them) and the last two turns.

use base64::prelude::{BASE64_STANDARD, Engine as _};
use quipu_wire::{ReasoningEffort, ReasoningSummary};
use serde::Serialize;
use serde_json::value::RawValue;

use crate::conversation::{Block, CallResult, Conversation, Entry, Part};
use crate::history::HistoryItem;
use crate::provider::{ProviderConfig, WireApi};
use crate::request::{Reasoning, Request, ToolChoice};
use crate::structured::{self, OUTPUT_TOOL, OUTPUT_TOOL_DESCRIPTION};
use crate::tools::ToolSpec;

/// What a model may write when the catalogue does not say.
const DEFAULT_MAX_TOKENS: u64 = 32_000;
/// Marks hidden reasoning among the signatures.
pub(crate) const REDACTED: &str = "redacted:";
const CACHED_TURNS: usize = 2;

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    max_tokens: u64,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    system: Vec<SystemBlock>,
    messages: Vec<Message>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tools: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<Choice<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking: Option<Thinking>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_config: Option<OutputConfig<'a>>,
    stream: bool,
}

#[derive(Serialize)]
struct SystemBlock {
    r#type: &'static str,
    text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_control: Option<CacheMark>,
}

#[derive(Serialize)]
struct CacheMark {
    r#type: &'static str,
}

const MARK: CacheMark = CacheMark {
    r#type: "ephemeral",
};

#[derive(Serialize)]
struct Choice<'a> {
    r#type: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    disable_parallel_tool_use: bool,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Thinking {
    Adaptive {
        #[serde(skip_serializing_if = "Option::is_none")]
        display: Option<&'static str>,
    },
    Enabled {
        budget_tokens: u64,
    },
}

#[derive(Serialize)]
struct OutputConfig<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    effort: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    format: Option<OutputFormat<'a>>,
}

#[derive(Serialize)]
struct OutputFormat<'a> {
    r#type: &'static str,
    schema: &'a RawValue,
}

#[derive(Serialize)]
struct Message {
    role: &'static str,
    content: Vec<Content>,
}

#[derive(Serialize)]
struct Content {
    #[serde(flatten)]
    block: ContentBlock,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_control: Option<CacheMark>,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum ContentBlock {
    Text {
        text: String,
    },
    Image {
        source: Source,
    },
    Thinking {
        thinking: String,
        signature: String,
    },
    RedactedThinking {
        data: String,
    },
    ToolUse {
        id: String,
        name: String,
        input: serde_json::Value,
    },
    ToolResult {
        tool_use_id: String,
        content: Vec<ContentBlock>,
    },
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Source {
    Base64 { media_type: String, data: String },
    Url { url: String },
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
        .map(|schema| serde_json::to_string(&tool(OUTPUT_TOOL, OUTPUT_TOOL_DESCRIPTION, schema)))
        .transpose()?;
    let tools = structured::with_tool(
        request.tools.printed(WireApi::Anthropic, tools),
        output_tool,
    );
    let has_tools = tools.get() != "[]";
    let max_tokens = request.max_output_tokens.unwrap_or(DEFAULT_MAX_TOKENS);
    let (thinking, effort) = thinking(request, &conversation, max_tokens);
    let format = structured::as_field(request, style).map(|schema| OutputFormat {
        r#type: "json_schema",
        schema,
    });
    serde_json::to_vec(&Body {
        model: &request.model,
        max_tokens,
        system: system(
            request,
            &conversation.preface,
            structured::as_words(request, style),
        ),
        messages: messages(conversation.entries),
        tools: has_tools.then_some(tools),
        tool_choice: has_tools.then(|| choice(request)),
        thinking,
        output_config: (effort.is_some() || format.is_some())
            .then_some(OutputConfig { effort, format }),
        stream: true,
    })
}

#[derive(Serialize)]
pub(crate) struct Tool<'a, P> {
    name: &'a str,
    description: std::borrow::Cow<'a, str>,
    input_schema: P,
}

fn tool<'a, P>(
    name: &'a str,
    description: impl Into<std::borrow::Cow<'a, str>>,
    input_schema: P,
) -> Tool<'a, P> {
    Tool {
        name,
        description: description.into(),
        input_schema,
    }
}

/// The tools as JSON functions.
fn tools(specs: &[ToolSpec]) -> Vec<Tool<'_, Box<RawValue>>> {
    let functions = specs.iter().filter_map(ToolSpec::as_function);
    functions
        .map(|it| tool(it.name, it.description, it.parameters))
        .collect()
}

fn system(request: &Request, preface: &[String], words: Option<String>) -> Vec<SystemBlock> {
    let texts = [request.instructions.to_string()]
        .into_iter()
        .chain(preface.iter().cloned());
    let mut blocks: Vec<SystemBlock> = texts
        .chain(words)
        .filter(|text| !text.is_empty())
        .map(|text| SystemBlock {
            r#type: "text",
            text,
            cache_control: None,
        })
        .collect();
    if let Some(last) = blocks.last_mut() {
        last.cache_control = Some(MARK);
    }
    blocks
}

fn choice(request: &Request) -> Choice<'_> {
    let (r#type, name) = match &request.tool_choice {
        ToolChoice::Auto => ("auto", None),
        ToolChoice::Function(name) => ("tool", Some(name.as_str())),
    };
    Choice {
        r#type,
        name,
        disable_parallel_tool_use: !request.parallel_tool_calls,
    }
}

fn messages(entries: Vec<Entry>) -> Vec<Message> {
    let mut out: Vec<Message> = Vec::new();
    for entry in entries {
        let (role, content) = match entry {
            Entry::User(parts) => ("user", parts.into_iter().map(part).collect::<Vec<_>>()),
            Entry::Results(results) => ("user", results.into_iter().map(result).collect()),
            Entry::Assistant(blocks) => {
                ("assistant", blocks.into_iter().filter_map(block).collect())
            }
        };
        let content = content.into_iter().map(|block| Content {
            block,
            cache_control: None,
        });
        match out.last_mut() {
            Some(last) if last.role == role => last.content.extend(content),
            _ => out.push(Message {
                role,
                content: content.collect(),
            }),
        }
    }
    out.retain(|message| !message.content.is_empty());
    // A conversation begins and ends with what the model is to answer.
    if out.first().is_none_or(|first| first.role == "assistant") {
        out.insert(0, nudge("(the conversation begins with your answer)"));
    }
    if out.last().is_some_and(|last| last.role == "assistant") {
        out.push(nudge("Continue."));
    }
    for message in out
        .iter_mut()
        .rev()
        .filter(|m| m.role == "user")
        .take(CACHED_TURNS)
    {
        if let Some(last) = message.content.last_mut() {
            last.cache_control = Some(MARK);
        }
    }
    out
}

fn nudge(text: &str) -> Message {
    let block = ContentBlock::Text { text: text.into() };
    Message {
        role: "user",
        content: vec![Content {
            block,
            cache_control: None,
        }],
    }
}

fn part(part: Part) -> ContentBlock {
    match part {
        Part::Text(text) => ContentBlock::Text { text },
        Part::Image { url, .. } => match inline_image(&url) {
            Some(source) => ContentBlock::Image { source },
            None => ContentBlock::Image {
                source: Source::Url { url },
            },
        },
    }
}

fn inline_image(url: &str) -> Option<Source> {
    let (head, data) = url.strip_prefix("data:")?.split_once(',')?;
    let (media_type, data) = match head.strip_suffix(";base64") {
        Some(media_type) => (media_type, data.to_owned()),
        None => (head, BASE64_STANDARD.encode(data)),
    };
    Some(Source::Base64 {
        media_type: media_type.to_owned(),
        data,
    })
}

fn block(block: Block) -> Option<ContentBlock> {
    Some(match block {
        Block::Text(text) => ContentBlock::Text { text },
        Block::Reasoning { text, signature } => {
            let signature = signature?;
            match signature.strip_prefix(REDACTED) {
                Some(data) => ContentBlock::RedactedThinking {
                    data: data.to_owned(),
                },
                None => ContentBlock::Thinking {
                    thinking: text,
                    signature,
                },
            }
        }
        Block::Call {
            id,
            name,
            arguments,
        } => ContentBlock::ToolUse {
            id: plain_id(&id),
            name,
            input: serde_json::from_str(arguments.0.get()).unwrap_or_default(),
        },
    })
}

fn result(result: CallResult) -> ContentBlock {
    let filled = |part: &Part| !matches!(part, Part::Text(text) if text.is_empty());
    ContentBlock::ToolResult {
        tool_use_id: plain_id(&result.call_id),
        content: result.parts.into_iter().filter(filled).map(part).collect(),
    }
}

/// Ids that another provider gave may hold characters that are refused here.
fn plain_id(id: &str) -> String {
    id.chars()
        .map(|c| {
            if c.is_ascii_alphanumeric() || c == '-' {
                c
            } else {
                '_'
            }
        })
        .collect()
}

/// How a model is asked to think.
#[derive(Clone, Copy, PartialEq)]
enum Style {
    Never,
    Budget,
    Adaptive,
}

fn style(model: &str) -> Style {
    let slug = model.rsplit('/').next().unwrap_or_default();
    let budget = [
        "claude-3-7",
        "claude-sonnet-4-0",
        "claude-sonnet-4-2",
        "claude-sonnet-4-5",
        "claude-opus-4-0",
        "claude-opus-4-1",
        "claude-opus-4-2",
        "claude-opus-4-5",
        "claude-haiku-4-5",
    ];
    if budget.iter().any(|prefix| slug.starts_with(prefix)) {
        Style::Budget
    } else if slug.starts_with("claude-3") {
        Style::Never
    } else if slug.starts_with("claude-") {
        Style::Adaptive
    } else {
        Style::Budget
    }
}

fn thinking(
    request: &Request,
    conversation: &Conversation,
    max_tokens: u64,
) -> (Option<Thinking>, Option<&'static str>) {
    let Some(Reasoning {
        effort: Some(effort),
        summary,
    }) = &request.reasoning
    else {
        return (None, None);
    };
    if *effort == ReasoningEffort::None {
        return (None, None);
    }
    match style(&request.model) {
        Style::Never => (None, None),
        Style::Adaptive => {
            let early = request.model.contains("-4-6");
            let shown = *summary != Some(ReasoningSummary::None) && !early;
            let display = shown.then_some("summarized");
            (
                Some(Thinking::Adaptive { display }),
                Some(level(effort, early)),
            )
        }
        // A turn that went on without thinking cannot begin to think in its middle.
        Style::Budget if conversation.is_mid_turn() && !began_with_thought(conversation) => {
            (None, None)
        }
        Style::Budget => {
            let wanted = match effort {
                ReasoningEffort::None | ReasoningEffort::Minimal => 1_024,
                ReasoningEffort::Low => 4_096,
                ReasoningEffort::Medium | ReasoningEffort::Unrecognized(_) => 10_000,
                ReasoningEffort::High => 20_000,
                ReasoningEffort::Xhigh => 31_000,
                ReasoningEffort::Max | ReasoningEffort::Ultra => 63_000,
            };
            let budget_tokens = wanted.min(max_tokens / 2).max(1_024);
            let fits = budget_tokens < max_tokens;
            (fits.then_some(Thinking::Enabled { budget_tokens }), None)
        }
    }
}

fn level(effort: &ReasoningEffort, early: bool) -> &'static str {
    match effort {
        ReasoningEffort::None | ReasoningEffort::Minimal | ReasoningEffort::Low => "low",
        ReasoningEffort::Medium | ReasoningEffort::Unrecognized(_) => "medium",
        ReasoningEffort::High => "high",
        ReasoningEffort::Xhigh if early => "max",
        ReasoningEffort::Max | ReasoningEffort::Ultra => "max",
        ReasoningEffort::Xhigh => "xhigh",
    }
}

fn began_with_thought(conversation: &Conversation) -> bool {
    let last = conversation
        .entries
        .iter()
        .rev()
        .find_map(|entry| match entry {
            Entry::Assistant(blocks) => blocks.first(),
            _ => None,
        });
    matches!(
        last,
        Some(Block::Reasoning {
            signature: Some(_),
            ..
        })
    )
}
