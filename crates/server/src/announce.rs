//! The program of the setting `notify`, which is started when a turn went as it should. No turn waits for it.
//! It belongs to the server all the same: it and what it starts have a minute, and half a second once the
//! server was asked to end.

use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use quipu_sandbox::{Command, Linger, Policy, Spawned, Stdio};
use serde::Serialize;
use tokio::sync::{Semaphore, watch};
use tokio::time::{sleep, timeout};

/// Programs that may run at the same time. They are for people, who do not look at more.
const MAX_AT_ONCE: u32 = 8;

/// How long a program and what it starts may run.
const LIFETIME: Duration = Duration::from_secs(60);

/// How long they may run once the server was asked to end.
const LAST: Duration = Duration::from_millis(500);

/// The longest argument: the system takes no longer ones.
const MAX_ARGUMENT: usize = 120 * 1024;

/// How much of the last message is reported at most.
const MAX_MESSAGE: usize = 16 * 1024;

/// What the program is given about a turn.
#[derive(Serialize)]
#[serde(
    rename_all = "kebab-case",
    tag = "type",
    rename = "agent-turn-complete"
)]
pub(crate) struct Announcement {
    pub thread_id: String,
    pub turn_id: String,
    pub cwd: String,
    /// The client whose thread it is; agents have none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
    /// All that the user said in the thread.
    pub input_messages: Vec<String>,
    pub last_assistant_message: Option<String>,
}

impl Announcement {
    /// The last argument of the program. If that is too much, the oldest messages are left out.
    fn into_argument(mut self) -> String {
        if let Some(message) = &mut self.last_assistant_message {
            let mut end = message.len().min(MAX_MESSAGE);
            while !message.is_char_boundary(end) {
                end -= 1;
            }
            message.truncate(end);
        }
        let mut room = MAX_ARGUMENT;
        let is_kept = |message: &&String| {
            room = room.saturating_sub(message.len());
            room > 0
        };
        let kept = self.input_messages.iter().rev().take_while(is_kept).count();
        self.input_messages
            .drain(..self.input_messages.len() - kept);
        loop {
            // Strings can always be written.
            let argument = serde_json::to_string(&self).unwrap_or_default();
            if argument.len() <= MAX_ARGUMENT || self.input_messages.is_empty() {
                return argument;
            }
            self.input_messages.remove(0);
        }
    }
}

/// The programs that run.
pub(crate) struct Announcer {
    places: Arc<Semaphore>,
    /// Whether all of them are to end.
    over: watch::Sender<bool>,
}

impl Default for Announcer {
    fn default() -> Announcer {
        Announcer {
            places: Arc::new(Semaphore::new(MAX_AT_ONCE as usize)),
            over: watch::Sender::new(false),
        }
    }
}

impl Announcer {
    /// Starts the program, unless too many run.
    pub fn start(
        &self,
        mut argv: Vec<String>,
        announcement: Announcement,
        env: Vec<(OsString, OsString)>,
        cwd: &Path,
    ) {
        let program = argv.first().cloned().unwrap_or_default();
        let Ok(place) = Arc::clone(&self.places).try_acquire_owned() else {
            return tracing::warn!(program, "notify skipped: too many programs running");
        };
        argv.push(announcement.into_argument());
        let mut command = Command::new(argv, cwd, Policy::FullAccess);
        command.env = env;
        command.stdio = Stdio::Null;
        command.linger = Linger::Keep;
        let mut over = self.over.subscribe();
        tokio::spawn(async move {
            match quipu_sandbox::spawn(command).await {
                Ok(Spawned { process, .. }) => tokio::select! {
                    () = process.gone() => {}
                    () = sleep(LIFETIME) => {
                        tracing::warn!(program, "notify program timed out; killed");
                    }
                    // The server is gone, too.
                    _ = over.wait_for(|over| *over) => {}
                },
                Err(error) => tracing::error!(program, %error, "failed to start notify program"),
            }
            drop(place);
        });
    }

    /// Waits for the programs that run, but not longer than `limit`; whether they have ended.
    pub async fn finish(&self, limit: Duration) -> bool {
        timeout(limit, self.places.acquire_many(MAX_AT_ONCE))
            .await
            .is_ok()
    }

    /// Ends the programs that run, after a last short while.
    pub async fn end(&self) {
        if !self.finish(LAST).await {
            tracing::warn!("notify program still running at shutdown; killed");
        }
        self.over.send_replace(true);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn announcement(input_messages: Vec<String>, last: &str) -> Announcement {
        Announcement {
            thread_id: "T".to_owned(),
            turn_id: "U".to_owned(),
            cwd: "/w".to_owned(),
            client: None,
            input_messages,
            last_assistant_message: Some(last.to_owned()),
        }
    }

    #[test]
    fn the_argument_has_the_members_in_their_order() {
        let announcement = Announcement {
            client: Some("c".to_owned()),
            ..announcement(vec!["one".to_owned(), "two".to_owned()], "done")
        };
        assert_eq!(
            announcement.into_argument(),
            r#"{"type":"agent-turn-complete","thread-id":"T","turn-id":"U","cwd":"/w","client":"c","input-messages":["one","two"],"last-assistant-message":"done"}"#
        );
    }

    #[test]
    fn an_argument_is_never_too_long_and_keeps_what_is_newest() {
        let long = "\u{1}".repeat(MAX_ARGUMENT);
        for message in ["x".repeat(70_000), long.clone(), "é".repeat(60_000)] {
            let messages = vec![message.clone(), message, "newest".to_owned()];
            let argument = announcement(messages, &long).into_argument();
            assert!(argument.len() <= MAX_ARGUMENT, "{}", argument.len());
            assert!(argument.contains(r#""newest"]"#));
        }
    }
}
