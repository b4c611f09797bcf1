//! The queue between those who report and the task that sends.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime};

use tokio::sync::{mpsc, oneshot};
use tokio::time::{MissedTickBehavior, interval};

use crate::encode::Message;
use crate::export::{Collector, Exporter, LOGS, METRICS, SPANS};
use crate::metrics::{Metrics, Unit};
use crate::record::{self, Attribute, Record, Span, SpanContext};

/// Records that may wait; more are dropped and counted.
const QUEUE: usize = 2_048;
/// Records that are sent together at most.
const BATCH: usize = 512;
/// How long a record may wait for others.
const WAIT: Duration = Duration::from_secs(1);
/// How often metrics are sent.
const METRICS_INTERVAL: Duration = Duration::from_secs(15);

/// What to send, and where.
pub struct Options {
    /// What the data is about: attributes of every request.
    pub resource: Vec<Attribute>,
    /// Where log events go.
    pub logs: Option<Collector>,
    /// Where spans go.
    pub traces: Option<Collector>,
    /// Where metrics go.
    pub metrics: Option<Collector>,
    /// Metrics are added up for [`prometheus`](Telemetry::prometheus), collector or not.
    pub scraped: bool,
}

/// Takes reports. Clones share one queue; without a collector all calls do nothing.
#[derive(Clone, Default)]
pub struct Telemetry(Option<Arc<Inner>>);

struct Inner {
    queue: mpsc::Sender<Item>,
    dropped: Arc<AtomicU64>,
    /// Nothing is put into the queue that nobody would be sent.
    logs: bool,
    traces: bool,
    metrics: bool,
}

enum Item {
    Record(Record),
    /// Answered when everything before it was sent.
    Flush(oneshot::Sender<()>),
    /// Answered with the metrics as they are.
    Scrape(oneshot::Sender<String>),
}

impl Telemetry {
    /// Starts the task that sends. Needs a tokio runtime.
    pub fn start(options: &Options) -> Result<Telemetry, String> {
        let exporter = |shape, collector: &Option<Collector>| {
            let collector = collector.as_ref();
            let made = collector.map(|it| Exporter::new(shape, it, options.resource.clone()));
            made.transpose()
        };
        let sender = Sender {
            logs: exporter(LOGS, &options.logs)?,
            traces: exporter(SPANS, &options.traces)?,
            metrics: exporter(METRICS, &options.metrics)?,
            totals: Metrics::new(),
            dropped: Arc::default(),
        };
        let (logs, traces, metrics) = (
            sender.logs.is_some(),
            sender.traces.is_some(),
            sender.metrics.is_some() || options.scraped,
        );
        if !(logs || traces || metrics) {
            return Ok(Telemetry::default());
        }
        let (queue, items) = mpsc::channel(QUEUE);
        let dropped = Arc::clone(&sender.dropped);
        tokio::spawn(sender.run(items));
        Ok(Telemetry(Some(Arc::new(Inner {
            queue,
            dropped,
            logs,
            traces,
            metrics,
        }))))
    }

    /// Whether anything is sent at all.
    #[must_use]
    pub fn is_on(&self) -> bool {
        self.0.is_some()
    }

    /// Reports an event.
    pub fn event(
        &self,
        name: &'static str,
        context: Option<SpanContext>,
        attributes: Vec<Attribute>,
    ) {
        if let Some(inner) = self.0.as_ref().filter(|inner| inner.logs) {
            inner.put(Record::Log {
                name,
                at: SystemTime::now(),
                context,
                attributes,
            });
        }
    }

    /// Reports something that ends now.
    pub fn span(&self, span: Span) {
        if let Some(inner) = self.0.as_ref().filter(|inner| inner.traces) {
            let ended = SystemTime::now();
            inner.put(Record::Span { span, ended });
        }
    }

    /// Adds to a sum.
    pub fn add(&self, name: &'static str, value: u64, attributes: Vec<Attribute>) {
        if let Some(inner) = self.0.as_ref().filter(|inner| inner.metrics) {
            inner.put(Record::Count {
                name,
                value,
                attributes,
            });
        }
    }

    /// Counts how long something took.
    pub fn took(&self, name: &'static str, time: Duration, attributes: Vec<Attribute>) {
        let millis = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        self.record(name, Unit::Millis, millis, attributes);
    }

    /// Counts a value in its range. Times are given in milliseconds.
    pub fn record(&self, name: &'static str, unit: Unit, value: u64, attributes: Vec<Attribute>) {
        if let Some(inner) = self.0.as_ref().filter(|inner| inner.metrics) {
            inner.put(Record::Value {
                name,
                unit,
                value,
                attributes,
            });
        }
    }

