//! From a method name to its handler: decode, check the state of the connection, gate, queue.

use std::sync::LazyLock;

use quipu_rpc::{ErrorObject, RawJson, Request, Responder, codes};
use quipu_wire::codec;
use quipu_wire::gate::Gated;
use quipu_wire::method::{CLIENT_REQUESTS, Lane, Method, Stability, request};

use crate::handlers::Handler;
use crate::lanes::{self, Key};
use crate::{Cx, Reply, fail};

macro_rules! routes {
    ($(
        $(#[doc = $doc:literal])+
        $stability:ident $name:ident = $wire:literal ($params:ty) -> $result:ty, $lane:ident $(($key:ident))?;
    )*) => {
        /// Gives a request to its handler, or answers why not.
        pub(crate) async fn route(cx: Cx, request: Request) {
            match request.method.as_str() {
                $($wire => dispatch::<request::$name>(cx, request).await,)*
                _ => refuse(&cx, request, unknown_method).await,
            }
        }
    };
}

quipu_wire::client_requests!(routes);

async fn dispatch<M: Handler>(cx: Cx, request: Request) {
    let params = match accept::<M>(&cx, request.params.as_ref()) {
        Ok(params) => params,
        Err(error) => return refuse(&cx, request, |_| error).await,
    };
    let size = request.params.as_ref().map_or(0, |it| it.as_bytes().len());
    let Some(place) = cx.client.room.take(size) else {
        return refuse(&cx, request, |_| overloaded()).await;
    };
    let reply = Reply::<M>::new(Responder::new(request.id, cx.client.outbox.clone()), place);
    let key = match M::lane(&params) {
        // Boxed, or the future of every connection would have room for the largest handler.
        Lane::Inline => return Box::pin(lanes::guarded(handle(cx, params, reply))).await,
        Lane::Free => return lanes::run_free(handle(cx, params, reply)),
        Lane::Thread(id) => Key::thread(id),
        Lane::Ordered(queue) => Key::Connection(cx.client.id, queue),
        Lane::Global(domain) => Key::Process(domain),
    };
    cx.server.lanes.clone().run(key, handle(cx, params, reply));
}

async fn handle<M: Handler>(cx: Cx, params: M::Params, reply: Reply<M>) {
    fail::point("handler", M::NAME);
    M::handle(cx, params, reply).await;
}

/// Decodes and checks a request. Decoding comes first, as clients of the official server see it, unless
/// there is too much to decode.
fn accept<M: Handler>(cx: &Cx, params: Option<&RawJson>) -> Result<M::Params, ErrorObject> {
    let length = params.map_or(0, |it| it.as_bytes().len());
    if length > M::MOST {
        let text = format!(
            "Params of {length} bytes exceed the maximum of {} bytes.",
            M::MOST
        );
        return Err(ErrorObject::invalid_params(text));
    }
    let params = decode::<M>(params)
        .map_err(|text| ErrorObject::invalid_request(format!("Invalid request: {text}")))?;
    if M::NAME == request::Initialize::NAME {
        return Ok(params);
    }
    let Some(client) = cx.client.introduction() else {
        return Err(ErrorObject::invalid_request("Not initialized"));
    };
    let used = match M::STABILITY {
        Stability::Experimental => Some(M::NAME),
        Stability::Stable | Stability::Legacy => params.experimental_use(),
    };
    match used {
        Some(what) if !client.experimental => {
            let text = format!("{what} requires experimentalApi capability");
            Err(ErrorObject::invalid_request(text))
        }
        _ => Ok(params),
    }
}

/// Absent params are read as an empty object where that is enough, which the official server does not do.
fn decode<M: Method>(params: Option<&RawJson>) -> Result<M::Params, String> {
    match params {
        Some(params) if !params.is_null() => {
            let text = std::str::from_utf8(params.as_bytes()).map_err(|error| error.to_string())?;
            codec::decode_strictly(text)
        }
        _ => codec::decode_strictly("{}").map_err(|_| "missing field `params`".to_owned()),
    }
}

async fn refuse(cx: &Cx, request: Request, why: impl FnOnce(&str) -> ErrorObject) {
    let error = why(&request.method);
    if let Err(reason) = Responder::new(request.id, cx.client.outbox.clone())
        .error(&error)
        .await
    {
        tracing::debug!(%reason, "the client left before its answer");
    }
}

fn overloaded() -> ErrorObject {
    ErrorObject::new(codes::OVERLOADED, "Server overloaded; retry later.")
}

fn unknown_method(name: &str) -> ErrorObject {
    static KNOWN: LazyLock<String> = LazyLock::new(|| {
        let names = CLIENT_REQUESTS.iter().map(|row| format!("`{}`", row.name));
        names.collect::<Vec<_>>().join(", ")
    });
    let text = format!(
        "Invalid request: unknown variant `{name}`, expected one of {}",
        *KNOWN
    );
    ErrorObject::invalid_request(text)
}
