//! The models that are known without asking anybody. Prices are list prices in US dollars for a
//! million tokens; configuration overrides them.

use std::sync::LazyLock;

use quipu_wire::{InputModality, ReasoningEffort as Effort, ReasoningSummary, Verbosity};

use super::info::{
    ApplyPatchTool, EffortLevel, ModelInfo, ModelUpgrade, ShellType, Truncation, TruncationMode,
    Visibility,
};
use crate::provider::OFFLINE;
use crate::usage::Price;

/// The model used when none is configured.
pub const DEFAULT_MODEL: &str = "gpt-5.3-codex";

/// OpenAI's models, in the order of the list.
pub fn openai_models() -> &'static [ModelInfo] {
    static MODELS: LazyLock<Vec<ModelInfo>> =
        LazyLock::new(|| numbered(OPENAI.iter().map(GptRow::info)));
    &MODELS
}

/// Anthropic's models, in the order of the list.
pub fn anthropic_models() -> &'static [ModelInfo] {
    static MODELS: LazyLock<Vec<ModelInfo>> =
        LazyLock::new(|| numbered(ANTHROPIC.iter().map(ClaudeRow::info)));
    &MODELS
}

/// The offline model, which is offered the same tools as OpenAI's newest.
pub fn offline_models() -> &'static [ModelInfo] {
    static MODELS: LazyLock<Vec<ModelInfo>> = LazyLock::new(|| {
        vec![ModelInfo {
            slug: OFFLINE.into(),
            display_name: OFFLINE.into(),
            description: Some("Needs no network; plays scripts and cannot do real work.".into()),
            upgrade: None,
            price: None,
            ..openai_models()[0].clone()
        }]
    });
    &MODELS
}

/// What a line of OpenAI's models has in common.
#[derive(Clone, Copy, PartialEq)]
enum Line {
    /// Coding models with verbosity and personality.
    Newest,
    /// The first coding model with personality.
    Personal,
    /// Earlier coding models.
    Codex,
    /// General models with verbosity.
    General,
    /// The first of the fifth generation, without a patch tool.
    First,
    /// Open weights.
    Open,
}

struct GptRow {
    slug: &'static str,
    line: Line,
    description: &'static str,
    hidden: bool,
    upgrade: &'static str,
    efforts: &'static [Effort],
    price: Option<(f64, f64, f64)>,
}

const UP_TO_HIGH: &[Effort] = &[Effort::Low, Effort::Medium, Effort::High];
const UP_TO_XHIGH: &[Effort] = &[Effort::Low, Effort::Medium, Effort::High, Effort::Xhigh];
const FROM_MINIMAL: &[Effort] = &[Effort::Minimal, Effort::Low, Effort::Medium, Effort::High];
const FROM_MEDIUM: &[Effort] = &[Effort::Medium, Effort::High];
const GPT_5_PRICE: Option<(f64, f64, f64)> = Some((1.25, 0.125, 10.0));
const GPT_5_2_PRICE: Option<(f64, f64, f64)> = Some((1.75, 0.175, 14.0));
const MINI_PRICE: Option<(f64, f64, f64)> = Some((0.25, 0.025, 2.0));

const OPENAI: [GptRow; 13] = [
    GptRow {
        slug: "gpt-5.3-codex",
        line: Line::Newest,
        description: "Made for long coding tasks with tools.",
        hidden: false,
        upgrade: "gpt-5.4",
        efforts: UP_TO_XHIGH,
        price: GPT_5_2_PRICE,
    },
    GptRow {
        slug: "gpt-5.4",
        line: Line::Newest,
        description: "The newest general model, strong at coding with tools.",
        hidden: false,
        upgrade: "",
        efforts: UP_TO_XHIGH,
        price: Some((2.5, 0.25, 15.0)),
    },
    GptRow {
        slug: "gpt-5.2-codex",
        line: Line::Personal,
        description: "An earlier coding model.",
        hidden: false,
        upgrade: "gpt-5.4",
        efforts: UP_TO_XHIGH,
        price: GPT_5_2_PRICE,
    },
    GptRow {
        slug: "gpt-5.1-codex-max",
        line: Line::Codex,
        description: "A large coding model for deep reasoning.",
        hidden: false,
        upgrade: "gpt-5.4",
        efforts: UP_TO_XHIGH,
        price: GPT_5_PRICE,
    },
    GptRow {
        slug: "gpt-5.1-codex",
        line: Line::Codex,
        description: "An earlier coding model.",
        hidden: true,
        upgrade: DEFAULT_MODEL,
        efforts: UP_TO_HIGH,
        price: GPT_5_PRICE,
    },
    GptRow {
        slug: "gpt-5.2",
        line: Line::General,
        description: "A general model for knowledge, reasoning and code.",
        hidden: false,
        upgrade: "gpt-5.4",
        efforts: UP_TO_XHIGH,
        price: GPT_5_2_PRICE,
    },
    GptRow {
        slug: "gpt-5.1",
        line: Line::General,
        description: "An earlier general model.",
        hidden: true,
        upgrade: DEFAULT_MODEL,
        efforts: UP_TO_HIGH,
        price: GPT_5_PRICE,
    },
    GptRow {
        slug: "gpt-5-codex",
        line: Line::Codex,
        description: "An earlier coding model.",
        hidden: true,
        upgrade: DEFAULT_MODEL,
        efforts: UP_TO_HIGH,
        price: GPT_5_PRICE,
    },
    GptRow {
        slug: "gpt-5",
        line: Line::First,
        description: "An earlier general model.",
        hidden: true,
        upgrade: DEFAULT_MODEL,
        efforts: FROM_MINIMAL,
        price: GPT_5_PRICE,
    },
    GptRow {
        slug: "gpt-oss-120b",
        line: Line::Open,
        description: "Open weights, for a large machine of one's own.",
        hidden: true,
        upgrade: "",
        efforts: UP_TO_HIGH,
        price: None,
    },
    GptRow {
        slug: "gpt-oss-20b",
        line: Line::Open,
        description: "Open weights, for a small machine of one's own.",
        hidden: true,
        upgrade: "",
        efforts: UP_TO_HIGH,
        price: None,
    },
    GptRow {
        slug: "gpt-5.1-codex-mini",
        line: Line::Codex,
        description: "Small, fast and cheap; less able.",
        hidden: false,
        upgrade: "gpt-5.4",
        efforts: FROM_MEDIUM,
        price: MINI_PRICE,
    },
    GptRow {
        slug: "gpt-5-codex-mini",
        line: Line::Codex,
        description: "An earlier small model.",
        hidden: true,
        upgrade: DEFAULT_MODEL,
        efforts: FROM_MEDIUM,
        price: MINI_PRICE,
    },
];

