//! A login in the user's browser: an address to open, and a local page that the browser comes back to.

use std::collections::HashMap;
use std::io;
use std::time::Duration;

use quipu_oauth::{Answer, Callback, NoRandomness, Pkce, form};
use quipu_rpc::http::HttpRequest;
use tokio::time::timeout;

use crate::accounts::Accounts;
use crate::claims::{Claims, Organization};
use crate::exchange::Code;
use crate::http::quote;
use crate::pages;
use crate::record::Record;

/// How long the user may take.
const PATIENCE: Duration = Duration::from_secs(10 * 60);
/// How long the browser may take to ask for the last page.
const LAST_PAGE: Duration = Duration::from_secs(10);
const SCOPE: &str = "openid profile email offline_access api.connectors.read api.connectors.invoke";
const PLATFORM: &str = "https://platform.openai.com";
const NOT_SAVED: &str = "Sign-in completed but credentials could not be saved locally.";

/// Why a login cannot begin.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The port that browsers come back to is taken.
    #[error("Port 127.0.0.1:{0} is already in use")]
    PortTaken(u16),
    /// There is no such port.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// There are no secrets.
    #[error(transparent)]
    NoRandomness(#[from] NoRandomness),
}

/// A login that waits for its user.
pub struct BrowserLogin {
    callback: Callback,
    pkce: Pkce,
    redirect_uri: String,
    success_url: String,
    auth_url: String,
    workspace: Option<String>,
    organization: Organization,
    /// The browser that brought the code and waits to hear what became of it.
    waiting: Option<HttpRequest>,
}

/// Why a login failed, for the client, for the page, and for people who search.
struct Failure {
    message: String,
    code: String,
}

impl Failure {
    fn new(message: String, code: &str) -> Self {
        Self {
            message,
            code: code.to_owned(),
        }
    }
}

impl BrowserLogin {
    /// Begins to listen. Only tokens for `workspace` are accepted, if there is one.
    pub async fn start(
        accounts: &Accounts,
        originator: &str,
        workspace: Option<String>,
    ) -> Result<Self, StartError> {
        let authority = &accounts.authority;
        let wanted = authority.callback_port;
        let callback = Callback::bind_shared(wanted).await;
        let callback = callback.map_err(|error| match error.kind() {
            io::ErrorKind::AddrInUse => StartError::PortTaken(wanted),
            _ => error.into(),
        })?;
        let page = format!("http://localhost:{}", callback.port()?);
        let redirect_uri = format!("{page}/auth/callback");
        let pkce = Pkce::new()?;
        let mut query = vec![
            ("response_type", "code"),
            ("client_id", &authority.client_id),
            ("redirect_uri", &redirect_uri),
            ("scope", SCOPE),
            ("code_challenge", &pkce.challenge),
            ("code_challenge_method", "S256"),
            ("id_token_add_organizations", "true"),
            ("codex_cli_simplified_flow", "true"),
            ("state", &pkce.state),
            ("originator", originator),
        ];
        if let Some(workspace) = &workspace {
            query.push(("allowed_workspace_id", workspace));
        }
        Ok(Self {
            auth_url: format!(
                "{}/oauth/authorize?{}",
                authority.issuer,
                form::encode(&query)
            ),
            success_url: format!("{page}/success"),
            callback,
            pkce,
            redirect_uri,
            workspace,
            organization: Organization::default(),
            waiting: None,
        })
    }

    /// The page to open in the user's browser.
    pub fn auth_url(&self) -> &str {
        &self.auth_url
    }

    /// Waits until the browser brings a code that is good for tokens. The login is still to be stored, and the
    /// browser to be answered: see [`conclude`](Self::conclude).
    pub async fn granted(&mut self, accounts: &Accounts) -> Result<Record, String> {
        let granted = timeout(PATIENCE, self.answered(accounts)).await;
        match granted {
            Ok(granted) => granted.map_err(|message| server_error(&message)),
            Err(_) => Err("Login timed out".to_owned()),
        }
    }

