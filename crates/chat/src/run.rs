//! The chat on a real terminal with a real server: waits for keys, notifications, questions and outcomes, and draws.

use std::io::{self, Stdout};
use std::path::PathBuf;
use std::time::Duration;

use crossterm::event::{DisableBracketedPaste, EnableBracketedPaste, Event as Input, EventStream};
use crossterm::{execute, terminal};
use futures_util::StreamExt as _;
use quipu_client::{Client, Connect, Event, Timeouts};
use tokio::sync::mpsc;

use crate::app::App;
use crate::keys;
use crate::question::{Question, Questions};
use crate::screen::Screen;
use crate::session::{self, Effect, Outcome, Start};

/// How long to wait between two attempts to connect: at first, and at most.
const RETRY: (Duration, Duration) = (Duration::from_millis(500), Duration::from_secs(10));
/// Questions and outcomes that may wait.
const QUEUE: usize = 64;

/// How to chat.
#[derive(Debug, Default)]
pub struct ChatOptions {
    /// What to say first.
    pub prompt: Option<String>,
    /// The thread to continue; an empty id lets the user choose.
    pub resume: Option<String>,
    /// The model of new threads; the configured one if not given.
    pub model: Option<String>,
    /// The directory of new threads; the server's own if not given.
    pub cwd: Option<PathBuf>,
    /// Whether to use colour.
    pub colour: bool,
    /// The version to introduce this client with.
    pub version: String,
    /// Where the server is, if it is not in this process.
    pub address: Option<String>,
}

/// Chats until the user leaves. Says what to tell the user afterwards: how to continue, and what was typed and not sent.
pub async fn run(connect: Connect, options: ChatOptions) -> io::Result<Vec<String>> {
    terminal::enable_raw_mode()?;
    let _terminal = Terminal;
    execute!(io::stdout(), EnableBracketedPaste)?;
    let screen = Screen::new(io::stdout(), options.colour, terminal::size()?);
    let mut chat = Chat::new(connect, options, screen);
    let done = chat.run().await;
    let printed = chat.app.printed();
    chat.screen.leave(&printed)?;
    done?;
    Ok(chat.farewell())
}

/// Gives the terminal back as it was, whatever happens.
struct Terminal;

impl Drop for Terminal {
    fn drop(&mut self) {
        // There is nobody left to tell if this fails.
        drop(execute!(io::stdout(), DisableBracketedPaste));
        drop(terminal::disable_raw_mode());
    }
}

struct Chat {
    app: App,
    screen: Screen<Stdout>,
    connect: Connect,
    start: Start,
    version: String,
    address: Option<String>,
    resume: Option<String>,
    client: Option<Client>,
    questions: mpsc::Sender<Question>,
    asked: mpsc::Receiver<Question>,
    done: mpsc::Sender<Outcome>,
    outcomes: mpsc::Receiver<Outcome>,
}

/// An attempt to connect, and how long the next one waits.
type Connected = Result<(Client, quipu_client::EventStream), String>;

impl Chat {
    fn new(connect: Connect, options: ChatOptions, screen: Screen<Stdout>) -> Chat {
        let (questions, asked) = mpsc::channel(QUEUE);
        let (done, outcomes) = mpsc::channel(QUEUE);
        Chat {
            app: App::new(options.prompt),
            screen,
            connect,
            start: Start {
                model: options.model,
                cwd: options.cwd,
            },
            version: options.version,
            address: options.address,
            resume: options.resume,
            client: None,
            questions,
            asked,
            done,
            outcomes,
        }
    }

    /// Connects, after a while.
    fn connecting(&self, wait: Duration) -> impl Future<Output = Connected> + Send + use<> {
        let options = (self.connect)()
            .client("quipu-chat", self.version.clone())
            .handler(Questions(self.questions.clone()))
            .timeouts(Timeouts {
                turn_silence: None,
                turn_total: None,
                ..Timeouts::default()
            });
        let address = self.address.clone();
        async move {
            tokio::time::sleep(wait).await;
            let connected = Client::connect_with_events(options).await;
            connected.map_err(|error| match address {
                Some(address) => format!("{address}: {error}"),
                None => error.to_string(),
            })
        }
    }

