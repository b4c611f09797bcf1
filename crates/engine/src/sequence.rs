//! Ids that a thread makes itself: numbers for its requests to the driver, and ids for items that have no
//! other source of one. The latter look random, but follow from a seed that comes in with the thread: the engine has no
//! randomness of its own.

use crate::ids::{HookRunId, ItemId, SampleId};

/// Makes one id after another.
#[derive(Debug, Clone, PartialEq)]
pub struct Sequence {
    seed: u128,
    items: u64,
    samples: u64,
    hook_runs: u64,
}

impl Sequence {
    pub fn new(seed: u128) -> Self {
        Self {
            seed,
            items: 0,
            samples: 0,
            hook_runs: 0,
        }
    }

    /// The id of the next request to the model.
    pub fn next_sample(&mut self) -> SampleId {
        self.samples += 1;
        SampleId::new(self.samples)
    }

    /// The id of the next run of hooks.
    pub fn next_hook_run(&mut self) -> HookRunId {
        self.hook_runs += 1;
        HookRunId::new(self.hook_runs)
    }

    /// An id in the form of a random UUID.
    pub fn next_item(&mut self) -> ItemId {
        self.items += 1;
        let [high, low] = [(self.seed >> 64) as u64, self.seed as u64]
            .map(|half| scatter(half.wrapping_add(self.items.wrapping_mul(0x9E37_79B9_7F4A_7C15))));
        format!(
            "{:08x}-{:04x}-4{:03x}-{:04x}-{:012x}",
            high >> 32,
            (high >> 16) & 0xffff,
            high & 0xfff,
            0x8000 | (low >> 48) & 0x3fff,
            low & 0xffff_ffff_ffff,
        )
        .into()
    }
}

/// Spreads the bits of a number over all of it (SplitMix64).
fn scatter(number: u64) -> u64 {
    let number = (number ^ (number >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    number ^ (number >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_differ_and_have_the_form_of_random_ones() {
        let mut ids = Sequence::new(7);
        let made: Vec<ItemId> = (0..1000).map(|_| ids.next_item()).collect();
        let different: std::collections::BTreeSet<_> = made.iter().collect();
        assert_eq!(different.len(), made.len());
        for id in &made {
            let groups: Vec<usize> = id.split('-').map(str::len).collect();
            assert_eq!(groups, [8, 4, 4, 4, 12], "{id}");
            assert!(
                id[14..].starts_with('4') && "89ab".contains(&id[19..20]),
                "{id}"
            );
        }
        assert_ne!(Sequence::new(8).next_item(), made[0]);
    }
}
