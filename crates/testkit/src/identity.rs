//! An identity server over real HTTP on loopback, as strict as a real one: codes and refresh tokens work
//! once, and only for who began the login. On request it refuses, answers garbage, or makes others wait.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use parking_lot::{Mutex, MutexGuard};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use tokio::io::AsyncWriteExt as _;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};

use crate::http::{Request, read_request};

/// The paths that are served.
pub const AUTHORIZE: &str = "/oauth/authorize";
/// Codes, refresh tokens and API keys.
pub const TOKEN: &str = "/oauth/token";
/// Begins a login with a code for the user.
pub const DEVICE_CODE: &str = "/api/accounts/deviceauth/usercode";
/// Tells whether the user entered it.
pub const DEVICE_TOKEN: &str = "/api/accounts/deviceauth/token";
/// Tells what a plan has left.
pub const USAGE: &str = "/api/codex/usage";

/// A request that came.
#[derive(Debug, Clone)]
pub struct Asked {
    /// The path, without query.
    pub path: String,
    /// The headers, names in lower case.
    pub headers: BTreeMap<String, String>,
    /// The body, as it came.
    pub body: String,
}

/// An identity server that lives as long as this value.
#[derive(Debug)]
pub struct IdentityServer {
    address: SocketAddr,
    state: Arc<State>,
    task: JoinHandle<()>,
}

#[derive(Debug)]
struct State {
    inner: Mutex<Inner>,
    received: watch::Sender<usize>,
    held: watch::Sender<bool>,
}

#[derive(Debug)]
struct Inner {
    claims: Value,
    access_claims: Option<Value>,
    usage: Value,
    api_key: Option<String>,
    device_client: String,
    device_approved: bool,
    /// Scripted answers by path, before all others.
    replies: HashMap<String, VecDeque<(u16, String)>>,
    /// Code to challenge, redirect address and client.
    codes: HashMap<String, [String; 3]>,
    refresh_tokens: HashMap<String, bool>,
    minted: u32,
    asked: Vec<Asked>,
}

impl IdentityServer {
    /// Starts a server on a free port, for one user with the plan `plus` in the workspace `acct-1`.
    pub async fn start() -> io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let address = listener.local_addr()?;
        let state = Arc::new(State {
            inner: Mutex::new(Inner {
                claims: claims("user@example.com", "plus", "acct-1"),
                access_claims: None,
                usage: json!({ "plan_type": "plus" }),
                api_key: None,
                device_client: String::new(),
                device_approved: false,
                replies: HashMap::new(),
                codes: HashMap::new(),
                refresh_tokens: HashMap::new(),
                minted: 0,
                asked: Vec::new(),
            }),
            received: watch::Sender::new(0),
            held: watch::Sender::new(false),
        });
        let task = tokio::spawn(accept(listener, Arc::clone(&state)));
        Ok(Self {
            address,
            state,
            task,
        })
    }

    /// Its address.
    pub fn issuer(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Who logs in from now on.
    pub fn set_claims(&self, claims: Value) {
        self.lock().claims = claims;
    }

    /// What access tokens say from now on; without it they say nothing.
    pub fn set_access_claims(&self, claims: Value) {
        self.lock().access_claims = Some(claims);
    }

    /// What the plan has left.
    pub fn set_usage(&self, usage: Value) {
        self.lock().usage = usage;
    }

    /// The API key that goes with a login.
    pub fn set_api_key(&self, key: &str) {
        self.lock().api_key = Some(key.to_owned());
    }

    /// The user enters the code.
    pub fn approve_device(&self) {
        self.lock().device_approved = true;
    }

    /// Tokens as if a login had happened: of the user, for access, and to refresh.
    pub fn mint(&self) -> [String; 3] {
        self.lock().mint()
    }

    /// Answers the next request to a path with this.
    pub fn reply(&self, path: &str, status: u16, body: impl Into<String>) {
        let mut inner = self.lock();
        let replies = inner.replies.entry(path.to_owned()).or_default();
        replies.push_back((status, body.into()));
    }

    /// Lets all requests wait from now on, or no longer.
    pub fn hold(&self, held: bool) {
        self.state.held.send_replace(held);
    }

    /// Waits until so many requests have come.
    pub async fn received(&self, count: usize) {
        let mut received = self.state.received.subscribe();
        // The sender lives as long as the server, so waiting cannot fail.
        drop(received.wait_for(|seen| *seen >= count).await);
    }

    /// The requests to a path so far.
    pub fn asked(&self, path: &str) -> Vec<Asked> {
        let inner = self.lock();
        let asked = inner.asked.iter().filter(|it| it.path == path);
        asked.cloned().collect()
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.state.lock()
    }
}

