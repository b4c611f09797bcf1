//! From a method name to its handler: decode, check the state of the connection, gate, queue.

use std::sync::LazyLock;

use quipu_rpc::{ErrorObject, Id, RawJson, Request, Responder};
use quipu_wire::W3cTraceContext;
use quipu_wire::codec;
use quipu_wire::gate::Gated;
use quipu_wire::method::{CLIENT_REQUESTS, Lane, Method, Stability, request};

use crate::handlers::Dispatch;
use crate::lanes::{self, Job, Key};
use crate::telemetry::RequestSpan;
use crate::{Cx, Refusal, Reply, fail, unsupported};

macro_rules! routes {
    ($(
        $(#[doc = $doc:literal])+
        $stability:ident $name:ident = $wire:literal ($params:ty) -> $result:ty, $lane:ident $(($key:ident))? $(, $bound:ident $version:literal)?;
    )*) => {
        /// Gives a request to its handler, or answers why not.
        pub(crate) async fn route(cx: Cx, request: Request) {
            let prepared = match request.method.as_str() {
                $($wire => prepare::<request::$name, _>(&cx, &request),)*
                name => Err(unknown_method(name)),
            };
            match prepared {
                Ok((track, job)) => {
                    drop(request);
                    track.run(&cx, job).await;
                }
                Err(refusal) => refuse(&cx, request.id, &refusal.into()).await,
            }
        }
    };
}

quipu_wire::client_requests!(routes);

/// Where a job runs.
enum Track {
    Inline,
    Free,
    Lane(Key),
}

impl Track {
    fn of(lane: Lane<'_>, cx: &Cx) -> Track {
        match lane {
            Lane::Inline => Track::Inline,
            Lane::Free => Track::Free,
            Lane::Thread(id) => Track::Lane(Key::thread(id)),
            Lane::Ordered(queue) => Track::Lane(Key::Connection(cx.client.id, queue)),
            Lane::Global(domain) => Track::Lane(Key::Process(domain)),
        }
    }

    async fn run(self, cx: &Cx, job: Job) {
        match self {
            Track::Inline => lanes::guarded(job).await,
            Track::Free => lanes::run_free(job),
            Track::Lane(key) => cx.server.lanes.run(key, job),
        }
    }
}

/// What a request asks to be done. All that differs from method to method is in here, behind a pointer, so
/// that the rest of the way is compiled once and not for each of them.
fn prepare<M: Dispatch<Way>, Way: 'static>(
    cx: &Cx,
    request: &Request,
) -> Result<(Track, Job), Refusal> {
    let params = accept::<M, Way>(cx, request.params.as_ref())?;
    let size = request.params.as_ref().map_or(0, |it| it.as_bytes().len());
    let permit = cx.client.room.take(size).ok_or(Refusal::Overloaded)?;
    let track = Track::of(M::lane(&params), cx);
    let responder = Responder::new(request.id.clone(), cx.client.outbox.clone());
    let span = cx.server.telemetry().and_then(|telemetry| {
        let trace = request.trace.as_ref().and_then(traceparent);
        let connection = cx.client.span().context;
        RequestSpan::begin(telemetry, M::NAME, trace.as_deref(), connection)
    });
    let job = handle::<M, Way>(cx.clone(), params, Reply::<M>::new(responder, permit, span));
    Ok((track, Box::pin(job)))
}

/// The span of the client that a request belongs to, if it says so.
fn traceparent(trace: &RawJson) -> Option<String> {
    let trace: W3cTraceContext = serde_json::from_slice(trace.as_bytes()).ok()?;
    trace.traceparent
}

async fn handle<M: Dispatch<Way>, Way>(cx: Cx, params: M::Params, reply: Reply<M>) {
    fail::point("handler", M::NAME);
    M::dispatch(cx, params, reply).await;
}

/// Decodes and checks a request. Decoding comes first, as clients of the official server see it, unless
/// there is too much to decode.
fn accept<M: Dispatch<Way>, Way>(cx: &Cx, params: Option<&RawJson>) -> Result<M::Params, Refusal> {
    let length = params.map_or(0, |it| it.as_bytes().len());
    if length > M::MAX_PARAMS_BYTES {
        let text = format!(
            "Params of {length} bytes exceed the maximum of {} bytes.",
            M::MAX_PARAMS_BYTES
        );
        return Err(Refusal::invalid_params(text));
    }
    let params = decode::<M>(params)
        .map_err(|text| Refusal::invalid_request(format!("Invalid request: {text}")))?;
    if M::NAME == request::Initialize::NAME {
        return Ok(params);
    }
    let Some(client) = cx.client.introduction() else {
        return Err(Refusal::NotInitialized);
    };
    let used = match M::STABILITY {
        Stability::Experimental => Some(M::NAME),
        Stability::Stable | Stability::Legacy => params.experimental_use(),
    };
    match used {
        Some(what) if !client.experimental => {
            let text = format!("{what} requires experimentalApi capability");
            Err(Refusal::invalid_request(text))
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

/// Answers a request with an error.
pub(crate) async fn refuse(cx: &Cx, id: Id, error: &ErrorObject) {
    let responder = Responder::new(id, cx.client.outbox.clone());
    if let Err(reason) = responder.error(error).await {
        tracing::debug!(%reason, "client disconnected before its response");
    }
}

fn unknown_method(name: &str) -> Refusal {
    if let Some(reason) = unsupported::reason(name) {
        let method = name.to_owned();
        return Refusal::Unsupported { method, reason };
    }
    static KNOWN: LazyLock<String> = LazyLock::new(|| {
        let names = CLIENT_REQUESTS.iter().map(|row| format!("`{}`", row.name));
        names.collect::<Vec<_>>().join(", ")
    });
    let text = format!(
        "Invalid request: unknown variant `{name}`, expected one of {}",
        *KNOWN
    );
    Refusal::invalid_request(text)
}