impl GptRow {
    fn info(&self) -> ModelInfo {
        let line = self.line;
        let talks = matches!(line, Line::Newest | Line::General);
        let text_only = line == Line::Open;
        ModelInfo {
            slug: self.slug.into(),
            display_name: self.slug.into(),
            description: Some(self.description.into()),
            default_reasoning_level: Some(Effort::Medium),
            supported_reasoning_levels: levels(self.efforts),
            shell_type: match line {
                Line::First | Line::Open => ShellType::Default,
                _ => ShellType::ShellCommand,
            },
            visibility: if self.hidden {
                Visibility::Hide
            } else {
                Visibility::List
            },
            upgrade: upgrade(self.upgrade),
            supports_reasoning_summaries: true,
            default_reasoning_summary: Some(match line {
                Line::Newest => ReasoningSummary::None,
                _ => ReasoningSummary::Auto,
            }),
            support_verbosity: talks,
            default_verbosity: talks.then_some(Verbosity::Low),
            apply_patch_tool_type: (line != Line::First).then_some(ApplyPatchTool::Freeform),
            truncation_policy: match line {
                Line::General | Line::First | Line::Open => Truncation::default(),
                _ => Truncation {
                    mode: TruncationMode::Tokens,
                    limit: 10_000,
                },
            },
            supports_parallel_tool_calls: talks || line == Line::Personal,
            supports_personality: matches!(line, Line::Newest | Line::Personal),
            context_window: Some(if text_only { 128_000 } else { 272_000 }),
            input_modalities: match text_only {
                true => vec![InputModality::Text],
                false => vec![InputModality::Text, InputModality::Image],
            },
            max_output_tokens: Some(128_000),
            price: self.price.map(|(input, cached, output)| Price {
                input,
                cached_input: Some(cached),
                cache_write: None,
                output,
            }),
            ..ModelInfo::default()
        }
    }
}

struct ClaudeRow {
    slug: &'static str,
    name: &'static str,
    /// Empty for models that have a successor; they are hidden.
    description: &'static str,
    context_window: i64,
    max_output_tokens: u64,
    efforts: &'static [Effort],
    price: (f64, f64),
}

