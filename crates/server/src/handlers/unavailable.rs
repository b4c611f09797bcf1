//! Methods of the protocol that this version does not offer yet: a clear answer, never silence.

use quipu_rpc::ErrorObject;
use quipu_wire::method::{ClientMethod, Method, request};

use super::Handler;
use crate::{Cx, Reply};

macro_rules! unavailable {
    ($($name:ident,)*) => {$(
        impl Handler for request::$name {
            async fn handle(_cx: Cx, _params: <Self as Method>::Params, reply: Reply<Self>) {
                reply.send(Err(unavailable::<Self>())).await;
            }
        }
    )*};
}

fn unavailable<M: ClientMethod>() -> ErrorObject {
    ErrorObject::internal(format!(
        "{} is not available in this version of Quipu",
        M::NAME
    ))
}

unavailable! {
    McpServerOauthLogin,
    ConfigMcpServerReload,
}
