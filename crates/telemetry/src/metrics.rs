//! Metrics are added up here and sent as sums since the start.

use std::collections::BTreeMap;
use std::time::SystemTime;

use crate::encode::{Field, Message};
use crate::record::{Attribute, attributes, nanos};

/// Upper bounds of the ranges that durations are counted in, in milliseconds.
const BOUNDS: [u64; 10] = [
    10, 50, 100, 500, 1_000, 5_000, 10_000, 60_000, 300_000, 1_800_000,
];
/// Different sets of attributes that are distinguished; more of them are dropped.
const MAX_SERIES: usize = 1_000;
const CUMULATIVE: i32 = 2;

type Series<T> = BTreeMap<(&'static str, Vec<Attribute>), T>;

/// All metrics since the start.
pub(crate) struct Metrics {
    began: SystemTime,
    sums: Series<u64>,
    durations: Series<Durations>,
}

#[derive(Default)]
struct Durations {
    count: u64,
    sum: u64,
    buckets: [u64; BOUNDS.len() + 1],
}

impl Metrics {
    pub(crate) fn new() -> Metrics {
        Metrics {
            began: SystemTime::now(),
            sums: Series::new(),
            durations: Series::new(),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.sums.is_empty() && self.durations.is_empty()
    }

    /// Adds to a sum; `false` if there are too many.
    pub(crate) fn add(&mut self, name: &'static str, value: u64, by: Vec<Attribute>) -> bool {
        let Some(sum) = slot(&mut self.sums, (name, by)) else {
            return false;
        };
        *sum += value;
        true
    }

    /// Counts a duration; `false` if there are too many kinds.
    pub(crate) fn record(&mut self, name: &'static str, millis: u64, by: Vec<Attribute>) -> bool {
        let Some(durations) = slot(&mut self.durations, (name, by)) else {
            return false;
        };
        durations.count += 1;
        durations.sum += millis;
        let bucket = BOUNDS.iter().position(|bound| millis <= *bound);
        durations.buckets[bucket.unwrap_or(BOUNDS.len())] += 1;
        true
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
        let durations = self.durations.iter().map(|((name, by), durations)| {
            let point = point(by, 9)
                .with(4, "count", Field::Fixed(durations.count))
                .with(5, "sum", Field::Double(durations.sum as f64))
                .with(
                    6,
                    "bucketCounts",
                    Field::ManyFixed(durations.buckets.to_vec()),
                )
                .with(
                    7,
                    "explicitBounds",
                    Field::ManyDouble(BOUNDS.map(|it| it as f64).to_vec()),
                );
            let histogram = Message::default()
                .with(1, "dataPoints", Field::Many(vec![point]))
                .with(2, "aggregationTemporality", Field::Enum(CUMULATIVE));
            named(name, "ms").with(9, "histogram", Field::One(histogram))
        });
        sums.chain(durations).collect()
    }
}

fn named(name: &str, unit: &str) -> Message {
    Message::default()
        .with(1, "name", Field::Text(name.to_owned()))
        .with(3, "unit", Field::Text(unit.to_owned()))
}

fn slot<'a, T: Default>(
    series: &'a mut Series<T>,
    key: (&'static str, Vec<Attribute>),
) -> Option<&'a mut T> {
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
    fn durations_fall_into_their_range() {
        let mut metrics = Metrics::new();
        for millis in [1, 10, 11, u64::from(u32::MAX)] {
            metrics.record("d", millis, Vec::new());
        }
        let point = &metrics.messages()[0].to_json()["histogram"]["dataPoints"][0];
        assert_eq!(point["count"], "4");
        assert_eq!(point["bucketCounts"][0], "2");
        assert_eq!(point["bucketCounts"][1], "1");
        assert_eq!(point["bucketCounts"][BOUNDS.len()], "1");
    }
}
