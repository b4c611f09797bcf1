//! The task that takes what the server says of its own accord, until the end of the connection, and
//! then tells everyone why it ended. It never waits for a listener or a handler.

use std::sync::Arc;

use quipu_rpc::{CloseReason, Event as Message, Inbox, Notification};
use tokio::sync::{mpsc, watch};

use crate::child::Exit;
use crate::event::{self, Event};
use crate::hub::Hub;
use crate::observe::{self, Observe, Received};
use crate::questions::Questions;
use crate::{Cause, ServerExit};

pub(crate) struct Dispatch {
    pub inbox: Inbox,
    pub hub: Arc<Hub>,
    pub questions: Questions,
    pub observer: Arc<dyn Observe>,
    /// Takes every notification with its number, until it is full.
    pub tap: Option<mpsc::Sender<Notification>>,
    /// Whether this client leaves, and a child process with it.
    pub stop: watch::Sender<bool>,
    /// How a child process ended.
    pub exit: Option<Exit>,
}

impl Dispatch {
    pub async fn run(mut self) {
        while let Some(message) = self.inbox.next().await {
            self.take(message);
        }
        drop(self.questions);
        let reason = self.inbox.closed().await;
        // A server that closes its output is done, whether it knows or not.
        let has_left = self.stop.send_replace(true);
        let exit = match self.exit {
            Some(exit) => exit.reported().await,
            None => None,
        };
        self.hub.close(&match has_left {
            true => Cause::Disconnected,
            false => cause(reason, exit),
        });
    }

    fn take(&mut self, message: Message) {
        match message {
            Message::Notification(notification) => {
                self.observer.received(Received::Notification {
                    method: &notification.method,
                    params: event::text(notification.params.as_ref()),
                });
                if notification.method == "serverRequest/resolved" {
                    self.questions.resolved(notification.params.as_ref());
                }
                self.hub.notify(&notification);
                if let Some(Err(_)) = self.tap.as_ref().map(|it| it.try_send(notification)) {
                    // Its reader sees the end, and resumes after what it has read.
                    self.tap = None;
                }
            }
            Message::Request(request) => {
                self.observer.received(Received::Question {
                    method: &request.method,
                    params: event::text(request.params.as_ref()),
                });
                self.questions.ask(request);
            }
            Message::Malformed { error, message } => {
                self.malformed(error.to_string(), observe::beginning(&message));
            }
            Message::Oversized { length } => {
                let error = format!("a message of {length} bytes is too long");
                self.malformed(error, String::new());
            }
        }
    }

    fn malformed(&self, error: String, text: String) {
        self.observer.received(Received::Malformed {
            error: &error,
            text: &text,
        });
        let size = error.len() + text.len();
        self.hub.tell(Event::Malformed { error, text }, size);
    }
}

fn cause(reason: CloseReason, exit: Option<Arc<ServerExit>>) -> Cause {
    match (reason, exit) {
        (CloseReason::Local, _) => Cause::Disconnected,
        (_, Some(exit)) => Cause::ServerExited(exit),
        (CloseReason::Remote, None) => Cause::ServerClosed,
        (reason, None) => Cause::Failed(reason),
    }
}
