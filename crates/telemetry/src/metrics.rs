//! Metrics are added up here and sent as sums since the start.

use std::collections::BTreeMap;
use std::time::SystemTime;

use crate::encode::{Field, Message};
use crate::record::{Attribute, Value, attributes, nanos};

/// What a histogram counts. Times are kept in milliseconds, whatever they are sent in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Unit {
    /// Times in milliseconds.
    Millis,
    /// Times in seconds, in the ranges of the conventions for generative AI.
    Seconds,
    /// Tokens of a model, in the ranges of the same conventions.
    Tokens,
}

impl Unit {
    /// Upper bounds of the ranges that values are counted in.
    fn bounds(self) -> &'static [u64] {
        match self {
            Unit::Millis => &[
                10, 50, 100, 500, 1_000, 5_000, 10_000, 60_000, 300_000, 1_800_000,
            ],
            Unit::Seconds => &[
                10, 20, 40, 80, 160, 320, 640, 1_280, 2_560, 5_120, 10_240, 20_480, 40_960, 81_920,
            ],
            Unit::Tokens => &[
                1, 4, 16, 64, 256, 1_024, 4_096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304,
                16_777_216, 67_108_864,
            ],
        }
    }

    /// The unit as collectors know it, and how much of what is kept makes one.
    fn sent(self) -> (&'static str, f64) {
        match self {
            Unit::Millis => ("ms", 1.0),
            Unit::Seconds => ("s", 1000.0),
            Unit::Tokens => ("{token}", 1.0),
        }
    }
}

/// Different sets of attributes that are distinguished; more of them are dropped.
const MAX_SERIES: usize = 1_000;
const CUMULATIVE: i32 = 2;

type Series<Name, T> = BTreeMap<(Name, Vec<Attribute>), T>;

