//! The short sections of the developer message that need no file of their own.

use quipu_wire::{CollaborationMode, Personality};

use super::facts::Facts;

/// Tells a model that another one spoke before it. The base instructions are the same for every model, so
/// they need not be repeated.
pub fn model_switch() -> String {
    let note = include_str!("prompts/model_switch.md").trim_ascii_end();
    format!("<model_switch>\n{note}\n</model_switch>")
}

/// The instructions of the way of working in force, if it has any.
pub fn collaboration_mode(mode: &CollaborationMode) -> Option<String> {
    let text = mode.settings.developer_instructions.as_deref()?;
    (!text.is_empty()).then(|| format!("<collaboration_mode>{text}</collaboration_mode>"))
}

/// The manner that the model should take on, if it is a particular one.
pub fn personality(facts: &Facts) -> Option<String> {
    facts.manner().map(personality_spec)
}

/// The same after another manner was asked for, which has to be ended even if no new one follows.
pub fn personality_change(facts: &Facts) -> Option<String> {
    let neutral = facts.model.takes_personality && facts.personality == Some(Personality::None);
    let neutral = || neutral.then(|| personality_spec("Speak without any particular manner."));
    personality(facts).or_else(neutral)
}

fn personality_spec(manner: &str) -> String {
    format!(
        "<personality_spec> This describes your manner from now on, whatever was said about it \
         before:\n\n{manner} </personality_spec>"
    )
}

/// How commits name the agent.
pub fn commit_attribution(facts: &Facts) -> Option<String> {
    let name = facts.commit_attribution.as_deref()?.trim();
    (!name.is_empty()).then(|| {
        format!(
            "When you write the message of a Git commit, end it with a blank line and the trailer \
             `Co-authored-by: {name}`, once."
        )
    })
}

/// What `AGENTS.md` files say.
pub fn project_instructions(facts: &Facts) -> Option<String> {
    let text = facts.project_instructions.as_deref()?;
    let cwd = &facts.cwd;
    Some(format!(
        "# AGENTS.md instructions for {cwd}\n\n<INSTRUCTIONS>\n{text}\n</INSTRUCTIONS>"
    ))
}
