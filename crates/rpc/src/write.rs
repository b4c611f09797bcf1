//! Messages as bytes. Each value is serialised once, straight into the message it leaves in; the
//! order of members is the one clients see from the official server.

use bytes::Bytes;
use serde::Serialize;

use crate::error::ErrorObject;
use crate::frame::{Answer, Frame};
use crate::id::Id;
use crate::raw::RawJson;

/// The params of a method that has none: `{}`.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct NoParams {}

/// `{"id":…,"result":…}`
pub fn result<T: Serialize + ?Sized>(id: &Id, result: &T) -> serde_json::Result<Bytes> {
    #[derive(Serialize)]
    struct Message<'a, T: ?Sized> {
        id: &'a Id,
        result: &'a T,
    }
    encode(&Message { id, result })
}

/// `{"id":…,"result":…}` with a result that `write` adds as JSON text. For what is long and needs no escapes: a
/// serialiser looks at every byte.
pub fn result_with<E>(
    id: &Id,
    write: impl FnOnce(&mut Vec<u8>) -> Result<(), E>,
) -> serde_json::Result<Result<Bytes, E>> {
    let mut message = br#"{"id":"#.to_vec();
    serde_json::to_writer(&mut message, id)?;
    message.extend_from_slice(br#","result":"#);
    Ok(write(&mut message).map(|()| {
        message.push(b'}');
        Bytes::from(message)
    }))
}

/// `{"error":{"code":…,"data":…,"message":…},"id":…}`, without `data` when there is none.
pub fn error(id: &Id, error: &ErrorObject) -> serde_json::Result<Bytes> {
    #[derive(Serialize)]
    struct Message<'a> {
        error: &'a ErrorObject,
        id: &'a Id,
    }
    encode(&Message { error, id })
}

/// `{"error":{…},"id":null}`, about a message whose id could not be read.
pub fn error_without_id(error: &ErrorObject) -> serde_json::Result<Bytes> {
    #[derive(Serialize)]
    struct Message<'a> {
        error: &'a ErrorObject,
        id: (),
    }
    encode(&Message { error, id: () })
}

/// `{"method":…,"params":…}`; without params pass [`NoParams`].
pub fn notification<P: Serialize + ?Sized>(method: &str, params: &P) -> serde_json::Result<Bytes> {
    #[derive(Serialize)]
    struct Message<'a, P: ?Sized> {
        method: &'a str,
        params: &'a P,
    }
    encode(&Message { method, params })
}

/// `{"method":…,"id":…,"params":…}`; without params pass [`NoParams`].
pub fn request<P: Serialize + ?Sized>(
    id: &Id,
    method: &str,
    params: &P,
) -> serde_json::Result<Bytes> {
    traced(id, method, params, None)
}

/// A request, with the trace that it is part of.
fn traced<P: Serialize + ?Sized>(
    id: &Id,
    method: &str,
    params: &P,
    trace: Option<&RawJson>,
) -> serde_json::Result<Bytes> {
    #[derive(Serialize)]
    struct Message<'a, P: ?Sized> {
        method: &'a str,
        id: &'a Id,
        params: &'a P,
        #[serde(skip_serializing_if = "Option::is_none")]
        trace: Option<&'a RawJson>,
    }
    encode(&Message {
        method,
        id,
        params,
        trace,
    })
}

/// A parsed frame, written again; absent params become `{}`.
pub fn frame(frame: &Frame) -> serde_json::Result<Bytes> {
    match frame {
        Frame::Request(it) => match &it.params {
            Some(params) => traced(&it.id, &it.method, params, it.trace.as_ref()),
            None => traced(&it.id, &it.method, &NoParams {}, it.trace.as_ref()),
        },
        Frame::Notification(it) => match &it.params {
            Some(params) => notification(&it.method, params),
            None => notification(&it.method, &NoParams {}),
        },
        Frame::Answer(Answer {
            id,
            outcome: Ok(it),
        }) => result(id, it),
        Frame::Answer(Answer {
            id,
            outcome: Err(it),
        }) => error(id, it),
    }
}

fn encode<T: Serialize>(message: &T) -> serde_json::Result<Bytes> {
    serde_json::to_vec(message).map(Bytes::from)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn members_come_in_the_official_order() {
        let id = Id::from("a");
        let plain = ErrorObject::invalid_request("Not initialized");
        let detailed = plain.clone().with_data(json!({"reason": "x"}));
        let null = |out: &mut Vec<u8>| {
            out.extend_from_slice(b"null");
            Ok::<(), ()>(())
        };
        assert_eq!(
            result_with(&Id::from(3), null).unwrap().unwrap(),
            result(&Id::from(3), &json!(null)).unwrap()
        );
        let written = [
            result(&Id::from(3), &json!(null)),
            error(&id, &plain),
            error(&id, &detailed),
            error_without_id(&plain),
            notification("turn/started", &json!({"a": 1})),
            notification("initialized", &NoParams {}),
            request(&Id::from(0), "item/tool/call", &json!([])),
        ]
        .map(|message| String::from_utf8(message.unwrap().into()).unwrap());
        assert_eq!(
            written,
            [
                r#"{"id":3,"result":null}"#,
                r#"{"error":{"code":-32600,"message":"Not initialized"},"id":"a"}"#,
                r#"{"error":{"code":-32600,"data":{"reason":"x"},"message":"Not initialized"},"id":"a"}"#,
                r#"{"error":{"code":-32600,"message":"Not initialized"},"id":null}"#,
                r#"{"method":"turn/started","params":{"a":1}}"#,
                r#"{"method":"initialized","params":{}}"#,
                r#"{"method":"item/tool/call","id":0,"params":[]}"#,
            ]
        );
    }
}