    async fn run(&mut self) -> io::Result<()> {
        let mut inputs = EventStream::new();
        let mut ticks = tokio::time::interval(Duration::from_secs(1));
        let mut wait = RETRY.0;
        let mut connecting = Some(Box::pin(self.connecting(Duration::ZERO)));
        let mut events: Option<quipu_client::EventStream> = None;
        loop {
            self.draw()?;
            if self.app.is_over {
                break;
            }
            tokio::select! {
                input = inputs.next() => match input {
                    Some(input) => self.input(input?),
                    None => self.app.is_over = true,
                },
                connected = poll(&mut connecting), if connecting.is_some() => {
                    connecting = None;
                    match connected {
                        Ok((client, stream)) => {
                            wait = RETRY.0;
                            events = Some(stream);
                            self.connected(client);
                        }
                        Err(error) => {
                            self.app.lost(&error);
                            connecting = Some(Box::pin(self.connecting(wait)));
                            wait = (wait * 2).min(RETRY.1);
                        }
                    }
                },
                event = next(&mut events), if events.is_some() => match event {
                    Some(Event::Notification(notification)) => self.app.notified(&notification),
                    Some(Event::Lagged(lagged)) => {
                        self.app.alert(format!("{} notifications were missed", lagged.missed));
                    }
                    Some(Event::Closed(cause)) => {
                        self.app.lost(&cause.to_string());
                        (self.client, events) = (None, None);
                        connecting = Some(Box::pin(self.connecting(wait)));
                    }
                    Some(_) => {}
                    None => events = None,
                },
                Some(question) = self.asked.recv() => self.app.asked(question),
                Some(outcome) = self.outcomes.recv() => self.app.outcome(outcome),
                _ = ticks.tick() => self.app.tick(),
            }
            self.perform();
        }
        if let Some(client) = &self.client {
            client.disconnect().await;
        }
        Ok(())
    }

    /// The first connection opens a thread; later ones open the same again.
    fn connected(&mut self, client: Client) {
        self.client = Some(client);
        self.app.connected();
        if self.app.thread_id().is_none() {
            let effects = match self.resume.clone() {
                Some(id) if id.is_empty() => vec![Effect::New, Effect::Threads],
                Some(id) => vec![Effect::Resume(id)],
                None => vec![Effect::New],
            };
            for effect in effects {
                self.ask(effect);
            }
        }
    }

    fn perform(&mut self) {
        for effect in self.app.effects() {
            self.ask(effect);
        }
    }

    fn ask(&mut self, effect: Effect) {
        match &self.client {
            Some(client) => session::perform(client, &self.start, effect, &self.done),
            None => {
                let error = "there is no server".to_owned();
                let outcome = match effect {
                    Effect::Send(_, text) | Effect::Steer { text, .. } => {
                        Outcome::NotSent(text, error)
                    }
                    effect if effect.opens() => Outcome::NotOpened(error),
                    _ => Outcome::Failed(error),
                };
                self.app.outcome(outcome);
            }
        }
    }

    fn input(&mut self, input: Input) {
        match input {
            Input::Key(key) => {
                if let Some(key) = keys::of(key) {
                    self.app.key(key);
                }
            }
            Input::Paste(text) => self.app.paste(&text),
            Input::Resize(columns, rows) => self.screen.resize(columns, rows),
            _ => {}
        }
    }

    fn draw(&mut self) -> io::Result<()> {
        let printed = self.app.printed();
        let live = self.app.live(self.screen.columns(), self.screen.rows());
        self.screen.draw(&printed, &live)
    }

    fn farewell(&self) -> Vec<String> {
        let mut lines = Vec::new();
        let unsent = self.app.unsent();
        if !unsent.is_empty() {
            lines.push(format!("not sent: {unsent}"));
        }
        if let Some(id) = self.app.thread_id() {
            lines.push(format!("continue with: --resume {id}"));
        }
        lines
    }
}

/// Waits for a connection that is being made.
async fn poll(
    connecting: &mut Option<std::pin::Pin<Box<impl Future<Output = Connected>>>>,
) -> Connected {
    match connecting {
        Some(connecting) => connecting.await,
        None => std::future::pending().await,
    }
}

async fn next(events: &mut Option<quipu_client::EventStream>) -> Option<Event> {
    match events {
        Some(events) => events.next().await,
        None => std::future::pending().await,
    }
}
