//! The login itself: registration, the address for the browser, the code, the tokens.

use std::path::PathBuf;
use std::time::Duration;

use quipu_oauth::{Callback, Pkce};
use reqwest::Url;
use serde::Deserialize;
use serde_json::json;
use tokio::net::TcpListener;
use tokio::time::timeout;

use super::grant;
use super::metadata::{Metadata, discover};
use super::store::{Store, Tokens};
use super::visit;
use crate::http::read_body;
use crate::http_client;

const PATIENCE: Duration = Duration::from_secs(30);
const MAX_BYTES: usize = 1024 * 1024;

/// What a login needs to know.
#[derive(Debug, Clone)]
pub struct LoginRequest {
    /// The server's name.
    pub server: String,
    /// Its address.
    pub url: String,
    /// What is asked for; if absent, all that the provider offers.
    pub scopes: Option<Vec<String>>,
    /// The resource that the tokens are for.
    pub resource: Option<String>,
    /// The port of the page the browser comes back to; any if absent.
    pub callback_port: Option<u16>,
    /// The address of that page as the browser sees it.
    pub callback_url: Option<String>,
    /// How this program calls itself.
    pub client_name: String,
    /// How long the user may take.
    pub timeout: Duration,
    /// More certificate authorities to trust, as a PEM file.
    pub certificates: Option<PathBuf>,
}

/// A login that waits for the user.
pub struct Login {
    /// The page to open in a browser.
    pub authorization_url: String,
    client: reqwest::Client,
    metadata: Metadata,
    callback: Callback,
    path: String,
    redirect: String,
    pkce: Pkce,
    client_id: String,
    scopes: Vec<String>,
    request: LoginRequest,
}

impl Login {
    /// Prepares a login; the error is for the user.
    pub async fn start(request: LoginRequest) -> Result<Login, String> {
        let client = http_client::build(request.certificates.as_deref())?;
        let url = Url::parse(&request.url).map_err(|error| error.to_string())?;
        let metadata = discover(&client, &url)
            .await
            .ok_or("No authorization support detected")?;
        let (listener, redirect) = listen(&request).await?;
        let path = redirect.path().to_owned();
        let redirect = redirect.to_string();
        let client_id = register(&client, &metadata, &request.client_name, &redirect).await?;
        let scopes = match &request.scopes {
            Some(scopes) => scopes.clone(),
            None => offered(&metadata),
        };
        let pkce = Pkce::new().map_err(|error| error.to_string())?;
        let mut page = metadata.authorization_endpoint.0.clone();
        page.query_pairs_mut()
            .append_pair("response_type", "code")
            .append_pair("client_id", &client_id)
            .append_pair("state", &pkce.state)
            .append_pair("code_challenge", &pkce.challenge)
            .append_pair("code_challenge_method", "S256")
            .append_pair("redirect_uri", &redirect);
        if !scopes.is_empty() {
            page.query_pairs_mut()
                .append_pair("scope", &scopes.join(" "));
        }
        if let Some(resource) = request.resource.as_deref().filter(|it| !it.is_empty()) {
            page.query_pairs_mut().append_pair("resource", resource);
        }
        Ok(Login {
            authorization_url: page.to_string(),
            client,
            metadata,
            callback: Callback::new(listener),
            path,
            redirect,
            pkce,
            client_id,
            scopes,
            request,
        })
    }

    /// Waits for the user and keeps the tokens; the error is for the user.
    pub async fn finish(mut self, store: &Store) -> Result<(), String> {
        let code = visit::code(&mut self.callback, &self.path, &self.pkce.state);
        let code = timeout(self.request.timeout, code)
            .await
            .map_err(|_| "timed out waiting for OAuth callback")??;
        let form = [
            ("grant_type", "authorization_code"),
            ("code", &code),
            ("code_verifier", &self.pkce.verifier),
            ("client_id", &self.client_id),
            ("redirect_uri", &self.redirect),
        ];
        let answer = grant::ask(&self.client, self.metadata.token_endpoint.0.clone(), &form)
            .await
            .map_err(|why| format!("failed to handle OAuth callback: {why}"))?;
        let before = Tokens {
            server_name: self.request.server,
            server_url: self.request.url,
            client_id: self.client_id,
            access_token: String::new(),
            expires_at: None,
            refresh_token: None,
            scopes: self.scopes,
        };
        store
            .save(&answer.into_tokens(&before))
            .await
            .map_err(|error| format!("the tokens were not stored: {error}"))
    }
}

/// Opens the page that the browser comes back to; the address is the one the browser sees.
async fn listen(request: &LoginRequest) -> Result<(TcpListener, Url), String> {
    let given = match &request.callback_url {
        Some(url) => {
            Some(Url::parse(url).map_err(|error| format!("mcp_oauth_callback_url: {error}"))?)
        }
        None => None,
    };
    let local = |url: &Url| matches!(url.host_str(), Some("localhost" | "127.0.0.1" | "[::1]"));
    let host = match &given {
        Some(url) if !local(url) => "0.0.0.0",
        _ => "127.0.0.1",
    };
    let port = request.callback_port.unwrap_or(0);
    let listener = TcpListener::bind((host, port))
        .await
        .map_err(|error| format!("the callback page cannot be opened on port {port}: {error}"))?;
    let port = listener
        .local_addr()
        .map_err(|error| error.to_string())?
        .port();
    let own = Url::parse(&format!("http://127.0.0.1:{port}/callback"));
    let redirect = given.map_or(own, Ok).map_err(|error| error.to_string())?;
    Ok((listener, redirect))
}

/// Introduces this program to the provider.
async fn register(
    client: &reqwest::Client,
    metadata: &Metadata,
    name: &str,
    redirect: &str,
) -> Result<String, String> {
    #[derive(Deserialize)]
    struct Registered {
        client_id: String,
    }
    let endpoint = metadata.registration_endpoint.clone();
    let endpoint = endpoint
        .ok_or("the provider does not let programs register themselves")?
        .0;
    let body = json!({
        "client_name": name,
        "redirect_uris": [redirect],
        "grant_types": ["authorization_code", "refresh_token"],
        "token_endpoint_auth_method": "none",
        "response_types": ["code"],
    });
    let request = client
        .post(endpoint)
        .header("content-type", "application/json")
        .body(body.to_string());
    let response = request
        .timeout(PATIENCE)
        .send()
        .await
        .map_err(|_| "the provider's registration cannot be reached")?;
    let status = response.status();
    if !status.is_success() {
        return Err(format!(
            "the provider refused the registration with HTTP status {status}"
        ));
    }
    let body = read_body(response, MAX_BYTES)
        .await
        .map_err(|error| error.to_string())?;
    let registered: Registered = serde_json::from_slice(&body)
        .map_err(|_| "the provider's registration has no client_id")?;
    Ok(registered.client_id)
}

/// What the provider offers, each once.
fn offered(metadata: &Metadata) -> Vec<String> {
    let mut scopes: Vec<String> = Vec::new();
    for scope in metadata.scopes_supported.iter().map(|it| it.trim()) {
        if !scope.is_empty() && !scopes.iter().any(|it| it == scope) {
            scopes.push(scope.to_owned());
        }
    }
    scopes
}
