//! What the chat knows and shows: keys, notifications and outcomes go in; lines and effects come out. It does no IO.

mod command;
mod live;
mod notified;
mod outcome;

use std::collections::VecDeque;

use quipu_client::wire::{
    AskForApproval, ReasoningEffort, SandboxPolicy, ThreadTokenUsage, TurnStartParams, UserInput,
};

use crate::complete::{self, Word};
use crate::edit::Edit;
use crate::keys::Key;
use crate::menu::{Menu, Pick};
use crate::question::Question;
use crate::session::Effect;
use crate::style::Line;
use crate::transcript::Transcript;

/// The conversation that is open.
struct Open {
    thread_id: String,
    model: String,
    cwd: String,
    effort: Option<ReasoningEffort>,
    approval_policy: AskForApproval,
    sandbox: SandboxPolicy,
}

/// Whether there is a server.
enum Link {
    Connected,
    /// Why not; it is being retried.
    Lost(String),
}

/// The chat.
pub struct App {
    pub edit: Edit,
    menu: Option<Menu>,
    questions: VecDeque<Question>,
    open: Option<Open>,
    link: Link,
    turn_id: Option<String>,
    /// Whether a turn was asked for and has not begun.
    is_sending: bool,
    /// For how many seconds it is being done.
    seconds: u64,
    transcript: Transcript,
    usage: Option<ThreadTokenUsage>,
    /// Text that was set aside to answer a question.
    aside: Option<String>,
    /// What the next turn is to change.
    chosen: TurnStartParams,
    /// What to send when a thread is open, or when the running turn has ended.
    waiting: Vec<String>,
    /// Whether a thread is being opened.
    is_opening: bool,
    /// Whether the last key was Ctrl-C with nothing to interrupt.
    is_leaving: bool,
    pub is_over: bool,
    effects: Vec<Effect>,
}

impl App {
    /// A chat that says this first, if it is to say something.
    pub fn new(first: Option<String>) -> App {
        App {
            edit: Edit::default(),
            menu: None,
            questions: VecDeque::new(),
            open: None,
            link: Link::Connected,
            turn_id: None,
            is_sending: false,
            seconds: 0,
            transcript: Transcript::default(),
            usage: None,
            aside: None,
            chosen: TurnStartParams::default(),
            waiting: first.into_iter().collect(),
            is_opening: true,
            is_leaving: false,
            is_over: false,
            effects: Vec::new(),
        }
    }

    /// Lines for the scrollback since the last time.
    pub fn printed(&mut self) -> Vec<Line> {
        self.transcript.take()
    }

    /// What to ask of the server since the last time.
    pub fn effects(&mut self) -> Vec<Effect> {
        std::mem::take(&mut self.effects)
    }

    pub fn thread_id(&self) -> Option<&str> {
        self.open.as_ref().map(|it| it.thread_id.as_str())
    }

    /// Everything that was typed and not sent.
    pub fn unsent(&self) -> String {
        let kept = self.waiting.iter().chain(&self.aside);
        let typed = kept.map(String::as_str).chain([self.edit.text()]);
        let typed: Vec<_> = typed.filter(|it| !it.trim().is_empty()).collect();
        typed.join("\n")
    }

    fn print(&mut self, line: Line) {
        self.transcript.print(line);
    }

    pub fn alert(&mut self, text: impl Into<String>) {
        self.transcript.alert(text);
    }

    fn is_busy(&self) -> bool {
        self.turn_id.is_some() || self.is_sending
    }

    /// A second has passed.
    pub fn tick(&mut self) {
        self.seconds += 1;
        self.forget_settled();
    }

    /// Drops questions that need no answer any more.
    fn forget_settled(&mut self) {
        self.questions.retain(|it| !it.is_settled());
    }

    pub fn asked(&mut self, question: Question) {
        self.questions.push_back(question);
    }

    /// The server is gone.
    pub fn lost(&mut self, cause: &str) {
        let cause = cause.lines().next().unwrap_or_default().to_owned();
        if matches!(self.link, Link::Connected) {
            self.alert(format!("The server is gone: {cause}"));
        }
        self.link = Link::Lost(cause);
        self.turn_id = None;
        self.is_sending = false;
        self.questions.clear();
        self.menu = None;
    }

