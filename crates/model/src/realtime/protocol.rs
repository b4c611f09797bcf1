//! The messages of voice conversations, in both versions of the protocol: pure, so that it can be tested without a
//! connection.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};

use super::RealtimeSetup;

/// Samples per second, in both directions.
const RATE: u32 = 24_000;
/// The tool of the voice model that hands work over.
const TOOL: &str = "codex";
/// Fields of a tool call that may have the work, best first.
const WORK_FIELDS: [&str; 5] = ["input_transcript", "input", "text", "prompt", "query"];
/// What the provider answers if a response is asked for while there is one.
const BUSY: &str = "Conversation already has an active response in progress:";
/// How much of what was said is kept for a hand-over, in bytes.
const MAX_TRANSCRIPT: usize = 256 * 1024;

/// The version of the provider's protocol.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum RealtimeVersion {
    /// The older one.
    #[default]
    V1,
    /// The newer one.
    V2,
}

/// What goes to the provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RealtimeInput {
    /// Sound, in base64.
    Audio(String),
    /// Something the user typed.
    Text(String),
    /// What came of work that was handed over.
    HandedBack {
        /// The hand-over.
        id: String,
        /// What the agent said.
        text: String,
    },
}

/// A piece of sound.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RealtimeAudio {
    /// PCM samples, in base64.
    pub data: String,
    /// Samples per second.
    pub sample_rate: u32,
    /// How many channels.
    pub channels: u16,
    /// How long it is, if the provider says so.
    pub samples_per_channel: Option<u32>,
    /// What it is part of.
    pub item_id: Option<String>,
}

/// What comes from the provider.
#[derive(Debug, Clone)]
pub enum RealtimeEvent {
    /// Sound for the user.
    Audio(RealtimeAudio),
    /// Something that was said.
    Transcript {
        /// `user` or `assistant`.
        role: &'static str,
        /// What was said since the last one.
        text: String,
    },
    /// Something without an event of its own, as received where it could be.
    Item(Box<RawValue>),
    /// Work for the agent.
    Handover {
        /// What the result must name.
        id: String,
        /// The work.
        text: String,
        /// The request for it, as clients see it.
        item: Box<RawValue>,
    },
    /// The conversation failed; it is the last event.
    Failed(String),
    /// The provider ended the conversation; it is the last event.
    Closed,
}

/// The first message: what the conversation is to be.
pub(super) fn session_update(setup: &RealtimeSetup) -> String {
    let format = json!({ "type": "audio/pcm", "rate": RATE });
    let session = match (setup.version, setup.transcribes) {
        (RealtimeVersion::V1, _) => json!({
            "type": "quicksilver",
            "instructions": setup.instructions,
            "audio": { "input": { "format": format }, "output": { "voice": "fathom" } },
        }),
        (RealtimeVersion::V2, true) => json!({
            "type": "transcription",
            "audio": { "input": { "format": format } },
        }),
        (RealtimeVersion::V2, false) => json!({
            "type": "realtime",
            "instructions": setup.instructions,
            "output_modalities": ["audio"],
            "audio": {
                "input": {
                    "format": format,
                    "noise_reduction": { "type": "near_field" },
                    "turn_detection": {
                        "type": "server_vad", "interrupt_response": true, "create_response": true,
                    },
                },
                "output": { "format": format, "voice": "marin" },
            },
            "tools": [tool()],
            "tool_choice": "auto",
        }),
    };
    json!({ "type": "session.update", "session": session }).to_string()
}

fn tool() -> Value {
    json!({
        "type": "function",
        "name": TOOL,
        "description": "Hands a task to the coding agent of this session, which can read and change files and run \
            commands, and gives back what it did. Call it whenever the user wants something done or looked up, also \
            when it is meant for later; the agent keeps the order.",
        "parameters": {
            "type": "object",
            "properties": {
                "prompt": { "type": "string", "description": "The task, in full sentences." },
            },
            "required": ["prompt"],
            "additionalProperties": false,
        },
    })
}

/// What has to be remembered of a conversation.
pub(super) struct Protocol {
    version: RealtimeVersion,
    /// What was said since the last hand-over, merged by speaker. Only the first version needs it.
    said: VecDeque<(&'static str, String)>,
    /// A response is under way, so no other may be asked for.
    responding: bool,
    /// One is to be asked for after it.
    wants_response: bool,
    /// The item whose sound came last, and how many milliseconds of it.
    playing: Option<(String, u64)>,
}

/// The fields of all messages that are read.
#[derive(Deserialize)]
struct Message {
    #[serde(rename = "type")]
    kind: String,
    delta: Option<String>,
    data: Option<String>,
    transcript: Option<String>,
    sample_rate: Option<u32>,
    #[serde(alias = "num_channels")]
    channels: Option<u16>,
    samples_per_channel: Option<u32>,
    item_id: Option<String>,
    item: Option<Box<RawValue>>,
    response: Option<Value>,
    response_id: Option<String>,
    handoff_id: Option<String>,
    input_transcript: Option<String>,
    message: Option<String>,
    error: Option<Value>,
}

impl Protocol {
    pub(super) fn new(version: RealtimeVersion) -> Self {
        Self {
            version,
            said: VecDeque::new(),
            responding: false,
            wants_response: false,
            playing: None,
        }
    }

