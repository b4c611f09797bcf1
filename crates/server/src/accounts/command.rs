//! The token of a provider that a program prints, as `[model_providers.NAME.auth]` says.

use std::collections::VecDeque;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use futures_util::future::BoxFuture;
use parking_lot::Mutex as Lock;
use quipu_model::{
    AuthCommand, CredentialSource, Credentials, CredentialsLost, Recovered, Secret, Secrets,
};
use quipu_sandbox::{Command, Exit, Policy, Stream};
use tokio::sync::Mutex;
use tokio::time::timeout;

use crate::Server;

/// The most that is read of what the program writes.
const MAX_OUTPUT: usize = 64 * 1024;
/// The most that is shown of what it says of its failure.
const SHOWN: usize = 300;
/// Tokens of the past that are still hidden.
const REMEMBERED: usize = 64;

/// Runs the program when a token is needed, and keeps the token for a while.
pub(crate) struct CommandCredentials {
    server: Weak<Server>,
    command: AuthCommand,
    /// Locked while the program runs, so that it runs once for all who wait.
    kept: Mutex<Option<Kept>>,
}

struct Kept {
    token: Secret,
    since: Instant,
}

/// The last tokens that programs printed, so that they can be hidden in what tools report.
#[derive(Default)]
pub(crate) struct PrintedTokens(Lock<Printed>);

#[derive(Default)]
struct Printed {
    /// The newest first.
    last: VecDeque<String>,
    count: usize,
}

impl PrintedTokens {
    fn add(&self, token: &str) {
        let mut printed = self.0.lock();
        if !printed.last.iter().any(|it| it == token) {
            printed.last.push_front(token.to_owned());
            printed.last.truncate(REMEMBERED);
            printed.count += 1;
        }
    }

    /// Adds the tokens that are new since `known` of them were printed; how many there were by now.
    pub fn add_new_to(&self, secrets: &mut Secrets, known: usize) -> usize {
        let printed = self.0.lock();
        let new = printed.last.iter().take(printed.count - known);
        secrets.extend(new.cloned());
        printed.count
    }
}

impl CommandCredentials {
    pub fn new(server: Weak<Server>, command: AuthCommand) -> Self {
        Self {
            server,
            command,
            kept: Mutex::default(),
        }
    }

    /// Runs the program and keeps what it prints.
    async fn renew(&self, kept: &mut Option<Kept>) -> Result<Credentials, CredentialsLost> {
        let server = self.server.upgrade();
        let server =
            server.ok_or_else(|| CredentialsLost::ForNow("the server is shutting down".into()))?;
        let name = &self.command.command;
        let failed = |why: String| {
            let text = format!("provider auth command `{name}` {why}");
            CredentialsLost::ForGood(text)
        };
        let limit = self.command.timeout_ms;
        let ran = timeout(Duration::from_millis(limit), self.run(&server)).await;
        let late = |_| failed(format!("timed out after {limit} ms"));
        let token = ran.map_err(late)?.map_err(failed)?;
        server.printed_tokens.add(&token);
        let token = Secret::new(token);
        *kept = Some(Kept {
            token: token.clone(),
            since: Instant::now(),
        });
        Ok(Credentials::ApiKey(token))
    }

    /// What the program prints, or what is wrong with it.
    async fn run(&self, server: &Arc<Server>) -> Result<String, String> {
        let argv = std::iter::once(&self.command.command).chain(&self.command.args);
        let cwd = self.command.cwd.as_ref();
        let cwd = cwd.map_or_else(|| server.cwd().to_owned(), |it| server.cwd().join(it));
        let mut command = Command::new(argv, cwd, Policy::FullAccess);
        let vars = server.settings.config.env().vars();
        command.env = vars
            .map(|(name, value)| (name.into(), value.into()))
            .collect();
        let spawned = quipu_sandbox::spawn(command).await;
        let mut spawned = spawned.map_err(|error| format!("failed to start: {error}"))?;
        let (mut token, mut complaint) = (Vec::new(), Vec::new());
        while let Some(chunk) = spawned.output.next().await {
            let (text, limit) = match chunk.stream {
                Stream::Stdout => (&mut token, MAX_OUTPUT),
                Stream::Stderr => (&mut complaint, SHOWN),
            };
            text.extend_from_slice(&chunk.bytes);
            text.truncate(limit + 1);
            if text.len() > MAX_OUTPUT {
                return Err(format!("printed more than {MAX_OUTPUT} bytes"));
            }
        }
        let exit = spawned.process.wait().await;
        let token = String::from_utf8(token)
            .map_err(|_| "printed output that is not valid UTF-8".to_owned())?;
        let token = token.trim();
        if exit != Exit::Code(0) {
            let complaint = String::from_utf8_lossy(&complaint);
            let ended = match exit {
                Exit::Code(code) => format!("exited with status {code}: {complaint}"),
                Exit::Signal(signal) => format!("was ended by signal {signal}: {complaint}"),
            };
            let mut secrets = Secrets::default();
            secrets.add(token);
            let ended = ended.trim_end_matches(|it: char| it == ':' || it.is_whitespace());
            return Err(secrets.redact(ended.to_owned()));
        }
        if token.is_empty() {
            return Err("produced an empty token".to_owned());
        }
        Ok(token.to_owned())
    }
}

impl CredentialSource for CommandCredentials {
    fn current(&self) -> BoxFuture<'_, Result<Credentials, CredentialsLost>> {
        Box::pin(async {
            let mut kept = self.kept.lock().await;
            let lasts = Duration::from_millis(self.command.refresh_interval_ms);
            match kept.as_ref().filter(|it| it.since.elapsed() < lasts) {
                Some(fresh) => Ok(Credentials::ApiKey(fresh.token.clone())),
                None => self.renew(&mut kept).await,
            }
        })
    }

    fn recover<'a>(
        &'a self,
        refused: &'a Credentials,
    ) -> BoxFuture<'a, Result<Option<Recovered>, CredentialsLost>> {
        Box::pin(async move {
            let mut kept = self.kept.lock().await;
            let newer = kept
                .as_ref()
                .map(|it| Credentials::ApiKey(it.token.clone()))
                .filter(|newer| newer != refused);
            let more = newer.is_some();
            let credentials = match newer {
                Some(newer) => newer,
                None => self.renew(&mut kept).await?,
            };
            Ok(Some(Recovered { credentials, more }))
        })
    }
}
