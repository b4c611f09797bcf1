//! The facts about one model that change how it is used.

use quipu_wire::{
    InputModality, Model, ModelUpgradeInfo, ReasoningEffort, ReasoningEffortOption,
    ReasoningSummary, Verbosity,
};
use serde::Deserialize;

use super::built_in::{anthropic_models, openai_models};
use crate::provider::WireApi;
use crate::request::Reasoning;
use crate::usage::{Price, Usage};

/// What is assumed of models that OpenAI or a user lists without a window.
pub const DEFAULT_CONTEXT_WINDOW: i64 = 272_000;
const DEFAULT_TRUNCATION: i64 = 10_000;
const EFFECTIVE_PERCENT: i64 = 95;
/// A model of the official catalogue of which nothing is public but that it has personalities.
const PERSONALITY_TRIAL: &str = "exp-codex-personality";
const COMPACTION_PERCENT: i64 = 90;

/// Whether clients see a model in their picker.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Visibility {
    /// Shown.
    #[default]
    List,
    /// Listed only on request.
    Hide,
    /// Never offered.
    None,
}

/// The shell tool that a model was trained with.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ShellType {
    /// `shell`.
    #[default]
    Default,
    /// The provider's `local_shell`.
    Local,
    /// `exec_command` and `write_stdin`.
    UnifiedExec,
    /// None.
    Disabled,
    /// `shell_command`.
    ShellCommand,
}

/// The form of the patch tool that a model takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ApplyPatchTool {
    /// Free text in a grammar.
    Freeform,
    /// A JSON function.
    Function,
}

/// What a hosted web search may return.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WebSearchTool {
    /// Text.
    #[default]
    Text,
    /// Text and images.
    TextAndImage,
}

/// In what a tool output's budget is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TruncationMode {
    /// Bytes.
    Bytes,
    /// Tokens of four bytes.
    Tokens,
}

/// How much of a tool's output a model gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub struct Truncation {
    /// The unit.
    pub mode: TruncationMode,
    /// The most of it.
    pub limit: i64,
}

impl Default for Truncation {
    fn default() -> Self {
        Self {
            mode: TruncationMode::Bytes,
            limit: DEFAULT_TRUNCATION,
        }
    }
}

/// One reasoning effort that a model knows.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct EffortLevel {
    /// The effort.
    pub effort: ReasoningEffort,
    /// What it is good for.
    #[serde(default)]
    pub description: String,
}

/// A newer model that people may move to.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct ModelUpgrade {
    /// The newer model.
    pub model: String,
    /// What to tell people about it.
    pub migration_markdown: Option<String>,
}

/// Everything that is known about a model. Reads the format of `model_catalog_json` and of
/// `models_cache.json`; only the slug is required.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(default)]
pub struct ModelInfo {
    /// What the provider calls it.
    pub slug: String,
    /// What people call it.
    pub display_name: String,
    /// What it is good for.
    pub description: Option<String>,
    /// The effort used when nobody asks for one.
    pub default_reasoning_level: Option<ReasoningEffort>,
    /// The efforts it knows.
    pub supported_reasoning_levels: Vec<EffortLevel>,
    /// The shell tool it was trained with.
    pub shell_type: ShellType,
    /// Whether it is shown.
    pub visibility: Visibility,
    /// Whether an API key is enough to use it.
    pub supported_in_api: bool,
    /// Its place in the list, lowest first.
    pub priority: i32,
    /// A newer model.
    pub upgrade: Option<ModelUpgrade>,
    /// Whether it tells its reasoning.
    pub supports_reasoning_summaries: bool,
    /// How, when nobody says.
    pub default_reasoning_summary: Option<ReasoningSummary>,
    /// Whether it knows verbosity.
    pub support_verbosity: bool,
    /// The verbosity used when nobody asks for one.
    pub default_verbosity: Option<Verbosity>,
    /// The form of the patch tool it takes, if any.
    pub apply_patch_tool_type: Option<ApplyPatchTool>,
    /// What a hosted web search returns.
    pub web_search_tool_type: WebSearchTool,
    /// How much of a tool's output it gets.
    pub truncation_policy: Truncation,
    /// Whether it may call several tools at once.
    pub supports_parallel_tool_calls: bool,
    /// Whether it takes images in full detail.
    pub supports_image_detail_original: bool,
    /// How many tokens it can read, if anybody said it.
    pub context_window: Option<i64>,
    /// At how many tokens a history is compacted.
    pub auto_compact_token_limit: Option<i64>,
    /// How much of the window is used, in percent.
    pub effective_context_window_percent: i64,
    /// Tools it is offered beyond the usual.
    pub experimental_supported_tools: Vec<String>,
    /// What it can read.
    pub input_modalities: Vec<InputModality>,
    /// Whether it can search for deferred tools.
    pub supports_search_tool: bool,
    /// Whether its instructions have a place for a personality.
    pub supports_personality: bool,
    /// How many tokens it can write.
    pub max_output_tokens: Option<u64>,
    /// What it costs.
    pub price: Option<Price>,
}

