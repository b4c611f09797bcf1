//! The Responses API, the shape everything else is mapped to: the body is the history as it is.

mod decode;
pub(crate) mod encode;
pub(crate) mod socket;

use crate::catalogue::openai_models;
use crate::decoder::{Context, Decode, Slots};
use crate::format::{Format, Transport};
use crate::provider::StructuredOutput;
use crate::request::RequestMeta;

pub(crate) static FORMAT: Format = Format {
    name: "responses",
    transport: Transport::Http,
    path: "responses",
    encode: encode::body,
    decoder,
    key_header: None,
    headers,
    models_query: None,
    models: openai_models,
    structured_output: StructuredOutput::Native,
    is_official: true,
    hides_overflow: false,
    reports_window: true,
};

pub(crate) fn decoder(context: Context, slots: Slots) -> Box<dyn Decode> {
    Box::new(decode::Decoder::new(context, slots))
}

fn headers(meta: &RequestMeta) -> Vec<(&str, &str)> {
    let own = [
        ("session_id", meta.thread_id.as_str()),
        ("x-client-request-id", &meta.thread_id),
        (
            "x-codex-turn-metadata",
            meta.turn_metadata.as_deref().unwrap_or_default(),
        ),
        (
            "x-codex-turn-state",
            meta.turn_state.get().unwrap_or_default(),
        ),
    ];
    let given = meta.headers.iter();
    let given = given.map(|(name, value)| (name.as_str(), value.as_str()));
    own.into_iter().chain(given).collect()
}
