//! An error of a turn in one line for people, each reason once.

use quipu_client::wire::{CodexErrorInfo, TurnError};

/// A notice about another attempt: which one, and the whole reason. The message has the reason in a few words,
/// the details have all of it.
pub fn retry(error: &TurnError) -> String {
    let message = &error.message;
    match &error.additional_details {
        Some(details) => {
            let attempt = message.split_once(" (").map_or(&**message, |(it, _)| it);
            format!("{attempt} ({})", with_remedy(details))
        }
        None => message.clone(),
    }
}

/// Why a turn failed. Some messages are the same for every provider; what this one did or said follows them.
pub fn failure(error: &TurnError) -> String {
    let is_general = matches!(
        error.codex_error_info,
        Some(
            CodexErrorInfo::ContextWindowExceeded
                | CodexErrorInfo::UsageLimitExceeded
                | CodexErrorInfo::ServerOverloaded
        )
    );
    match &error.additional_details {
        Some(details) if is_general => format!("{} ({details})", error.message),
        _ => with_remedy(&error.message),
    }
}

/// A slow model on the user's own machine can be silent for longer than is usual.
fn with_remedy(reason: &str) -> String {
    match reason.ends_with("idle timeout waiting for SSE") {
        true => {
            format!("{reason}; for a slow model, raise `stream_idle_timeout_ms` of its provider")
        }
        false => reason.to_owned(),
    }
}