    /// Tells the browser whether the login was stored. If it was, what comes back shows the last page, and ends
    /// when the browser has it or does not want it.
    pub fn conclude(
        mut self,
        stored: io::Result<()>,
    ) -> Result<impl Future<Output = ()> + Send + 'static, String> {
        let browser = self.waiting.take();
        if let Err(error) = stored {
            tracing::error!(%error, "a login could not be stored");
            if let Some(browser) = browser {
                Answer::page(pages::failure(NOT_SAVED, "persist_failed")).send(browser);
            }
            return Err(server_error(NOT_SAVED));
        }
        if let Some(browser) = browser {
            redirect(&self.success_url).send(browser);
        }
        Ok(async move {
            // A browser that does not ask for the page has been answered.
            timeout(LAST_PAGE, self.show_success()).await.ok();
        })
    }

    async fn answered(&mut self, accounts: &Accounts) -> Result<Record, String> {
        loop {
            let request = self.callback.request().await;
            match request.head().path.as_str() {
                "/auth/callback" => {}
                "/cancel" => {
                    Answer::text(200, "Login cancelled").send(request);
                    return Err("Login cancelled".to_owned());
                }
                _ => {
                    Answer::text(404, "Not Found").send(request);
                    continue;
                }
            }
            let query = form::decode(&request.head().query);
            if query.get("state") != Some(&self.pkce.state) {
                Answer::text(400, "State mismatch").send(request);
                continue;
            }
            return match self.exchange(accounts, &query).await {
                Ok(record) => {
                    self.waiting = Some(request);
                    Ok(record)
                }
                Err(failure) => {
                    let page = pages::failure(&failure.message, &failure.code);
                    Answer::page(page).send(request);
                    Err(failure.message)
                }
            };
        }
    }

    async fn exchange(
        &mut self,
        accounts: &Accounts,
        query: &HashMap<String, String>,
    ) -> Result<Record, Failure> {
        if let Some(error) = query.get("error") {
            return Err(refusal(error, query.get("error_description")));
        }
        let Some(code) = query.get("code").filter(|code| !code.is_empty()) else {
            let text = "Missing authorization code. Sign-in could not be completed.";
            return Err(Failure::new(text.to_owned(), "missing_authorization_code"));
        };
        let code = Code {
            code,
            redirect_uri: &self.redirect_uri,
            verifier: &self.pkce.verifier,
        };
        let exchanged = code.exchange(accounts).await.map_err(|error| {
            let text = format!("Token exchange failed: {error}");
            Failure::new(text, "token_exchange_failed")
        })?;
        exchanged
            .check_workspace(self.workspace.as_deref())
            .map_err(|error| Failure::new(error, "workspace_restriction"))?;
        let api_key = exchanged.api_key(accounts).await;
        let plan = Claims::read(&exchanged.access_token).map(|claims| claims.plan_name);
        if let Ok(claims) = Claims::read(&exchanged.id_token) {
            self.organization = claims.organization;
        }
        self.describe(plan.ok().flatten().as_deref().unwrap_or_default());
        let unsaved = |_| Failure::new(NOT_SAVED.to_owned(), "persist_failed");
        exchanged.record(api_key).map_err(unsaved)
    }

    /// Adds to the address of the last page what it may want to tell.
    fn describe(&mut self, plan: &str) {
        let text = |id: &Option<String>| id.clone().unwrap_or_default();
        let (id, project) = (
            text(&self.organization.id),
            text(&self.organization.project_id),
        );
        let setup = if self.organization.needs_setup {
            "true"
        } else {
            "false"
        };
        let query = form::encode(&[
            ("needs_setup", setup),
            ("org_id", &id),
            ("project_id", &project),
            ("plan_type", plan),
            ("platform_url", PLATFORM),
        ]);
        self.success_url = format!("{}?{query}", self.success_url);
    }

    /// Answers until the last page was asked for.
    async fn show_success(&mut self) {
        loop {
            let request = self.callback.request().await;
            match request.head().path.as_str() {
                "/success" => {
                    let page = Answer::page(pages::success(&self.organization));
                    return page.deliver(request).await;
                }
                "/cancel" => {
                    Answer::text(200, "Login cancelled").send(request);
                    return;
                }
                // The user went back or reloaded.
                "/auth/callback" => redirect(&self.success_url).send(request),
                _ => Answer::text(404, "Not Found").send(request),
            }
        }
    }
}

/// A failure on this side of the login, in the words that clients know.
fn server_error(message: &str) -> String {
    format!("Login server error: {message}")
}

fn redirect(url: &str) -> Answer {
    Answer {
        status: 302,
        headers: vec![("location", url.to_owned())],
        body: String::new(),
    }
}

/// The identity server sent the browser back without a code.
fn refusal(error: &str, description: Option<&String>) -> Failure {
    let error = quote(error, &[]);
    let entitlement = description.is_some_and(|it| it.contains("missing_codex_entitlement"));
    let message = if error == "access_denied" && entitlement {
        "Codex is not enabled for your workspace. Contact your workspace administrator to request \
         access to Codex."
            .to_owned()
    } else {
        let description = description.map(|it| quote(it, &[]));
        let reason = description.filter(|it| !it.trim().is_empty());
        format!("Sign-in failed: {}", reason.as_ref().unwrap_or(&error))
    };
    Failure::new(message, &error)
}
