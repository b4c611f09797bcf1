//! Finding a text in the messages of a thread, whatever its case.

use quipu_wire::{ThreadItem, Turn, UserInput};

use crate::Refusal;

/// Characters of a snippet before and after the match.
const AROUND: usize = 48;

/// Matches in one message; what is said more often is hardly looked for.
const MAX_MATCHES: usize = 1_000;

/// What is looked for.
pub(crate) struct Term(Vec<char>);

/// A message of the user or the agent.
pub(crate) struct Message<'a> {
    pub turn_id: &'a str,
    pub item_id: &'a str,
    pub text: &'a str,
}

/// The text around a match.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Snippet {
    pub text: String,
    /// Where the match begins, in UTF-16 units.
    pub start: u32,
    pub end: u32,
}

impl Term {
    /// What a request looks for; `method` is named when there is nothing.
    pub fn new(text: &str, method: &str) -> Result<Term, Refusal> {
        if text.trim().is_empty() {
            let text = format!("{method} requires a non-empty searchTerm");
            return Err(Refusal::invalid_request(text));
        }
        Ok(Term(text.chars().map(folded).collect()))
    }

    /// The first match.
    pub fn first(&self, text: &str) -> Option<Snippet> {
        self.find(text, 1).pop()
    }

    /// All matches, which do not overlap.
    pub fn all(&self, text: &str) -> Vec<Snippet> {
        self.find(text, MAX_MATCHES)
    }

    fn find(&self, text: &str, most: usize) -> Vec<Snippet> {
        let chars: Vec<char> = text.chars().collect();
        let mut found = Vec::new();
        let mut at = 0;
        while found.len() < most && at + self.0.len() <= chars.len() {
            let here = chars[at..].iter().copied().map(folded);
            if here.take(self.0.len()).eq(self.0.iter().copied()) {
                found.push(snippet(&chars, at, at + self.0.len()));
                at += self.0.len();
            } else {
                at += 1;
            }
        }
        found
    }
}

/// One character for all cases of a letter.
fn folded(c: char) -> char {
    c.to_lowercase().next().unwrap_or(c)
}

fn snippet(chars: &[char], start: usize, end: usize) -> Snippet {
    let from = start.saturating_sub(AROUND);
    let to = (end + AROUND).min(chars.len());
    let mut text = String::new();
    if from > 0 {
        text.push_str("... ");
    }
    let units = |text: &str| u32::try_from(text.encode_utf16().count()).unwrap_or(u32::MAX);
    text.extend(&chars[from..start]);
    let begins = units(&text);
    text.extend(&chars[start..end]);
    let ends = units(&text);
    text.extend(&chars[end..to]);
    if to < chars.len() {
        text.push_str(" ...");
    }
    Snippet {
        text,
        start: begins,
        end: ends,
    }
}

/// The messages of turns, in their order.
pub(crate) fn messages(turns: &[Turn]) -> impl Iterator<Item = Message<'_>> {
    turns.iter().flat_map(|turn| {
        turn.items.iter().flat_map(move |item| {
            let (id, texts): (&str, Vec<&str>) = match item {
                ThreadItem::UserMessage { id, content } => {
                    (id, content.iter().filter_map(said).collect())
                }
                ThreadItem::AgentMessage { id, text, .. } => (id, vec![text.as_str()]),
                _ => ("", Vec::new()),
            };
            texts.into_iter().map(move |text| Message {
                turn_id: &turn.id,
                item_id: id,
                text,
            })
        })
    })
}

fn said(input: &UserInput) -> Option<&str> {
    match input {
        UserInput::Text { text, .. } => Some(text),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(term: &str, text: &str) -> Vec<Snippet> {
        Term::new(term, "x").unwrap().all(text)
    }

    #[test]
    fn matches_are_found_in_any_case_and_do_not_overlap() {
        let found = all("ÄA", "xäaÄAäaa");
        let places: Vec<_> = found.iter().map(|it| (it.start, it.end)).collect();
        assert_eq!(places, [(1, 3), (3, 5), (5, 7)]);
        assert!(found.iter().all(|it| it.text == "xäaÄAäaa"));
        assert_eq!(all("b", "xaa"), []);
        assert!(Term::new("", "x").is_err());
    }

    #[test]
    fn a_snippet_is_cut_out_of_a_long_text_and_counts_utf_16() {
        let text = format!("{}needle{}", "𝄞".repeat(100), "y".repeat(100));
        let [snippet] = &all("NEEDLE", &text)[..] else {
            panic!("one match")
        };
        assert!(snippet.text.starts_with("... 𝄞") && snippet.text.ends_with("y ..."));
        let units: Vec<u16> = snippet.text.encode_utf16().collect();
        let found = &units[snippet.start as usize..snippet.end as usize];
        assert_eq!(String::from_utf16(found).unwrap(), "needle");
    }
}
