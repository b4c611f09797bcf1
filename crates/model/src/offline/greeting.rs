//! What the offline model says when there is nothing to play: what it is, and which real models
//! this machine could use. Names of variables are told, never their values.

use std::time::Duration;

use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::provider::env_var;

const PROBE: Duration = Duration::from_millis(150);
/// Keys of built-in providers.
const BUILT_IN_KEYS: [(&str, &str); 3] = [
    ("OPENAI_API_KEY", "openai"),
    ("ANTHROPIC_API_KEY", "anthropic"),
    ("OPENROUTER_API_KEY", "openrouter"),
];
/// Keys of providers that need an entry of their own.
const OTHER_KEYS: [&str; 6] = [
    "DEEPSEEK_API_KEY",
    "GEMINI_API_KEY",
    "GROQ_API_KEY",
    "MISTRAL_API_KEY",
    "TOGETHER_API_KEY",
    "XAI_API_KEY",
];
/// Where local servers listen by default.
const LOCAL_SERVERS: [(u16, &str, &str); 3] = [
    (11434, "Ollama", "ollama"),
    (1234, "LM Studio", "lmstudio"),
    (8080, "llama.cpp", "llamacpp"),
];

pub(super) async fn text() -> String {
    let mut found = Vec::new();
    for (variable, provider) in BUILT_IN_KEYS {
        if env_var(variable).is_some() {
            found.push(format!(
                "the environment has {variable}: model_provider = \"{provider}\""
            ));
        }
    }
    for variable in OTHER_KEYS {
        if env_var(variable).is_some() {
            found.push(format!(
                "the environment has {variable}: add a [model_providers.NAME] with env_key = \"{variable}\""
            ));
        }
    }
    for (port, name, provider) in LOCAL_SERVERS {
        if listens(port).await {
            found.push(format!(
                "something listens on port {port}, where {name} usually is: model_provider = \"{provider}\""
            ));
        }
    }
    let mut text = String::from(
        "This is the offline model: it needs no network and no key, and it cannot do real work. \
         For a real model, set `model_provider` and `model` in config.toml.",
    );
    if found.is_empty() {
        text.push_str(" Neither a known API key nor a local model server was found here.");
    } else {
        text.push_str(" Found here:\n");
        for line in found {
            text.push_str(&format!("- {line}\n"));
        }
    }
    text.push_str(
        "\nTo see what a model can do to a client, send a script, for example \
         {\"script\": [{\"deltas\": [\"Hel\", \"lo\"]}]}. docs/offline-model.md explains them.",
    );
    text
}

async fn listens(port: u16) -> bool {
    matches!(
        timeout(PROBE, TcpStream::connect(("127.0.0.1", port))).await,
        Ok(Ok(_))
    )
}
