//! The table of a model provider.

use serde_json::Value;

use super::words::{STRING_MAP, STRINGS};
use super::{AT_LEAST_ONE, Kind, POSITIVE, Section, U64, key};
use crate::Table;
use Kind::{Bool, Number, Path, Str, Word};

static AUTH: Section = Section::new(
    "ModelProviderAuthInfo",
    &[
        key(
            "command",
            Str,
            "Program that prints a token; it also runs when the provider refuses the last one.",
        )
        .required(),
        key("args", STRINGS, "Its arguments.").shown("[]"),
        key("timeout_ms", POSITIVE, "How long it may take.").shown("5000"),
        key(
            "refresh_interval_ms",
            POSITIVE,
            "How long a token is used before the program runs again.",
        )
        .shown("300000"),
        key("cwd", Path, "Directory it starts in.").cwd(),
    ],
);

static PRICE: Section = Section::new(
    "Price",
    &[
        key("input", Number, "Tokens sent and not cached.").required(),
        key(
            "cached_input",
            Number,
            "Tokens found in the provider's cache.",
        )
        .default("`input`"),
        key(
            "cache_write",
            Number,
            "Tokens written into the provider's cache.",
        )
        .default("`input`"),
        key("output", Number, "Tokens that the model wrote.").required(),
    ],
);

pub static MODEL_PROVIDER: Section = Section::new(
    "ModelProviderInfo",
    &[
        key("name", Str, "Name to show.").required(),
        key("base_url", Str, "Address of the API."),
        key("env_key", Str, "Variable that holds the key."),
        key(
            "env_key_instructions",
            Str,
            "What to tell users who have not set it.",
        ),
        key(
            "experimental_bearer_token",
            Str,
            "The key itself; prefer `env_key`.",
        ),
        key("auth", Kind::Table(&AUTH), "A program that prints the key, in place of `env_key`."),
        key(
            "wire_api",
            Word(&["responses", "chat", "anthropic"]),
            "What the API speaks: Responses, Chat Completions or Anthropic Messages.",
        )
        .shown("\"responses\""),
        key("query_params", STRING_MAP, "Added to every address."),
        key(
            "http_headers",
            STRING_MAP,
            "Headers sent with every request.",
        ),
        key(
            "env_http_headers",
            STRING_MAP,
            "Headers by the name of the variable that holds the value.",
        ),
        key(
            "request_max_retries",
            U64,
            "How often a failed request is tried again; at most 100.",
        )
        .default("4"),
        key(
            "stream_max_retries",
            U64,
            "How often a broken stream is tried again; at most 100.",
        )
        .default("5"),
        key(
            "stream_idle_timeout_ms",
            AT_LEAST_ONE,
            "How long a stream may be silent.",
        )
        .default("300000"),
        key(
            "websocket_connect_timeout_ms",
            AT_LEAST_ONE,
            "How long a websocket may take to open.",
        )
        .default("15000"),
        key(
            "requires_openai_auth",
            Bool,
            "Uses the account of this program.",
        )
        .shown("false"),
        key(
            "supports_websockets",
            Bool,
            "Requests of the Responses API go over a websocket, and over HTTP if that fails. `true` for the built-in `openai`.",
        )
        .shown("false"),
        key(
            "structured_output",
            Word(&["native", "tool", "instruction"]),
            "How output of a given shape is asked for: by the request's own field, a tool whose arguments are the \
             answer, or words in the instructions. The Responses API has `native` only.",
        )
        .default("what the wire format has")
        .omitted(),
        key(
            "max_response_bytes",
            AT_LEAST_ONE,
            "The most bytes that one answer may have.",
        )
        .default("268435456")
        .omitted(),
        key(
            "prices",
            Kind::Map(&Kind::Table(&PRICE), None),
            "By model, US dollars for a million tokens, in place of the built-in ones.",
        )
        .omitted(),
    ],
);

/// Providers whose meaning is fixed.
const RESERVED: [&str; 3] = ["lmstudio", "ollama", "openai"];

/// What the table of all providers must obey.
pub fn providers_rule(providers: &Table) -> Option<String> {
    let taken: Vec<String> = RESERVED
        .iter()
        .filter(|id| providers.contains_key(**id))
        .map(|id| format!("`{id}`"))
        .collect();
    if !taken.is_empty() {
        return Some(format!(
            "model_providers contains reserved built-in provider IDs: {}. Built-in providers cannot be \
             overridden. Rename your custom provider (for example, `openai-custom`).",
            taken.join(", ")
        ));
    }
    providers.iter().find_map(|(id, provider)| {
        let problem = auth_problem(provider)?;
        Some(format!("model_providers.{id}: provider {problem}"))
    })
}

fn auth_problem(provider: &Value) -> Option<String> {
    let auth = provider.get("auth")?;
    if auth
        .get("command")
        .and_then(Value::as_str)
        .is_some_and(|command| command.trim().is_empty())
    {
        return Some("auth.command must not be empty".to_owned());
    }
    let other = [
        "env_key",
        "experimental_bearer_token",
        "requires_openai_auth",
    ]
    .into_iter()
    .find(|key| {
        provider
            .get(key)
            .is_some_and(|value| *value != Value::Bool(false))
    })?;
    Some(format!("auth cannot be combined with {other}"))
}
