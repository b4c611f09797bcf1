//! The lines of a rollout: `{"timestamp":…,"type":…,"payload":…}`, one JSON object per line.

use std::time::SystemTime;

use quipu_wire::Json;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::event::{ErrorEvent, Event, TaskComplete};
use crate::lines::MAX_RECORD;
use crate::ordinals;
use crate::session::SessionMeta;
use crate::time;

/// The longest line that is written: one that readers take, also after it was numbered.
const MAX_ENCODED: usize = MAX_RECORD - ordinals::ROOM;

/// What one line records.
#[derive(Debug, Clone)]
pub enum Record {
    /// Which thread this is. The first of a file counts.
    SessionMeta(Box<SessionMeta>),
    /// Something the model sees, exactly as it is sent.
    ResponseItem(Json),
    /// The settings of a turn.
    TurnContext(Box<TurnContext>),
    /// The history up to here is replaced.
    Compacted(Compacted),
    /// What happened, as clients see it.
    Event(Box<Event>),
}

impl From<Event> for Record {
    fn from(event: Event) -> Self {
        Self::Event(Box::new(event))
    }
}

/// The payload of a `turn_context` line. Members that only pass through stay JSON.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct TurnContext {
    /// The turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn_id: Option<String>,
    /// Links the turn to a trace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace_id: Option<String>,
    /// The working directory.
    pub cwd: String,
    /// The local date told to the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub current_date: Option<String>,
    /// The time zone told to the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timezone: Option<String>,
    /// When to ask before acting.
    pub approval_policy: Json,
    /// What commands may touch.
    pub sandbox_policy: Json,
    /// What they may reach.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network: Option<Json>,
    /// The model.
    pub model: String,
    /// How it speaks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub personality: Option<String>,
    /// How it works with the user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub collaboration_mode: Option<Json>,
    /// Whether a voice session was on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub realtime_active: Option<bool>,
    /// How hard it thinks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effort: Option<String>,
    /// How it sums up its thoughts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// Instructions found in the workspace and the home.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_instructions: Option<String>,
    /// Instructions of the client.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub developer_instructions: Option<String>,
    /// The shape the answer must have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub final_output_json_schema: Option<Json>,
    /// How long tool outputs may be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub truncation_policy: Option<Json>,
}

/// The payload of a `compacted` line.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Compacted {
    /// The summary; empty when the provider compacted.
    #[serde(default)]
    pub message: String,
    /// The whole new history. Old files lack it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replacement_history: Option<Vec<Json>>,
}

impl Record {
    /// The `type` member of the line.
    fn kind(&self) -> &'static str {
        match self {
            Self::SessionMeta(_) => "session_meta",
            Self::ResponseItem(_) => "response_item",
            Self::TurnContext(_) => "turn_context",
            Self::Compacted(_) => "compacted",
            Self::Event(_) => "event_msg",
        }
    }

    /// What of this record must be stored for its turn to be read back as it ended, in short.
    pub(crate) fn essence(&self) -> Option<Self> {
        let event = match self {
            Self::SessionMeta(_) => return Some(self.clone()),
            Self::Event(event) => &**event,
            _ => return None,
        };
        Some(match event {
            Event::TaskStarted(_) | Event::TurnAborted(_) => self.clone(),
            Event::Error(error) => Event::Error(error.shortened()).into(),
            Event::TaskComplete(complete) => Event::TaskComplete(TaskComplete {
                turn_id: complete.turn_id.clone(),
                last_agent_message: None,
                error: complete.error.as_ref().map(ErrorEvent::shortened),
            })
            .into(),
            _ => return None,
        })
    }

    /// Adds this record to `out` as one line; on failure `out` is as it was.
    pub(crate) fn encode(&self, now: SystemTime, out: &mut Vec<u8>) -> Result<()> {
        let start = out.len();
        out.extend_from_slice(b"{\"timestamp\":\"");
        out.extend_from_slice(time::stamp(now).as_bytes());
        out.extend_from_slice(b"\",\"type\":\"");
        out.extend_from_slice(self.kind().as_bytes());
        out.extend_from_slice(b"\",\"payload\":");
        let written = match self {
            Self::SessionMeta(meta) => serde_json::to_writer(&mut *out, meta),
            Self::ResponseItem(item) => serde_json::to_writer(&mut *out, item),
            Self::TurnContext(context) => serde_json::to_writer(&mut *out, context),
            Self::Compacted(compacted) => serde_json::to_writer(&mut *out, compacted),
            Self::Event(event) => serde_json::to_writer(&mut *out, event),
        };
        out.push(b'}');
        let len = out.len() - start;
        let fault = match written {
            Err(error) => Some(Error::Encode(error)),
            Ok(()) if len > MAX_ENCODED => Some(Error::RecordTooLarge {
                len,
                max: MAX_ENCODED,
            }),
            Ok(()) => None,
        };
        match fault {
            Some(error) => {
                out.truncate(start);
                Err(error)
            }
            None => {
                out.push(b'\n');
                Ok(())
            }
        }
    }
}