impl Drop for IdentityServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// The claims of a user.
pub fn claims(email: &str, plan: &str, account: &str) -> Value {
    json!({ "email": email, "https://api.openai.com/auth": {
        "chatgpt_plan_type": plan, "chatgpt_account_id": account, "chatgpt_user_id": "user-1",
    } })
}

/// A token that says this.
pub fn jwt(payload: &Value) -> String {
    let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
    format!("{}.{}.sig", part(&json!({ "alg": "none" })), part(payload))
}

async fn accept(listener: TcpListener, state: Arc<State>) {
    let mut connections = JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        while connections.try_join_next().is_some() {}
        let state = Arc::clone(&state);
        connections.spawn(async move {
            // A client that goes away ends its connection and nothing else.
            drop(serve(stream, &state).await);
        });
    }
}

async fn serve(mut stream: TcpStream, state: &State) -> io::Result<()> {
    let mut buffer = Vec::new();
    while let Some(request) = read_request(&mut stream, &mut buffer).await? {
        state.note(&request);
        // The sender lives as long as the server, so waiting cannot fail.
        drop(state.held.subscribe().wait_for(|held| !held).await);
        let (status, location, body) = state.answer(&request);
        let location = location.map_or(String::new(), |it| format!("location: {it}\r\n"));
        let head = format!(
            "HTTP/1.1 {status} Scripted\r\ncontent-type: application/json\r\n{location}content-length: {}\r\n\r\n",
            body.len()
        );
        stream.write_all((head + &body).as_bytes()).await?;
        let connection = request.headers.get("connection");
        if connection.is_some_and(|it| it.eq_ignore_ascii_case("close")) {
            break;
        }
    }
    Ok(())
}

type Answer = (u16, Option<String>, String);

fn json_answer(status: u16, body: &Value) -> Answer {
    (status, None, body.to_string())
}

impl State {
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock()
    }

    fn note(&self, request: &Request) {
        self.lock().asked.push(Asked {
            path: path(request).to_owned(),
            headers: request.headers.clone(),
            body: String::from_utf8_lossy(&request.body).into_owned(),
        });
        self.received.send_modify(|count| *count += 1);
    }

    fn answer(&self, request: &Request) -> Answer {
        let mut inner = self.lock();
        let path = path(request);
        let scripted = inner.replies.get_mut(path).and_then(VecDeque::pop_front);
        if let Some((status, body)) = scripted {
            return (status, None, body);
        }
        match path {
            AUTHORIZE => inner.authorize(&request.path),
            TOKEN => inner.token(request),
            DEVICE_CODE => inner.device_code(request),
            DEVICE_TOKEN => inner.device_token(request),
            USAGE => json_answer(200, &inner.usage),
            _ => json_answer(404, &json!({ "error": "not_found" })),
        }
    }
}

impl Inner {
    /// The user agrees at once, so the browser goes back with a code.
    fn authorize(&mut self, target: &str) -> Answer {
        let [challenge, method, redirect, state, client] = [
            "code_challenge",
            "code_challenge_method",
            "redirect_uri",
            "state",
            "client_id",
        ]
        .map(|name| crate::browser::query(target, name).unwrap_or_default());
        if method != "S256" || redirect.is_empty() {
            return json_answer(400, &json!({ "error": "invalid_request" }));
        }
        let code = self.code(challenge, redirect.clone(), client);
        (
            302,
            Some(format!("{redirect}?code={code}&state={state}")),
            String::new(),
        )
    }

