//! The configuration as clients read it.

use std::path::Path;

use quipu_wire::{ConfigReadParams, ConfigReadResponse};
use serde_json::Value;

use crate::features::{Feature, Features};
use crate::files::Files;
use crate::layer::Stack;
use crate::load::{LoadError, LoadRequest, Loader};
use crate::schema::{self, Mismatch, ROOT};
use crate::{Env, Table};

/// Why the configuration cannot be shown.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The files cannot be used.
    #[error("failed to read configuration layers: {0}")]
    Layers(LoadError),
    /// A value has the wrong type.
    #[error("invalid configuration: {0}")]
    Invalid(Mismatch),
    /// The server's own configuration does not load, so the state of features is not known.
    #[error("failed to resolve feature override precedence: {0}")]
    Features(LoadError),
    /// The settings do not fit the protocol; a mistake in this program.
    #[error("failed to serialize configuration: {0}")]
    Protocol(serde_json::Error),
}

impl Loader {
    /// What `config/read` answers.
    pub fn read(&self, params: &ConfigReadParams) -> Result<ConfigReadResponse, ReadError> {
        let cwd = params
            .cwd
            .as_deref()
            .map(|cwd| self.absolute(Path::new(cwd)));
        let request = LoadRequest {
            cwd: cwd.as_deref(),
            ..LoadRequest::default()
        };
        let (stack, snapshot) = if cwd.is_some() {
            let snapshot = self.load(&request).map_err(ReadError::Layers)?;
            (snapshot.stack().clone(), snapshot)
        } else {
            let stack = self.layers(None).map_err(ReadError::Layers)?;
            self.limits(&mut Files::default(), stack.managed())
                .map_err(ReadError::Layers)?;
            schema::check(&ROOT, &stack.merged()).map_err(ReadError::Invalid)?;
            (stack, self.load(&request).map_err(ReadError::Features)?)
        };
        let config = effective(&stack, self.env(), snapshot.features());
        let config = serde_json::to_string(&config).map_err(ReadError::Protocol)?;
        Ok(ConfigReadResponse {
            config: serde_json::from_str(&config).map_err(ReadError::Protocol)?,
            origins: stack.origins(),
            layers: params.include_layers.then(|| {
                stack
                    .layers()
                    .iter()
                    .rev()
                    .map(|layer| layer.to_wire())
                    .collect()
            }),
        })
    }
}

/// Every known setting, and where the switches stand that can change while the server runs.
fn effective(stack: &Stack, env: &Env, features: &Features) -> Table {
    let mut config = schema::effective(&ROOT, &stack.merged(), env.cwd());
    let entry = config.entry("features").or_insert(Value::Null);
    if entry.is_null() {
        *entry = Value::Object(Table::new());
    }
    if let Value::Object(switches) = entry {
        for feature in Feature::RUNTIME {
            let on = features.switched_on(*feature);
            switches.insert(feature.name().to_owned(), on.into());
        }
    }
    config
}
