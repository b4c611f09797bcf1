//! The one place that talks HTTP. The client is made at the first request that needs it, keeps
//! connections open between requests, honours the proxy variables and extra certificate
//! authorities, and follows no redirects: a key must not travel to an address nobody configured.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bytes::Bytes;
use reqwest::Certificate;
use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use tokio::time::timeout;

use crate::credentials::{Credentials, Secret, Secrets};
use crate::error::ErrorKind;
use crate::failure::Failure;
use crate::format::Format;
use crate::provider::{ProviderConfig, env_var, public_url};
use crate::reach::{Unreachable, root_cause};
use crate::refusal::Refusal;
use crate::request::RequestMeta;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(30);
const TCP_KEEPALIVE: Duration = Duration::from_secs(60);
/// The most of an error's body that is read.
const ERROR_BODY_LIMIT: usize = 64 * 1024;
const ERROR_BODY_TIMEOUT: Duration = Duration::from_secs(10);
const CA_VARIABLES: [&str; 2] = ["CODEX_CA_CERTIFICATE", "SSL_CERT_FILE"];

/// Makes the HTTP client when it is first needed.
#[derive(Debug, Default)]
pub(crate) struct Http {
    client: OnceLock<Result<reqwest::Client, String>>,
    /// Whether it was found out if a server that does not answer wants TLS.
    tls_tried: AtomicBool,
}

impl Http {
    pub(crate) fn client(&self) -> Result<&reqwest::Client, ErrorKind> {
        self.client
            .get_or_init(http_client)
            .as_ref()
            .map_err(|reason| ErrorKind::Configuration(reason.clone()))
    }
}

/// An HTTP client for anything that this program asks for on its user's behalf: with the proxies and
/// certificate authorities of the process, and without redirects.
pub fn http_client() -> Result<reqwest::Client, String> {
    let mut builder = reqwest::Client::builder()
        .redirect(reqwest::redirect::Policy::none())
        .connect_timeout(CONNECT_TIMEOUT)
        .tcp_keepalive(TCP_KEEPALIVE);
    let extra = CA_VARIABLES
        .iter()
        .find_map(|name| Some((*name, env_var(name)?)));
    if let Some((name, path)) = extra {
        let failed = |why: String| {
            format!("could not load the certificate authorities of {name} from {path}: {why}")
        };
        let pem = std::fs::read(&path).map_err(|error| failed(error.to_string()))?;
        let certificates = Certificate::from_pem_bundle(&pem)
            .map_err(|error| failed(error.without_url().to_string()))?;
        if certificates.is_empty() {
            return Err(failed("the file holds no certificate in PEM form".into()));
        }
        for certificate in certificates {
            builder = builder.add_root_certificate(certificate);
        }
    }
    builder
        .build()
        .map_err(|error| format!("could not set up HTTP: {}", root_cause(&error)))
}

/// What is asked of a provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Endpoint {
    /// An answer of the model, in the provider's format.
    Sample,
    /// A shorter history.
    Compact,
    /// The list of models.
    Models,
}

impl Endpoint {
    fn path(self, format: &Format) -> &'static str {
        match self {
            Self::Models => "models",
            Self::Compact => "responses/compact",
            Self::Sample => format.path,
        }
    }

    /// Whether a header about the thread and its turn goes with it.
    fn has_header(self, name: &str) -> bool {
        let of_turn = [
            "x-client-request-id",
            "x-codex-turn-metadata",
            "x-codex-turn-state",
        ];
        match self {
            Self::Sample => true,
            Self::Compact => !of_turn.contains(&name),
            Self::Models => !of_turn.contains(&name) && name != "session_id",
        }
    }

    fn accepts(self) -> HeaderValue {
        HeaderValue::from_static(match self {
            Self::Sample => "text/event-stream",
            Self::Compact | Self::Models => "*/*",
        })
    }
}

