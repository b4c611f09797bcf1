//! The allowed prefixes as a list for the model, so that it knows what needs no question.

use super::Rules;
use super::prefix::Decision;

/// At most this many prefixes are listed,
const MAX_ENTRIES: usize = 100;
/// and at most this many characters.
const MAX_CHARS: usize = 5000;

impl Rules {
    /// The allowed prefixes for the model: one JSON array per line, shortest first, and whether all
    /// of them are there. `None` when nothing is allowed.
    #[must_use]
    pub fn allowed_prefixes(&self) -> Option<(String, bool)> {
        let mut prefixes: Vec<Vec<String>> = Vec::new();
        let mut complete = true;
        for rule in &self.prefix {
            if rule.decision == Decision::Allow {
                complete &= expand(rule.pattern(), &mut prefixes);
            }
        }
        prefixes.sort_by(|a, b| (a.len(), a).cmp(&(b.len(), b)));
        prefixes.dedup();
        let mut text = String::new();
        for (index, prefix) in prefixes.iter().enumerate() {
            let line = serde_json::Value::from(prefix.as_slice()).to_string();
            if index == MAX_ENTRIES || text.len() + line.len() >= MAX_CHARS {
                complete = false;
                break;
            }
            if index > 0 {
                text.push('\n');
            }
            text.push_str(&line);
        }
        (!text.is_empty()).then_some((text, complete))
    }
}

/// Adds every prefix that a pattern stands for; `false` when there are too many.
fn expand(pattern: &[Vec<String>], into: &mut Vec<Vec<String>>) -> bool {
    let mut partial: Vec<Vec<String>> = vec![Vec::new()];
    for alternatives in pattern {
        if partial.len() * alternatives.len() > MAX_ENTRIES {
            return false;
        }
        partial = partial
            .iter()
            .flat_map(|words| {
                alternatives.iter().map(move |word| {
                    let mut longer = words.clone();
                    longer.push(word.clone());
                    longer
                })
            })
            .collect();
    }
    into.extend(partial);
    true
}
