//! JSON that is made of the same facts again and again, such as the schemas of tools: every turn offers them.

use std::collections::BTreeMap;

use parking_lot::Mutex;
use quipu_wire::Json;

/// How many values are kept. When there are more, all are made again.
const LIMIT: usize = 512;

/// Values by what they are made of.
pub(crate) struct Memo<K>(Mutex<BTreeMap<K, Json>>);

impl<K: Ord> Memo<K> {
    pub const fn new() -> Memo<K> {
        Memo(Mutex::new(BTreeMap::new()))
    }

    /// The value for a key, made if it is not known.
    pub fn get(&self, key: K, make: impl FnOnce(&K) -> Json) -> Json {
        let known = self.0.lock();
        if let Some(value) = known.get(&key) {
            return value.clone();
        }
        drop(known);
        let value = make(&key);
        let mut known = self.0.lock();
        if known.len() >= LIMIT {
            known.clear();
        }
        known.insert(key, value.clone());
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_made_once_and_not_without_end() {
        let memo = Memo::new();
        let mut made = 0;
        for number in [1, 2, 1, 2] {
            memo.get(number, |_| {
                made += 1;
                Json::null()
            });
        }
        assert_eq!(made, 2);
        for number in 0..2 * LIMIT {
            memo.get(number, |_| Json::null());
        }
        assert!(memo.0.lock().len() <= LIMIT);
    }
}
