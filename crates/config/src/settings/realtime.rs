//! Voice conversations.

use serde::Deserialize;

use crate::snapshot::Snapshot;

/// The version of the provider's protocol.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RealtimeVersion {
    /// The older one.
    #[default]
    V1,
    /// The newer one.
    V2,
}

/// Voice conversations.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Realtime {
    /// The version of the provider's protocol.
    pub version: RealtimeVersion,
    /// Whether what is said is only written down.
    pub transcribes: bool,
    /// What the agent's model is told while the user speaks.
    pub start_instructions: Option<String>,
    /// Instructions of the voice model, in place of the client's.
    pub backend_prompt: Option<String>,
    /// Where the voice API is.
    pub base_url: Option<String>,
    /// The voice model.
    pub model: Option<String>,
    /// What the voice model is told about the thread.
    pub startup_context: Option<String>,
}

impl Snapshot {
    /// Voice conversations.
    pub fn realtime(&self) -> Realtime {
        #[derive(Default, Deserialize)]
        #[serde(default)]
        struct Table {
            version: RealtimeVersion,
            r#type: Option<String>,
        }
        let view = self.view();
        let table: Table = view.table("realtime");
        Realtime {
            version: table.version,
            transcribes: table.r#type.as_deref() == Some("transcription"),
            start_instructions: view.get("experimental_realtime_start_instructions"),
            backend_prompt: view.get("experimental_realtime_ws_backend_prompt"),
            base_url: view.get("experimental_realtime_ws_base_url"),
            model: view.get("experimental_realtime_ws_model"),
            startup_context: view.get("experimental_realtime_ws_startup_context"),
        }
    }
}
