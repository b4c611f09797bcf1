//! A list of models in a file of the user's.

use std::path::PathBuf;

use serde::Deserialize;
use serde_json::Value;

use crate::files::Files;
use crate::load::LoadError;
use crate::snapshot::View;

/// A list of models that replaces the built-in one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelCatalog {
    /// The file.
    pub path: PathBuf,
    /// Its entries; what they mean is the model crate's business.
    pub models: Vec<Value>,
}

#[derive(Deserialize)]
struct CatalogJson {
    models: Vec<Value>,
}

impl ModelCatalog {
    pub(crate) fn read(view: &View<'_>, files: &mut Files) -> Result<Option<Self>, LoadError> {
        let Some(path) = view.get::<PathBuf>("model_catalog_json") else {
            return Ok(None);
        };
        let unreadable = |why: &str| {
            let path = path.display();
            LoadError::Invalid(format!(
                "failed to read model_catalog_json path `{path}`: {why}"
            ))
        };
        let text = files
            .read(&path)
            .map_err(|error| unreadable(&error.to_string()))?;
        let text = text.ok_or_else(|| unreadable(super::MISSING_FILE))?;
        let catalog: CatalogJson = serde_json::from_str(&text).map_err(|error| {
            let path = path.display();
            LoadError::Invalid(format!(
                "failed to parse model_catalog_json path `{path}` as JSON: {error}"
            ))
        })?;
        if catalog.models.is_empty() {
            let path = path.display();
            return Err(LoadError::Invalid(format!(
                "model_catalog_json path `{path}` must contain at least one model"
            )));
        }
        Ok(Some(Self {
            path,
            models: catalog.models,
        }))
    }
}
