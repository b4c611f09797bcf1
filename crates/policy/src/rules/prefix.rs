//! Rules about commands: what starts with these words is allowed, asked about or forbidden.

/// What a rule says about the commands it covers. Later is stricter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Decision {
    /// Run without a question.
    Allow,
    /// Ask.
    Prompt,
    /// Refuse.
    Forbidden,
}

impl Decision {
    pub(super) fn from_name(name: &str) -> Option<Decision> {
        match name {
            "allow" => Some(Decision::Allow),
            "prompt" => Some(Decision::Prompt),
            "forbidden" => Some(Decision::Forbidden),
            _ => None,
        }
    }
}

/// Why a pattern is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PatternError {
    /// There is nothing to match.
    #[error("the pattern is empty; name at least the program")]
    Empty,
    /// A place in the pattern admits no word.
    #[error("a list of alternatives in the pattern is empty")]
    NoAlternatives,
}

/// One `prefix_rule`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PrefixRule {
    /// For each word from the program on, what it may be.
    pattern: Vec<Vec<String>>,
    /// What to do with a command that starts so.
    pub decision: Decision,
    /// Why, in the words of the rule's author.
    pub justification: Option<String>,
}

impl PrefixRule {
    /// A rule for commands whose words are, one by one, among these alternatives.
    pub fn new(
        pattern: Vec<Vec<String>>,
        decision: Decision,
        justification: Option<String>,
    ) -> Result<PrefixRule, PatternError> {
        if pattern.is_empty() {
            return Err(PatternError::Empty);
        }
        if pattern.iter().any(Vec::is_empty) {
            return Err(PatternError::NoAlternatives);
        }
        Ok(PrefixRule {
            pattern,
            decision,
            justification,
        })
    }

    /// A rule that allows what starts with exactly these words.
    pub fn allow(words: &[String]) -> Result<PrefixRule, PatternError> {
        let pattern = words.iter().map(|word| vec![word.clone()]).collect();
        PrefixRule::new(pattern, Decision::Allow, None)
    }

    /// The alternatives of each word.
    #[must_use]
    pub fn pattern(&self) -> &[Vec<String>] {
        &self.pattern
    }

    pub(super) fn covers(&self, words: &[String]) -> bool {
        words.len() >= self.pattern.len() && self.agrees(words)
    }

    /// Whether a command that starts with `known` words could turn out to be covered.
    pub(super) fn could_cover(&self, known: &[String]) -> bool {
        self.agrees(known)
    }

    fn agrees(&self, words: &[String]) -> bool {
        self.pattern
            .iter()
            .zip(words)
            .all(|(alternatives, word)| alternatives.contains(word))
    }
}
