//! The models that are known without asking anybody. Prices are list prices in US dollars for a
//! million tokens; configuration overrides them.

use std::sync::LazyLock;

use quipu_wire::{InputModality, ReasoningEffort as Effort, ReasoningSummary, Verbosity};

use super::info::{
    ApplyPatchTool, EffortLevel, ModelInfo, ModelUpgrade, ShellType, Truncation, TruncationMode,
    Visibility,
};
use crate::usage::Price;

/// The model used when none is configured.
pub const DEFAULT_MODEL: &str = "gpt-5.3-codex";

/// OpenAI's models, in the order of the list.
pub fn openai_models() -> &'static [ModelInfo] {
    static MODELS: LazyLock<Vec<ModelInfo>> = LazyLock::new(openai);
    &MODELS
}

/// Anthropic's models, in the order of the list.
pub fn anthropic_models() -> &'static [ModelInfo] {
    static MODELS: LazyLock<Vec<ModelInfo>> = LazyLock::new(anthropic);
    &MODELS
}

fn openai() -> Vec<ModelInfo> {
    let newest = |slug: &str| ModelInfo {
        supports_personality: true,
        support_verbosity: true,
        default_verbosity: Some(Verbosity::Low),
        default_reasoning_summary: Some(ReasoningSummary::None),
        supports_parallel_tool_calls: true,
        supported_reasoning_levels: efforts(&[
            Effort::Low,
            Effort::Medium,
            Effort::High,
            Effort::Xhigh,
        ]),
        ..gpt(slug)
    };
    let mut models = vec![
        ModelInfo {
            description: Some("Made for long coding tasks with tools.".into()),
            upgrade: to("gpt-5.4"),
            price: price(1.75, 0.175, 14.0),
            ..newest("gpt-5.3-codex")
        },
        ModelInfo {
            description: Some("The newest general model, strong at coding with tools.".into()),
            price: price(2.5, 0.25, 15.0),
            ..newest("gpt-5.4")
        },
        ModelInfo {
            description: Some("An earlier coding model.".into()),
            upgrade: to("gpt-5.4"),
            price: price(1.75, 0.175, 14.0),
            supports_parallel_tool_calls: true,
            supports_personality: true,
            supported_reasoning_levels: efforts(&[
                Effort::Low,
                Effort::Medium,
                Effort::High,
                Effort::Xhigh,
            ]),
            ..gpt("gpt-5.2-codex")
        },
        ModelInfo {
            description: Some("A large coding model for deep reasoning.".into()),
            upgrade: to("gpt-5.4"),
            supported_reasoning_levels: efforts(&[
                Effort::Low,
                Effort::Medium,
                Effort::High,
                Effort::Xhigh,
            ]),
            ..gpt("gpt-5.1-codex-max")
        },
        ModelInfo {
            visibility: Visibility::Hide,
            upgrade: to(DEFAULT_MODEL),
            ..gpt("gpt-5.1-codex")
        },
        ModelInfo {
            description: Some("A general model for knowledge, reasoning and code.".into()),
            upgrade: to("gpt-5.4"),
            price: price(1.75, 0.175, 14.0),
            supported_reasoning_levels: efforts(&[
                Effort::Low,
                Effort::Medium,
                Effort::High,
                Effort::Xhigh,
            ]),
            ..talker("gpt-5.2")
        },
        ModelInfo {
            visibility: Visibility::Hide,
            upgrade: to(DEFAULT_MODEL),
            ..talker("gpt-5.1")
        },
        ModelInfo {
            visibility: Visibility::Hide,
            upgrade: to(DEFAULT_MODEL),
            ..gpt("gpt-5-codex")
        },
        ModelInfo {
            visibility: Visibility::Hide,
            upgrade: to(DEFAULT_MODEL),
            shell_type: ShellType::Default,
            apply_patch_tool_type: None,
            truncation_policy: Truncation::default(),
            supported_reasoning_levels: efforts(&[
                Effort::Minimal,
                Effort::Low,
                Effort::Medium,
                Effort::High,
            ]),
            ..gpt("gpt-5")
        },
        open_weights("gpt-oss-120b"),
        open_weights("gpt-oss-20b"),
        ModelInfo {
            description: Some("Small, fast and cheap; less able.".into()),
            upgrade: to("gpt-5.4"),
            ..small("gpt-5.1-codex-mini")
        },
        ModelInfo {
            visibility: Visibility::Hide,
            upgrade: to(DEFAULT_MODEL),
            ..small("gpt-5-codex-mini")
        },
    ];
    number(&mut models);
    models
}

/// What most of OpenAI's models have in common.
fn gpt(slug: &str) -> ModelInfo {
    ModelInfo {
        slug: slug.into(),
        display_name: slug.into(),
        description: Some("An earlier model.".into()),
        default_reasoning_level: Some(Effort::Medium),
        supported_reasoning_levels: efforts(&[Effort::Low, Effort::Medium, Effort::High]),
        shell_type: ShellType::ShellCommand,
        supports_reasoning_summaries: true,
        default_reasoning_summary: Some(ReasoningSummary::Auto),
        apply_patch_tool_type: Some(ApplyPatchTool::Freeform),
        truncation_policy: Truncation {
            mode: TruncationMode::Tokens,
            limit: 10_000,
        },
        max_output_tokens: Some(128_000),
        price: price(1.25, 0.125, 10.0),
        ..ModelInfo::default()
    }
}

fn talker(slug: &str) -> ModelInfo {
    ModelInfo {
        support_verbosity: true,
        default_verbosity: Some(Verbosity::Low),
        supports_parallel_tool_calls: true,
        truncation_policy: Truncation::default(),
        ..gpt(slug)
    }
}

