//! Flags that every command has: settings for one run.

use clap::Args as ClapArgs;
use quipu_config::Overrides;

/// Settings for this run. They are declared before and after the subcommand, rather than once as
/// global, because of a global option given in both places only the later values would count.
#[derive(Debug, Default, ClapArgs)]
pub struct ConfigArgs {
    /// Override a configuration value: a dotted key and a TOML value (or plain text)
    #[arg(short = 'c', long = "config", value_name = "key=value")]
    config: Vec<String>,
    /// Enable a feature; the same as `-c features.NAME=true`
    #[arg(long, value_name = "FEATURE")]
    enable: Vec<String>,
    /// Disable a feature; the same as `-c features.NAME=false`
    #[arg(long, value_name = "FEATURE")]
    disable: Vec<String>,
    /// Keep threads in a PostgreSQL database, `postgres://USER@HOST/DATABASE`; the same as `-c store.url=URL`
    #[arg(long, value_name = "URL")]
    store: Option<String>,
}

impl ConfigArgs {
    /// Adds settings that were given later.
    pub fn extend(&mut self, later: ConfigArgs) {
        self.config.extend(later.config);
        self.enable.extend(later.enable);
        self.disable.extend(later.disable);
        self.store = later.store.or(self.store.take());
    }

    /// These settings, which were given before a subcommand, with those given after it.
    pub fn overrides(&self, later: &ConfigArgs) -> Result<Overrides, String> {
        let mut overrides = Overrides::default();
        self.add_to(&mut overrides)?;
        later.add_to(&mut overrides)?;
        Ok(overrides)
    }

    /// Lays these settings over others.
    pub fn add_to(&self, overrides: &mut Overrides) -> Result<(), String> {
        for flag in &self.config {
            overrides
                .add_flag(flag)
                .map_err(|error| format!("error parsing -c overrides: {error}"))?;
        }
        if let Some(url) = &self.store {
            overrides
                .add_flag(&format!("store.url={url}"))
                .map_err(|error| format!("error parsing --store: {error}"))?;
        }
        let on = self.enable.iter().map(|name| (name, true));
        let off = self.disable.iter().map(|name| (name, false));
        for (name, enabled) in on.chain(off) {
            overrides
                .set_feature(name, enabled)
                .map_err(|error| error.to_string())?;
        }
        Ok(())
    }
}
