//! What is known about models: the built-in catalogue, what a provider lists itself, and defaults
//! for the rest.

mod built_in;
mod info;
mod listing;
mod remote;

pub use crate::usage::Price;
pub(crate) use built_in::offline_models;
pub use built_in::{DEFAULT_MODEL, anthropic_models, openai_models};
pub use info::{
    ApplyPatchTool, DEFAULT_CONTEXT_WINDOW, EffortLevel, ModelInfo, ModelUpgrade, ShellType,
    Truncation, TruncationMode, Visibility, WebSearchTool,
};
pub use listing::{ListError, list, page};
pub use remote::{ModelList, parse_models};
