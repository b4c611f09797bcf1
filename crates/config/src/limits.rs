//! Reads the administrator's limits from where they may be set.

use crate::cloud::CloudLimits;
use crate::files::Files;
use crate::layer::Layer;
use crate::load::{LoadError, Loader, read};
use crate::requirements::{self, Requirements, Source};

impl Loader {
    /// The limits in force.
    pub fn read_limits(&self) -> Result<Requirements, LoadError> {
        let stack = self.layers(None)?;
        self.limits(&mut Files::default(), stack.managed())
    }

    /// The limits of all sources; the first one to set a field wins.
    pub(crate) fn limits(
        &self,
        files: &mut Files,
        managed: Option<&Layer>,
    ) -> Result<Requirements, LoadError> {
        self.limits_with(&self.cloud(), files, managed)
    }

    /// The limits of all sources, with these of the organisation's account.
    pub(crate) fn limits_with(
        &self,
        cloud: &CloudLimits,
        files: &mut Files,
        managed: Option<&Layer>,
    ) -> Result<Requirements, LoadError> {
        let mut all = match cloud {
            CloudLimits::None => Requirements::default(),
            CloudLimits::Text(text) => requirements::from_toml(text, &Source::Cloud)?,
            CloudLimits::Unavailable(error) => return Err(error.clone().into()),
        };
        let path = &self.system().requirements;
        if let Some(text) = read(files, path)? {
            all.fill_from(requirements::from_toml(&text, &Source::File(path.clone()))?);
        }
        if let Some(layer) = managed {
            let source = Source::File(self.system().managed.clone());
            all.fill_from(requirements::from_managed(&layer.config, &source));
        }
        Ok(all)
    }

    /// The limits for when the settings cannot be used. Limits that cannot be read are not lifted by
    /// that: the strictest ones take their place.
    pub(crate) fn limits_or_strictest(&self, files: &mut Files) -> Requirements {
        let limits = self.managed_layer(files).and_then(|managed| {
            let limits = self.limits(files, managed.as_ref())?;
            limits.check_features()?;
            Ok(limits)
        });
        limits.unwrap_or_else(|_| Requirements::strictest(&self.system().requirements))
    }
}
