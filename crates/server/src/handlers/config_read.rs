//! `config/read`: the settings in force, and where each came from.

use quipu_rpc::ErrorObject;
use quipu_wire::ConfigReadParams;
use quipu_wire::method::request::ConfigRead;

use super::Handler;
use crate::blocking::blocking;
use crate::{Cx, Reply};

impl Handler for ConfigRead {
    async fn handle(cx: Cx, params: ConfigReadParams, reply: Reply<Self>) {
        let read = blocking(&cx.server, move |server| {
            let read = server.settings.config.read(&params);
            read.map_err(|error| ErrorObject::internal(error.to_string()))
        });
        let answer = read.await.and_then(|read| read);
        reply.send(answer).await;
    }
}
