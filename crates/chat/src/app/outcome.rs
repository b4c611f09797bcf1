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
            Outcome::Threads { threads, now } => {
                self.pick_from("conversation", thread_entries(threads, now));
            }
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
            Outcome::NotOpened(error) => {
                self.is_opening = false;
                self.failed(&error);
            }
            Outcome::Failed(error) => self.failed(&error),
        }
    }

    fn failed(&mut self, error: &str) {
        self.is_sending = false;
        self.alert(clean(error));
        if self.turn_id.is_none() && !self.waiting.is_empty() {
            let waiting = std::mem::take(&mut self.waiting);
            self.give_back(waiting.join("\n"));
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
        self.is_opening = false;
        self.print(Line::dim(title));
        self.transcript.show_turns(&thread.turns, is_same);
        self.send_waiting();
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

fn thread_entries(threads: Vec<Thread>, now: i64) -> Vec<(String, Pick)> {
    let entry = |it: Thread| {
        let title = it.name.unwrap_or(it.preview);
        let title = if title.is_empty() {
            "(nothing said)".to_owned()
        } else {
            title
        };
        let name = clean(&title).replace('\n', " ");
        let age = age(now - it.updated_at);
        (format!("{age:>6}  {name}  {}", it.cwd), Pick::Thread(it.id))
    };
    threads.into_iter().map(entry).collect()
}

/// How long something is ago.
fn age(seconds: i64) -> String {
    match seconds {
        ..60 => "now".to_owned(),
        60..3600 => format!("{} min", seconds / 60),
        3600..86400 => format!("{} h", seconds / 3600),
        _ => format!("{} d", seconds / 86400),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::Key;
    use crate::session::Effect;

    #[test]
    fn ages_are_short() {
        let ages = [-5, 59, 61, 7200, 86400 * 3].map(age);
        assert_eq!(ages, ["now", "now", "1 min", "2 h", "3 d"]);
    }

    #[test]
    fn what_is_sent_after_a_conversation_was_not_opened_begins_a_new_one() {
        let mut app = App::new(Some("first".to_owned()));
        assert_eq!(app.unsent(), "first");
        app.outcome(Outcome::NotOpened("no rollout found".to_owned()));
        // What was to be said first can be seen and sent again.
        assert_eq!(app.edit.text(), "first");
        app.key(Key::Enter);
        assert!(matches!(app.effects().as_slice(), [Effect::New]));
        assert_eq!((app.edit.text(), app.unsent().as_str()), ("", "first"));
    }

    #[test]
    fn a_failure_during_a_turn_keeps_what_waits_for_its_end() {
        let mut app = App::new(Some("later".to_owned()));
        app.turn_id = Some("turn".to_owned());
        app.outcome(Outcome::Failed("no models".to_owned()));
        assert_eq!((app.edit.text(), app.unsent().as_str()), ("", "later"));
    }
}