    /// The messages that an input becomes.
    pub(super) fn send(&mut self, input: RealtimeInput) -> Vec<String> {
        let is_v1 = self.version == RealtimeVersion::V1;
        let message = match input {
            RealtimeInput::Audio(audio) => {
                return vec![
                    json!({ "type": "input_audio_buffer.append", "audio": audio }).to_string(),
                ];
            }
            RealtimeInput::Text(text) => {
                let kind = if is_v1 { "text" } else { "input_text" };
                let content = json!([{ "type": kind, "text": text }]);
                json!({
                    "type": "conversation.item.create",
                    "item": { "type": "message", "role": "user", "content": content },
                })
            }
            RealtimeInput::HandedBack { id, text } => {
                let text = format!("\"Agent Final Message\":\n\n{text}");
                match self.version {
                    RealtimeVersion::V1 => json!({
                        "type": "conversation.handoff.append", "handoff_id": id, "output_text": text,
                    }),
                    RealtimeVersion::V2 => json!({
                        "type": "conversation.item.create",
                        "item": { "type": "function_call_output", "call_id": id, "output": text },
                    }),
                }
            }
        };
        let mut messages = vec![message.to_string()];
        if !is_v1 {
            messages.extend(self.ask_for_response());
        }
        messages
    }

    /// In the second version a response has to be asked for, one at a time.
    fn ask_for_response(&mut self) -> Option<String> {
        self.wants_response = self.responding;
        (!self.responding).then(|| json!({ "type": "response.create" }).to_string())
    }

    /// The events that a message becomes, and the messages that answer it. What is no message of the protocol is
    /// ignored.
    pub(super) fn receive(&mut self, text: &[u8]) -> (Vec<RealtimeEvent>, Vec<String>) {
        let Ok(message) = serde_json::from_slice::<Message>(text) else {
            tracing::debug!(bytes = text.len(), "unknown realtime message");
            return (Vec::new(), Vec::new());
        };
        if message.kind == "error" {
            return self.error(&message);
        }
        match self.version {
            RealtimeVersion::V1 => (self.first(message).into_iter().collect(), Vec::new()),
            RealtimeVersion::V2 => self.second(message, text),
        }
    }

    fn error(&mut self, message: &Message) -> (Vec<RealtimeEvent>, Vec<String>) {
        let nested = message.error.as_ref().and_then(|it| it["message"].as_str());
        let text = message.message.as_deref().or(nested);
        let events = match text {
            Some(text) if self.version == RealtimeVersion::V2 && text.starts_with(BUSY) => {
                self.responding = true;
                self.wants_response = true;
                None
            }
            text => text.map(|text| RealtimeEvent::Failed(text.to_owned())),
        };
        (events.into_iter().collect(), Vec::new())
    }

    fn first(&mut self, message: Message) -> Option<RealtimeEvent> {
        Some(match message.kind.as_str() {
            "conversation.output_audio.delta" => audio(message)?,
            "conversation.input_transcript.delta" => self.said("user", message.delta?),
            "conversation.output_transcript.delta" => self.said("assistant", message.delta?),
            "conversation.item.added" => RealtimeEvent::Item(message.item?),
            "conversation.handoff.requested" => self.handover(
                message.handoff_id?,
                message.item_id.unwrap_or_default(),
                message.input_transcript.unwrap_or_default(),
            )?,
            _ => return None,
        })
    }

