//! `initialize`: who the client is, what it can do.

use quipu_rpc::ErrorObject;
use quipu_wire::method::request::Initialize;
use quipu_wire::{AbsolutePath, InitializeParams, InitializeResponse};

use super::Handler;
use crate::hub::Introduction;
use crate::{Cx, Reply};

impl Handler for Initialize {
    async fn handle(cx: Cx, params: InitializeParams, reply: Reply<Self>) {
        let (introduction, result) = match introduce(&cx, params) {
            Ok(accepted) => accepted,
            Err(error) => return reply.send(Err(error)).await,
        };
        reply.send(Ok(result)).await;
        // From here on the client also receives what is sent to everyone.
        cx.client.introduce(introduction);
    }
}

fn introduce(
    cx: &Cx,
    params: InitializeParams,
) -> Result<(Introduction, InitializeResponse), ErrorObject> {
    if cx.client.introduction().is_some() {
        return Err(ErrorObject::invalid_request("Already initialized"));
    }
    let info = params.client_info;
    if !is_header_value(&info.name) {
        let text = format!(
            "Invalid clientInfo.name: '{}'. Must be a valid HTTP header value.",
            info.name
        );
        return Err(ErrorObject::invalid_request(text));
    }
    let Some(home) = AbsolutePath::new(&cx.server.settings.home) else {
        return Err(ErrorObject::internal(
            "the home folder has no absolute UTF-8 path",
        ));
    };
    let capabilities = params.capabilities;
    let introduction = Introduction {
        experimental: capabilities.as_ref().is_some_and(|it| it.experimental_api),
        opted_out: capabilities
            .and_then(|it| it.opt_out_notification_methods)
            .unwrap_or_default()
            .into_iter()
            .collect(),
        name: info.name,
    };
    let user_agent = cx
        .server
        .identity
        .introduce(&introduction.name, &info.version);
    let result = InitializeResponse {
        user_agent,
        codex_home: home,
        platform_family: std::env::consts::FAMILY.to_owned(),
        platform_os: std::env::consts::OS.to_owned(),
    };
    Ok((introduction, result))
}

/// Visible ASCII, spaces and tabs, and bytes above ASCII may stand in an HTTP header.
fn is_header_value(text: &str) -> bool {
    text.bytes()
        .all(|byte| byte == b'\t' || (byte >= b' ' && byte != 0x7f))
}
