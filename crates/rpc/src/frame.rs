//! What one message is. A message is scanned once; its members stay slices of its buffer, so a
//! large message costs neither a tree nor a copy.

use bytes::Bytes;
use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use crate::error::{ErrorObject, codes};
use crate::id::Id;
use crate::raw::{RawJson, on_one_line};

/// One message, classified.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Frame {
    /// Wants an answer.
    Request(Request),
    /// Wants none.
    Notification(Notification),
    /// Answers a request of ours.
    Answer(Answer),
}

/// A message that wants an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// Comes back in the answer, unchanged.
    pub id: Id,
    /// What is asked.
    pub method: String,
    /// As it came: absent and `null` are distinguished.
    pub params: Option<RawJson>,
    /// W3C trace context, if the client sent one.
    pub trace: Option<RawJson>,
}

/// A message that wants no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notification {
    /// What happened.
    pub method: String,
    /// As it came: absent and `null` are distinguished.
    pub params: Option<RawJson>,
    /// What a Quipu server says besides, such as the number of the event.
    pub quipu: Option<RawJson>,
}

/// The result or the error of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The id of the request.
    pub id: Id,
    /// What came of it.
    pub outcome: Result<RawJson, ErrorObject>,
}

/// Why a message is not a frame. None of these texts repeats the message's content, but for an error that the
/// other side wants this side to read.
#[derive(Debug, thiserror::Error)]
pub enum FrameError {
    /// The bytes are not text.
    #[error("not UTF-8 text: {0}")]
    NotUtf8(#[from] std::str::Utf8Error),
    /// Not a JSON object; batches are not part of this protocol.
    #[error("a message must be one JSON object")]
    NotAnObject,
    /// Not JSON, or a member that we read is there twice, which makes its value ambiguous.
    #[error("malformed JSON: {0}")]
    Malformed(serde_json::Error),
    /// `id` is neither absent nor `null`, and cannot be sent back as it came.
    #[error("`id` is neither a string nor a signed 64-bit integer")]
    BadId,
    /// `method` is there but is not a string, and nothing else makes the message a frame.
    #[error("`method` is not a string")]
    BadMethod {
        /// The id of the message, if it has one.
        id: Option<Id>,
    },
    /// `result` without an id to say what it answers.
    #[error("a result needs an `id` that is a string or a signed 64-bit integer")]
    ResultWithoutId,
    /// `error` without an id: the other side could not read a message of ours.
    #[error("the other side could not read a message of this side: {0}")]
    ErrorWithoutId(ErrorObject),
    /// None of `method`, `result`, `error`.
    #[error("neither `method` nor `result` nor `error`")]
    Shapeless,
}

impl FrameError {
    /// What the sender is answered, under the id of its message if that is known. Nothing for an error: two sides
    /// that cannot read each other would answer each other without end.
    pub fn answer(&self) -> Option<(Option<&Id>, ErrorObject)> {
        let code = match self {
            Self::NotUtf8(_) | Self::Malformed(_) => codes::PARSE_ERROR,
            Self::NotAnObject
            | Self::BadId
            | Self::BadMethod { .. }
            | Self::ResultWithoutId
            | Self::Shapeless => codes::INVALID_REQUEST,
            Self::ErrorWithoutId(_) => return None,
        };
        let id = match self {
            Self::BadMethod { id } => id.as_ref(),
            _ => None,
        };
        let error = ErrorObject::new(code, format!("Invalid message: {self}"));
        Some((id, error))
    }
}

impl Frame {
    /// Classifies one message, trying in order: request (`id` and `method`), notification
    /// (`method`), result (`id` and `result`), error (`id` and `error`).
    ///
    /// An `id` that is `null` counts as absent. An `error` that is not an error object is still an answer, so that
    /// nobody waits for another one. Members not named here, such as `jsonrpc`, are ignored. Line breaks between tokens become spaces in the
    /// raw parts, so what came in a websocket frame may go out on a line.
    pub fn parse(message: Bytes) -> Result<Self, FrameError> {
        let text = std::str::from_utf8(&message)?;
        if !text.trim_ascii_start().starts_with('{') {
            let is_json = serde_json::from_str::<IgnoredAny>(text).map_err(FrameError::Malformed);
            return is_json.and(Err(FrameError::NotAnObject));
        }
        let members: Members<'_> = serde_json::from_str(text).map_err(FrameError::Malformed)?;
        let line = on_one_line(message.clone());
        let raw = |part: &RawValue| {
            let start = part.get().as_ptr() as usize - text.as_ptr() as usize;
            RawJson::from_checked(line.slice(start..start + part.get().len()))
        };

        let id: Option<Id> = members.id.and_then(string_or_integer);
        let has_bad_id = id.is_none() && members.id.is_some_and(|it| it.get() != "null");
        let method: Option<String> = members.method.and_then(string);
        let params = members.params.map(raw);
        let (id, outcome) = match (id, method, members.result, members.error) {
            (Some(id), Some(method), ..) => {
                let trace = members.trace.map(raw);
                return Ok(Self::Request(Request {
                    id,
                    method,
                    params,
                    trace,
                }));
            }
            (None, Some(_), ..) if has_bad_id => return Err(FrameError::BadId),
            (None, Some(method), ..) => {
                let quipu = members.quipu.map(raw);
                return Ok(Self::Notification(Notification {
                    method,
                    params,
                    quipu,
                }));
            }
            (id, None, None, None) if members.method.is_some() => {
                return Err(FrameError::BadMethod { id });
            }
            (_, None, None, None) => return Err(FrameError::Shapeless),
            (None, None, Some(_), _) => return Err(FrameError::ResultWithoutId),
            (None, None, None, Some(error)) => {
                return Err(FrameError::ErrorWithoutId(error_object(error)));
            }
            (Some(id), None, Some(result), _) => (id, Ok(raw(result))),
            (Some(id), None, None, Some(error)) => (id, Err(error_object(error))),
        };
        Ok(Self::Answer(Answer { id, outcome }))
    }
}

/// The members that we read, each as the text it came as.
#[derive(Deserialize)]
struct Members<'a> {
    #[serde(borrow, default, deserialize_with = "present")]
    id: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    method: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    params: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    result: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    error: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    trace: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    quipu: Option<&'a RawValue>,
}

/// Keeps a `null` as a value, where a plain `Option` would read it as absence.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(deserializer).map(Some)
}

fn string_or_integer(raw: &RawValue) -> Option<Id> {
    serde_json::from_str(raw.get()).ok()
}

fn string(raw: &RawValue) -> Option<String> {
    serde_json::from_str(raw.get()).ok()
}

/// A derived decoder also takes arrays for structs, so the object is checked for by hand.
fn error_object(raw: &RawValue) -> ErrorObject {
    let object = raw.get().starts_with('{').then_some(raw.get());
    object
        .and_then(|text| serde_json::from_str(text).ok())
        .unwrap_or_else(|| {
            let text = "`error` is not an object with an integer `code` and a string `message`";
            ErrorObject::invalid_request(text)
        })
}