    /// The metrics in the text format of Prometheus; none if they are not added up.
    pub async fn prometheus(&self) -> Option<String> {
        let inner = self.0.as_ref().filter(|inner| inner.metrics)?;
        let (done, text) = oneshot::channel();
        inner.queue.send(Item::Scrape(done)).await.ok()?;
        text.await.ok()
    }

    /// Waits until what was reported is sent, but not longer than `limit`.
    pub async fn flush(&self, limit: Duration) {
        let Some(inner) = &self.0 else { return };
        let (done, sent) = oneshot::channel();
        let flushed = async {
            if inner.queue.send(Item::Flush(done)).await.is_ok() {
                // The task answers or has ended.
                sent.await.ok();
            }
        };
        if tokio::time::timeout(limit, flushed).await.is_err() {
            tracing::warn!(?limit, "telemetry was not sent in time");
        }
    }

    /// Records that were lost: the queue was full, or the collector did not take them.
    #[must_use]
    pub fn dropped(&self) -> u64 {
        let inner = self.0.as_ref();
        inner.map_or(0, |inner| inner.dropped.load(Ordering::Relaxed))
    }
}

impl Inner {
    fn put(&self, record: Record) {
        if self.queue.try_send(Item::Record(record)).is_err() {
            self.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// The task's own state.
struct Sender {
    logs: Option<Exporter>,
    traces: Option<Exporter>,
    metrics: Option<Exporter>,
    totals: Metrics,
    dropped: Arc<AtomicU64>,
}

impl Sender {
    async fn run(mut self, mut items: mpsc::Receiver<Item>) {
        let mut tick = interval(WAIT);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let (mut logs, mut spans) = (Vec::new(), Vec::new());
        let mut measured = Instant::now();
        let mut known = 0;
        loop {
            let mut done = None;
            let is_due = tokio::select! {
                item = items.recv() => match item {
                    None => return,
                    Some(Item::Record(record)) => {
                        self.take(record, &mut logs, &mut spans);
                        logs.len() + spans.len() >= BATCH
                    }
                    Some(Item::Scrape(done)) => {
                        // The one who asked may have gone.
                        done.send(self.totals.prometheus()).ok();
                        false
                    }
                    Some(Item::Flush(flushed)) => {
                        done = Some(flushed);
                        true
                    }
                },
                _ = tick.tick() => true,
            };
            if !is_due {
                continue;
            }
            self.send(self.logs.as_ref(), &mut logs).await;
            self.send(self.traces.as_ref(), &mut spans).await;
            known = self.tell_dropped(known);
            if done.is_some() || measured.elapsed() >= METRICS_INTERVAL {
                measured = Instant::now();
                self.send_metrics().await;
            }
            if let Some(done) = done {
                // The caller may have stopped waiting.
                done.send(()).ok();
            }
        }
    }

    /// Says what was lost since the last time.
    fn tell_dropped(&mut self, known: u64) -> u64 {
        let dropped = self.dropped.load(Ordering::Relaxed);
        if dropped > known {
            let count = dropped - known;
            tracing::warn!(count, "telemetry records were dropped");
            self.totals
                .add("quipu.telemetry.dropped", count, Vec::new());
        }
        dropped
    }

    fn take(&mut self, record: Record, logs: &mut Vec<Message>, spans: &mut Vec<Message>) {
        let kept = match record {
            Record::Log {
                name,
                at,
                context,
                attributes,
            } => {
                logs.push(record::log(name, at, context, attributes));
                true
            }
            Record::Span { span, ended } => {
                spans.push(record::span(span, ended));
                true
            }
            Record::Count {
                name,
                value,
                attributes,
            } => self.totals.add(name, value, attributes),
            Record::Value {
                name,
                unit,
                value,
                attributes,
            } => self.totals.record(name, unit, value, attributes),
        };
        if !kept {
            self.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }

    async fn send(&self, exporter: Option<&Exporter>, records: &mut Vec<Message>) {
        let Some(exporter) = exporter.filter(|_| !records.is_empty()) else {
            return;
        };
        let count = records.len();
        if let Err(error) = exporter.send(std::mem::take(records)).await {
            self.dropped.fetch_add(count as u64, Ordering::Relaxed);
            tracing::warn!(%error, "telemetry cannot be sent");
        }
    }

    /// Totals are sent again with the next batch, so nothing is lost when one fails.
    async fn send_metrics(&self) {
        let Some(exporter) = self.metrics.as_ref().filter(|_| !self.totals.is_empty()) else {
            return;
        };
        if let Err(error) = exporter.send(self.totals.messages()).await {
            tracing::warn!(%error, "metrics cannot be sent");
        }
    }
}
