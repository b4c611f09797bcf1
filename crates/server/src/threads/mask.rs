//! Hides the secrets that this server knows in what tools report, before a client, the model or a file gets
//! it: a command may print its environment, and a server of tools the token that it was sent.

use std::collections::HashMap;

use quipu_engine::{CallId, ToolDelta, ToolEvent};
use quipu_model::{BUILT_IN, Secrets};
use quipu_wire::{Json, ServerRequest, ThreadItem};

use super::mask_model::Growing;
use super::session::Session;
use crate::{Server, mcp, providers, store};

/// The secrets of a thread, and ends of output that may be the beginning of one.
#[derive(Default)]
pub(super) struct Mask {
    pub(super) secrets: Secrets,
    /// How many tokens that programs printed are among them.
    printed: usize,
    /// By call. What comes next, or the end of the item, decides.
    held: HashMap<CallId, String>,
    /// The same of what the model says.
    pub(super) half_said: HashMap<Growing, String>,
}

impl Mask {
    /// Learns the secrets that are known now: keys and tokens of providers, of the login and of MCP servers.
    pub fn learn(&mut self, server: &Server, session: &Session) {
        let env = server.settings.config.env();
        let keys = BUILT_IN.iter().flat_map(|it| it.env_keys);
        let keys = keys.filter_map(|name| env.get(name).map(str::to_owned));
        let mut secrets = Secrets::default();
        for provider in providers::declared(&session.snapshot).chain([session.provider.clone()]) {
            provider.add_secrets(&mut secrets);
        }
        secrets.extend(keys);
        secrets.extend(server.accounts.secrets());
        secrets.extend(store::secrets(&session.snapshot, env));
        mcp::add_secrets(server, &session.snapshot, &mut secrets);
        self.printed = server.printed_tokens.add_new_to(&mut secrets, 0);
        self.secrets = secrets;
    }

    /// Learns the tokens that programs printed since.
    pub fn learn_printed(&mut self, server: &Server) {
        let secrets = &mut self.secrets;
        self.printed = server.printed_tokens.add_new_to(secrets, self.printed);
    }

    /// A text without secrets, with those that are known now: it may come before any turn.
    pub fn text(&mut self, server: &Server, session: &Session, text: String) -> String {
        self.learn(server, session);
        self.secrets.redact(text)
    }

    /// A question of an MCP server without secrets, likewise.
    pub fn elicitation(
        &mut self,
        server: &Server,
        session: &Session,
        request: ServerRequest,
    ) -> ServerRequest {
        self.learn(server, session);
        let ServerRequest::McpServerElicitationRequest(params) = &request else {
            return request;
        };
        let hidden = Json::new(params).ok().and_then(|it| self.hidden(&it));
        let hidden = hidden.and_then(|it| it.parse().ok());
        hidden.map_or(request, ServerRequest::McpServerElicitationRequest)
    }

    /// What a tool reports, without secrets.
    pub fn hide(&mut self, call_id: &CallId, event: ToolEvent) -> Vec<ToolEvent> {
        let event = match event {
            ToolEvent::Delta(ToolDelta::CommandOutput(text)) => {
                return self.output(call_id, text).into_iter().collect();
            }
            ToolEvent::ItemCompleted(item) => {
                let rest = self.held.remove(call_id).map(output);
                let done = ToolEvent::ItemCompleted(self.item(item));
                return rest.into_iter().chain([done]).collect();
            }
            ToolEvent::ItemStarted(item) => ToolEvent::ItemStarted(self.item(item)),
            ToolEvent::Delta(delta) => ToolEvent::Delta(self.delta(delta)),
            ToolEvent::DiffUpdated(diff) => ToolEvent::DiffUpdated(self.secrets.redact(diff)),
            ToolEvent::Note(note) => ToolEvent::Note(self.json(note)),
            ToolEvent::Finished { output, end_turn } => ToolEvent::Finished {
                output: output.into_iter().map(|it| self.json(it)).collect(),
                end_turn,
            },
            other => other,
        };
        vec![event]
    }

    /// More output of a command, up to what may become a secret.
    fn output(&mut self, call_id: &CallId, text: String) -> Option<ToolEvent> {
        let text = match self.held.remove(call_id) {
            Some(held) => held + &text,
            None => text,
        };
        let mut text = self.secrets.redact(text);
        let open = text.split_off(self.secrets.open_end(&text));
        if !open.is_empty() {
            self.held.insert(call_id.clone(), open);
        }
        (!text.is_empty()).then(|| output(text))
    }

    fn delta(&self, delta: ToolDelta) -> ToolDelta {
        let hide = |text: String| self.secrets.redact(text);
        match delta {
            ToolDelta::CommandOutput(text) => ToolDelta::CommandOutput(hide(text)),
            ToolDelta::PatchOutput(text) => ToolDelta::PatchOutput(hide(text)),
            ToolDelta::McpProgress(text) => ToolDelta::McpProgress(hide(text)),
            ToolDelta::TerminalInput { process_id, stdin } => ToolDelta::TerminalInput {
                process_id,
                stdin: hide(stdin),
            },
        }
    }

    pub fn item(&self, item: ThreadItem) -> ThreadItem {
        let hidden = Json::new(&item).ok().and_then(|it| self.hidden(&it));
        hidden.and_then(|it| it.parse().ok()).unwrap_or(item)
    }

    pub(super) fn json(&self, json: Json) -> Json {
        self.hidden(&json).unwrap_or(json)
    }

    pub(super) fn hidden(&self, json: &Json) -> Option<Json> {
        let text = self.secrets.hide(json.get())?;
        // Only a secret that is a bare number could break the text.
        let hidden = serde_json::from_str(&text).or_else(|_| Json::new("[redacted]"));
        hidden.ok()
    }
}

fn output(text: String) -> ToolEvent {
    ToolEvent::Delta(ToolDelta::CommandOutput(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "sk-abcdefgh";

    fn shown(pieces: &[&str]) -> String {
        let mut mask = Mask::default();
        mask.secrets.add(KEY);
        let pieces = pieces.iter().map(|it| output((*it).to_owned()));
        let end = ToolEvent::ItemCompleted(ThreadItem::ContextCompaction { id: "i".into() });
        let events = pieces
            .chain([end])
            .flat_map(|it| mask.hide(&"call".into(), it));
        let texts = events.filter_map(|it| match it {
            ToolEvent::Delta(ToolDelta::CommandOutput(text)) => Some(text),
            _ => None,
        });
        texts.collect()
    }

    #[test]
    fn a_secret_is_hidden_wherever_the_output_is_cut() {
        let text = format!("before {KEY} after");
        for at in 0..=text.len() {
            let (one, two) = text.split_at(at);
            assert_eq!(shown(&[one, two]), "before [redacted] after", "{at}");
        }
        let letters: Vec<String> = text.chars().map(String::from).collect();
        let letters: Vec<&str> = letters.iter().map(String::as_str).collect();
        assert_eq!(shown(&letters), "before [redacted] after");
        assert_eq!(shown(&["ends in sk", "-abc"]), "ends in sk-abc");
    }
}
