//! One file per method: what the server does when a client asks.

mod initialize;
mod unavailable;

use std::future::Future;

use quipu_wire::method::ClientMethod;

use crate::{Cx, Reply};

/// Answers requests of one method. A handler never waits for a turn to end.
pub(crate) trait Handler: ClientMethod + Sized + 'static {
    fn handle(
        cx: Cx,
        params: Self::Params,
        reply: Reply<Self>,
    ) -> impl Future<Output = ()> + Send + 'static;
}
