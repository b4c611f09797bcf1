//! What the model is told about answers to approval questions.

/// A shell tool's output when a person declined.
pub const COMMAND_REJECTED: &str = "exec command rejected by user";

/// The patch tool's output when a person declined.
pub const PATCH_REJECTED: &str = "patch rejected by user";

/// An MCP tool's error when a person declined.
pub const MCP_TOOL_REJECTED: &str = "user rejected MCP tool call";

/// An MCP tool's error when a person cancelled.
pub const MCP_TOOL_CANCELLED: &str = "user cancelled MCP tool call";

/// The note that a prefix is allowed from now on.
#[must_use]
pub fn prefix_saved(words: &[String]) -> String {
    let words: Vec<String> = words
        .iter()
        .map(|word| serde_json::Value::from(word.as_str()).to_string())
        .collect();
    format!("Approved command prefix saved:\n- [{}]", words.join(", "))
}

/// The note that a host is allowed or denied from now on.
#[must_use]
pub fn host_saved(host: &str, allowed: bool) -> String {
    if allowed {
        format!("Allowed network rule saved in execpolicy (allowlist): {host}")
    } else {
        format!("Denied network rule saved in execpolicy (denylist): {host}")
    }
}