const ANTHROPIC: [ClaudeRow; 11] = [
    ClaudeRow {
        slug: "claude-opus-5-5",
        name: "Claude Opus 5.5",
        description: "For complex coding and long tasks.",
        context_window: 1_000_000,
        max_output_tokens: 128_000,
        efforts: UP_TO_XHIGH,
        price: (4.0, 20.0),
    },
    ClaudeRow {
        slug: "claude-sonnet-5",
        name: "Claude Sonnet 5",
        description: "A good balance of speed and ability.",
        context_window: 1_000_000,
        max_output_tokens: 128_000,
        efforts: UP_TO_XHIGH,
        price: (2.0, 10.0),
    },
    ClaudeRow {
        slug: "claude-fable-5-1",
        name: "Claude Fable 5.1",
        description: "For the hardest reasoning and the longest tasks.",
        context_window: 1_000_000,
        max_output_tokens: 128_000,
        efforts: UP_TO_XHIGH,
        price: (10.0, 50.0),
    },
    ClaudeRow {
        slug: "claude-haiku-4-5",
        name: "Claude Haiku 4.5",
        description: "The fastest and cheapest.",
        context_window: 200_000,
        max_output_tokens: 64_000,
        efforts: UP_TO_HIGH,
        price: (1.0, 5.0),
    },
    ClaudeRow {
        slug: "claude-opus-5",
        name: "Claude Opus 5",
        description: "",
        context_window: 1_000_000,
        max_output_tokens: 128_000,
        efforts: UP_TO_XHIGH,
        price: (5.0, 25.0),
    },
    ClaudeRow {
        slug: "claude-opus-4-8",
        name: "Claude Opus 4.8",
        description: "",
        context_window: 1_000_000,
        max_output_tokens: 128_000,
        efforts: UP_TO_XHIGH,
        price: (5.0, 25.0),
    },
    ClaudeRow {
        slug: "claude-opus-4-7",
        name: "Claude Opus 4.7",
        description: "",
        context_window: 1_000_000,
        max_output_tokens: 128_000,
        efforts: UP_TO_XHIGH,
        price: (5.0, 25.0),
    },
    ClaudeRow {
        slug: "claude-opus-4-6",
        name: "Claude Opus 4.6",
        description: "",
        context_window: 1_000_000,
        max_output_tokens: 128_000,
        efforts: UP_TO_XHIGH,
        price: (5.0, 25.0),
    },
    ClaudeRow {
        slug: "claude-sonnet-4-6",
        name: "Claude Sonnet 4.6",
        description: "",
        context_window: 1_000_000,
        max_output_tokens: 64_000,
        efforts: UP_TO_XHIGH,
        price: (3.0, 15.0),
    },
    ClaudeRow {
        slug: "claude-opus-4-5",
        name: "Claude Opus 4.5",
        description: "",
        context_window: 200_000,
        max_output_tokens: 64_000,
        efforts: UP_TO_HIGH,
        price: (5.0, 25.0),
    },
    ClaudeRow {
        slug: "claude-sonnet-4-5",
        name: "Claude Sonnet 4.5",
        description: "",
        context_window: 200_000,
        max_output_tokens: 64_000,
        efforts: UP_TO_HIGH,
        price: (3.0, 15.0),
    },
];

impl ClaudeRow {
    fn info(&self) -> ModelInfo {
        let superseded = self.description.is_empty();
        let (input, output) = self.price;
        ModelInfo {
            slug: self.slug.into(),
            display_name: self.name.into(),
            description: Some(match superseded {
                true => "An earlier model.".into(),
                false => self.description.into(),
            }),
            default_reasoning_level: Some(Effort::Medium),
            supported_reasoning_levels: levels(self.efforts),
            visibility: if superseded {
                Visibility::Hide
            } else {
                Visibility::List
            },
            supports_reasoning_summaries: true,
            default_reasoning_summary: Some(ReasoningSummary::Auto),
            apply_patch_tool_type: Some(ApplyPatchTool::Freeform),
            truncation_policy: Truncation {
                mode: TruncationMode::Tokens,
                limit: 10_000,
            },
            supports_parallel_tool_calls: true,
            context_window: Some(self.context_window),
            max_output_tokens: Some(self.max_output_tokens),
            // Reading the cache costs a tenth, writing it a quarter more.
            price: Some(Price {
                input,
                cached_input: Some(input * 0.1),
                cache_write: Some(input * 1.25),
                output,
            }),
            ..ModelInfo::default()
        }
    }
}

fn numbered(models: impl Iterator<Item = ModelInfo>) -> Vec<ModelInfo> {
    (0..)
        .zip(models)
        .map(|(priority, model)| ModelInfo { priority, ..model })
        .collect()
}

fn levels(efforts: &[Effort]) -> Vec<EffortLevel> {
    let described = |effort: &Effort| {
        let description = match effort {
            Effort::None => "No reasoning",
            Effort::Minimal => "Almost no reasoning, the quickest answers",
            Effort::Low => "A little reasoning, quick answers",
            Effort::Medium => "A balance for everyday work",
            Effort::High => "Much reasoning for hard problems",
            Effort::Xhigh => "The most reasoning, for the hardest problems",
            Effort::Max | Effort::Ultra => "More reasoning than most problems need",
            Effort::Unrecognized(_) => "",
        };
        EffortLevel {
            effort: *effort,
            description: description.into(),
        }
    };
    efforts.iter().map(described).collect()
}

fn upgrade(model: &str) -> Option<ModelUpgrade> {
    if model.is_empty() {
        return None;
    }
    let text = format!("A newer model, {model}, is available. The present one keeps working.");
    Some(ModelUpgrade {
        model: model.into(),
        migration_markdown: Some(text),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_the_known_one() {
        let visible: Vec<&str> = openai_models()
            .iter()
            .filter(|model| model.visibility == Visibility::List)
            .map(|model| model.slug.as_str())
            .collect();
        assert_eq!(
            visible,
            [
                "gpt-5.3-codex",
                "gpt-5.4",
                "gpt-5.2-codex",
                "gpt-5.1-codex-max",
                "gpt-5.2",
                "gpt-5.1-codex-mini"
            ]
        );
        assert_eq!(visible[0], DEFAULT_MODEL);
        assert_eq!(openai_models().len(), 13);
    }
}
