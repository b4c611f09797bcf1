//! What the offline model says when there is nothing to play: what it is, and which real models
//! this machine could use. Names of variables are shown, never their values.

use crate::built_in::{BUILT_IN, local_servers};
use crate::provider::env_var;

pub(super) async fn text() -> String {
    let mut found = Vec::new();
    for provider in &BUILT_IN {
        if let Some(variable) = provider.key_in(env_var) {
            found.push(format!(
                "{variable} is set: model_provider = \"{}\"",
                provider.id
            ));
        }
    }
    for server in local_servers().await {
        found.push(format!(
            "something listens at {}, where {} usually is: model_provider = \"{}\"",
            server.base_url.unwrap_or_default(),
            server.name,
            server.id
        ));
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