/// What a request needs besides its body.
pub(crate) struct Call {
    pub(crate) url: String,
    pub(crate) headers: HeaderMap,
    /// What must not appear in any text that comes back.
    pub(crate) secrets: Secrets,
}

impl Call {
    pub(crate) fn new(
        provider: &ProviderConfig,
        endpoint: Endpoint,
        credentials: &Credentials,
        meta: &RequestMeta,
    ) -> Result<Self, ErrorKind> {
        let format = provider.wire_api.format();
        let token = Token::find(provider, credentials)?;
        let url = url(provider, endpoint.path(format), credentials)?;
        let mut headers = HeaderMap::new();
        for (name, value) in provider.http_headers.iter().flatten() {
            set(&mut headers, name, value)?;
        }
        for (name, variable) in provider.env_http_headers.iter().flatten() {
            if let Some(value) = env_var(variable) {
                set(&mut headers, name, &value)?;
            }
        }
        headers.insert(ACCEPT, endpoint.accepts());
        add_meta(&mut headers, format, endpoint, meta)?;
        let mut secrets = Secrets::default();
        provider.add_secrets(&mut secrets);
        if let Some(token) = token {
            token.add_to(&mut headers, format)?;
            secrets.add(token.secret.expose());
        }
        if let Credentials::ChatGpt {
            account_id: Some(account),
            ..
        } = credentials
        {
            set(&mut headers, "ChatGPT-Account-ID", account)?;
        }
        Ok(Self {
            url,
            headers,
            secrets,
        })
    }

    /// The same call with other headers.
    pub(crate) fn with_headers(&self, headers: HeaderMap) -> Self {
        Self {
            url: self.url.clone(),
            headers,
            secrets: self.secrets.clone(),
        }
    }

    /// The address without what may be a key.
    fn public_url(&self) -> String {
        public_url(&self.url)
    }

    /// Sends the body and waits for the head of the answer.
    pub(crate) async fn send(
        &self,
        http: &Http,
        body: Option<Bytes>,
        patience: Duration,
    ) -> Result<reqwest::Response, Failure> {
        let client = http.client()?;
        let request = match body {
            Some(body) => client.post(&self.url).body(body),
            None => client.get(&self.url),
        };
        match timeout(patience, request.headers(self.headers.clone()).send()).await {
            Ok(Ok(response)) => Ok(response),
            Ok(Err(error)) if error.is_builder() => {
                let url = self.public_url();
                let reason = format!(
                    "the address `{url}` cannot be used; correct the provider's `base_url`, which begins \
                     with http:// or https://"
                );
                Err(ErrorKind::Configuration(reason).into())
            }
            Ok(Err(error)) => {
                let mut unreachable = Unreachable::new(&self.url, &error);
                if !error.is_connect() && !http.tls_tried.swap(true, Ordering::Relaxed) {
                    unreachable = unreachable.with_tls_tried(client).await;
                }
                Err(Failure {
                    cause: Some(format!("could not be reached: {}", root_cause(&error))),
                    transient: unreachable.may_pass(),
                    ..ErrorKind::Unreachable(Box::new(unreachable)).into()
                })
            }
            Err(_) => Err(silence(patience)),
        }
    }

    /// What an answer with an error status means.
    pub(crate) async fn refusal(&self, response: reqwest::Response) -> Refusal {
        let status = response.status();
        let mut headers = response.headers().clone();
        self.secrets.hide_in(&mut headers);
        let body = read_bounded(response).await;
        let body = self
            .secrets
            .redact(String::from_utf8_lossy(&body).into_owned());
        Refusal {
            status,
            headers,
            url: self.public_url(),
            body,
        }
    }
}

async fn read_bounded(mut response: reqwest::Response) -> Vec<u8> {
    let mut body = Vec::new();
    let read = async {
        while let Ok(Some(chunk)) = response.chunk().await {
            body.extend_from_slice(&chunk);
            if body.len() > ERROR_BODY_LIMIT {
                break;
            }
        }
    };
    if timeout(ERROR_BODY_TIMEOUT, read).await.is_err() {
        tracing::warn!("the body of an error response did not end in time");
    }
    body
}

