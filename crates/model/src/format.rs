//! A wire format as one value: everything in which one differs from the others. Each format's module has a
//! `FORMAT`, and [`WireApi::format`] is the only place that lists them.

use crate::catalogue::ModelInfo;
use crate::decoder::{Context, Decode, Slots};
use crate::history::HistoryItem;
use crate::provider::{ProviderConfig, StructuredOutput, WireApi};
use crate::request::{Request, RequestMeta};
use crate::{anthropic, chat, offline, responses};

pub(crate) struct Format {
    /// The value of `wire_api`.
    pub(crate) name: &'static str,
    /// Where the answers come from.
    pub(crate) transport: Transport,
    /// The address of sampling requests, below the provider's own.
    pub(crate) path: &'static str,
    /// Writes the body of a sampling request.
    pub(crate) encode: fn(&Request, &[HistoryItem], &ProviderConfig) -> serde_json::Result<Vec<u8>>,
    /// Reads the events of one answer.
    pub(crate) decoder: fn(Context, Slots) -> Box<dyn Decode>,
    /// The header for a key, where that is not `Authorization: Bearer`.
    pub(crate) key_header: Option<&'static str>,
    /// Headers that only this format has. Empty values are not sent.
    pub(crate) headers: fn(&RequestMeta) -> Vec<(&str, &str)>,
    /// What the list of models is asked with.
    pub(crate) models_query: Option<&'static str>,
    /// The models that every provider of this format has.
    pub(crate) models: fn() -> &'static [ModelInfo],
    /// How output of a given shape is asked for unless the provider says otherwise.
    pub(crate) structured_output: StructuredOutput,
    /// Whether the official server speaks it too, so that its reasons and defaults hold.
    pub(crate) is_official: bool,
    /// Whether local servers of this format close a stream silently when the prompt is too long.
    pub(crate) hides_overflow: bool,
    /// Whether local servers of this format may have an API that says how much a model can read.
    pub(crate) reports_window: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Transport {
    Http,
    /// A script in the prompt, played by this process.
    Script,
}

impl WireApi {
    /// How many formats there are.
    pub(crate) const COUNT: usize = 4;

    /// The value of `wire_api` that stands for it.
    pub fn name(self) -> &'static str {
        self.format().name
    }

    /// Whether this process answers itself, with a script.
    pub fn is_offline(self) -> bool {
        self.format().transport == Transport::Script
    }

    pub(crate) fn format(self) -> &'static Format {
        match self {
            Self::Responses => &responses::FORMAT,
            Self::Chat => &chat::FORMAT,
            Self::Anthropic => &anthropic::FORMAT,
            Self::Offline => &offline::FORMAT,
        }
    }
}
