//! Spelling of Rust names on the wire.

/// How a name is spelled on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Case {
    Camel,
    Snake,
    Kebab,
    Lower,
    Screaming,
    Pascal,
}

impl Case {
    /// The case an option word names.
    pub fn from_word(word: &str) -> Option<Case> {
        Some(match word {
            "camel" => Case::Camel,
            "snake" => Case::Snake,
            "kebab" => Case::Kebab,
            "lower" => Case::Lower,
            "screaming" => Case::Screaming,
            "pascal" => Case::Pascal,
            _ => return None,
        })
    }

    /// Spells a `snake_case` or `PascalCase` Rust identifier.
    pub fn spell(self, ident: &str) -> String {
        let words = words(ident.trim_start_matches("r#"));
        match self {
            Case::Snake => words.join("_"),
            Case::Kebab => words.join("-"),
            Case::Lower => words.concat(),
            Case::Screaming => words.join("_").to_uppercase(),
            Case::Pascal => words.iter().map(|word| capitalised(word)).collect(),
            Case::Camel => {
                let mut words = words.into_iter();
                let first = words.next().unwrap_or_default();
                first + &words.map(|word| capitalised(&word)).collect::<String>()
            }
        }
    }
}

/// Lower-case words of an identifier in either Rust spelling.
fn words(ident: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut previous_upper = true;
    for c in ident.chars() {
        if c == '_' {
            words.push(String::new());
            previous_upper = true;
            continue;
        }
        if words.is_empty() || (c.is_uppercase() && !previous_upper) {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut() {
            word.extend(c.to_lowercase());
        }
        previous_upper = c.is_uppercase();
    }
    words.retain(|word| !word.is_empty());
    words
}

fn capitalised(word: &str) -> String {
    let mut chars = word.chars();
    chars
        .next()
        .map_or_else(String::new, |c| c.to_uppercase().chain(chars).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spells_both_rust_styles() {
        for (case, field, variant) in [
            (Case::Camel, "threadId", "inProgress"),
            (Case::Snake, "thread_id", "in_progress"),
            (Case::Kebab, "thread-id", "in-progress"),
            (Case::Lower, "threadid", "inprogress"),
            (Case::Screaming, "THREAD_ID", "IN_PROGRESS"),
            (Case::Pascal, "ThreadId", "InProgress"),
        ] {
            assert_eq!(case.spell("thread_id"), field);
            assert_eq!(case.spell("InProgress"), variant);
        }
    }
}
