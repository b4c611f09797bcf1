//! `web_search`: the provider looks things up by itself. It is offered here and run nowhere.

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use quipu_wire::{WebSearchMode, WebSearchToolConfig};
use serde_json::{Map, Value, json};

use crate::call::{Finished, Running};
use crate::scope::Scope;
use crate::spec::Spec;
use crate::tool::Tool;

/// How the model may search.
#[derive(Debug, Clone)]
pub struct WebSearch {
    /// In pages as they are now, not only in what the provider has stored.
    pub live: bool,
    pub details: Option<WebSearchToolConfig>,
    /// Images are found, too.
    pub images: bool,
}

impl WebSearch {
    /// What the settings allow, if anything. Who may reach the network anyway may search it as it is now.
    #[must_use]
    pub fn new(mode: WebSearchMode, full_access: bool) -> Option<WebSearch> {
        let live = match mode {
            WebSearchMode::Live => true,
            WebSearchMode::Cached => full_access,
            WebSearchMode::Disabled | WebSearchMode::Unrecognized => return None,
        };
        Some(WebSearch {
            live,
            details: None,
            images: false,
        })
    }

    /// What the provider is asked for.
    fn to_json(&self) -> Value {
        let mut tool = json!({ "type": "web_search", "external_web_access": self.live });
        let details = self.details.as_ref();
        if let Some(domains) = details.and_then(|it| it.allowed_domains.as_ref()) {
            tool["filters"] = json!({ "allowed_domains": domains });
        }
        if let Some(location) = details.and_then(|it| it.location.as_ref()) {
            let place = [
                ("type", Some("approximate")),
                ("country", location.country.as_deref()),
                ("region", location.region.as_deref()),
                ("city", location.city.as_deref()),
                ("timezone", location.timezone.as_deref()),
            ];
            let known = place
                .into_iter()
                .filter_map(|(key, value)| Some((key.to_owned(), Value::from(value?))));
            tool["user_location"] = known.collect::<Map<_, _>>().into();
        }
        if let Some(size) = details.and_then(|it| it.context_size) {
            tool["search_context_size"] = json!(size);
        }
        if self.images {
            tool["search_content_types"] = json!(["text", "image"]);
        }
        tool
    }
}

pub(crate) struct ProviderSearch;

impl Tool for ProviderSearch {
    fn name(&self) -> &'static str {
        "web_search"
    }

    fn spec(&self, scope: &Scope) -> Option<Spec> {
        let search = scope.web_search.as_ref()?;
        Some(Spec::hosted(self.name(), search.to_json().into()))
    }

    fn run<'a>(&'a self, run: &'a Running) -> BoxFuture<'a, Finished> {
        std::future::ready(run.unsupported()).boxed()
    }
}