/// A key and how it is shown to the provider.
struct Token {
    secret: Secret,
    /// From `env_key`, so a bare key rather than a bearer token where the two differ.
    is_key: bool,
}

impl Token {
    fn find(
        provider: &ProviderConfig,
        credentials: &Credentials,
    ) -> Result<Option<Self>, ErrorKind> {
        if let Some(name) = &provider.env_key {
            let Some(value) = env_var(name) else {
                return Err(ErrorKind::MissingEnv {
                    name: name.clone(),
                    instructions: provider.env_key_instructions.clone(),
                });
            };
            return Ok(Some(Self {
                secret: Secret::new(value),
                is_key: true,
            }));
        }
        let bearer = |secret: &Secret| Self {
            secret: secret.clone(),
            is_key: false,
        };
        if let Some(secret) = &provider.experimental_bearer_token {
            return Ok(Some(bearer(secret)));
        }
        if let Some(secret) = credentials.secret() {
            return Ok(Some(bearer(secret)));
        }
        let fallback = provider.fallback_env_key().and_then(env_var);
        Ok(fallback.map(|value| Self {
            secret: Secret::new(value),
            is_key: true,
        }))
    }

    fn add_to(&self, headers: &mut HeaderMap, format: &Format) -> Result<(), ErrorKind> {
        let (name, value) = match format.key_header.filter(|_| self.is_key) {
            Some(name) => (
                HeaderName::from_static(name),
                self.secret.expose().to_owned(),
            ),
            None => (AUTHORIZATION, format!("Bearer {}", self.secret.expose())),
        };
        let mut value = HeaderValue::from_str(&value).map_err(|_| {
            ErrorKind::Configuration("the key holds characters that no header can carry".into())
        })?;
        value.set_sensitive(true);
        headers.insert(name, value);
        Ok(())
    }
}

fn add_meta(
    headers: &mut HeaderMap,
    format: &Format,
    endpoint: Endpoint,
    meta: &RequestMeta,
) -> Result<(), ErrorKind> {
    if endpoint != Endpoint::Models {
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    }
    let mut optional = vec![
        ("originator", meta.originator.as_str()),
        ("user-agent", &meta.user_agent),
        (
            "traceparent",
            meta.traceparent.as_deref().unwrap_or_default(),
        ),
    ];
    optional.extend((format.headers)(meta));
    for (name, value) in optional {
        if !value.is_empty() && endpoint.has_header(name) {
            set(headers, name, value)?;
        }
    }
    Ok(())
}

fn url(
    provider: &ProviderConfig,
    path: &str,
    credentials: &Credentials,
) -> Result<String, ErrorKind> {
    let chatgpt = matches!(credentials, Credentials::ChatGpt { .. });
    let address = provider
        .address(chatgpt)
        .map_err(ErrorKind::Configuration)?;
    let mut url = format!("{address}/{path}");
    for (at, (name, value)) in provider.query_params.iter().flatten().enumerate() {
        url.push(if at == 0 { '?' } else { '&' });
        url.push_str(&format!("{name}={value}"));
    }
    Ok(url)
}

fn set(headers: &mut HeaderMap, name: &str, value: &str) -> Result<(), ErrorKind> {
    let refused = || ErrorKind::Configuration(format!("the header `{name}` cannot be sent"));
    let header = HeaderName::from_bytes(name.as_bytes()).map_err(|_| refused())?;
    // Text beyond ASCII, such as a path, may be sent as it is.
    headers.insert(
        header,
        HeaderValue::from_bytes(value.as_bytes()).map_err(|_| refused())?,
    );
    Ok(())
}

/// Nothing came for longer than the provider's settings allow.
pub(crate) fn silence(patience: Duration) -> Failure {
    Failure {
        cause: Some(format!("sent nothing for {patience:?}")),
        ..ErrorKind::stream("idle timeout waiting for SSE").into()
    }
}
