//! What a provider lists itself. The plain OpenAI shape is enough; what servers add to it (window,
//! modalities, prices) is used where it is understood. One bad entry does not lose the others.

use quipu_wire::InputModality;
use serde::Deserialize;
use serde_json::Value;

use super::info::ModelInfo;
use crate::provider::WireApi;
use crate::usage::Price;

#[derive(Deserialize)]
struct List {
    #[serde(default, alias = "models")]
    data: Vec<Value>,
}

#[derive(Deserialize)]
struct Entry {
    id: String,
    #[serde(alias = "display_name")]
    name: Option<String>,
    description: Option<String>,
    /// What the model is loaded with at LM Studio, which may be less than it could read.
    loaded_context_length: Option<i64>,
    #[serde(
        alias = "max_model_len",
        alias = "context_window",
        alias = "max_context_length",
        alias = "max_input_tokens"
    )]
    context_length: Option<i64>,
    meta: Option<Meta>,
    architecture: Option<Architecture>,
    pricing: Option<Pricing>,
}

#[derive(Deserialize)]
struct Meta {
    /// What llama.cpp was started with. What the model was trained with, `n_ctx_train`, may be more.
    n_ctx: Option<i64>,
}

#[derive(Deserialize)]
struct Architecture {
    input_modalities: Option<Vec<String>>,
}

/// US dollars for one token, as text.
#[derive(Deserialize)]
struct Pricing {
    prompt: Option<String>,
    completion: Option<String>,
    input_cache_read: Option<String>,
    input_cache_write: Option<String>,
}

/// What a provider lists.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ModelList {
    /// The models that could be read.
    pub models: Vec<ModelInfo>,
    /// All entries, as received.
    pub entries: Vec<Value>,
    /// The version of the list, if the provider gave one.
    pub etag: Option<String>,
}

impl ModelList {
    /// Reads the body of a `/models` answer.
    pub(crate) fn read(
        body: &str,
        wire: WireApi,
        etag: Option<String>,
    ) -> Result<Self, serde_json::Error> {
        let entries = entries(body)?;
        Ok(Self {
            models: read_entries(entries.clone(), wire),
            entries,
            etag,
        })
    }
}

/// Reads the body of a `/models` answer: a list of ids with extras, or full catalogue entries.
pub fn parse_models(body: &str, wire: WireApi) -> Result<Vec<ModelInfo>, serde_json::Error> {
    Ok(read_entries(entries(body)?, wire))
}

fn entries(body: &str) -> Result<Vec<Value>, serde_json::Error> {
    let list = match serde_json::from_str::<Value>(body)? {
        Value::Array(data) => List { data },
        value => serde_json::from_value(value)?,
    };
    Ok(list.data)
}

fn read_entries(entries: Vec<Value>, wire: WireApi) -> Vec<ModelInfo> {
    let read = |value: Value| {
        let shown = value.get("id").or_else(|| value.get("slug")).cloned();
        let model = match value.get("slug") {
            Some(_) => serde_json::from_value(value).ok(),
            None => serde_json::from_value(value)
                .ok()
                .map(|entry: Entry| entry.info(wire)),
        };
        if model.is_none() {
            tracing::warn!(model = ?shown, "skipped a model that the provider lists");
        }
        model
    };
    entries.into_iter().filter_map(read).collect()
}

impl Entry {
    fn info(self, wire: WireApi) -> ModelInfo {
        let mut info = ModelInfo::lookup(&self.id, wire);
        if let Some(name) = self.name.filter(|name| !name.is_empty()) {
            info.display_name = name;
        }
        info.description = self.description.or(info.description);
        let window = self
            .loaded_context_length
            .or(self.context_length)
            .or(self.meta.and_then(|meta| meta.n_ctx));
        if let Some(window) = window.filter(|window| *window > 0) {
            info.context_window = Some(window);
        }
        if let Some(modalities) = self.architecture.and_then(|a| a.input_modalities) {
            info.input_modalities = vec![InputModality::Text];
            if modalities.iter().any(|modality| modality == "image") {
                info.input_modalities.push(InputModality::Image);
            }
        }
        info.price = self
            .pricing
            .and_then(|pricing| pricing.price())
            .or(info.price);
        info
    }
}

impl Pricing {
    fn price(&self) -> Option<Price> {
        let per_million = |text: &Option<String>| {
            let price: f64 = text.as_ref()?.parse().ok()?;
            (price >= 0.0).then_some(price * 1_000_000.0)
        };
        Some(Price {
            input: per_million(&self.prompt)?,
            cached_input: per_million(&self.input_cache_read),
            cache_write: per_million(&self.input_cache_write),
            output: per_million(&self.completion)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_and_rich_lists_are_read() {
        let plain = r#"{"object":"list","data":[{"id":"qwen3:8b","object":"model","owned_by":"library"},{"bad":1},{"id":"gpt-oss-20b"}]}"#;
        let models = parse_models(plain, WireApi::Chat).unwrap();
        assert_eq!(models.len(), 2);
        assert_eq!(models[0].slug, "qwen3:8b");
        assert_eq!(models[0].context_window, None);
        assert_eq!(models[1].context_window, Some(128_000));

        let rich = r#"{"data":[{"id":"a/b","name":"B","context_length":4096,"architecture":{"input_modalities":["text"]},"pricing":{"prompt":"0.000003","completion":"0.000015"}}]}"#;
        let model = &parse_models(rich, WireApi::Chat).unwrap()[0];
        assert_eq!(
            (model.context_window, model.accepts_images()),
            (Some(4096), false)
        );
        let price = model.price.unwrap();
        assert!((price.input - 3.0).abs() < 1e-9 && (price.output - 15.0).abs() < 1e-9);

        for small in [
            r#"[{"id":"a","meta":{"n_ctx":4096,"n_ctx_train":131072}}]"#,
            r#"[{"id":"a","max_context_length":131072,"loaded_context_length":4096}]"#,
        ] {
            let model = &parse_models(small, WireApi::Chat).unwrap()[0];
            assert_eq!(model.context_window, Some(4096), "{small}");
        }

        let own = r#"{"models":[{"slug":"x","display_name":"X"},{"slug":7}]}"#;
        assert_eq!(parse_models(own, WireApi::Responses).unwrap().len(), 1);
        assert!(parse_models("<html>", WireApi::Chat).is_err());
        assert!(
            parse_models(r#"{"data":[]}"#, WireApi::Chat)
                .unwrap()
                .is_empty()
        );
    }
}
