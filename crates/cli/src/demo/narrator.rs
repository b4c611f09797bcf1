//! Who tells what is to be seen, and answers in the user's place.

use std::sync::Arc;

use parking_lot::{Mutex, MutexGuard};
use quipu_client::Handler;
use quipu_client::wire::{
    CommandExecutionApprovalDecision, CommandExecutionRequestApprovalParams,
    FileChangeApprovalDecision, FileChangeRequestApprovalParams,
};

use crate::exec::args::Color;
use crate::exec::screen::{Screen, Stream};
use crate::exec::text::Text;

#[derive(Clone)]
pub struct Narrator(Arc<Mutex<Text>>);

impl Narrator {
    pub fn new() -> Narrator {
        let screen = Screen::new(Stream::Output, Color::Auto);
        Narrator(Arc::new(Mutex::new(Text::new(screen))))
    }

    /// The screen, shared with the answers that are given meanwhile.
    pub fn text(&self) -> MutexGuard<'_, Text> {
        self.0.lock()
    }

    /// What comes next.
    pub fn say(&self, words: &str) {
        self.text().heading(words);
    }

    /// Something to look at.
    pub fn show(&self, words: &str) {
        self.text().indented(words);
    }
}

impl Handler for Narrator {
    async fn approve_command(
        &self,
        request: CommandExecutionRequestApprovalParams,
    ) -> CommandExecutionApprovalDecision {
        let command = request.command.unwrap_or_default();
        self.show(&format!("The server asks: may this run? {command}"));
        self.show("Your client would ask you; the demo says yes.");
        CommandExecutionApprovalDecision::Accept
    }

    async fn approve_file_change(
        &self,
        _request: FileChangeRequestApprovalParams,
    ) -> FileChangeApprovalDecision {
        self.show("The server asks: may the files be changed? The demo says yes.");
        FileChangeApprovalDecision::Accept
    }
}
