//! Chat Completions: what most other servers speak. The history is mapped to messages on the way
//! out, and the streamed pieces back to items on the way in.

mod decode;
mod encode;

use crate::format::{Format, Transport};
use crate::provider::StructuredOutput;

pub(crate) static FORMAT: Format = Format {
    name: "chat",
    transport: Transport::Http,
    path: "chat/completions",
    encode: encode::body,
    decoder: |context, slots| Box::new(decode::Decoder::new(context, slots)),
    key_header: None,
    headers: |_| Vec::new(),
    models_query: None,
    models: || &[],
    structured_output: StructuredOutput::Native,
    is_official: false,
    hides_overflow: true,
    reports_window: true,
};