    fn code(&mut self, challenge: String, redirect: String, client: String) -> String {
        self.minted += 1;
        let code = format!("code-secret-{}", self.minted);
        self.codes
            .insert(code.clone(), [challenge, redirect, client]);
        code
    }

    fn token(&mut self, request: &Request) -> Answer {
        let json: Value = serde_json::from_slice(&request.body).unwrap_or_default();
        let form: HashMap<String, String> =
            form_urlencoded::parse(&request.body).into_owned().collect();
        let field = |name: &str| {
            let value = json[name].as_str().or(form.get(name).map(String::as_str));
            value.unwrap_or_default().to_owned()
        };
        match field("grant_type").as_str() {
            "authorization_code" => {
                let hash = URL_SAFE_NO_PAD.encode(Sha256::digest(field("code_verifier")));
                let expected = [hash, field("redirect_uri"), field("client_id")];
                if self.codes.remove(&field("code")) != Some(expected) {
                    let text = format!("{} is not valid", field("code"));
                    let error = json!({ "error": "invalid_grant", "error_description": text });
                    return json_answer(400, &error);
                }
                self.tokens()
            }
            "refresh_token" => match self.refresh_tokens.get_mut(&field("refresh_token")) {
                Some(used) if !*used => {
                    *used = true;
                    self.tokens()
                }
                Some(_) => {
                    json_answer(401, &json!({ "error": { "code": "refresh_token_reused" } }))
                }
                None => json_answer(401, &json!({ "error": "refresh_token_invalidated" })),
            },
            _ => match &self.api_key {
                Some(key) => json_answer(200, &json!({ "access_token": key })),
                None => json_answer(403, &json!({ "error": "no_organization" })),
            },
        }
    }

    fn tokens(&mut self) -> Answer {
        let [id_token, access_token, refresh_token] = self.mint();
        let tokens = json!({
            "id_token": id_token, "access_token": access_token, "refresh_token": refresh_token,
        });
        json_answer(200, &tokens)
    }

    fn mint(&mut self) -> [String; 3] {
        self.minted += 1;
        let number = self.minted;
        let access = match &self.access_claims {
            None => format!("access-secret-{number}"),
            Some(claims) => {
                let mut claims = claims.clone();
                claims["jti"] = json!(number);
                jwt(&claims)
            }
        };
        let refresh = format!("refresh-secret-{number}");
        self.refresh_tokens.insert(refresh.clone(), false);
        [jwt(&self.claims), access, refresh]
    }

    fn device_code(&mut self, request: &Request) -> Answer {
        let asked: Value = serde_json::from_slice(&request.body).unwrap_or_default();
        self.device_client = asked["client_id"].as_str().unwrap_or_default().to_owned();
        let code = json!({
            "device_auth_id": "device-1", "user_code": "ABCD-1234", "interval": "0",
        });
        json_answer(200, &code)
    }

    fn device_token(&mut self, request: &Request) -> Answer {
        let asked: Value = serde_json::from_slice(&request.body).unwrap_or_default();
        let known = json!({ "device_auth_id": "device-1", "user_code": "ABCD-1234" });
        if !self.device_approved || asked != known {
            return json_answer(403, &json!({ "error": "authorization_pending" }));
        }
        let verifier = "verifier-secret";
        let challenge = URL_SAFE_NO_PAD.encode(Sha256::digest(verifier));
        let host = request.headers.get("host").cloned().unwrap_or_default();
        let redirect = format!("http://{host}/deviceauth/callback");
        let code = self.code(challenge.clone(), redirect, self.device_client.clone());
        let approved = json!({
            "authorization_code": code, "code_challenge": challenge, "code_verifier": verifier,
        });
        json_answer(200, &approved)
    }
}

fn path(request: &Request) -> &str {
    request.path.split('?').next().unwrap_or_default()
}
