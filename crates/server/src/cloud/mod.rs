//! The limits that a ChatGPT business workspace sets for its members: asked for when a request depends on them, kept
//! in the home directory for a while, and never assumed to be none. While they are not known, no thread is opened.

mod cache;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use quipu_auth::{ChatGptLogin, Login, NoRequirements};
use quipu_config::{CloudError, CloudErrorKind, CloudLimits};
use quipu_wire::PlanType;
use tokio::sync::Mutex;

use crate::blocking::blocking;
use crate::{Server, accounts};

/// How often the backend is asked before it counts as failed.
const ATTEMPTS: u32 = 5;
/// After this time limits are fetched again, while those that are known stay in force.
const REFRESH: Duration = Duration::from_secs(5 * 60);
/// After this time limits must be fetched again.
const LIFETIME: Duration = Duration::from_secs(30 * 60);
/// How long a failure stands before the backend is asked again.
const FAILED: Duration = Duration::from_secs(10);
/// What users are told when there is no better reason.
const NOT_LOADED: &str = "failed to load your workspace-managed config";

/// How the backend is asked.
#[derive(Debug, Clone, Copy)]
pub struct CloudTiming {
    /// The pause after the first failure, twice as long after each further one.
    pub backoff: Duration,
    /// How long all attempts may take together.
    pub limit: Duration,
}

impl Default for CloudTiming {
    fn default() -> CloudTiming {
        CloudTiming {
            backoff: Duration::from_millis(200),
            limit: Duration::from_secs(15),
        }
    }
}

/// What is known of the workspace's limits; the configuration has the limits themselves.
#[derive(Default)]
pub(crate) struct Cloud {
    known: Mutex<Option<Known>>,
    is_refreshing: AtomicBool,
}

struct Known {
    member: Member,
    age: Age,
    is_failure: bool,
}

/// Since when something is known.
struct Age {
    since: Instant,
    /// How old it was then.
    before: Duration,
}

impl Age {
    fn now() -> Age {
        Age {
            since: Instant::now(),
            before: Duration::ZERO,
        }
    }

    fn get(&self) -> Duration {
        self.since.elapsed() + self.before
    }
}

/// Whose limits they are.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Member {
    account_id: Option<String>,
    user_id: Option<String>,
}

impl Member {
    fn of(login: &ChatGptLogin) -> Member {
        Member {
            account_id: login.account_id.clone(),
            user_id: login.user_id.clone(),
        }
    }
}

/// Makes sure that the configuration knows the limits of the account that is logged in, or why they are not known.
pub(crate) async fn ready(server: &Arc<Server>) {
    let mut known = server.cloud.known.lock().await;
    let Some(login) = managed_login(server) else {
        if known.take().is_some() {
            server.settings.config.set_cloud_limits(CloudLimits::None);
        }
        return;
    };
    let member = Member::of(&login);
    if let Some(known) = known.as_ref().filter(|known| known.member == member) {
        let age = known.age.get();
        let lifetime = if known.is_failure { FAILED } else { LIFETIME };
        if age < lifetime {
            if !known.is_failure && age >= REFRESH {
                refresh_later(server);
            }
            return;
        }
    }
    *known = Some(load(server, login, member).await);
}

/// Forgets what is known, because of a new login.
pub(crate) async fn forget(server: &Server) {
    if let Some(known) = server.cloud.known.lock().await.as_mut() {
        // Until somebody needs the limits, those that are known stay in force.
        known.age.before = LIFETIME;
    }
}

/// The login, if it is one of a workspace that can set limits.
fn managed_login(server: &Server) -> Option<ChatGptLogin> {
    let (Login::ChatGpt(login) | Login::External(login)) = server.accounts.current()? else {
        return None;
    };
    let can_be_limited = matches!(
        login.plan,
        PlanType::Business | PlanType::Enterprise | PlanType::EnterpriseCbpUsageBased
    );
    can_be_limited.then_some(login)
}

/// Takes the limits from the home directory, else from the backend.
async fn load(server: &Arc<Server>, login: ChatGptLogin, member: Member) -> Known {
    let config = &server.settings.config;
    let wanted = member.clone();
    let cached = blocking(server, move |server| cache::read(server.home(), &wanted)).await;
    if let Ok(Some((contents, before))) = cached
        && before < LIFETIME
        && let Some(limits) = CloudLimits::read(contents)
    {
        config.set_cloud_limits(limits);
        let since = Instant::now();
        return Known {
            member,
            age: Age { since, before },
            is_failure: false,
        };
    }
    let fetched = fetch(server, login, &member).await;
    let is_failure = fetched.is_err();
    config.set_cloud_limits(fetched.unwrap_or_else(|error| {
        tracing::error!(kind = error.kind.name(), status = error.status, %error, "workspace limits not loaded");
        CloudLimits::Unavailable(error)
    }));
    Known {
        member,
        age: Age::now(),
        is_failure,
    }
}

