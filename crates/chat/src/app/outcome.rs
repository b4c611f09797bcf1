//! What came of what was asked of the server.

use quipu_client::wire::{Model, Thread, TurnStatus};

use super::{App, Open};
use crate::complete::{self, Word};
use crate::item;
use crate::menu::{Menu, Pick};
use crate::session::{Opened, Outcome};
use crate::style::Line;
use crate::wrap::clean;

impl App {
    /// What came of an effect.
    pub fn outcome(&mut self, outcome: Outcome) {
        match outcome {
            Outcome::Opened(opened) => self.opened(*opened),
            // Notifications tell the rest.
            Outcome::Done => {}
            Outcome::NotSent(text, error) => {
                self.is_sending = false;
                self.alert(format!("Not sent: {}", clean(&error)));
                self.give_back(text);
            }
            // The turn has ended meanwhile, or takes no input; what was said is not lost.
            Outcome::NotSteered { turn_id, text } => match self.turn_id == Some(turn_id) {
                true => self.waiting.push(text),
                false => self.send(text),
            },
            Outcome::Models(models) => self.pick_from("model", model_entries(models)),
            Outcome::Threads(threads) => self.pick_from("conversation", thread_entries(threads)),
            Outcome::Diff(text) if text.trim().is_empty() => {
                self.print(Line::plain("nothing changed since the last commit"));
            }
            Outcome::Diff(text) => self.transcript.extend(item::diff(&clean(&text), "")),
            Outcome::Files { query, at, paths } => {
                let typed = complete::word(self.edit.text(), self.edit.cursor());
                let is_wanted =
                    typed == Some(Word::File { at, query: &query }) && self.questions.is_empty();
                if is_wanted && self.menu.as_ref().is_none_or(|it| it.is_completion) {
                    self.menu = complete::files(at, paths);
                }
            }
            Outcome::Failed(error) => {
                self.is_sending = false;
                self.alert(clean(&error));
                let waiting = std::mem::take(&mut self.waiting).join("\n");
                if !waiting.is_empty() && self.turn_id.is_none() {
                    self.give_back(waiting);
                }
            }
        }
    }

    /// Returns text that could not be sent to the input.
    fn give_back(&mut self, text: String) {
        let text = match self.edit.text() {
            "" => text,
            typed => format!("{text}\n{typed}"),
        };
        self.edit.set(text);
    }

    fn pick_from(&mut self, what: &str, entries: Vec<(String, Pick)>) {
        self.menu = Menu::new(&format!("choose a {what}"), entries, false);
        if self.menu.is_none() {
            self.print(Line::plain(format!("there is no {what} to choose from")));
        }
    }

    fn opened(&mut self, opened: Opened) {
        let Opened {
            thread,
            model,
            cwd,
            effort,
            approval_policy,
            sandbox,
        } = opened;
        let is_same = self.thread_id() == Some(thread.id.as_str());
        let title = format!("{model} in {cwd}");
        self.open = Some(Open {
            thread_id: thread.id.clone(),
            model,
            cwd,
            effort,
            approval_policy,
            sandbox,
        });
        self.transcript.end_turn();
        let last = thread.turns.last();
        let running = last.filter(|it| it.status == TurnStatus::InProgress);
        self.turn_id = running.map(|it| it.id.clone());
        self.is_sending = false;
        self.print(Line::dim(title));
        self.transcript.show_turns(&thread.turns, is_same);
        let waiting = std::mem::take(&mut self.waiting);
        for text in self.first.take().into_iter().chain(waiting) {
            self.send(text);
        }
    }
}

fn model_entries(models: Vec<Model>) -> Vec<(String, Pick)> {
    let shown = models.into_iter().filter(|it| !it.hidden);
    let entry = |it: Model| {
        let name = format!("{:<24} {}", it.model, it.description);
        (clean(&name), Pick::Model(it.model))
    };
    shown.map(entry).collect()
}

fn thread_entries(threads: Vec<Thread>) -> Vec<(String, Pick)> {
    let entry = |it: Thread| {
        let title = it.name.unwrap_or(it.preview);
        let title = if title.is_empty() {
            "(nothing said)".to_owned()
        } else {
            title
        };
        let name = clean(&title).replace('\n', " ");
        (format!("{name}  {}", it.cwd), Pick::Thread(it.id))
    };
    threads.into_iter().map(entry).collect()
}
