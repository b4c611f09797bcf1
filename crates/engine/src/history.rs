//! The model's history, with an estimate of its size.

use quipu_wire::Json;

/// Bytes that make about one token.
const BYTES_PER_TOKEN: i64 = 4;

/// Items in the order the model sees them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct History {
    items: Vec<Json>,
    /// Tokens the provider counted at its last answer.
    counted: i64,
    /// Bytes added since.
    added: i64,
}

impl History {
    /// A history read from a log, with the tokens last counted for it.
    pub fn new(items: Vec<Json>, counted: i64) -> Self {
        Self {
            items,
            counted,
            added: 0,
        }
    }

    pub fn items(&self) -> &[Json] {
        &self.items
    }

    pub fn push(&mut self, item: Json) {
        self.added += i64::try_from(item.get().len()).unwrap_or(i64::MAX / 2);
        self.items.push(item);
    }

    /// Takes the number of tokens that the provider counted for everything so far.
    pub fn set_counted(&mut self, tokens: i64) {
        self.counted = tokens;
        self.added = 0;
    }

    pub fn replace(&mut self, items: Vec<Json>, tokens: i64) {
        *self = Self::new(items, tokens);
    }

    /// Drops the items, but keeps what is known of their size.
    pub fn unload(&mut self) {
        self.items = Vec::new();
    }

    /// Takes back the items that were unloaded.
    pub fn restore(&mut self, items: Vec<Json>) {
        self.items = items;
    }

    /// About how many tokens the history takes.
    pub fn tokens(&self) -> i64 {
        self.counted
            .saturating_add((self.added + BYTES_PER_TOKEN - 1) / BYTES_PER_TOKEN)
    }
}