fn small(slug: &str) -> ModelInfo {
    ModelInfo {
        supported_reasoning_levels: efforts(&[Effort::Medium, Effort::High]),
        price: price(0.25, 0.025, 2.0),
        ..gpt(slug)
    }
}

fn open_weights(slug: &str) -> ModelInfo {
    ModelInfo {
        description: Some("Open weights; runs on one's own machine.".into()),
        visibility: Visibility::Hide,
        shell_type: ShellType::Default,
        truncation_policy: Truncation::default(),
        context_window: Some(128_000),
        input_modalities: vec![InputModality::Text],
        price: None,
        ..gpt(slug)
    }
}

fn anthropic() -> Vec<ModelInfo> {
    let all = [Effort::Low, Effort::Medium, Effort::High, Effort::Xhigh];
    let mut models = vec![
        ModelInfo {
            display_name: "Claude Opus 5.5".into(),
            description: Some("For complex coding and long tasks.".into()),
            price: claude_price(4.0, 20.0),
            ..claude("claude-opus-5-5", &all)
        },
        ModelInfo {
            display_name: "Claude Sonnet 5".into(),
            description: Some("A good balance of speed and ability.".into()),
            price: claude_price(2.0, 10.0),
            ..claude("claude-sonnet-5", &all)
        },
        ModelInfo {
            display_name: "Claude Fable 5.1".into(),
            description: Some("For the hardest reasoning and the longest tasks.".into()),
            price: claude_price(10.0, 50.0),
            ..claude("claude-fable-5-1", &all)
        },
        ModelInfo {
            display_name: "Claude Haiku 4.5".into(),
            description: Some("The fastest and cheapest.".into()),
            context_window: Some(200_000),
            max_output_tokens: Some(64_000),
            price: claude_price(1.0, 5.0),
            ..claude(
                "claude-haiku-4-5",
                &[Effort::Low, Effort::Medium, Effort::High],
            )
        },
    ];
    let earlier = [
        (
            "claude-opus-5",
            "Claude Opus 5",
            1_000_000,
            128_000,
            (5.0, 25.0),
        ),
        (
            "claude-opus-4-8",
            "Claude Opus 4.8",
            1_000_000,
            128_000,
            (5.0, 25.0),
        ),
        (
            "claude-opus-4-7",
            "Claude Opus 4.7",
            1_000_000,
            128_000,
            (5.0, 25.0),
        ),
        (
            "claude-opus-4-6",
            "Claude Opus 4.6",
            1_000_000,
            128_000,
            (5.0, 25.0),
        ),
        (
            "claude-sonnet-4-6",
            "Claude Sonnet 4.6",
            1_000_000,
            64_000,
            (3.0, 15.0),
        ),
        (
            "claude-opus-4-5",
            "Claude Opus 4.5",
            200_000,
            64_000,
            (5.0, 25.0),
        ),
        (
            "claude-sonnet-4-5",
            "Claude Sonnet 4.5",
            200_000,
            64_000,
            (3.0, 15.0),
        ),
    ];
    models.extend(
        earlier.map(|(slug, name, window, output, (sent, written))| ModelInfo {
            display_name: name.into(),
            description: Some("An earlier model.".into()),
            visibility: Visibility::Hide,
            context_window: Some(window),
            max_output_tokens: Some(output),
            price: claude_price(sent, written),
            ..claude(slug, &all)
        }),
    );
    number(&mut models);
    models
}

fn claude(slug: &str, levels: &[Effort]) -> ModelInfo {
    ModelInfo {
        slug: slug.into(),
        default_reasoning_level: Some(Effort::Medium),
        supported_reasoning_levels: efforts(levels),
        supports_reasoning_summaries: true,
        default_reasoning_summary: Some(ReasoningSummary::Auto),
        apply_patch_tool_type: Some(ApplyPatchTool::Freeform),
        truncation_policy: Truncation {
            mode: TruncationMode::Tokens,
            limit: 10_000,
        },
        supports_parallel_tool_calls: true,
        context_window: Some(1_000_000),
        max_output_tokens: Some(128_000),
        ..ModelInfo::default()
    }
}

fn number(models: &mut [ModelInfo]) {
    for (at, model) in models.iter_mut().enumerate() {
        model.priority = at as i32;
    }
}

fn efforts(levels: &[Effort]) -> Vec<EffortLevel> {
    let described = |effort: &Effort| {
        let description = match effort {
            Effort::None => "No reasoning",
            Effort::Minimal => "Almost no reasoning, the quickest answers",
            Effort::Low => "A little reasoning, quick answers",
            Effort::Medium => "A balance for everyday work",
            Effort::High => "Much reasoning for hard problems",
            Effort::Xhigh => "The most reasoning, for the hardest problems",
            Effort::Unrecognized => "",
        };
        EffortLevel {
            effort: *effort,
            description: description.into(),
        }
    };
    levels.iter().map(described).collect()
}

fn to(model: &str) -> Option<ModelUpgrade> {
    let text = format!("A newer model, {model}, is available. The present one keeps working.");
    Some(ModelUpgrade {
        model: model.into(),
        migration_markdown: Some(text),
    })
}

fn price(input: f64, cached: f64, output: f64) -> Option<Price> {
    Some(Price {
        input,
        cached_input: Some(cached),
        cache_write: None,
        output,
    })
}

/// Reading the cache costs a tenth, writing it a quarter more.
fn claude_price(input: f64, output: f64) -> Option<Price> {
    let (cached_input, cache_write) = (Some(input * 0.1), Some(input * 1.25));
    Some(Price {
        input,
        cached_input,
        cache_write,
        output,
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
