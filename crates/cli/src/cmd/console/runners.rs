//! The runners of this user, for the tab of the console that shows them.

use std::fs;
use std::path::{Path, PathBuf};

use quipu_console::Runners;
use quipu_runner::control;
use quipu_runner::record::Places;
use serde_json::{Value, json};

/// Runners that use a home directory.
pub struct Local {
    directory: PathBuf,
}

impl Local {
    pub fn new(home: &Path) -> Local {
        Local {
            directory: home.join("runner"),
        }
    }

    /// The names of all that ever ran, in order.
    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.directory)
            .into_iter()
            .flatten()
            .flatten();
        let mut names: Vec<String> = entries
            .filter(|entry| entry.path().is_dir())
            .filter_map(|entry| entry.file_name().into_string().ok())
            .collect();
        names.sort();
        names
    }

    fn places(&self, name: &str) -> Places {
        Places {
            root: self.directory.join(name),
        }
    }
}

impl Runners for Local {
    fn state(&self) -> Value {
        let rows = self.names().into_iter().map(|name| {
            match control::ask(&self.places(&name), "GET", "/api/v1/state") {
                Ok(Some((200, state))) => json!({ "name": name, "state": state }),
                Ok(Some((_, answer))) => {
                    json!({ "name": name, "error": answer["error"]["message"] })
                }
                Ok(None) => json!({ "name": name }),
                Err(error) => json!({ "name": name, "error": error.to_string() }),
            }
        });
        json!({ "runners": rows.collect::<Vec<_>>() })
    }

    fn act(&self, runner: &str, action: &str, issue: Option<&str>) -> (u16, Value) {
        let refused = |status, message: String| (status, json!({ "error": message }));
        if !self.names().iter().any(|name| name == runner) {
            return refused(404, format!("there is no runner `{runner}`"));
        }
        let path = match (action, issue) {
            ("refresh", _) => "/api/v1/refresh".to_owned(),
            (_, Some(issue)) => format!("/api/v1/{issue}/{action}"),
            (_, None) => return refused(400, format!("`{action}` needs an issue")),
        };
        match control::ask(&self.places(runner), "POST", &path) {
            Ok(Some((status @ 200..300, answer))) => (status, answer),
            Ok(Some((status, answer))) => {
                let message = answer["error"]["message"].as_str().unwrap_or("refused");
                refused(status, message.to_owned())
            }
            Ok(None) => refused(409, format!("the runner `{runner}` is not running")),
            Err(error) => refused(503, format!("cannot ask the runner: {error}")),
        }
    }
}
