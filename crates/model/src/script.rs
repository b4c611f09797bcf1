//! The script that the offline model and the test kit's model server play: what a scripted model
//! says, calls and breaks. `docs/offline-model.md` explains every field.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;

/// The tool that `patch` calls.
const PATCH_TOOL: &str = "apply_patch";
const DEFAULT_PIECE: usize = 8;
const MARKS: [&str; 2] = [r#"{"script":"#, r#"{"mock":"#];

/// A list of steps; each answers one request.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Script {
    /// The steps in order.
    #[serde(alias = "mock", rename = "script")]
    pub steps: Vec<Step>,
}

/// One answer.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Step {
    /// A message, in one piece.
    pub text: Option<String>,
    /// A message in pieces: a list of texts, or how many pieces of `size` bytes.
    pub deltas: Option<Deltas>,
    /// The size of counted pieces.
    pub size: Option<usize>,
    /// A reasoning summary before everything else.
    pub reasoning: Option<String>,
    /// Raw reasoning before everything else.
    pub raw_reasoning: Option<String>,
    /// Tool calls after the message.
    pub calls: Vec<Call>,
    /// A patch to apply; short for a call of the free-form patch tool.
    pub patch: Option<String>,
    /// Responses items to send as they are.
    pub items: Vec<Value>,
    /// Token counts.
    pub usage: Option<Tokens>,

    /// Milliseconds to wait before answering.
    pub hang: u64,
    /// Milliseconds between pieces.
    pub every: u64,
    /// Send at most this many bytes at a time.
    pub drip: Option<usize>,

    /// An HTTP error status instead of an answer.
    pub fail: Option<u16>,
    /// The body of that error.
    pub body: Option<Value>,
    /// Extra response headers.
    pub headers: BTreeMap<String, String>,
    /// How many attempts a failure lasts; for ever when unset. The attempt after that gets the
    /// rest of the step.
    pub times: Option<u32>,
    /// A failure inside the stream: `{"code": …, "message": …}`.
    pub error: Option<Value>,
    /// The answer ends early for this reason.
    pub incomplete: Option<String>,
    /// The connection breaks before the answer is complete.
    pub cut: bool,
    /// The stream falls silent before the answer is complete.
    pub stall: bool,
    /// Text sent before everything else, as it is. A step of nothing else ends after it.
    pub raw: Option<String>,
    /// The first piece of the message begins with a byte that is no UTF-8.
    pub bad_utf8: bool,
}

/// How a message is cut into pieces.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum Deltas {
    /// That many equal pieces.
    Count(u64),
    /// These pieces.
    Texts(Vec<String>),
}

/// A tool call.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Call {
    /// The tool's name.
    pub name: String,
    /// A JSON value, or the text to send as arguments, valid or not.
    #[serde(default)]
    pub arguments: Value,
    /// Whether the tool is free-form.
    #[serde(default)]
    pub custom: bool,
    /// The call's id; made up when unset.
    #[serde(default)]
    pub call_id: Option<String>,
}

impl Call {
    /// The arguments as the text a model would write.
    pub fn arguments_text(&self) -> String {
        match &self.arguments {
            Value::String(text) => text.clone(),
            Value::Null => "{}".into(),
            value => value.to_string(),
        }
    }
}

/// Token counts of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Tokens {
    /// Sent.
    pub input: i64,
    /// Sent and cached.
    pub cached: i64,
    /// Written.
    pub output: i64,
    /// Written as reasoning.
    pub reasoning: i64,
}

impl Tokens {
    pub(crate) const NONE: Self = Self {
        input: 0,
        cached: 0,
        output: 0,
        reasoning: 0,
    };
}

impl Default for Tokens {
    fn default() -> Self {
        Self {
            input: 100,
            cached: 10,
            output: 20,
            reasoning: 5,
        }
    }
}

impl Script {
    /// Finds a script in a prompt: the object that starts with `{"script":` or `{"mock":`. Text
    /// before and after it is ignored. A script that cannot be read is an error in words.
    pub fn find(prompt: &str) -> Option<Result<Self, String>> {
        let at = MARKS.iter().filter_map(|mark| prompt.find(mark)).min()?;
        let mut values = serde_json::Deserializer::from_str(&prompt[at..]).into_iter::<Self>();
        Some(values.next()?.map_err(|error| error.to_string()))
    }