    fn second(&mut self, message: Message, text: &[u8]) -> (Vec<RealtimeEvent>, Vec<String>) {
        let whole = || serde_json::from_slice(text).ok().map(RealtimeEvent::Item);
        let mut messages = Vec::new();
        let said =
            |role, text: Option<String>| text.map(|text| RealtimeEvent::Transcript { role, text });
        let event = match message.kind.as_str() {
            "response.output_audio.delta" | "response.audio.delta" => {
                self.played(&message);
                audio(message)
            }
            "conversation.item.input_audio_transcription.delta" => said("user", message.delta),
            "conversation.item.input_audio_transcription.completed" => {
                said("user", message.transcript)
            }
            "response.output_text.delta" | "response.output_audio_transcript.delta" => {
                said("assistant", message.delta)
            }
            "conversation.item.added" => message.item.map(RealtimeEvent::Item),
            "conversation.item.done" => {
                let item = message.item.as_ref();
                let item = item.and_then(|raw| serde_json::from_str(raw.get()).ok());
                item.and_then(|item: Value| self.called(&item))
            }
            "response.created" => {
                self.responding = true;
                whole()
            }
            "response.done" => {
                messages.extend(self.response_ended());
                let output = message.response.as_ref().map(|it| &it["output"]);
                let items = output.and_then(Value::as_array).into_iter().flatten();
                let handover = items.filter_map(|item| self.called(item)).next();
                handover.or_else(whole)
            }
            "response.cancelled" => {
                messages.extend(self.response_ended());
                let nested = message.response.as_ref().and_then(|it| it["id"].as_str());
                let id = nested.map(str::to_owned).or(message.response_id);
                made(&Cancelled {
                    r#type: "response.cancelled",
                    response_id: id,
                })
            }
            "input_audio_buffer.speech_started" => {
                messages.extend(self.interrupted(message.item_id.as_deref()));
                made(&SpeechStarted {
                    r#type: "input_audio_buffer.speech_started",
                    item_id: message.item_id,
                })
            }
            _ => None,
        };
        (event.into_iter().collect(), messages)
    }

    fn played(&mut self, message: &Message) {
        let (Some(item), Some(samples)) = (&message.item_id, message.samples_per_channel) else {
            return;
        };
        let rate = u64::from(message.sample_rate.unwrap_or(RATE).max(1));
        let length = u64::from(samples) * 1000 / rate;
        match &mut self.playing {
            Some((playing, played)) if playing == item => *played += length,
            other => *other = Some((item.clone(), length)),
        }
    }

    /// The user speaks: the provider learns how much of its own words was played.
    fn interrupted(&mut self, item: Option<&str>) -> Option<String> {
        let (playing, played) = self.playing.take()?;
        let concerns = item.is_none_or(|item| item == playing);
        let message = json!({
            "type": "conversation.item.truncate",
            "item_id": playing,
            "content_index": 0,
            "audio_end_ms": played,
        });
        concerns.then(|| message.to_string())
    }

    fn response_ended(&mut self) -> Option<String> {
        self.responding = false;
        let wanted = std::mem::take(&mut self.wants_response);
        wanted.then(|| self.ask_for_response()).flatten()
    }

    /// The hand-over that an item is, if it calls for one.
    fn called(&mut self, item: &Value) -> Option<RealtimeEvent> {
        if item["type"] != "function_call" || item["name"] != TOOL {
            return None;
        }
        let text = |field: &str| item[field].as_str().unwrap_or_default().to_owned();
        let arguments = text("arguments");
        let parsed: Value = serde_json::from_str(&arguments).unwrap_or_default();
        let fields = WORK_FIELDS
            .iter()
            .filter_map(|field| parsed[*field].as_str());
        let work = fields.map(str::trim).find(|text| !text.is_empty());
        let work = work.map_or(arguments, str::to_owned);
        self.handover(text("call_id"), text("id"), work)
    }

    fn handover(&mut self, id: String, item_id: String, input: String) -> Option<RealtimeEvent> {
        let said = std::mem::take(&mut self.said);
        let lines = said.iter().map(|(role, text)| format!("{role}: {text}"));
        let lines: Vec<String> = lines.collect();
        let spoken = |(role, text): &(&'static str, String)| Spoken {
            role,
            text: text.clone(),
        };
        let request = HandoffRequest {
            r#type: "handoff_request",
            handoff_id: &id,
            item_id: &item_id,
            input_transcript: &input,
            active_transcript: said.iter().map(spoken).collect(),
        };
        let item = to_raw_value(&request).ok()?;
        let text = match lines.is_empty() {
            true => input,
            false => lines.join("\n"),
        };
        Some(RealtimeEvent::Handover { id, text, item })
    }

    /// Keeps what was said, as much as a hand-over may have.
    fn said(&mut self, role: &'static str, text: String) -> RealtimeEvent {
        match self.said.back_mut() {
            Some((speaker, said)) if *speaker == role => said.push_str(&text),
            _ => self.said.push_back((role, text.clone())),
        }
        let mut bytes: usize = self.said.iter().map(|(_, text)| text.len()).sum();
        while bytes > MAX_TRANSCRIPT
            && let Some((_, oldest)) = self.said.pop_front()
        {
            bytes -= oldest.len();
        }
        RealtimeEvent::Transcript { role, text }
    }
}

/// Work for the agent, as clients see it.
#[derive(Serialize)]
struct HandoffRequest<'a> {
    r#type: &'static str,
    handoff_id: &'a str,
    item_id: &'a str,
    input_transcript: &'a str,
    active_transcript: Vec<Spoken>,
}

#[derive(Serialize)]
struct Spoken {
    role: &'static str,
    text: String,
}