impl Default for ModelInfo {
    fn default() -> Self {
        Self {
            slug: String::new(),
            display_name: String::new(),
            description: None,
            default_reasoning_level: None,
            supported_reasoning_levels: Vec::new(),
            shell_type: ShellType::Default,
            visibility: Visibility::List,
            supported_in_api: true,
            priority: 0,
            upgrade: None,
            supports_reasoning_summaries: false,
            default_reasoning_summary: None,
            support_verbosity: false,
            default_verbosity: None,
            apply_patch_tool_type: None,
            web_search_tool_type: WebSearchTool::Text,
            truncation_policy: Truncation::default(),
            supports_parallel_tool_calls: false,
            supports_image_detail_original: false,
            context_window: Some(DEFAULT_CONTEXT_WINDOW),
            auto_compact_token_limit: None,
            effective_context_window_percent: EFFECTIVE_PERCENT,
            experimental_supported_tools: Vec::new(),
            input_modalities: vec![InputModality::Text, InputModality::Image],
            supports_search_tool: false,
            supports_personality: false,
            max_output_tokens: None,
            price: None,
        }
    }
}

impl ModelInfo {
    /// What is known about a model, or defaults.
    pub fn lookup(slug: &str, wire: WireApi) -> Self {
        let known = openai_models().iter().chain(anthropic_models());
        let known = known.chain((wire.format().models)());
        Self::among(slug, known).unwrap_or_else(|| Self::unknown(slug, wire))
    }

    /// What a list says about a model: the longest slug that the name begins with, also behind one
    /// `namespace/`.
    pub fn among<'a>(
        slug: &str,
        models: impl IntoIterator<Item = &'a Self, IntoIter: Clone>,
    ) -> Option<Self> {
        let models = models.into_iter();
        let best = |name: &str| {
            let models = models.clone();
            models
                .filter(|model| name.starts_with(&model.slug))
                .max_by_key(|model| model.slug.len())
        };
        let found = best(slug).or_else(|| {
            let (namespace, rest) = slug.split_once('/')?;
            let is_plain = namespace
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || c == '_');
            best(rest).filter(|_| is_plain)
        });
        found.map(|model| Self {
            slug: slug.to_owned(),
            ..model.clone()
        })
    }

    /// Defaults for a model nobody knows. Outside the Responses API a patch tool in the form of a
    /// JSON function and parallel calls are safe to offer, and an effort is sent when asked for.
    pub fn unknown(slug: &str, wire: WireApi) -> Self {
        let foreign = !wire.format().is_official;
        Self {
            slug: slug.to_owned(),
            display_name: slug.to_owned(),
            apply_patch_tool_type: foreign.then_some(ApplyPatchTool::Function),
            supports_parallel_tool_calls: foreign,
            supports_reasoning_summaries: foreign,
            supports_personality: slug == PERSONALITY_TRIAL,
            context_window: None,
            ..Self::default()
        }
    }

    /// The part of the window that a conversation may fill, as clients are told.
    pub fn effective_context_window(&self) -> Option<i64> {
        Some(share(
            self.context_window?,
            self.effective_context_window_percent,
        ))
    }

    /// At how many tokens a history is compacted: never later than at nine tenths of the window.
    pub fn compaction_limit(&self) -> Option<i64> {
        let by_window = self
            .context_window
            .map(|window| share(window, COMPACTION_PERCENT));
        match (self.auto_compact_token_limit, by_window) {
            (Some(limit), Some(cap)) => Some(limit.min(cap)),
            (limit, cap) => limit.or(cap),
        }
    }

    /// Whether the model reads images.
    pub fn accepts_images(&self) -> bool {
        self.input_modalities.contains(&InputModality::Image)
    }

    /// What to ask of a model that reasons: the effort and summary wanted, else its own defaults.
    pub fn reasoning(
        &self,
        effort: Option<ReasoningEffort>,
        summary: Option<ReasoningSummary>,
    ) -> Option<Reasoning> {
        self.supports_reasoning_summaries.then(|| Reasoning {
            effort: effort.or(self.default_reasoning_level),
            summary: summary.or(self.default_reasoning_summary),
        })
    }

    /// The verbosity wanted, else its own default, if the model knows verbosity at all.
    pub fn verbosity(&self, wanted: Option<Verbosity>) -> Option<Verbosity> {
        wanted
            .or(self.default_verbosity)
            .filter(|_| self.support_verbosity)
    }

    /// What a response cost in US dollars, if the price is known.
    pub fn cost(&self, usage: &Usage) -> Option<f64> {
        Some(self.price?.cost(usage))
    }

    /// The form that `model/list` has. Efforts that clients of earlier versions do not know are left out: those fail on
    /// the whole list.
    pub fn to_wire(&self, is_default: bool) -> Model {
        let is_known = |effort: ReasoningEffort| {
            use ReasoningEffort::{Max, Ultra, Unrecognized};
            !matches!(effort, Max | Ultra | Unrecognized(_))
        };
        let efforts = self
            .supported_reasoning_levels
            .iter()
            .filter(|level| is_known(level.effort))
            .map(|level| ReasoningEffortOption {
                reasoning_effort: level.effort,
                description: level.description.clone(),
            });
        Model {
            id: self.slug.clone(),
            model: self.slug.clone(),
            upgrade: self.upgrade.as_ref().map(|upgrade| upgrade.model.clone()),
            upgrade_info: self.upgrade.as_ref().map(|upgrade| ModelUpgradeInfo {
                model: upgrade.model.clone(),
                upgrade_copy: None,
                model_link: None,
                migration_markdown: upgrade.migration_markdown.clone(),
            }),
            availability_nux: None,
            display_name: if self.display_name.is_empty() {
                self.slug.clone()
            } else {
                self.display_name.clone()
            },
            description: self.description.clone().unwrap_or_default(),
            hidden: self.visibility != Visibility::List,
            supported_reasoning_efforts: efforts.collect(),
            default_reasoning_effort: self.default_reasoning_level.map_or(
                ReasoningEffort::None,
                |effort| match is_known(effort) {
                    true => effort,
                    false => ReasoningEffort::Xhigh,
                },
            ),
            input_modalities: self.input_modalities.clone(),
            supports_personality: self.supports_personality,
            is_default,
        }
    }
}