    /// The server is there again.
    pub fn connected(&mut self) {
        if let Link::Lost(_) = self.link {
            self.link = Link::Connected;
            self.is_opening = self.open.is_none();
            self.print(Line::dim("connected again"));
            let resume = self
                .open
                .as_ref()
                .map(|it| Effect::Resume(it.thread_id.clone()));
            // Until the conversation is open again, what is sent waits.
            self.is_sending = resume.is_some();
            self.effects.extend(resume);
        }
    }

    pub fn paste(&mut self, text: &str) {
        let text = text.replace("\r\n", "\n").replace('\r', "\n");
        self.edit.insert(&crate::wrap::clean(&text));
        self.complete();
    }

    pub fn key(&mut self, key: Key) {
        self.forget_settled();
        let was_leaving = std::mem::take(&mut self.is_leaving);
        if key == Key::Interrupt {
            return self.interrupt(was_leaving);
        }
        if self.question_key(key) || self.menu_key(key) {
            return;
        }
        match key {
            Key::Enter => self.enter(),
            Key::EndOfInput if self.edit.is_empty() => self.leave(),
            Key::Escape if self.turn_id.is_some() && self.edit.is_empty() => self.stop_turn(),
            _ => {
                edit_key(&mut self.edit, key);
                self.complete();
            }
        }
    }

    /// Ctrl-C: stops the turn; else clears the input, which the history keeps; else leaves, the second time.
    fn interrupt(&mut self, was_leaving: bool) {
        if self.menu.take().is_some() {
            return;
        }
        if self.turn_id.is_some() {
            self.stop_turn();
        } else if !self.edit.is_empty() {
            self.edit.take();
        } else if was_leaving {
            self.leave();
        } else {
            self.is_leaving = true;
        }
    }

    fn stop_turn(&mut self) {
        if let (Some(open), Some(turn_id)) = (&self.open, &self.turn_id) {
            let (thread_id, turn_id) = (open.thread_id.clone(), turn_id.clone());
            self.effects.push(Effect::Interrupt { thread_id, turn_id });
            self.transcript.activity = "stopping".to_owned();
        }
    }

    fn leave(&mut self) {
        self.is_over = true;
    }

    /// A key that answers the first question.
    fn question_key(&mut self, key: Key) -> bool {
        let Some(question) = self.questions.front() else {
            return false;
        };
        let letter = match key {
            Key::Letter(letter) if self.edit.is_empty() => letter,
            Key::Escape => '\x1b',
            Key::Enter if question.takes_text() && !self.edit.text().trim().is_empty() => {
                let text = self.edit.take();
                if let Some(question) = self.questions.pop_front() {
                    self.print(Line::plain(format!("  {text}")));
                    question.type_in(text);
                }
                return true;
            }
            // What is typed meanwhile stays, but is not sent before the question is answered.
            Key::Enter => return true,
            Key::Tab if !self.edit.is_empty() => {
                self.aside = Some(self.edit.take());
                return true;
            }
            _ => return false,
        };
        let takes_text = question.takes_text();
        let Some(question) = self.questions.pop_front() else {
            return false;
        };
        match question.press(letter) {
            Ok(text) => {
                self.print(Line::dim(format!("  {text}")));
                if self.questions.is_empty()
                    && let Some(text) = self.aside.take()
                {
                    self.edit.set(text);
                }
                true
            }
            Err(question) => {
                self.questions.push_front(*question);
                // A letter that is no answer begins one, where text is an answer.
                !takes_text && letter != '\x1b'
            }
        }
    }

    fn menu_key(&mut self, key: Key) -> bool {
        let Some(menu) = &mut self.menu else {
            return false;
        };
        match key {
            Key::Up => menu.up(),
            Key::Down => menu.down(),
            Key::Escape => self.menu = None,
            Key::Tab | Key::Enter => {
                if let Some(menu) = self.menu.take() {
                    self.picked(menu.pick());
                }
            }
            _ if menu.is_completion => return false,
            _ => {}
        }
        true
    }

