//! The allowed prefixes as a list for the model, so that it knows what needs no question.

use super::Rules;
use super::prefix::Decision;

/// A rule that stands for more prefixes than this is left out.
const MAX_EXPANDED: usize = 100;

impl Rules {
    /// The prefixes that rules allow, word by word, each once and the shortest first.
    #[must_use]
    pub fn allowed_prefixes(&self) -> Vec<Vec<String>> {
        let allowing = self
            .prefix
            .iter()
            .filter(|rule| rule.decision == Decision::Allow);
        let mut prefixes: Vec<_> = allowing.flat_map(|rule| expand(rule.pattern())).collect();
        prefixes.sort_by(|a, b| (a.len(), a).cmp(&(b.len(), b)));
        prefixes.dedup();
        prefixes
    }
}

/// Every prefix that a pattern stands for; none when there are too many.
fn expand(pattern: &[Vec<String>]) -> Vec<Vec<String>> {
    let mut partial: Vec<Vec<String>> = vec![Vec::new()];
    for alternatives in pattern {
        if partial.len() * alternatives.len() > MAX_EXPANDED {
            return Vec::new();
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
    partial
}