    /// The step for a request that comes after so many tool outputs: steps whose calls are all
    /// answered are over, and the last step stays.
    pub fn step_after(&self, tool_outputs: usize) -> Option<&Step> {
        let mut answered = 0;
        let last = self.steps.len().checked_sub(1)?;
        self.steps
            .iter()
            .enumerate()
            .find(|(at, step)| {
                let calls = step.all_calls().len();
                answered += calls;
                *at == last || calls == 0 || answered > tool_outputs
            })
            .map(|(_, step)| step)
    }
}

impl Step {
    /// A step that only says something.
    pub fn says(text: impl Into<String>) -> Self {
        Self {
            text: Some(text.into()),
            ..Self::default()
        }
    }

    /// The calls, the patch among them.
    pub fn all_calls(&self) -> Vec<Call> {
        let patch = self.patch.iter().map(|patch| Call {
            name: PATCH_TOOL.into(),
            arguments: Value::String(patch.clone()),
            custom: true,
            call_id: None,
        });
        patch.chain(self.calls.iter().cloned()).collect()
    }

    /// The pieces of the message; `None` when there is no message. Counted pieces are made one at
    /// a time, so their number may be absurd.
    pub fn pieces(&self) -> Option<Box<dyn Iterator<Item = String> + Send>> {
        match (&self.deltas, &self.text) {
            (Some(Deltas::Count(count)), _) => {
                let piece = "x".repeat(self.size.unwrap_or(DEFAULT_PIECE));
                Some(Box::new((0..*count).map(move |_| piece.clone())))
            }
            (Some(Deltas::Texts(texts)), _) => Some(Box::new(texts.clone().into_iter())),
            (None, Some(text)) => Some(Box::new(std::iter::once(text.clone()))),
            (None, None) => None,
        }
    }

    /// The whole message.
    pub fn full_text(&self) -> String {
        self.pieces().into_iter().flatten().collect()
    }

    /// The error status for the attempt of that number (from 0), if it fails.
    pub fn failure(&self, attempt: u32) -> Option<u16> {
        self.fail.filter(|_| self.is_faulty(attempt))
    }

    /// Whether faults still happen in the attempt of that number.
    pub fn is_faulty(&self, attempt: u32) -> bool {
        self.times.is_none_or(|times| attempt < times)
    }

    /// The body of the error.
    pub fn failure_body(&self) -> String {
        match &self.body {
            Some(Value::String(text)) => text.clone(),
            Some(body) => body.to_string(),
            None => r#"{"error":{"message":"scripted failure"}}"#.into(),
        }
    }

    /// Whether `raw` is all there is.
    pub fn is_raw_only(&self) -> bool {
        self.raw.is_some()
            && self.text.is_none()
            && self.deltas.is_none()
            && self.reasoning.is_none()
            && self.raw_reasoning.is_none()
            && self.all_calls().is_empty()
            && self.items.is_empty()
            && self.error.is_none()
            && self.incomplete.is_none()
    }

    /// The wait before answering.
    pub fn first_wait(&self) -> Duration {
        Duration::from_millis(self.hang)
    }

    /// The wait between pieces.
    pub fn piece_wait(&self) -> Duration {
        Duration::from_millis(self.every)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_are_found_inside_prompts() {
        let prompt = r#"please {"mock":[{"text":"a"},{"deltas":["b"],"every":5}]} thanks"#;
        let script = Script::find(prompt).unwrap().unwrap();
        assert_eq!(script.steps.len(), 2);
        assert!(Script::find("hello {}").is_none());
        let error = Script::find(r#"{"script":[{"txet":"a"}]}"#)
            .unwrap()
            .unwrap_err();
        assert!(error.contains("unknown field `txet`"), "{error}");
        assert!(Script::find(r#"{"script":[{"#).unwrap().is_err());
    }

    #[test]
    fn answered_calls_move_the_script_on() {
        let json =
            r#"{"script":[{"calls":[{"name":"a"},{"name":"b"}]},{"patch":"p"},{"text":"end"}]}"#;
        let script = Script::find(json).unwrap().unwrap();
        let at = |outputs| {
            script
                .steps
                .iter()
                .position(|s| Some(s) == script.step_after(outputs))
        };
        assert_eq!(
            [at(0), at(1), at(2), at(3), at(9)],
            [Some(0), Some(0), Some(1), Some(2), Some(2)]
        );
        assert_eq!(Script::default().step_after(0), None);
    }

    #[test]
    fn faults_last_as_long_as_ordered() {
        let step = Step {
            fail: Some(503),
            times: Some(2),
            ..Step::default()
        };
        assert_eq!(
            [0, 1, 2].map(|n| step.failure(n)),
            [Some(503), Some(503), None]
        );
    }
}
