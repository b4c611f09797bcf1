//! The instructions that go with every request of a thread: who the agent is and how it works.

use quipu_wire::Personality;

const TEMPLATE: &str = include_str!("prompts/base.md");
const PLACEHOLDER: &str = "{{ personality }}\n\n";

/// The built-in base instructions, with the manner of a personality in its place.
pub fn instructions(personality: Option<Personality>) -> String {
    let manner = personality
        .and_then(manner)
        .map(|text| format!("{text}\n\n"));
    TEMPLATE
        .replace(PLACEHOLDER, manner.as_deref().unwrap_or_default())
        .trim_end()
        .to_owned()
}

/// What a personality asks of the model; nothing for `none`.
pub fn manner(personality: Personality) -> Option<&'static str> {
    match personality {
        Personality::None => None,
        Personality::Friendly => Some(include_str!("prompts/friendly.md").trim_ascii_end()),
        Personality::Pragmatic => Some(include_str!("prompts/pragmatic.md").trim_ascii_end()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_personality_is_woven_in_or_leaves_no_trace() {
        let plain = instructions(None);
        assert_eq!(plain, instructions(Some(Personality::None)));
        assert!(!plain.contains("{{") && !plain.contains("\n\n\n"));
        for personality in [Personality::Friendly, Personality::Pragmatic] {
            let with = instructions(Some(personality));
            let manner = manner(personality).unwrap();
            assert_eq!(with.replace(&format!("{manner}\n\n"), ""), plain);
            assert!(
                with.len() < 6_000,
                "the instructions ride with every request: keep them short"
            );
        }
    }
}