/// A part of a window. Lists of models and providers may name any size.
fn share(window: i64, percent: i64) -> i64 {
    let part = i128::from(window) * i128::from(percent) / 100;
    i64::try_from(part).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_matched_by_the_longest_prefix() {
        let of = |slug| ModelInfo::lookup(slug, WireApi::Responses);
        assert!(of("gpt-5.1-codex-2026-01-01").context_window.is_some());
        assert_eq!(of("gpt-5.1-codex-max-x").display_name, "gpt-5.1-codex-max");
        assert_eq!(of("openai/gpt-5.4").display_name, "gpt-5.4");
        assert_eq!(of("openai/gpt-5.4").slug, "openai/gpt-5.4");
        assert_eq!(
            of("anthropic/claude-sonnet-5").context_window,
            Some(1_000_000)
        );
        assert_eq!(of("a/b/gpt-5").context_window, None);
    }

    #[test]
    fn unknown_models_get_defaults() {
        let model = ModelInfo::lookup("nobody-knows", WireApi::Responses);
        assert!(model.accepts_images() && model.default_reasoning_level.is_none());
        assert_eq!(model.context_window, None);
        assert_eq!(model.apply_patch_tool_type, None);
        assert_eq!(model.reasoning(Some(ReasoningEffort::High), None), None);
        assert_eq!(model.verbosity(Some(Verbosity::High)), None);
        assert!(!model.supports_personality);
        let trial = ModelInfo::lookup("exp-codex-personality", WireApi::Responses);
        assert!(trial.supports_personality);
        let model = ModelInfo::lookup("nobody-knows", WireApi::Chat);
        assert_eq!(model.apply_patch_tool_type, Some(ApplyPatchTool::Function));
    }

    #[test]
    fn compaction_comes_before_the_window_is_full() {
        let model = ModelInfo {
            auto_compact_token_limit: Some(500_000),
            ..ModelInfo::default()
        };
        assert_eq!(model.compaction_limit(), Some(244_800));
        let model = ModelInfo {
            context_window: None,
            ..ModelInfo::default()
        };
        assert_eq!(model.compaction_limit(), None);
        let model = ModelInfo {
            context_window: Some(i64::MAX),
            ..ModelInfo::default()
        };
        assert!(model.compaction_limit() < model.effective_context_window());
    }

    #[test]
    fn a_catalogue_entry_needs_only_its_slug() {
        let model: ModelInfo =
            serde_json::from_str(r#"{"slug":"x","visibility":"hide","later":1}"#).unwrap();
        assert_eq!(model.context_window, Some(DEFAULT_CONTEXT_WINDOW));
        assert!(model.to_wire(false).hidden);
        assert_eq!(model.to_wire(true).display_name, "x");
    }
}
