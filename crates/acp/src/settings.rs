//! What the user can choose for a session: the mode (what the agent may do), the model and how long it thinks.

use agent_client_protocol::v1::schema::{
    SessionConfigOption, SessionConfigOptionCategory, SessionConfigOptionValue,
    SessionConfigSelectOption, SessionMode, SessionModeState,
};
use agent_client_protocol::{Error, Result};
use quipu_client::Client;
use quipu_client::wire::{
    AskForApproval, Model, ModelListParams, ReasoningEffort, SandboxPolicy, TurnStartParams,
};
use serde_json::json;

use crate::agent::invalid;
use crate::session::Opened;

/// Models that are offered at most.
const MOST_MODELS: u32 = 100;

/// What the agent may do.
struct Mode {
    id: &'static str,
    name: &'static str,
    description: &'static str,
    /// `None` leaves what is configured.
    rights: Option<(AskForApproval, &'static str)>,
}

static MODES: [Mode; 4] = [
    Mode {
        id: "configured",
        name: "As configured",
        description: "What the configuration says",
        rights: None,
    },
    Mode {
        id: "read-only",
        name: "Read only",
        description: "Reads files; asks before it changes any or uses the network",
        rights: Some((AskForApproval::OnRequest, "readOnly")),
    },
    Mode {
        id: "auto",
        name: "Workspace",
        description: "Works in the project's directory; asks before it leaves it or uses the network",
        rights: Some((AskForApproval::OnRequest, "workspaceWrite")),
    },
    Mode {
        id: "full-access",
        name: "Full access",
        description: "Does anything without asking",
        rights: Some((AskForApproval::Never, "dangerFullAccess")),
    },
];

pub struct Settings {
    mode: &'static Mode,
    model: String,
    is_model_chosen: bool,
    effort: Option<ReasoningEffort>,
    is_effort_chosen: bool,
    models: Vec<Model>,
}

impl Settings {
    pub async fn new(client: &Client, opened: Opened) -> Settings {
        let params = ModelListParams {
            limit: Some(MOST_MODELS),
            ..ModelListParams::default()
        };
        let models = client
            .list_models(params)
            .await
            .map(|it| it.data)
            .unwrap_or_else(|error| {
                tracing::debug!(%error, "models could not be listed");
                Vec::new()
            });
        let kind = json!(opened.sandbox)["type"]
            .as_str()
            .unwrap_or_default()
            .to_owned();
        let mode = MODES.iter().find(|mode| {
            mode.rights.as_ref().is_some_and(|(policy, sandbox)| {
                *policy == opened.approval_policy && *sandbox == kind
            })
        });
        Settings {
            mode: mode.unwrap_or(&MODES[0]),
            model: opened.model,
            is_model_chosen: false,
            effort: opened.effort,
            is_effort_chosen: false,
            models,
        }
    }

    pub fn mode_id(&self) -> &'static str {
        self.mode.id
    }

    pub fn model(&self) -> &str {
        &self.model
    }

    pub fn mode_name(&self) -> &'static str {
        self.mode.name
    }

    /// Whether the agent may do anything.
    pub fn is_unrestricted(&self) -> bool {
        self.mode
            .rights
            .as_ref()
            .is_some_and(|(policy, _)| *policy == AskForApproval::Never)
    }

    pub fn modes(&self) -> SessionModeState {
        let mode =
            |it: &Mode| SessionMode::new(it.id, it.name).description(it.description.to_owned());
        SessionModeState::new(self.mode.id, MODES.iter().map(mode).collect())
    }

    pub fn options(&self) -> Vec<SessionConfigOption> {
        let option = |value: &str, name: &str, description: &str| {
            SessionConfigSelectOption::new(value.to_owned(), name)
                .description(Some(description.to_owned()).filter(|it| !it.is_empty()))
        };
        let modes: Vec<_> = MODES
            .iter()
            .map(|it| option(it.id, it.name, it.description))
            .collect();
        let mode = SessionConfigOption::select("mode", "Mode", self.mode.id, modes)
            .category(SessionConfigOptionCategory::Mode);
        let mut models: Vec<_> = self
            .models
            .iter()
            .filter(|it| !it.hidden || it.model == self.model)
            .map(|it| option(&it.model, &it.display_name, &it.description))
            .collect();
        if !self.models.iter().any(|it| it.model == self.model) {
            models.insert(0, option(&self.model, &self.model, ""));
        }
        let model = SessionConfigOption::select("model", "Model", self.model.clone(), models)
            .category(SessionConfigOptionCategory::Model);
        let mut options = vec![mode, model];
        let current = self.models.iter().find(|it| it.model == self.model);
        let efforts = current.map(|it| &it.supported_reasoning_efforts);
        if let (Some(efforts), Some(current)) = (efforts.filter(|it| !it.is_empty()), current) {
            let effort = self.effort.unwrap_or(current.default_reasoning_effort);
            let efforts: Vec<_> = efforts
                .iter()
                .map(|it| {
                    let name = word(&it.reasoning_effort);
                    option(&name, &name, &it.description)
                })
                .collect();
            let effort = SessionConfigOption::select("effort", "Effort", word(&effort), efforts);
            options.push(effort.category(SessionConfigOptionCategory::ThoughtLevel));
        }
        options
    }

    pub fn set_mode(&mut self, id: &str) -> Result<()> {
        let mode = MODES.iter().find(|it| it.id == id);
        self.mode = mode.ok_or_else(|| unknown("mode", id))?;
        Ok(())
    }

    /// Sets an option by its id.
    pub fn set(&mut self, id: &str, value: &SessionConfigOptionValue) -> Result<()> {
        let SessionConfigOptionValue::ValueId { value } = value else {
            return Err(invalid("the options of a session are selections"));
        };
        match id {
            "mode" => self.set_mode(&value.0),
            "model" => {
                self.model = value.0.to_string();
                self.is_model_chosen = true;
                // What the last model could do, this one may not.
                self.effort = None;
                self.is_effort_chosen = false;
                Ok(())
            }
            "effort" => {
                let effort = serde_json::from_value(json!(&*value.0));
                self.effort = Some(effort.map_err(|_| unknown("effort", &value.0))?);
                self.is_effort_chosen = true;
                Ok(())
            }
            other => Err(unknown("option", other)),
        }
    }

    /// What was chosen, for the next turn.
    pub fn apply(&self, params: &mut TurnStartParams) {
        if let Some((policy, sandbox)) = &self.mode.rights {
            params.approval_policy = Some(policy.clone());
            let sandbox = json!({ "type": sandbox });
            params.sandbox_policy = serde_json::from_value::<SandboxPolicy>(sandbox).ok();
        }
        params.model = self.is_model_chosen.then(|| self.model.clone());
        params.effort = self.effort.filter(|_| self.is_effort_chosen);
    }
}

fn unknown(what: &str, value: &str) -> Error {
    invalid(format!("there is no {what} `{value}`"))
}

/// A value of the protocol that is one word.
fn word(value: &impl serde::Serialize) -> String {
    json!(value).as_str().unwrap_or_default().to_owned()
}
