//! What a client is notified of about the configuration right after it has introduced itself.

use quipu_wire::ConfigWarningNotification;

use crate::{Server, providers, rules, settings};

/// The warnings, in the order in which clients get them: first what makes the settings unusable, then
/// rules files that are left out, then the rest. The files are read again for every client.
pub(crate) fn read(server: &Server) -> Vec<ConfigWarningNotification> {
    let start_up = match server.settings.config.start_up() {
        Ok(start_up) => start_up,
        Err(error) => {
            tracing::error!(%error, "failed to read configuration");
            return Vec::new();
        }
    };
    let loaded = rules::load(server, &start_up.snapshot);
    let invalid = start_up.invalid.into_iter();
    let warnings: Vec<_> = invalid
        .chain(loaded.problems.iter().map(rules::left_out))
        .chain(start_up.warnings)
        .chain(settings::version_warning(&start_up.snapshot))
        .chain(providers::warning(server, &start_up.snapshot))
        .collect();
    for warning in &warnings {
        let (summary, details) = (&warning.summary, warning.details.as_deref());
        tracing::error!(details, "{summary}");
    }
    warnings
}