#[derive(Serialize)]
struct Cancelled {
    r#type: &'static str,
    response_id: Option<String>,
}

#[derive(Serialize)]
struct SpeechStarted {
    r#type: &'static str,
    item_id: Option<String>,
}

/// An item that is not passed on as it came.
fn made(item: &impl Serialize) -> Option<RealtimeEvent> {
    to_raw_value(item).ok().map(RealtimeEvent::Item)
}

fn audio(message: Message) -> Option<RealtimeEvent> {
    Some(RealtimeEvent::Audio(RealtimeAudio {
        data: message.delta.or(message.data)?,
        sample_rate: message.sample_rate.unwrap_or(RATE),
        channels: message.channels.unwrap_or(1),
        samples_per_channel: message.samples_per_channel,
        item_id: message.item_id,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn receive(protocol: &mut Protocol, message: Value) -> (Vec<RealtimeEvent>, Vec<String>) {
        protocol.receive(message.to_string().as_bytes())
    }

    #[test]
    fn a_response_is_asked_for_once_and_only_after_the_one_under_way() {
        let mut protocol = Protocol::new(RealtimeVersion::V2);
        let create = json!({ "type": "response.create" }).to_string();
        let text = || RealtimeInput::Text("a".into());
        assert_eq!(protocol.send(text())[1], create);
        receive(
            &mut protocol,
            json!({ "type": "response.created", "response": {} }),
        );
        assert_eq!(protocol.send(text()).len(), 1);
        assert_eq!(protocol.send(text()).len(), 1);
        let done = json!({ "type": "response.done", "response": {} });
        assert_eq!(
            receive(&mut protocol, done.clone()).1,
            std::slice::from_ref(&create)
        );
        assert!(receive(&mut protocol, done).1.is_empty());
        let busy = json!({ "type": "error", "error": { "message": format!("{BUSY} r1") } });
        assert!(receive(&mut protocol, busy).0.is_empty());
        let cancelled = json!({ "type": "response.cancelled", "response": { "id": "r" } });
        assert_eq!(receive(&mut protocol, cancelled).1, [create]);
    }

    #[test]
    fn the_provider_learns_how_much_was_played_when_the_user_speaks() {
        let mut protocol = Protocol::new(RealtimeVersion::V2);
        let sound = |item: &str| json!({ "type": "response.output_audio.delta", "delta": "AA", "item_id": item, "samples_per_channel": 2400 });
        for item in ["a1", "a2", "a2"] {
            receive(&mut protocol, sound(item));
        }
        let speech = json!({ "type": "input_audio_buffer.speech_started" });
        let told = receive(&mut protocol, speech.clone()).1;
        let told: Value = serde_json::from_str(&told[0]).unwrap();
        assert_eq!(
            (&told["item_id"], &told["audio_end_ms"]),
            (&json!("a2"), &json!(200))
        );
        assert!(receive(&mut protocol, speech).1.is_empty());
    }

    #[test]
    fn what_was_said_is_bounded() {
        let mut protocol = Protocol::new(RealtimeVersion::V1);
        for n in 0..600 {
            let role = if n % 2 == 0 { "input" } else { "output" };
            let kind = format!("conversation.{role}_transcript.delta");
            receive(
                &mut protocol,
                json!({ "type": kind, "delta": "x".repeat(1000) }),
            );
        }
        let kept: usize = protocol.said.iter().map(|(_, text)| text.len()).sum();
        assert!(kept <= MAX_TRANSCRIPT, "{kept}");
    }

    #[test]
    fn work_is_found_in_any_field_and_in_broken_arguments() {
        let mut protocol = Protocol::new(RealtimeVersion::V2);
        for (arguments, wanted) in [
            (r#"{"prompt":"a"}"#, "a"),
            (r#"{"query":"b","prompt":" "}"#, "b"),
            ("not json", "not json"),
        ] {
            let item = json!({ "type": "function_call", "name": "codex", "call_id": "c", "arguments": arguments });
            let done = json!({ "type": "conversation.item.done", "item": item });
            match &receive(&mut protocol, done).0[..] {
                [RealtimeEvent::Handover { id, text, .. }] => {
                    assert_eq!((id.as_str(), text.as_str()), ("c", wanted));
                }
                other => panic!("{other:?}"),
            }
        }
    }

    #[test]
    fn garbage_is_ignored() {
        for version in [RealtimeVersion::V1, RealtimeVersion::V2] {
            let mut protocol = Protocol::new(version);
            for text in [
                "",
                "nonsense",
                "[]",
                "{}",
                r#"{"type":7}"#,
                r#"{"type":"x"}"#,
                r#"{"type":"error"}"#,
            ] {
                let (events, messages) = protocol.receive(text.as_bytes());
                assert!(events.is_empty() && messages.is_empty(), "{text}");
            }
        }
    }
}
