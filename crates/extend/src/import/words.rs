//! Names of the other agent in texts, replaced by those of this one.

/// What is replaced, longer names first.
const NAMES: [(&str, &str); 6] = [
    ("claude code", "Codex"),
    ("claude-code", "Codex"),
    ("claude_code", "Codex"),
    ("claudecode", "Codex"),
    ("claude.md", "AGENTS.md"),
    ("claude", "Codex"),
];

/// Replaces whole words, whatever their case.
pub(super) fn rewrite(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    let mut in_word = false;
    while let Some(next) = rest.chars().next() {
        if !in_word && let Some((name, new)) = NAMES.iter().find(|(name, _)| begins(rest, name)) {
            out.push_str(new);
            rest = rest.get(name.len()..).unwrap_or_default();
            in_word = true;
            continue;
        }
        out.push(next);
        in_word = is_word(next);
        rest = rest.get(next.len_utf8()..).unwrap_or_default();
    }
    out
}

/// Whether a text begins with a word.
fn begins(text: &str, word: &str) -> bool {
    let same = text
        .get(..word.len())
        .is_some_and(|begin| begin.eq_ignore_ascii_case(word));
    let after = text.get(word.len()..).and_then(|rest| rest.chars().next());
    same && !after.is_some_and(is_word)
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

#[cfg(test)]
mod tests {
    use super::rewrite;

    #[test]
    fn whole_words_are_replaced() {
        for (text, expected) in [
            ("Claude Code reads CLAUDE.md.", "Codex reads AGENTS.md."),
            ("claude-code, claude_code; CLAUDE!", "Codex, Codex; Codex!"),
            (
                "Claudette claudes xclaude _claude",
                "Claudette claudes xclaude _claude",
            ),
            ("claude.mdx é claude", "Codex.mdx é Codex"),
            ("", ""),
        ] {
            assert_eq!(rewrite(text), expected);
        }
    }
}
