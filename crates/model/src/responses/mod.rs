//! The Responses API, the shape everything else is mapped to: the body is the history as it is.

pub(crate) mod decode;
pub(crate) mod encode;
