//! One request to the model: a task that turns its answer into messages for the thread.

use std::collections::BTreeMap;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures_util::FutureExt as _;
use quipu_engine::{ModelEvent, ModelItem, OutputItem, SampleId, SchemaMismatch, ThreadId};
use quipu_model::{ModelStream, OutputError, ProviderConfig, Usage};
use quipu_wire::{CodexErrorInfo, Json, TokenUsageBreakdown, TurnError};
use tokio::task::JoinHandle;

use super::message::{Message, ThreadHandle};
use super::model_items::model_item;
use super::reports::RequestReport;
use super::spending::Counter;
use crate::{Server, fail, models};
use quipu_prompt::notes;
use quipu_prompt::speech::{Said, Speech, SpeechFilter};

/// Events that travel together at most.
const BATCH: usize = 256;

/// Reads an answer until it ends; aborting the task cancels the request.
pub(super) fn start(
    server: Arc<Server>,
    thread: ThreadHandle,
    sample: SampleId,
    asked: Asked,
    report: Option<RequestReport>,
    stream: ModelStream,
) -> JoinHandle<()> {
    tokio::spawn(async move {
        let reader = Reader {
            server,
            thread_id: thread.id.clone(),
            asked,
            report,
            messages: BTreeMap::new(),
        };
        let reading = AssertUnwindSafe(read(&thread, sample, reader, stream));
        if reading.catch_unwind().await.is_err() {
            tracing::error!("reader of the model stream panicked");
        }
        // After an end this is ignored; a stream that ends without one must not leave its turn open.
        let error = TurnError {
            message: "the model's answer broke off".to_owned(),
            codex_error_info: Some(CodexErrorInfo::Other),
            additional_details: None,
        };
        let events = vec![ModelEvent::Failed {
            error,
            window_exceeded: false,
        }];
        thread.send(Message::Model { sample, events }).await;
    })
}

/// Fails a request that is not made.
pub(super) fn refuse(thread: ThreadHandle, sample: SampleId, error: TurnError) -> JoinHandle<()> {
    tokio::spawn(async move {
        let events = vec![ModelEvent::Failed {
            error,
            window_exceeded: false,
        }];
        thread.send(Message::Model { sample, events }).await;
    })
}

/// Passes on what comes, as much at once as there is.
async fn read(
    thread: &ThreadHandle,
    sample: SampleId,
    mut reader: Reader,
    mut stream: ModelStream,
) {
    while let Some(first) = stream.next().await {
        fail::point("model", "answer");
        let mut events = Vec::new();
        let mut next = Some(first);
        while let Some(event) = next {
            reader.read(event, &mut events);
            next = if events.len() < BATCH {
                stream.next_ready()
            } else {
                None
            };
        }
        if !thread.send(Message::Model { sample, events }).await {
            return;
        }
    }
}

/// Who is asked, and how.
pub(super) struct Asked {
    pub provider: ProviderConfig,
    pub model: String,
    pub counter: Counter,
    pub plan_mode: bool,
    /// The model's thoughts are not for clients.
    pub hide_reasoning: bool,
    /// A final message that does not match its schema fails the turn.
    pub strict_schema: bool,
}

/// Turns a provider's events into the engine's.
struct Reader {
    server: Arc<Server>,
    thread_id: ThreadId,
    asked: Asked,
    /// Telemetry of the request, if there are collectors.
    report: Option<RequestReport>,
    /// Messages that are being said, by slot.
    messages: BTreeMap<u32, Speaking>,
}

/// A message while the model says it.
struct Speaking {
    filter: SpeechFilter,
    /// Its start, held back until there is text for the user: a message without any is not stored.
    pending_start: Option<Box<OutputItem>>,
    plan: Option<String>,
}

