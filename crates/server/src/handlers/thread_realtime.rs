//! `thread/realtime/*`: no thread can be spoken with yet, which is what the feature means while it is off.

use quipu_wire::method::Method;
use quipu_wire::method::request::{
    ThreadRealtimeAppendAudio, ThreadRealtimeAppendText, ThreadRealtimeStart, ThreadRealtimeStop,
};

use super::Handler;
use crate::{Cx, Refusal, threads};

macro_rules! unsupported {
    ($($name:ident),*) => {$(
        impl Handler for $name {
            async fn run(
                cx: Cx,
                params: <Self as Method>::Params,
            ) -> Result<Self::Result, Refusal> {
                Err(refusal(&cx, &params.thread_id))
            }
        }
    )*};
}

unsupported!(
    ThreadRealtimeStart,
    ThreadRealtimeAppendAudio,
    ThreadRealtimeAppendText,
    ThreadRealtimeStop
);

fn refusal(cx: &Cx, thread_id: &str) -> Refusal {
    match threads::loaded(&cx.server, thread_id) {
        Ok(thread) => Refusal::invalid_request(format!(
            "thread {} does not support realtime conversation",
            thread.id
        )),
        Err(error) => error,
    }
}
