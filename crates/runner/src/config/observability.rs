//! What operators see of the service: how much it logs and remembers, and how fresh the dashboard is.

use std::time::Duration;

use tracing::level_filters::LevelFilter;

use super::ConfigError;
use super::read::Section;

/// How much is logged and shown. Nothing here changes what is dispatched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Observability {
    /// What the service's own log has.
    pub log_level: LevelFilter,
    /// The longest log of one attempt, in bytes; 0 keeps none.
    pub attempt_log_bytes: usize,
    /// How many of the latest events of a run are shown.
    pub recent_events: usize,
    /// How often a browser asks for the dashboard again; none means that it does not.
    pub refresh: Option<Duration>,
}

impl Observability {
    /// The most events of a run that are kept: each takes memory for as long as the run lasts.
    const MAX_EVENTS: usize = 1_000;
    const LEVELS: &[(&str, LevelFilter)] = &[
        ("error", LevelFilter::ERROR),
        ("warn", LevelFilter::WARN),
        ("info", LevelFilter::INFO),
        ("debug", LevelFilter::DEBUG),
        ("trace", LevelFilter::TRACE),
    ];

    pub(super) fn new(section: &Section<'_>) -> Result<Observability, ConfigError> {
        let recent_events: usize = section.positive("recent_events", 20)?;
        let most = Observability::MAX_EVENTS;
        if recent_events > most {
            let problem = format!("must be at most {most}, not {recent_events}");
            return Err(section.error("recent_events", problem));
        }
        let refresh = section.size("refresh_ms", 3_000)?;
        let name = section.text("log_level")?.unwrap_or("info".to_owned());
        Ok(Observability {
            log_level: level(&name).ok_or_else(|| wrong_level(section, &name))?,
            attempt_log_bytes: section.size("attempt_log_bytes", 64 << 20)?,
            recent_events,
            refresh: (refresh > 0).then(|| Duration::from_millis(refresh)),
        })
    }
}

fn level(name: &str) -> Option<LevelFilter> {
    let name = name.trim().to_lowercase();
    let found = Observability::LEVELS.iter().find(|it| it.0 == name);
    found.map(|it| it.1)
}

fn wrong_level(section: &Section<'_>, name: &str) -> ConfigError {
    let known: Vec<&str> = Observability::LEVELS.iter().map(|it| it.0).collect();
    let problem = format!("must be one of {}, not `{name}`", known.join(", "));
    section.error("log_level", problem)
}
