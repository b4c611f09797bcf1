//! The connection to the server: made when it is needed first, and again after it was lost.

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::FutureExt as _;
use quipu_client::wire::{Thread, ThreadResumeParams, Turn};
use quipu_client::{Client, EventStream, Timeouts};
use quipu_rpc::ErrorObject;

use crate::agent::Agent;
use crate::error::{Result, failed, missing, refused};
use crate::handler::Questions;
use crate::session::Session;

/// The first and the longest wait between attempts to connect.
const RETRY: (Duration, Duration) = (Duration::from_millis(200), Duration::from_secs(5));
/// How long a prompt waits for a lost server.
const PATIENCE: Duration = Duration::from_secs(120);
/// Why a session without prompts cannot be continued.
const UNUSED: &str =
    "the server was restarted before this session had a prompt; start a new session";
/// Agents above an agent that are looked for.
const MOST_PARENTS: usize = 16;

/// A session's thread on a connection.
pub struct Joined {
    pub client: Client,
    pub events: EventStream,
    /// The thread, if it was loaded just now.
    thread: Option<Thread>,
}

impl Joined {
    /// A turn of the thread that was loaded just now.
    pub fn turn(&self, id: &str) -> Option<&Turn> {
        self.thread.as_ref()?.turns.iter().find(|it| it.id == id)
    }

    /// The newest turn of the thread that was loaded just now, unless it is the one that is known.
    pub fn turn_after(&self, known: Option<&str>) -> Option<&Turn> {
        let last = self.thread.as_ref()?.turns.last()?;
        (Some(last.id.as_str()) != known).then_some(last)
    }
}

impl Agent {
    /// The connection to the server, a new one if the last has ended.
    pub async fn client(self: &Arc<Self>) -> Result<Client> {
        let mut connection = self.connection.lock().await;
        if let Some(client) = &*connection
            && client.closed().now_or_never().is_none()
        {
            return Ok(client.clone());
        }
        let (name, version) = self.editor_name();
        let options = (self.connect)()
            .client(name, version)
            .handler(Questions::new(self))
            .timeouts(Timeouts {
                turn_silence: None,
                turn_total: None,
                ..Timeouts::default()
            });
        let client = Client::connect(options)
            .await
            .map_err(|error| failed(format!("cannot connect to the server: {error}")))?;
        // Threads are loaded again when they are used next.
        self.unload_sessions();
        *connection = Some(client.clone());
        Ok(client)
    }

    /// Follows the thread of a session, loading it if its connection was lost. Waits for a server that cannot be
    /// reached, and shows that it does.
    pub async fn join(self: &Arc<Self>, session: &Session) -> Result<Joined> {
        let start = Instant::now();
        let mut wait = RETRY.0;
        loop {
            let error = match self.try_join(session).await {
                Ok(joined) => {
                    if wait != RETRY.0 {
                        self.editor
                            .say(&session.thread_id, "Connected again.\n\n")
                            .await;
                    }
                    return Ok(joined);
                }
                Err(TryAgain::Yes(error)) if start.elapsed() < PATIENCE => error,
                Err(TryAgain::Yes(error) | TryAgain::No(error)) => return Err(error),
            };
            if wait == RETRY.0 {
                let text = format!("{} Trying again…\n\n", sentence(&error.message));
                self.editor.say(&session.thread_id, &text).await;
            }
            tokio::time::sleep(wait).await;
            wait = (wait * 2).min(RETRY.1);
        }
    }

    async fn try_join(
        self: &Arc<Self>,
        session: &Session,
    ) -> std::result::Result<Joined, TryAgain> {
        let client = self.client().await.map_err(TryAgain::Yes)?;
        // Before the thread is loaded, so that nothing after that is missed.
        let events = client.thread_events(&session.thread_id);
        let thread = match session.is_loaded() {
            true => None,
            false => {
                let params = ThreadResumeParams {
                    thread_id: session.thread_id.clone(),
                    ..ThreadResumeParams::default()
                };
                let resumed = client.thread_resume(params).await;
                let resumed = resumed.map_err(|error| match error {
                    quipu_client::Error::Closed(cause) => TryAgain::Yes(failed(cause)),
                    // A thread is stored with its first turn.
                    _ if session.last_turn.lock().is_none() => TryAgain::No(missing(UNUSED)),
                    other => TryAgain::No(refused(other)),
                })?;
                session.loaded();
                Some(resumed.thread)
            }
        };
        Ok(Joined {
            client,
            events,
            thread,
        })
    }

    /// The session that a thread belongs to: its own, or that of the agent which started its agent.
    pub async fn session_of(self: &Arc<Self>, thread_id: &str) -> Option<Arc<Session>> {
        let mut id = thread_id.to_owned();
        for _ in 0..MOST_PARENTS {
            if let Ok(session) = self.session(&id) {
                return Some(session);
            }
            id = self.client().await.ok()?.parent_thread(id).await?;
        }
        None
    }
}

/// Why a thread could not be joined, and whether to try again.
enum TryAgain {
    Yes(ErrorObject),
    No(ErrorObject),
}

/// A reason as a sentence.
pub fn sentence(reason: &str) -> String {
    let mut letters = reason.trim_end_matches('.').chars();
    let first = letters.next().map(|it| it.to_uppercase().to_string());
    format!("{}{}.", first.unwrap_or_default(), letters.as_str())
}