    fn picked(&mut self, pick: Pick) {
        match pick {
            Pick::Text { from, with } => {
                let to = self.edit.cursor();
                self.edit.replace(from.min(to), to, &with);
                // A command that needs nothing more is run at once.
                if with.trim_end() == self.edit.text().trim_end() && with.starts_with('/') {
                    self.edit.set(with.trim_end());
                    self.enter();
                }
            }
            Pick::Thread(id) => self.open_with(Effect::Resume(id)),
            Pick::Model(name) => self.use_model(name),
        }
    }

    /// Offers what fits what is typed.
    fn complete(&mut self) {
        if self.menu.as_ref().is_some_and(|it| !it.is_completion) {
            return;
        }
        self.menu = None;
        match complete::word(self.edit.text(), self.edit.cursor()) {
            Some(Word::Command(begun)) => self.menu = complete::commands(begun),
            Some(Word::File { at, query }) if !query.is_empty() => {
                if let Some(open) = &self.open {
                    let (root, query) = (open.cwd.clone(), query.to_owned());
                    self.effects.push(Effect::Files { root, query, at });
                }
            }
            _ => {}
        }
    }

    fn enter(&mut self) {
        if self.edit.text().trim().is_empty() {
            return;
        }
        if let Some(command) = crate::command::parse(self.edit.text()) {
            let text = self.edit.take();
            self.print(Line::dim(format!("> {}", text.trim())));
            return match command {
                Ok(command) => self.command(command),
                Err(error) => {
                    self.alert(error);
                    // What was typed can be corrected.
                    self.edit.set(text);
                }
            };
        }
        if let Link::Lost(_) = self.link {
            return;
        }
        let text = self.edit.take();
        self.send(text);
    }

    /// Says something: to the running turn if there is one, else in a new one.
    fn send(&mut self, text: String) {
        let Some(open) = &self.open else {
            self.waiting.push(text);
            // One that could not be opened is replaced by a new one.
            if !self.is_opening {
                self.open_with(Effect::New);
            }
            return;
        };
        if self.is_sending {
            return self.waiting.push(text);
        }
        let thread_id = open.thread_id.clone();
        if let Some(turn_id) = self.turn_id.clone() {
            return self.effects.push(Effect::Steer {
                thread_id,
                turn_id,
                text,
            });
        }
        let input = vec![UserInput::Text {
            text: text.clone(),
            text_elements: Vec::new(),
        }];
        let chosen = std::mem::take(&mut self.chosen);
        let params = TurnStartParams {
            thread_id,
            input,
            ..chosen
        };
        self.is_sending = true;
        self.begin("waiting for the model");
        self.effects.push(Effect::Send(Box::new(params), text));
    }

    /// Says what had to wait.
    fn send_waiting(&mut self) {
        let waiting = std::mem::take(&mut self.waiting).join("\n");
        if !waiting.is_empty() {
            self.send(waiting);
        }
    }

    /// Begins to open another conversation.
    fn open_with(&mut self, effect: Effect) {
        self.is_opening = true;
        self.effects.push(effect);
    }

    fn begin(&mut self, activity: &str) {
        self.transcript.activity = activity.to_owned();
        self.seconds = 0;
    }
}

fn edit_key(edit: &mut Edit, key: Key) {
    match key {
        Key::Letter(letter) => edit.insert(letter.encode_utf8(&mut [0; 4])),
        Key::NewLine => edit.insert("\n"),
        Key::Backspace => edit.backspace(),
        Key::Delete | Key::EndOfInput => edit.delete_next(),
        Key::DeleteWord => edit.delete_word(),
        Key::DeleteToStart => edit.delete_to_start(),
        Key::DeleteToEnd => edit.delete_to_end(),
        Key::Left => edit.left(),
        Key::Right => edit.right(),
        Key::Up => edit.up(),
        Key::Down => edit.down(),
        Key::Home => edit.home(),
        Key::End => edit.end(),
        Key::Enter | Key::Tab | Key::Escape | Key::Interrupt => {}
    }
}
