//! What the user can choose for a session: the mode (what the agent may do), the model and how long it thinks.

use quipu_client::Client;
use quipu_client::wire::{
    AskForApproval, Model, ModelListParams, ReasoningEffort, SandboxPolicy, TurnStartParams,
};
use quipu_rpc::ErrorObject;
use serde_json::json;

use crate::choices::Choice;
use crate::error::{Result, invalid};
use crate::schema::{ConfigOption, SelectOption, SessionMode, SessionModes};
use crate::session::Started;

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
    is_mode_chosen: bool,
    model: String,
    is_model_chosen: bool,
    effort: Option<ReasoningEffort>,
    is_effort_chosen: bool,
    models: Vec<Model>,
}

impl Settings {
    pub async fn new(client: &Client, started: Started) -> Settings {
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
        let kind = json!(started.sandbox)["type"]
            .as_str()
            .unwrap_or_default()
            .to_owned();
        let mode = MODES.iter().find(|mode| {
            mode.rights.as_ref().is_some_and(|(policy, sandbox)| {
                *policy == started.approval_policy && *sandbox == kind
            })
        });
        Settings {
            mode: mode.unwrap_or(&MODES[0]),
            is_mode_chosen: false,
            model: started.model,
            is_model_chosen: false,
            effort: started.effort,
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

    pub fn modes(&self) -> SessionModes {
        let mode = |it: &Mode| SessionMode {
            id: it.id,
            name: it.name,
            description: it.description,
        };
        SessionModes {
            current_mode_id: self.mode.id,
            available_modes: MODES.iter().map(mode).collect(),
        }
    }

    pub fn options(&self) -> Vec<ConfigOption> {
        let modes = MODES
            .iter()
            .map(|it| option(it.id, it.name, it.description));
        let mode = select("mode", "Mode", "mode", self.mode.id, modes.collect());
        let mut models: Vec<_> = self
            .models
            .iter()
            .filter(|it| !it.hidden || it.model == self.model)
            .map(|it| option(&it.model, &it.display_name, &it.description))
            .collect();
        if !self.models.iter().any(|it| it.model == self.model) {
            models.insert(0, option(&self.model, &self.model, ""));
        }
        let model = select("model", "Model", "model", &self.model, models);
        [mode, model].into_iter().chain(self.efforts()).collect()
    }

    /// How long the model may think, if it can be told.
    fn efforts(&self) -> Option<ConfigOption> {
        let model = self.models.iter().find(|it| it.model == self.model)?;
        let efforts = &model.supported_reasoning_efforts;
        let current = self.effort.unwrap_or(model.default_reasoning_effort);
        let efforts = efforts.iter().map(|it| {
            let name = word(&it.reasoning_effort);
            option(&name, &name, &it.description)
        });
        let efforts: Vec<_> = efforts.collect();
        let effort = select(
            "effort",
            "Effort",
            "thought_level",
            &word(&current),
            efforts,
        );
        (!effort.options.is_empty()).then_some(effort)
    }

    pub fn set_mode(&mut self, id: &str) -> Result<()> {
        let mode = MODES.iter().find(|it| it.id == id);
        self.mode = mode.ok_or_else(|| unknown("mode", id))?;
        self.is_mode_chosen = true;
        Ok(())
    }

    /// Sets an option by its id.
    pub fn set(&mut self, id: &str, value: &str) -> Result<()> {
        match id {
            "mode" => self.set_mode(value),
            "model" => {
                self.model = value.to_owned();
                self.is_model_chosen = true;
                // What the last model could do, this one may not.
                self.effort = None;
                self.is_effort_chosen = false;
                Ok(())
            }
            "effort" => {
                let effort = serde_json::from_value(json!(value));
                self.effort = Some(effort.map_err(|_| unknown("effort", value))?);
                self.is_effort_chosen = true;
                Ok(())
            }
            other => Err(unknown("option", other)),
        }
    }

    /// What was chosen, to be kept.
    pub fn choice(&self) -> Choice {
        let effort = self.effort.filter(|_| self.is_effort_chosen);
        Choice {
            mode: self.is_mode_chosen.then(|| self.mode.id.to_owned()),
            model: self.is_model_chosen.then(|| self.model.clone()),
            effort: effort.map(|it| word(&it)),
        }
    }

    /// Chooses what was kept. What another version wrote and this one does not know is left out.
    pub fn restore(&mut self, choice: &Choice) {
        let kept = [
            ("mode", &choice.mode),
            ("model", &choice.model),
            ("effort", &choice.effort),
        ];
        for (id, value) in kept {
            if let Some(value) = value
                && let Err(error) = self.set(id, value)
            {
                tracing::warn!(reason = error.message, "kept choice ignored");
            }
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

fn option(value: &str, name: &str, description: &str) -> SelectOption {
    SelectOption {
        value: value.to_owned(),
        name: name.to_owned(),
        description: description.to_owned(),
    }
}

fn select(
    id: &'static str,
    name: &'static str,
    category: &'static str,
    current: &str,
    options: Vec<SelectOption>,
) -> ConfigOption {
    ConfigOption {
        id,
        name,
        category,
        kind: "select",
        current_value: current.to_owned(),
        options,
    }
}

fn unknown(what: &str, value: &str) -> ErrorObject {
    invalid(format!("there is no {what} `{value}`"))
}

/// A value of the protocol that is one word.
fn word(value: &impl serde::Serialize) -> String {
    json!(value).as_str().unwrap_or_default().to_owned()
}