/// Fetches the limits again without keeping anybody waiting. What is known stays if that fails.
fn refresh_later(server: &Arc<Server>) {
    if server.cloud.is_refreshing.swap(true, Ordering::SeqCst) {
        return;
    }
    let server = Arc::clone(server);
    tokio::spawn(async move {
        if let Some(login) = managed_login(&server) {
            let member = Member::of(&login);
            match fetch(&server, login, &member).await {
                Ok(limits) => {
                    let mut known = server.cloud.known.lock().await;
                    if let Some(known) = known.as_mut().filter(|it| it.member == member) {
                        server.settings.config.set_cloud_limits(limits);
                        known.age = Age::now();
                    }
                }
                Err(error) => tracing::warn!(%error, "workspace limits not refreshed"),
            }
        }
        server.cloud.is_refreshing.store(false, Ordering::SeqCst);
    });
}

/// The limits as the backend has them now, which are stored.
async fn fetch(
    server: &Arc<Server>,
    login: ChatGptLogin,
    member: &Member,
) -> Result<CloudLimits, CloudError> {
    let limit = server.settings.cloud.limit;
    let asking = tokio::time::timeout(limit, ask(server, login));
    let contents = asking.await.unwrap_or_else(|_| {
        Err(CloudError {
            kind: CloudErrorKind::Timeout,
            detail: format!(
                "timed out waiting for cloud requirements after {}s",
                limit.as_secs()
            ),
            status: None,
        })
    })?;
    let limits = CloudLimits::read(contents.clone()).ok_or_else(|| CloudError {
        kind: CloudErrorKind::Parse,
        detail: NOT_LOADED.to_owned(),
        status: None,
    })?;
    let member = member.clone();
    let stored = blocking(server, move |server| {
        cache::write(server.home(), &member, contents)
    });
    if let Ok(Err(error)) = stored.await {
        tracing::warn!(%error, "workspace limits not stored");
    }
    Ok(limits)
}

/// Asks the backend until it answers, a few times at most.
async fn ask(server: &Arc<Server>, mut login: ChatGptLogin) -> Result<Option<String>, CloudError> {
    let agent = accounts::agent(server);
    let base = blocking(server, |server| base_url(server)).await;
    let base = base.unwrap_or_default();
    let mut attempt = 0;
    loop {
        let asked = server.accounts.requirements(&login, &base, &agent).await;
        let error: NoRequirements = match asked {
            Ok(contents) => return Ok(contents),
            Err(error) => error,
        };
        attempt += 1;
        tracing::warn!(attempt, %error, "the backend gave no workspace limits");
        if attempt == ATTEMPTS {
            return Err(CloudError {
                kind: CloudErrorKind::RequestFailed,
                detail: NOT_LOADED.to_owned(),
                status: error.status,
            });
        }
        if error.status == Some(401)
            && let Some(renewed) = renew(server, &login).await?
        {
            login = renewed;
            continue;
        }
        tokio::time::sleep(server.settings.cloud.backoff * (1 << (attempt - 1))).await;
    }
}

/// Another token after one was refused; `None` if that may work another time. Clients renew their own tokens.
async fn renew(
    server: &Server,
    refused: &ChatGptLogin,
) -> Result<Option<ChatGptLogin>, CloudError> {
    if server.accounts.is_external() {
        return Ok(None);
    }
    let (token, account) = (&refused.access_token, refused.account_id.as_deref());
    let agent = accounts::agent(server);
    match server.accounts.recover(token, account, &agent).await {
        Ok(recovered) => match recovered.login {
            Login::ChatGpt(login) => Ok(Some(login)),
            _ => Ok(None),
        },
        Err(error) if error.is_permanent() => Err(CloudError {
            kind: CloudErrorKind::Auth,
            detail: error.to_string(),
            status: Some(401),
        }),
        Err(_) => Ok(None),
    }
}

/// Where the backend is, whatever is known of the limits.
fn base_url(server: &Server) -> String {
    let config = &server.settings.config;
    match config.load_without_cloud() {
        Ok(snapshot) => snapshot.account().chatgpt_base_url,
        Err(error) => {
            tracing::warn!(%error, "settings cannot be used; the default ChatGPT address is asked for limits");
            quipu_config::settings::CHATGPT_BASE_URL.to_owned()
        }
    }
}
