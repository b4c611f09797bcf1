//! Anthropic Messages. Thinking blocks come back with a signature; they are kept as reasoning
//! items, signature included, and returned to their maker as they were.

mod decode;
mod encode;

use crate::catalogue::anthropic_models;
use crate::format::{Format, Transport};
use crate::provider::StructuredOutput;

/// The version of the API that is spoken.
const VERSION: &str = "2023-06-01";

pub(crate) static FORMAT: Format = Format {
    name: "anthropic",
    transport: Transport::Http,
    path: "messages",
    encode: encode::body,
    decoder: |context, slots| Box::new(decode::Decoder::new(context, slots)),
    key_header: Some("x-api-key"),
    headers: |_| vec![("anthropic-version", VERSION)],
    models_query: Some("limit=1000"),
    models: anthropic_models,
    structured_output: StructuredOutput::Tool,
    is_official: false,
    hides_overflow: false,
    reports_window: false,
};