/// Whether a turn runs after these lines, as far as they say.
#[must_use]
pub fn runs_after(lines: &[u8]) -> Option<bool> {
    let last = |tag: &str| {
        let start = format!(r#""type":"event_msg","payload":{{"type":"{tag}""#);
        memchr::memmem::rfind(lines, start.as_bytes())
    };
    let started = last("task_started");
    let ended = last("task_complete").max(last("turn_aborted"));
    match started.is_some() || ended.is_some() {
        true => Some(started > ended),
        false => None,
    }
}

#[cfg(test)]
mod tests {
    use std::time::UNIX_EPOCH;

    use serde_json::Value;

    use super::*;
    use crate::event::ContextCompacted;
    use crate::reader::split;

    fn line(record: &Record) -> String {
        let mut out = b"before\n".to_vec();
        record.encode(UNIX_EPOCH, &mut out).unwrap();
        String::from_utf8(out)
            .unwrap()
            .strip_prefix("before\n")
            .unwrap()
            .to_owned()
    }

    #[test]
    fn lines_have_the_official_form() {
        let complete = TaskComplete {
            turn_id: "t".into(),
            last_agent_message: None,
            error: None,
        };
        assert_eq!(
            line(&Event::TaskComplete(complete).into()),
            "{\"timestamp\":\"1970-01-01T00:00:00.000Z\",\"type\":\"event_msg\",\"payload\":{\"type\":\"task_complete\",\"turn_id\":\"t\",\"last_agent_message\":null}}\n",
        );
        assert!(
            line(&Event::ContextCompacted(ContextCompacted {}).into())
                .contains("\"payload\":{\"type\":\"context_compacted\"}}")
        );
    }

    /// Captured lines: what we make of them must say the same as what the official program wrote.
    #[test]
    fn official_lines_are_written_as_they_were_read() {
        let captured = [
            include_str!("../tests/fixtures/one-command.jsonl"),
            include_str!("../tests/fixtures/every-tool-once.jsonl"),
            include_str!("../tests/fixtures/long-session.jsonl"),
            include_str!("../tests/fixtures/more-events.jsonl"),
        ];
        for line in captured.iter().flat_map(|file| file.lines()) {
            let raw = split(0, line).unwrap();
            let record = match raw.kind {
                "session_meta" => Record::SessionMeta(raw.parse().unwrap()),
                "response_item" => Record::ResponseItem(raw.parse().unwrap()),
                "turn_context" => Record::TurnContext(raw.parse().unwrap()),
                "compacted" => Record::Compacted(raw.parse().unwrap()),
                _ => {
                    let tag = raw.tag().unwrap();
                    assert!(Event::knows(tag), "{tag}");
                    Event::parse(tag, raw.payload).unwrap().into()
                }
            };
            let written = self::line(&record);
            let written = split(0, written.trim_end())
                .unwrap()
                .parse::<Value>()
                .unwrap();
            assert_eq!(written, raw.parse::<Value>().unwrap(), "{line}");
        }
    }

    #[test]
    fn lines_say_whether_a_turn_runs_after_them() {
        let event = |payload: Value| {
            let (tag, text) = (payload["type"].as_str().unwrap(), payload.to_string());
            line(&Event::parse(tag, &text).unwrap().into())
        };
        let started = event(serde_json::json!({ "type": "task_started", "turn_id": "a" }));
        let ended = event(serde_json::json!({ "type": "task_complete", "turn_id": "a" }));
        let aborted = event(serde_json::json!({ "type": "turn_aborted", "reason": "interrupted" }));
        let quoted = Json::new(&started).unwrap();
        let other = line(&Record::ResponseItem(quoted));
        let runs = |lines: &[&String]| {
            let lines: String = lines.iter().map(|it| it.as_str()).collect();
            runs_after(lines.as_bytes())
        };
        assert_eq!(runs(&[&other]), None);
        assert_eq!(runs(&[&started, &other]), Some(true));
        assert_eq!(runs(&[&started, &ended, &other]), Some(false));
        assert_eq!(runs(&[&started, &aborted]), Some(false));
        assert_eq!(runs(&[&ended, &started]), Some(true));
    }

    #[test]
    fn a_record_never_breaks_its_line() {
        let spread: Json = serde_json::from_str("{\"a\":\n[1,\r\n2]}").unwrap();
        assert_eq!(line(&Record::ResponseItem(spread)).matches('\n').count(), 1);
    }

    #[test]
    fn a_record_over_the_limit_leaves_nothing_behind() {
        let huge = Json::new(&"x".repeat(MAX_RECORD)).unwrap();
        let mut out = b"before\n".to_vec();
        let error = Record::ResponseItem(huge)
            .encode(UNIX_EPOCH, &mut out)
            .unwrap_err();
        assert!(matches!(error, Error::RecordTooLarge { .. }));
        assert_eq!(out, b"before\n");
    }
}
