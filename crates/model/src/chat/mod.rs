//! Chat Completions: what most other servers speak. The history is mapped to messages on the way
//! out, and the streamed pieces back to items on the way in.

pub(crate) mod decode;
pub(crate) mod encode;
