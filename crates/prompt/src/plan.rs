//! Ways of working with the person: the texts that explain them, and the plan that plan mode ends with,
//! which the model marks with tags in what it says.

use quipu_wire::ModeKind;

use super::speech::Speech;

const OPEN: &str = "<proposed_plan>";
const CLOSE: &str = "</proposed_plan>";

/// A longer line is no tag, whatever surrounds it.
const MAX_TAG_LINE: usize = 256;

/// The built-in instructions of a mode. `asks_by_tool` tells whether the tool `request_user_input` is
/// offered outside plan mode.
pub fn mode_instructions(mode: &ModeKind, asks_by_tool: bool) -> String {
    if *mode == ModeKind::Plan {
        return include_str!("prompts/plan_mode.md").trim_end().to_owned();
    }
    let questions = if asks_by_tool {
        "Prefer a sensible assumption to a question. Where you cannot go on without an answer, ask with \
         the tool `request_user_input`."
    } else {
        "The tool `request_user_input` is not available in this mode. Prefer a sensible assumption to a \
         question; if you cannot go on without an answer, ask in one short message."
    };
    let text = include_str!("prompts/default_mode.md");
    text.replace("{{ questions }}", questions)
        .trim_end()
        .to_owned()
}

/// Cuts the plan out of what the model says, while it says it. A tag counts only when it is alone on its
/// line. White space before the first words is held back, so that a message of nothing else stays unsaid.
#[derive(Debug)]
pub struct PlanSplitter {
    /// The line so far, while it may become a tag.
    line: String,
    /// The rest of the line is known to be text.
    mid_line: bool,
    in_plan: bool,
    /// White space that waits for the first words; `None` once they were said.
    unsaid: Option<String>,
}

impl Default for PlanSplitter {
    fn default() -> Self {
        Self {
            line: String::new(),
            mid_line: false,
            in_plan: false,
            unsaid: Some(String::new()),
        }
    }
}

impl PlanSplitter {
    /// Takes the next piece and passes on what is known to be speech or plan.
    pub fn push(&mut self, text: &str, out: &mut impl FnMut(Speech<'_>)) {
        let (mut passed, mut at) = (0, 0);
        while at < text.len() {
            let end = text[at..]
                .find('\n')
                .map_or(text.len(), |length| at + length + 1);
            let piece = &text[at..end];
            if self.mid_line || (self.line.is_empty() && fit(piece, self.tag()) == Fit::No) {
                self.mid_line = !piece.ends_with('\n');
            } else {
                self.say(&text[passed..at], out);
                passed = end;
                self.line.push_str(piece);
                self.judge_line(out);
            }
            at = end;
        }
        self.say(&text[passed..], out);
    }

    /// Ends the text, and with it a plan that was not closed.
    pub fn finish(&mut self, out: &mut impl FnMut(Speech<'_>)) {
        let line = std::mem::take(&mut self.line);
        if line.trim() == self.tag() {
            self.turn_over(out);
        } else {
            self.say(&line, out);
        }
        if self.in_plan {
            self.turn_over(out);
        }
    }

    fn judge_line(&mut self, out: &mut impl FnMut(Speech<'_>)) {
        match fit(&self.line, self.tag()) {
            Fit::Maybe => {}
            Fit::Yes => {
                self.line.clear();
                self.turn_over(out);
            }
            Fit::No => {
                let line = std::mem::take(&mut self.line);
                self.mid_line = !line.ends_with('\n');
                self.say(&line, out);
            }
        }
    }

    fn tag(&self) -> &'static str {
        if self.in_plan { CLOSE } else { OPEN }
    }

    fn turn_over(&mut self, out: &mut impl FnMut(Speech<'_>)) {
        self.in_plan = !self.in_plan;
        out(if self.in_plan {
            Speech::PlanStart
        } else {
            Speech::PlanEnd
        });
    }

    fn say(&mut self, text: &str, out: &mut impl FnMut(Speech<'_>)) {
        if text.is_empty() {
            return;
        }
        if self.in_plan {
            return out(Speech::PlanText(text));
        }
        match self.unsaid.take() {
            None => out(Speech::Text(text)),
            Some(held) if text.trim().is_empty() => self.unsaid = Some(held + text),
            Some(held) if held.is_empty() => out(Speech::Text(text)),
            Some(held) => out(Speech::Text(&(held + text))),
        }
    }
}

#[derive(PartialEq, Eq)]
enum Fit {
    No,
    Maybe,
    Yes,
}

/// Whether a line, perhaps still without its end, is a tag.
fn fit(line: &str, tag: &str) -> Fit {
    let text = line.trim_start();
    let is_over = line.ends_with('\n');
    let fits = match text.strip_prefix(tag) {
        Some(rest) => rest.trim().is_empty(),
        None => !is_over && tag.starts_with(text),
    };
    match fits && line.len() <= MAX_TAG_LINE {
        false => Fit::No,
        true if is_over => Fit::Yes,
        true => Fit::Maybe,
    }
}