/// All metrics since the start.
pub(crate) struct Metrics {
    began: SystemTime,
    sums: Series<&'static str, u64>,
    histograms: Series<(&'static str, Unit), Histogram>,
}

#[derive(Default)]
struct Histogram {
    count: u64,
    sum: u64,
    /// As many as there are bounds, and one for what is beyond; none before the first value.
    buckets: Vec<u64>,
}

impl Metrics {
    pub(crate) fn new() -> Metrics {
        Metrics {
            began: SystemTime::now(),
            sums: Series::new(),
            histograms: Series::new(),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.sums.is_empty() && self.histograms.is_empty()
    }

    /// Adds to a sum; `false` if there are too many.
    pub(crate) fn add(&mut self, name: &'static str, value: u64, by: Vec<Attribute>) -> bool {
        let Some(sum) = slot(&mut self.sums, (name, by)) else {
            return false;
        };
        *sum += value;
        true
    }

    /// Counts a value; `false` if there are too many kinds.
    pub(crate) fn record(
        &mut self,
        name: &'static str,
        unit: Unit,
        value: u64,
        by: Vec<Attribute>,
    ) -> bool {
        let Some(histogram) = slot(&mut self.histograms, ((name, unit), by)) else {
            return false;
        };
        let bounds = unit.bounds();
        histogram.count += 1;
        histogram.sum += value;
        histogram.buckets.resize(bounds.len() + 1, 0);
        let bucket = bounds.partition_point(|bound| *bound < value);
        histogram.buckets[bucket] += 1;
        true
    }

    /// The metrics in the text format of Prometheus: names with `_`, times in seconds.
    pub(crate) fn prometheus(&self) -> String {
        let mut text = String::new();
        let mut last = "";
        for ((name, by), sum) in &self.sums {
            let shown = name.replace('.', "_");
            if *name != last {
                text += &format!("# TYPE {shown}_total counter\n");
                last = name;
            }
            text += &format!("{shown}_total{} {sum}\n", labels(by, None));
        }
        for (((name, unit), by), histogram) in &self.histograms {
            let shown = name.trim_end_matches("_ms").replace('.', "_");
            let (shown, per) = match unit {
                Unit::Millis | Unit::Seconds => (shown + "_seconds", 1000.0),
                Unit::Tokens => (shown, 1.0),
            };
            if *name != last {
                text += &format!("# TYPE {shown} histogram\n");
                last = name;
            }
            let mut count = 0;
            for (index, bucket) in histogram.buckets.iter().enumerate() {
                count += bucket;
                let bound = unit.bounds().get(index).map(|it| *it as f64 / per);
                let bound = bound.map_or("+Inf".to_owned(), |it| it.to_string());
                text += &format!("{shown}_bucket{} {count}\n", labels(by, Some(&bound)));
            }
            let sum = histogram.sum as f64 / per;
            text += &format!("{shown}_sum{} {sum}\n", labels(by, None));
            text += &format!("{shown}_count{} {}\n", labels(by, None), histogram.count);
        }
        text
    }

    /// The metrics as they are now.
    pub(crate) fn messages(&self) -> Vec<Message> {
        let now = SystemTime::now();
        let point = |by: &[Attribute], number: u32| {
            Message::default()
                .with(2, "startTimeUnixNano", Field::Fixed(nanos(self.began)))
                .with(3, "timeUnixNano", Field::Fixed(nanos(now)))
                .with(number, "attributes", attributes(by.to_vec()))
        };
        let sums = self.sums.iter().map(|((name, by), sum)| {
            let point = point(by, 7).with(6, "asInt", Field::Fixed(*sum));
            let sum = Message::default()
                .with(1, "dataPoints", Field::Many(vec![point]))
                .with(2, "aggregationTemporality", Field::Enum(CUMULATIVE))
                .with(3, "isMonotonic", Field::Bool(true));
            named(name, "1").with(7, "sum", Field::One(sum))
        });
        let histograms = self.histograms.iter().map(|(((name, unit), by), it)| {
            let (sent, per) = unit.sent();
            let bounds = unit.bounds().iter().map(|bound| *bound as f64 / per);
            let point = point(by, 9)
                .with(4, "count", Field::Fixed(it.count))
                .with(5, "sum", Field::Double(it.sum as f64 / per))
                .with(6, "bucketCounts", Field::ManyFixed(it.buckets.clone()))
                .with(7, "explicitBounds", Field::ManyDouble(bounds.collect()));
            let histogram = Message::default()
                .with(1, "dataPoints", Field::Many(vec![point]))
                .with(2, "aggregationTemporality", Field::Enum(CUMULATIVE));
            named(name, sent).with(9, "histogram", Field::One(histogram))
        });
        sums.chain(histograms).collect()
    }
}

/// The attributes of a series, and the bound of a bucket.
fn labels(by: &[Attribute], bound: Option<&str>) -> String {
    let value = |value: &Value| match value {
        Value::Text(text) => text
            .replace('\\', "\\\\")
            .replace('"', "\\\"")
            .replace('\n', "\\n"),
        Value::Int(number) => number.to_string(),
        Value::Bool(flag) => flag.to_string(),
    };
    let own = by
        .iter()
        .map(|(name, it)| format!("{}=\"{}\"", name.replace('.', "_"), value(it)));
    let all: Vec<String> = own.chain(bound.map(|it| format!("le=\"{it}\""))).collect();
    match all.is_empty() {
        true => String::new(),
        false => format!("{{{}}}", all.join(",")),
    }
}

fn named(name: &str, unit: &str) -> Message {
    Message::default()
        .with(1, "name", Field::Text(name.to_owned()))
        .with(3, "unit", Field::Text(unit.to_owned()))
}

fn slot<Name: Ord, T: Default>(
    series: &mut Series<Name, T>,
    key: (Name, Vec<Attribute>),
) -> Option<&mut T> {
    if series.len() >= MAX_SERIES && !series.contains_key(&key) {
        return None;
    }
    Some(series.entry(key).or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_series_has_a_limit() {
        let mut metrics = Metrics::new();
        for number in 0..MAX_SERIES {
            assert!(metrics.add("n", 1, vec![("id", (number as i64).into())]));
        }
        assert!(!metrics.add("n", 1, vec![("id", (-1).into())]));
        assert!(metrics.add("n", 1, vec![("id", 0.into())]));
        assert_eq!(metrics.messages().len(), MAX_SERIES);
    }

    #[test]
    fn prometheus_reads_escaped_labels_and_cumulative_buckets() {
        let mut metrics = Metrics::new();
        metrics.add("codex.turns", 2, vec![("status", "a\"b\n".into())]);
        metrics.record("codex.turn.duration_ms", Unit::Millis, 20, Vec::new());
        metrics.record(
            "codex.turn.duration_ms",
            Unit::Millis,
            9_999_999,
            Vec::new(),
        );
        metrics.record("gen_ai.client.token.usage", Unit::Tokens, 5, Vec::new());
        let text = metrics.prometheus();
        for line in [
            "# TYPE codex_turns_total counter",
            "codex_turns_total{status=\"a\\\"b\\n\"} 2",
            "# TYPE codex_turn_duration_seconds histogram",
            "codex_turn_duration_seconds_bucket{le=\"0.01\"} 0",
            "codex_turn_duration_seconds_bucket{le=\"0.05\"} 1",
            "codex_turn_duration_seconds_bucket{le=\"+Inf\"} 2",
            "codex_turn_duration_seconds_count 2",
            "gen_ai_client_token_usage_bucket{le=\"4\"} 0",
            "gen_ai_client_token_usage_bucket{le=\"16\"} 1",
            "gen_ai_client_token_usage_sum 5",
        ] {
            assert!(
                text.lines().any(|it| it == line),
                "{line} is not in\n{text}"
            );
        }
    }

    #[test]
    fn durations_fall_into_their_range() {
        let mut metrics = Metrics::new();
        for millis in [1, 10, 11, u64::from(u32::MAX)] {
            metrics.record("d", Unit::Millis, millis, Vec::new());
        }
        let point = &metrics.messages()[0].to_json()["histogram"]["dataPoints"][0];
        assert_eq!(point["count"], "4");
        assert_eq!(point["bucketCounts"][0], "2");
        assert_eq!(point["bucketCounts"][1], "1");
        assert_eq!(point["bucketCounts"][10], "1");
    }
}
