//! Which tools or sources a handler is for.

use regex_automata::meta::Regex;
use regex_automata::util::syntax;

/// Matches everything, or what a regular expression finds anywhere in it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Matcher(Option<(String, Regex)>);

impl Matcher {
    /// An absent or empty pattern and `*` match everything. The error says what is wrong with the pattern.
    pub fn new(pattern: Option<&str>) -> Result<Matcher, String> {
        let pattern = pattern.filter(|pattern| !pattern.is_empty() && *pattern != "*");
        // Tools and sources have ASCII names.
        let ascii = syntax::Config::new().unicode(false).utf8(false);
        let build = |pattern: &str| {
            let built = Regex::builder().syntax(ascii).build(pattern);
            built
                .map(|regex| (pattern.to_owned(), regex))
                .map_err(|error| error.to_string())
        };
        Ok(Matcher(pattern.map(build).transpose()?))
    }

    pub fn matches(&self, subject: &str) -> bool {
        self.0
            .as_ref()
            .is_none_or(|(_, regex)| regex.is_match(subject))
    }

    /// The regular expression, if there is one.
    pub fn pattern(&self) -> Option<&str> {
        self.0.as_ref().map(|(pattern, _)| pattern.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::Matcher;

    #[test]
    fn a_pattern_matches_anywhere_and_none_matches_all() {
        let matches = |pattern: Option<&str>| {
            Matcher::new(pattern).is_ok_and(|matcher| matcher.matches("Bash"))
        };
        for pattern in ["", "*", "as", "^Bash$", "Edit|Bash", r"^\w+$"] {
            assert!(matches(Some(pattern)), "{pattern}");
        }
        assert!(matches(None));
        assert!(!matches(Some("bash")));
        assert!(Matcher::new(Some("(")).is_err());
    }

    #[test]
    fn a_pattern_that_would_need_too_much_memory_is_refused() {
        assert!(Matcher::new(Some("(((a{200}){200}){200}){200}")).is_err());
    }
}
