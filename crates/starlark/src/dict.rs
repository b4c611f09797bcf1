//! Dictionaries: entries in the order they were made, found by the hash of their key.

use std::collections::HashMap;
use std::rc::Rc;

use super::value::{FunctionId, Value};

/// A value as a key: equal keys are equal values.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Key {
    None,
    Ellipsis,
    Bool(bool),
    Number(i128),
    /// The bits of a number that is not whole.
    Float(u64),
    Text(Rc<str>),
    Tuple(Vec<Key>),
    Function(FunctionId),
    Builtin(&'static str),
}

#[derive(Debug, Default)]
pub(super) struct Dict {
    entries: Vec<(Key, Value, Value)>,
    places: HashMap<Key, usize>,
    /// Loops that are going through it: meanwhile it cannot be changed.
    pub loops: usize,
}

impl Dict {
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(super) fn keys(&self) -> impl Iterator<Item = &Value> {
        self.entries.iter().map(|(_, key, _)| key)
    }

    pub(super) fn entries(&self) -> impl Iterator<Item = (&Key, &Value, &Value)> {
        self.entries
            .iter()
            .map(|(key, shown, value)| (key, shown, value))
    }

    pub(super) fn into_entries(self) -> impl Iterator<Item = (Key, Value, Value)> {
        self.entries.into_iter()
    }

    pub(super) fn get(&self, key: &Key) -> Option<&Value> {
        let place = *self.places.get(key)?;
        self.entries.get(place).map(|(_, _, value)| value)
    }

    /// `false` if the key was there before.
    pub(super) fn insert(&mut self, key: Key, shown: Value, value: Value) -> bool {
        let entry = self.places.get(&key);
        if let Some(entry) = entry.and_then(|place| self.entries.get_mut(*place)) {
            entry.2 = value;
            return false;
        }
        self.places.insert(key.clone(), self.entries.len());
        self.entries.push((key, shown, value));
        true
    }

    /// Costs as much as there are entries after the key.
    pub(super) fn remove(&mut self, key: &Key) -> Option<Value> {
        let place = self.places.remove(key)?;
        let (_, _, value) = self.entries.remove(place);
        for (moved, (key, _, _)) in self.entries.iter().enumerate().skip(place) {
            if let Some(known) = self.places.get_mut(key) {
                *known = moved;
            }
        }
        Some(value)
    }

    pub(super) fn clear(&mut self) {
        self.entries.clear();
        self.places.clear();
    }

    pub(super) fn first(&self) -> Option<(Key, Value, Value)> {
        self.entries.first().cloned()
    }
}
