//! Hides the secrets that this server knows in what the model says: it may repeat one that a person or a
//! provider gave it, and then it must not get into files.

use quipu_engine::{CallKind, ModelEvent, ModelItem, OutputItem};

use super::mask::Mask;

/// A text that grows by deltas: of a message, a plan, or a part of a thought.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Growing {
    Message { slot: u32 },
    Plan,
    Summary { slot: u32, index: u32 },
    Thought { slot: u32, index: u32 },
}

impl Growing {
    fn is_of(self, of: u32) -> bool {
        match self {
            Growing::Plan => false,
            Growing::Message { slot }
            | Growing::Summary { slot, .. }
            | Growing::Thought { slot, .. } => slot == of,
        }
    }

    fn delta(self, delta: String) -> ModelEvent {
        match self {
            Growing::Message { slot } => ModelEvent::TextDelta { slot, delta },
            Growing::Plan => ModelEvent::PlanDelta { delta },
            Growing::Summary { slot, index } => {
                ModelEvent::ReasoningSummaryDelta { slot, index, delta }
            }
            Growing::Thought { slot, index } => {
                ModelEvent::ReasoningTextDelta { slot, index, delta }
            }
        }
    }
}

impl Mask {
    /// Adds what the model says to `out`, without secrets.
    pub fn hide_said(&mut self, event: ModelEvent, out: &mut Vec<ModelEvent>) {
        match event {
            ModelEvent::TextDelta { slot, delta } => {
                out.extend(self.grow(Growing::Message { slot }, delta));
            }
            ModelEvent::PlanDelta { delta } => out.extend(self.grow(Growing::Plan, delta)),
            ModelEvent::ReasoningSummaryDelta { slot, index, delta } => {
                out.extend(self.grow(Growing::Summary { slot, index }, delta));
            }
            ModelEvent::ReasoningTextDelta { slot, index, delta } => {
                out.extend(self.grow(Growing::Thought { slot, index }, delta));
            }
            ModelEvent::PlanDone { text } => {
                out.extend(self.said_rest(|it| it == Growing::Plan));
                let text = self.secrets.redact(text);
                out.push(ModelEvent::PlanDone { text });
            }
            ModelEvent::ItemDone { slot, item } => {
                out.extend(self.said_rest(|it| it.is_of(slot)));
                let item = Box::new(self.said(*item));
                out.push(ModelEvent::ItemDone { slot, item });
            }
            ModelEvent::ItemStarted { slot, item } => {
                let item = Box::new(self.said(*item));
                out.push(ModelEvent::ItemStarted { slot, item });
            }
            other => {
                if matches!(
                    other,
                    ModelEvent::Retrying { .. } | ModelEvent::Failed { .. }
                ) {
                    self.half_said.clear();
                }
                out.push(other);
            }
        }
    }

    /// More of a text, up to what may become a secret. Nearly always that is the delta itself, which is passed on as it
    /// is: thousands of them come in a second.
    fn grow(&mut self, growing: Growing, delta: String) -> Option<ModelEvent> {
        let held = match self.half_said.is_empty() {
            true => None,
            false => self.half_said.remove(&growing),
        };
        let text = match held {
            Some(held) => held + &delta,
            None => delta,
        };
        let mut text = self.secrets.redact(text);
        let open = text.split_off(self.secrets.open_end(&text));
        if !open.is_empty() {
            self.half_said.insert(growing, open);
        }
        (!text.is_empty()).then(|| growing.delta(text))
    }

    /// What was held back of texts that have ended, so that it was no secret.
    fn said_rest(&mut self, ended: impl Fn(Growing) -> bool) -> Vec<ModelEvent> {
        let rest = self.half_said.extract_if(|growing, _| ended(*growing));
        rest.map(|(growing, text)| growing.delta(text)).collect()
    }

    fn said(&self, item: OutputItem) -> OutputItem {
        let Some(raw) = self.hidden(&item.raw) else {
            return item;
        };
        let hide = |text: String| self.secrets.redact(text);
        let hide_all = |texts: Vec<String>| texts.into_iter().map(hide).collect();
        let shown = match item.item {
            ModelItem::Message { text, phase } => ModelItem::Message {
                text: text.map(hide),
                phase,
            },
            ModelItem::Reasoning { summary, content } => ModelItem::Reasoning {
                summary: hide_all(summary),
                content: hide_all(content),
            },
            ModelItem::Call(mut call) => {
                call.kind = match call.kind {
                    CallKind::Function(arguments) => CallKind::Function(hide(arguments)),
                    CallKind::Custom(input) => CallKind::Custom(hide(input)),
                    CallKind::LocalShell(call) => CallKind::LocalShell(self.json(call)),
                    CallKind::ToolSearch(call) => CallKind::ToolSearch(self.json(call)),
                };
                ModelItem::Call(call)
            }
            ModelItem::WebSearch { query, .. } => ModelItem::WebSearch {
                query: hide(query),
                action: None,
            },
            other => other,
        };
        OutputItem {
            item: shown,
            raw,
            ..item
        }
    }
}