impl Reader {
    fn read(&mut self, event: quipu_model::ModelEvent, out: &mut Vec<ModelEvent>) {
        use quipu_model::ModelEvent as From;
        self.report(&event);
        out.push(match event {
            From::Opened(opened) => {
                if let Some(etag) = opened.models_etag {
                    models::current_list(&self.server, &self.asked.provider, etag);
                }
                return;
            }
            From::RateLimits(limits) => ModelEvent::RateLimits(limits),
            From::ModelRerouted { model } => ModelEvent::Rerouted {
                from: self.asked.model.clone(),
                to: model,
            },
            From::ItemStarted { slot, item } => return self.started(slot, *item, out),
            From::TextDelta { slot, delta } => return self.said(slot, delta, out),
            From::ReasoningPartAdded { .. }
            | From::ReasoningSummaryDelta { .. }
            | From::ReasoningTextDelta { .. }
                if self.asked.hide_reasoning =>
            {
                return;
            }
            From::ReasoningPartAdded { slot, index } => {
                ModelEvent::ReasoningPartAdded { slot, index }
            }
            From::ReasoningSummaryDelta { slot, index, delta } => {
                ModelEvent::ReasoningSummaryDelta { slot, index, delta }
            }
            From::ReasoningTextDelta { slot, index, delta } => {
                ModelEvent::ReasoningTextDelta { slot, index, delta }
            }
            From::ItemDone { slot, item } => return self.done(slot, *item, out),
            From::Retrying(retrying) => {
                self.messages.clear();
                ModelEvent::Retrying {
                    error: retrying.announced.then(|| TurnError {
                        message: retrying.message(),
                        codex_error_info: Some(retrying.info()),
                        additional_details: Some(retrying.error.to_string()),
                    }),
                }
            }
            From::Completed(completed) => ModelEvent::Completed {
                usage: completed.usage.map(|usage| self.counted(&usage)),
                mismatch: completed.output_error.map(|error| self.mismatch(&error)),
            },
            From::Failed(error) => ModelEvent::Failed {
                window_exceeded: error.kind.is_overflow(),
                error: TurnError {
                    message: error.to_string(),
                    codex_error_info: Some(error.info()),
                    additional_details: error.details(),
                },
            },
        });
    }

    fn report(&mut self, event: &quipu_model::ModelEvent) {
        use quipu_model::ModelEvent as From;
        let Some(report) = &mut self.report else {
            return;
        };
        match event {
            From::Opened(_) => report.opened(),
            From::Retrying(retrying) => report.failed(reason(&retrying.info())),
            From::Failed(error) => report.failed(reason(&error.info())),
            From::Completed(completed) => {
                let usage = completed.usage.as_ref().map(Usage::breakdown);
                report.completed(usage.as_ref());
            }
            _ => {}
        }
    }

    /// What an answer used; what it cost is counted.
    fn counted(&self, usage: &Usage) -> TokenUsageBreakdown {
        let (dollars, thread) = self.asked.counter.count(usage);
        if let (Some(report), Some(dollars)) = (&self.report, dollars) {
            report.cost(dollars);
        }
        tracing::info!(
            thread = %self.thread_id,
            model = self.asked.model,
            tokens = usage.total,
            dollars,
            thread_dollars = thread.dollars,
            "the model answered"
        );
        usage.breakdown()
    }

    /// The final message does not match the schema that the client gave.
    fn mismatch(&self, OutputError { reason, is_json }: &OutputError) -> Box<SchemaMismatch> {
        Box::new(SchemaMismatch {
            note: notes::wrong_shape(reason),
            error: TurnError {
                message: format!(
                    "The final message of {} does not match the output schema: {reason}",
                    self.asked.model
                ),
                codex_error_info: Some(CodexErrorInfo::Other),
                additional_details: None,
            },
            is_fatal: self.asked.strict_schema || !is_json,
        })
    }

    fn started(&mut self, slot: u32, item: quipu_model::OutputItem, out: &mut Vec<ModelEvent>) {
        let Some(item) = self.item(item).map(Box::new) else {
            return;
        };
        if !matches!(item.item, ModelItem::Message { .. }) {
            return out.push(ModelEvent::ItemStarted { slot, item });
        }
        let has_words =
            matches!(&item.item, ModelItem::Message { text: Some(text), .. } if !text.is_empty());
        let mut pending_start = Some(item);
        if has_words && !self.asked.plan_mode {
            begin(slot, &mut pending_start, out);
        }
        let filter = SpeechFilter::new(self.asked.plan_mode);
        let speaking = Speaking {
            filter,
            pending_start,
            plan: None,
        };
        self.messages.insert(slot, speaking);
    }

