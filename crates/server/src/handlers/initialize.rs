//! `initialize`: who the client is, what it can do, and what is wrong with the configuration.

use quipu_rpc::RawJson;
use quipu_wire::method::event::ConfigWarning;
use quipu_wire::method::request::Initialize;
use quipu_wire::{AbsolutePath, InitializeParams, InitializeResponse, QuipuCapabilities};

use super::ReplyHandler;
use crate::blocking::blocking;
use crate::hub::Introduction;
use crate::identity::is_header_value;
use crate::{Cx, Refusal, Reply, cloud, plugins, startup_warnings};

impl ReplyHandler for Initialize {
    async fn handle(cx: Cx, params: InitializeParams, reply: Reply<Self>) {
        let (introduction, result) = match introduce(&cx, params) {
            Ok(accepted) => accepted,
            Err(error) => return reply.send(Err(error)).await,
        };
        reply.send(Ok(result)).await;
        cloud::ready(&cx.server).await;
        let warnings = blocking(&cx.server, |server| startup_warnings::read(server)).await;
        for warning in warnings.unwrap_or_default() {
            cx.client.is_new_problem(&warning);
            introduction
                .notify::<ConfigWarning>(&cx.client, &warning)
                .await;
        }
        let (client, name) = (cx.client.id.0, &introduction.name);
        tracing::info!(client, name, "client initialized");
        // From here on the client also receives what is sent to everyone.
        cx.client.introduce(introduction);
        plugins::start_up(&cx.server);
    }
}

fn introduce(
    cx: &Cx,
    params: InitializeParams,
) -> Result<(Introduction, InitializeResponse), Refusal> {
    if cx.client.introduction().is_some() {
        return Err(Refusal::invalid_request("Already initialized"));
    }
    let hello = RawJson::encode(&params).ok();
    let info = params.client_info;
    if !is_header_value(&info.name) {
        let text = format!(
            "Invalid clientInfo.name: '{}'. Must be a valid HTTP header value.",
            info.name
        );
        return Err(Refusal::invalid_request(text));
    }
    let config = &cx.server.settings.config;
    let Some(home) = AbsolutePath::new(config.home().path()) else {
        let text = "the path of the home directory is not absolute or not valid UTF-8";
        return Err(Refusal::internal(text));
    };
    let user_agent = cx
        .server
        .identity
        .introduce(config.env(), &info.name, &info.version);
    let capabilities = params.capabilities;
    let own = capabilities.as_ref().and_then(|it| it.quipu.as_ref());
    let own = own.map(|it| QuipuCapabilities { events: it.events });
    let introduction = Introduction {
        experimental: capabilities.as_ref().is_some_and(|it| it.experimental_api),
        opted_out: capabilities
            .and_then(|it| it.opt_out_notification_methods)
            .unwrap_or_default()
            .into_iter()
            .collect(),
        name: info.name,
        numbers: own.as_ref().is_some_and(|it| it.events),
        hello,
    };
    let result = InitializeResponse {
        user_agent,
        codex_home: home,
        platform_family: std::env::consts::FAMILY.to_owned(),
        platform_os: std::env::consts::OS.to_owned(),
        quipu: own,
    };
    Ok((introduction, result))
}
