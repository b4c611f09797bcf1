//! `quipu models`: the models of a provider, as it lists them itself.

use std::process::ExitCode;
use std::sync::Arc;

use quipu_config::{Env, LoadRequest, Snapshot, Table};
use quipu_model::catalogue::{self, ModelInfo, Visibility};
use quipu_model::{BuiltIn, ProviderConfig, RequestMeta};
use quipu_server::Server;
use serde_json::json;

use super::{app_server, print};
use crate::args::{ConfigArgs, ModelsArgs};
use crate::session;

/// What a provider offers.
pub struct Offer {
    pub models: Vec<ModelInfo>,
    /// The one that is used if none is named.
    pub default: Option<String>,
}

pub fn run(args: ModelsArgs, common: &ConfigArgs) -> Result<ExitCode, String> {
    let mut overrides = common.overrides(&args.config)?;
    if let Some(id) = &args.provider {
        let chosen = Table::from_iter([("model_provider".to_owned(), json!(id))]);
        overrides
            .add_json(&chosen)
            .map_err(|error| error.to_string())?;
    }
    let config = app_server::load(Env::from_process(), overrides)?;
    let found = config.load(&LoadRequest::default());
    let found = found.map_err(|error| error.to_string())?;
    let offer = session::with_client(config, async |_, server| {
        if found.model().provider.is_none() {
            server.choose_provider().map_err(|none| none.to_string())?;
        }
        offer(server, &found).await
    })?;
    let default = offer.default.as_deref();
    let rows = offer.models.iter().map(|model| match args.json {
        true => json_line(model, default),
        false => row(model, default),
    });
    print::lines(rows)
}

/// Asks the provider in use what it offers.
pub async fn offer(server: &Arc<Server>, found: &Snapshot) -> Result<Offer, String> {
    let provider = server.provider(found)?;
    let listed = match lists(&provider) {
        true => {
            let client = server.model_client(&provider);
            let listed = client.models(&RequestMeta::default()).await;
            let listed = listed.map_err(|error| {
                let name = provider.display_name();
                format!("cannot list the models of {name}: {error}")
            });
            listed?.models
        }
        false => Vec::new(),
    };
    let shown = |model: &ModelInfo| model.visibility == Visibility::List;
    let mut models = catalogue::list(&provider, listed);
    models.retain(shown);
    let built_in = BuiltIn::named(&provider.id).and_then(|it| it.default_model);
    let first = || models.first().map(|it| it.slug.clone());
    let default = built_in.map(str::to_owned).or_else(first);
    let default = found.model().model.or(default);
    Ok(Offer { models, default })
}

/// OpenAI's own list has everything that it ever offered, so the built-in one is shown.
fn lists(provider: &ProviderConfig) -> bool {
    provider.id != "openai" && !provider.wire_api.is_offline()
}

fn row(model: &ModelInfo, default: Option<&str>) -> String {
    let mark = match default == Some(&*model.slug) {
        true => "*",
        false => " ",
    };
    let window = model.context_window;
    let window = window.map_or("unknown".to_owned(), |tokens| format!("{tokens} tokens"));
    format!("{mark} {:<44} {window:>16}", model.slug)
}

fn json_line(model: &ModelInfo, default: Option<&str>) -> String {
    let line = json!({
        "id": model.slug,
        "name": model.display_name,
        "context_window": model.context_window,
        "is_default": default == Some(&*model.slug),
    });
    line.to_string()
}