    fn said(&mut self, slot: u32, delta: String, out: &mut Vec<ModelEvent>) {
        let Some(Speaking {
            filter,
            pending_start,
            plan,
        }) = self.messages.get_mut(&slot)
        else {
            return;
        };
        if filter.shows(&delta) {
            if !delta.is_empty() {
                begin(slot, pending_start, out);
                out.push(ModelEvent::TextDelta { slot, delta });
            }
            return;
        }
        filter.push(&delta, |speech| {
            pass(slot, speech, pending_start, plan, out)
        });
    }

    /// The end of an item; of a message, with what is shown of it.
    fn done(&mut self, slot: u32, item: quipu_model::OutputItem, out: &mut Vec<ModelEvent>) {
        let Some(mut item) = self.item(item).map(Box::new) else {
            return;
        };
        let speaking = self.messages.remove(&slot);
        let was_said = speaking
            .as_ref()
            .is_some_and(|it| it.pending_start.is_none());
        let mut plan_told = false;
        if let Some(Speaking {
            mut filter,
            mut pending_start,
            mut plan,
        }) = speaking
        {
            filter.finish(|speech| pass(slot, speech, &mut pending_start, &mut plan, out));
            plan_told = plan.is_some();
        }
        if let ModelItem::Message {
            text: Some(text), ..
        } = &mut item.item
        {
            let said = Said::read(text, self.asked.plan_mode);
            if let Some(plan) = said.plan {
                if !plan_told {
                    out.push(ModelEvent::PlanDelta {
                        delta: plan.clone(),
                    });
                }
                out.push(ModelEvent::PlanDone { text: plan });
            }
            *text = said.text;
        }
        let is_plan = self.asked.plan_mode;
        if let ModelItem::Message { text, .. } = &mut item.item
            && !was_said
        {
            text.take_if(|text| text.is_empty() || (is_plan && text.trim().is_empty()));
        }
        out.push(ModelEvent::ItemDone { slot, item });
    }

    fn item(&self, output: quipu_model::OutputItem) -> Option<OutputItem> {
        let Ok(raw) = Json::try_from((*output.raw).to_owned()) else {
            tracing::warn!(kind = ?output.kind, "model item nested too deeply; dropped");
            return None;
        };
        let mut item = model_item(output.kind, &raw)?;
        if self.asked.hide_reasoning && matches!(item, ModelItem::Reasoning { .. }) {
            item = ModelItem::Other;
        }
        // Items that came without an id get one of ours.
        let id = output
            .id
            .unwrap_or_else(|| uuid::Uuid::new_v4().to_string());
        Some(OutputItem {
            id: id.into(),
            item,
            raw,
        })
    }
}

/// Passes on the start of a message that was held back.
fn begin(slot: u32, pending_start: &mut Option<Box<OutputItem>>, out: &mut Vec<ModelEvent>) {
    let started = pending_start.take();
    out.extend(started.map(|item| ModelEvent::ItemStarted { slot, item }));
}

/// Passes on a piece of speech: text for the user belongs to the message, the plan is an item of its own.
fn pass(
    slot: u32,
    speech: Speech<'_>,
    pending_start: &mut Option<Box<OutputItem>>,
    plan: &mut Option<String>,
    out: &mut Vec<ModelEvent>,
) {
    match speech {
        Speech::Text("") => {}
        Speech::Text(text) => {
            begin(slot, pending_start, out);
            out.push(ModelEvent::TextDelta {
                slot,
                delta: text.to_owned(),
            });
        }
        Speech::PlanStart => {
            *plan = Some(String::new());
            out.push(ModelEvent::PlanDelta {
                delta: String::new(),
            });
        }
        Speech::PlanText(text) => out.push(ModelEvent::PlanDelta {
            delta: text.to_owned(),
        }),
        Speech::PlanEnd => {}
    }
}

/// The reason for a failure as one name; the provider's own text may hold anything.
fn reason(info: &CodexErrorInfo) -> String {
    let value = serde_json::to_value(info).unwrap_or_default();
    let tag = value.as_str().map(str::to_owned);
    let first = || value.as_object().and_then(|it| it.keys().next().cloned());
    tag.or_else(first).unwrap_or_else(|| "other".to_owned())
}
