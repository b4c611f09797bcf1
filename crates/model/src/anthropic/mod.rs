//! Anthropic Messages. Thinking blocks come back with a signature; they are kept as reasoning
//! items, signature included, and returned to their maker as they were.

pub(crate) mod decode;
pub(crate) mod encode;
