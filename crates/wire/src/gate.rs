//! Stability at run time: which experimental part of a request is in use.

use std::collections::BTreeMap;

use crate::Json;

/// A type that may hold experimental fields or variants.
pub trait Gated {
    /// The descriptor of the first experimental part in use, in declaration order.
    fn experimental_use(&self) -> Option<&'static str> {
        None
    }

    /// Removes what a client without the `experimentalApi` capability must not see.
    fn strip_experimental(&mut self) {}
}

/// Nothing is known of what it holds.
impl Gated for Json {}

impl<T: Gated> Gated for Option<T> {
    fn experimental_use(&self) -> Option<&'static str> {
        self.as_ref().and_then(Gated::experimental_use)
    }
}

impl<T: Gated> Gated for Vec<T> {
    fn experimental_use(&self) -> Option<&'static str> {
        self.iter().find_map(Gated::experimental_use)
    }
}

impl<T: Gated> Gated for BTreeMap<String, T> {
    fn experimental_use(&self) -> Option<&'static str> {
        self.values().find_map(Gated::experimental_use)
    }
}

/// Whether a field counts as used: present, and not `false` or empty.
pub(crate) trait InUse {
    fn in_use(&self) -> bool {
        true
    }
}

impl<T: InUse> InUse for Option<T> {
    fn in_use(&self) -> bool {
        self.as_ref().is_some_and(InUse::in_use)
    }
}

impl<T> InUse for Vec<T> {
    fn in_use(&self) -> bool {
        !self.is_empty()
    }
}

impl<K, V> InUse for BTreeMap<K, V> {
    fn in_use(&self) -> bool {
        !self.is_empty()
    }
}

impl InUse for bool {
    fn in_use(&self) -> bool {
        *self
    }
}

impl InUse for String {}
