//! One file per method: what the server does when a client asks.

mod app_list;
mod collaboration_mode_list;
mod experimental_feature_list;
mod initialize;
mod mcp_server_status_list;
mod mock_experimental_method;
mod model_list;
mod plugin_list;
mod skills_list;
mod thread_list;
mod thread_loaded_list;
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
