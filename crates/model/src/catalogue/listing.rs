//! The list that clients pick a model from, and its pages.

use quipu_wire::{Model, ModelListResponse};
use thiserror::Error;

use super::info::{ModelInfo, Visibility};
use crate::built_in::BuiltIn;
use crate::provider::ProviderConfig;

/// All models for a provider, in order: the built-in ones that fit it, then what it lists itself.
/// An entry of the provider replaces the built-in one of the same slug. When there is neither, its default
/// model is better than none.
pub fn list(provider: &ProviderConfig, remote: Vec<ModelInfo>) -> Vec<ModelInfo> {
    let mut models = (provider.wire_api.format().models)().to_vec();
    for model in remote {
        match models.iter_mut().find(|known| known.slug == model.slug) {
            Some(known) => *known = model,
            None => models.push(model),
        }
    }
    let default = BuiltIn::named(&provider.id).and_then(|it| it.default_model);
    if let (true, Some(default)) = (models.is_empty(), default) {
        models.push(ModelInfo::lookup(default, provider.wire_api));
    }
    for model in &mut models {
        model.price = provider.prices.get(&model.slug).copied().or(model.price);
    }
    models
}

/// A page that does not exist. The text is the one clients know.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ListError {
    /// The cursor is no number.
    #[error("invalid cursor: {0}")]
    InvalidCursor(String),
    /// The cursor is past the end.
    #[error("cursor {cursor} exceeds total models {total}")]
    PastEnd {
        /// What was asked for.
        cursor: usize,
        /// What there is.
        total: usize,
    },
}

/// One page of a list in the form of `model/list`. The first visible model is the default.
pub fn page(
    models: &[ModelInfo],
    include_hidden: bool,
    cursor: Option<&str>,
    limit: Option<u32>,
) -> Result<ModelListResponse, ListError> {
    let default = models
        .iter()
        .position(|model| model.visibility == Visibility::List);
    let shown: Vec<Model> = models
        .iter()
        .enumerate()
        .filter(|(_, model)| include_hidden || model.visibility == Visibility::List)
        .map(|(at, model)| model.to_wire(Some(at) == default))
        .collect();
    let total = shown.len();
    let start = match cursor {
        None => 0,
        Some(text) => text
            .parse()
            .map_err(|_| ListError::InvalidCursor(text.to_owned()))?,
    };
    if start > total {
        return Err(ListError::PastEnd {
            cursor: start,
            total,
        });
    }
    let size = limit.map_or(total, |limit| limit.max(1) as usize);
    let end = start.saturating_add(size).min(total);
    Ok(ModelListResponse {
        data: shown.into_iter().skip(start).take(end - start).collect(),
        next_cursor: (end < total).then(|| end.to_string()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::Price;
    use crate::catalogue::openai_models;
    use crate::provider::WireApi;

    fn slugs(page: &ModelListResponse) -> Vec<&str> {
        page.data.iter().map(|model| model.id.as_str()).collect()
    }

    #[test]
    fn pages_follow_the_official_rules() {
        let models = openai_models();
        let whole = page(models, false, None, None).unwrap();
        assert_eq!((whole.data.len(), whole.next_cursor.as_deref()), (6, None));
        assert!(whole.data[0].is_default && !whole.data[1].is_default);
        assert_eq!(page(models, true, None, None).unwrap().data.len(), 13);
        let first = page(models, false, None, Some(0)).unwrap();
        assert_eq!(
            (first.data.len(), first.next_cursor.as_deref()),
            (1, Some("1"))
        );
        let last = page(models, false, Some("4"), Some(9)).unwrap();
        assert_eq!((last.data.len(), last.next_cursor), (2, None));
        assert!(
            page(models, false, Some("6"), None)
                .unwrap()
                .data
                .is_empty()
        );
        assert_eq!(
            page(models, false, Some("-1"), None)
                .unwrap_err()
                .to_string(),
            "invalid cursor: -1"
        );
        assert_eq!(
            page(models, false, Some("999"), None)
                .unwrap_err()
                .to_string(),
            "cursor 999 exceeds total models 6"
        );
    }

    #[test]
    fn a_providers_own_list_counts() {
        let local = ProviderConfig::built_in("ollama").unwrap();
        let remote = vec![ModelInfo::unknown("qwen3:8b", WireApi::Chat)];
        let listed = page(&list(&local, remote), false, None, None).unwrap();
        assert_eq!(slugs(&listed), ["qwen3:8b"]);
        assert!(listed.data[0].is_default);

        let mut openai = ProviderConfig::built_in("openai").unwrap();
        let price = Price {
            input: 9.0,
            cached_input: None,
            cache_write: None,
            output: 9.0,
        };
        openai.prices.insert("gpt-5.4".into(), price);
        let models = list(
            &openai,
            vec![ModelInfo::unknown("gpt-9", WireApi::Responses)],
        );
        assert_eq!(models.last().unwrap().slug, "gpt-9");
        assert_eq!(models[1].price, Some(price));
    }
}
