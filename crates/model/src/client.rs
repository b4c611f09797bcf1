//! The door of the crate: a client for one provider.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use reqwest::header::HeaderValue;
use serde::Deserialize;
use tokio::time::timeout;

use crate::built_in::CLIENT_VERSION;
use crate::catalogue::ModelList;
use crate::credentials::{CredentialSource, Credentials};
use crate::error::{ErrorKind, ModelError};
use crate::event::OutputItem;
use crate::exchange::{Source, current, exchange, refused};
use crate::failure::Failure;
use crate::format::Transport;
use crate::http::{Call, Endpoint, Http};
use crate::item::Item;
use crate::provider::ProviderConfig;
use crate::rate_limits::text;
use crate::repair::repaired;
use crate::request::{Request, RequestMeta};
use crate::responses::{self, socket};
use crate::stream::ModelStream;

const MODELS_TIMEOUT: Duration = Duration::from_secs(5);
/// The most of an answer that is read in one piece: a model list or a compacted history.
const UNARY_LIMIT: usize = 64 * 1024 * 1024;

/// A client for one provider. It holds the open connections, so make one per provider and clone
/// it; nothing is connected before the first request.
#[derive(Clone)]
pub struct Client(Arc<Shared>);

pub(crate) struct Shared {
    pub(crate) provider: ProviderConfig,
    pub(crate) id: Arc<str>,
    pub(crate) credentials: Box<dyn CredentialSource>,
    pub(crate) http: Http,
}

impl std::fmt::Debug for Client {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Client")
            .field("provider", &self.0.provider)
            .finish_non_exhaustive()
    }
}

impl Client {
    /// A client that asks `credentials` at each request.
    pub fn new(provider: ProviderConfig, credentials: impl CredentialSource) -> Self {
        let id = provider.id.as_str().into();
        let credentials = Box::new(credentials);
        Self(Arc::new(Shared {
            provider,
            id,
            credentials,
            http: Http::default(),
        }))
    }

    /// The provider's settings.
    pub fn provider(&self) -> &ProviderConfig {
        &self.0.provider
    }

    pub(crate) fn shared(&self) -> &Shared {
        &self.0
    }

    /// Asks the model. Nothing happens until the stream is read; dropping it cancels.
    pub fn stream(&self, request: Request) -> ModelStream {
        ModelStream::new(Arc::clone(&self.0), request)
    }

    /// Opens the websocket of a request before there is anything to answer, so that the answer comes sooner. Does
    /// nothing for other providers.
    pub async fn prewarm(&self, request: &Request) {
        if self.0.provider.uses_websockets() {
            socket::prewarm(&self.0, request).await;
        }
    }

    /// The models that the provider lists. The offline model has none to list.
    pub async fn models(&self, meta: &RequestMeta) -> Result<ModelList, ModelError> {
        let listed = timeout(MODELS_TIMEOUT, self.0.models(meta)).await;
        let late = || Err(ErrorKind::stream("the list of models did not come in time").into());
        listed
            .unwrap_or_else(|_| late())
            .map_err(|failure| self.0.error(failure))
    }

    /// Lets the provider compact a history; gives the items that replace it.
    pub async fn compact(&self, request: Request) -> Result<Vec<OutputItem>, ModelError> {
        self.0
            .compact(&request)
            .await
            .map_err(|failure| self.0.error(failure))
    }
}

impl Shared {
    /// A failure as callers get it.
    pub(crate) fn error(&self, failure: Failure) -> ModelError {
        ModelError {
            kind: failure.kind,
            provider: Arc::clone(&self.id),
            cause: failure.cause,
        }
    }

    /// The body of a sampling request.
    pub(crate) fn encode(&self, request: &Request) -> Result<Bytes, ErrorKind> {
        let format = self.provider.wire_api.format();
        if format.transport == Transport::Script {
            return Ok(Bytes::new());
        }
        let history = repaired(request, &self.id);
        let body = (format.encode)(request, &history, &self.provider).map_err(unprintable)?;
        Ok(body.into())
    }

    pub(crate) async fn models(&self, meta: &RequestMeta) -> Result<ModelList, Failure> {
        let wire = self.provider.wire_api;
        let format = wire.format();
        if format.transport == Transport::Script {
            return Ok(ModelList::default());
        }
        let credentials = current(self).await?;
        let mut call = Call::new(&self.provider, Endpoint::Models, &credentials, meta)?;
        let for_account = format!("client_version={CLIENT_VERSION}");
        let query = match &credentials {
            Credentials::ChatGpt { .. } => Some(for_account.as_str()),
            _ => format.models_query,
        };
        if matches!(credentials, Credentials::ChatGpt { .. }) {
            let version = HeaderValue::from_static(CLIENT_VERSION);
            call.headers.insert("version", version);
        }
        if let Some(query) = query {
            call.url
                .push(if call.url.contains('?') { '&' } else { '?' });
            call.url.push_str(query);
        }
        let response = call.send(&self.http, None, MODELS_TIMEOUT).await?;
        if !response.status().is_success() {
            return Err(refused(self, &call.refusal(response).await));
        }
        let etag = text(response.headers(), "etag").map(str::to_owned);
        let body = whole(Source::Http(Box::new(response))).await?;
        ModelList::read(&String::from_utf8_lossy(&body), wire, etag).map_err(|error| Failure {
            cause: Some(format!(
                "sent a list of models that cannot be read: {error}"
            )),
            ..ErrorKind::stream("the list of models cannot be read").into()
        })
    }

    async fn compact(&self, request: &Request) -> Result<Vec<OutputItem>, Failure> {
        #[derive(Deserialize)]
        struct Compacted {
            output: Vec<Item>,
        }
        let history = repaired(request, &self.id);
        let body = responses::encode::compact_body(request, &history, &self.provider)
            .map_err(unprintable)?
            .into();
        let answer = exchange(self, request, Endpoint::Compact, &body, &mut 0).await?;
        let body = whole(answer.source).await?;
        let compacted: Compacted = serde_json::from_slice(&body).map_err(|error| Failure {
            cause: Some("sent a compacted history that cannot be read".into()),
            ..ErrorKind::stream(error.to_string()).into()
        })?;
        let known = compacted
            .output
            .into_iter()
            .filter(|item| *item != Item::Other);
        let items = known.map(|mut item| {
            item.mark_maker(&self.id);
            OutputItem::new(&item)
        });
        Ok(items.collect())
    }
}

pub(crate) async fn whole(mut source: Source) -> Result<Vec<u8>, Failure> {
    let mut body = Vec::new();
    while let Some(chunk) = source.chunk().await? {
        if body.len() + chunk.len() > UNARY_LIMIT {
            return Err(ErrorKind::TooLarge("the answer is too large".into()).into());
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

fn unprintable(error: serde_json::Error) -> ErrorKind {
    ErrorKind::Configuration(format!("the request cannot be written as JSON: {error}"))
}
