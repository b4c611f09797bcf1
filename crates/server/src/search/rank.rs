//! Which paths fit a query best.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::path::Path;
use std::sync::atomic::{self, AtomicUsize};

use nucleo_matcher::pattern::{CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher, Utf32Str};
use parking_lot::Mutex;
use quipu_wire::{FuzzyFileSearchMatchType, FuzzyFileSearchResult};

use super::index::{Block, Roots, threads};

/// The most results.
const RESULTS: usize = 50;

/// What somebody looks for.
pub(crate) struct Query(Pattern);

impl Query {
    /// `None` for a query that finds nothing because it says nothing.
    pub fn new(text: &str) -> Option<Query> {
        if text.is_empty() {
            return None;
        }
        let pattern = Pattern::parse(text, CaseMatching::Smart, Normalization::Smart);
        Some(Query(pattern))
    }
}

fn matcher() -> Matcher {
    Matcher::new(Config::DEFAULT.match_paths())
}

/// The best entries so far; more can be added.
#[derive(Default)]
pub(crate) struct Best(BinaryHeap<Reverse<Hit>>);

/// An entry that fits. The greater the better.
struct Hit {
    score: u32,
    length: usize,
    block: Block,
    index: usize,
}

/// Of equal scores the shorter path is better, then the first in the alphabet.
type Rank<'a> = (u32, Reverse<usize>, Reverse<&'a str>);

impl Hit {
    fn path(&self) -> &str {
        &self.block[self.index].path
    }

    fn rank(&self) -> Rank<'_> {
        (self.score, Reverse(self.length), Reverse(self.path()))
    }
}

impl Ord for Hit {
    fn cmp(&self, other: &Hit) -> Ordering {
        self.rank().cmp(&other.rank())
    }
}

impl PartialOrd for Hit {
    fn partial_cmp(&self, other: &Hit) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Hit {
    fn eq(&self, other: &Hit) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Hit {}

impl Best {
    /// Ranks more entries, on all processors if there are many. Ends early when `stale` says so.
    pub fn add(&mut self, query: &Query, blocks: &[Block], stale: impl Fn() -> bool + Sync) {
        let next = AtomicUsize::new(0);
        let merged = Mutex::new(self);
        let work = || {
            let mut best = Best::default();
            let mut matcher = matcher();
            let mut buffer = Vec::new();
            while let Some(block) = blocks.get(next.fetch_add(1, atomic::Ordering::Relaxed)) {
                if stale() {
                    break;
                }
                best.add_block(query, block, &mut matcher, &mut buffer);
            }
            let mut merged = merged.lock();
            best.0
                .into_iter()
                .for_each(|Reverse(hit)| merged.offer(hit));
        };
        let helpers = threads().min(blocks.len()).saturating_sub(1);
        std::thread::scope(|scope| {
            for _ in 0..helpers {
                scope.spawn(work);
            }
            work();
        });
    }

    fn add_block(
        &mut self,
        query: &Query,
        block: &Block,
        matcher: &mut Matcher,
        buffer: &mut Vec<char>,
    ) {
        for (index, entry) in block.iter().enumerate() {
            let haystack = Utf32Str::new(&entry.path, buffer);
            let length = haystack.len();
            let Some(score) = query.0.score(haystack, matcher) else {
                continue;
            };
            let rank: Rank = (score, Reverse(length), Reverse(&entry.path));
            let worst = self.0.peek().filter(|_| self.0.len() == RESULTS);
            if worst.is_some_and(|Reverse(worst)| rank < worst.rank()) {
                continue;
            }
            self.offer(Hit {
                score,
                length,
                block: Block::clone(block),
                index,
            });
        }
    }

    fn offer(&mut self, hit: Hit) {
        self.0.push(Reverse(hit));
        if self.0.len() > RESULTS {
            self.0.pop();
        }
    }

    /// The results, the best first; equal ones in the order of the alphabet.
    pub fn results(&self, query: &Query, roots: &Roots) -> Vec<FuzzyFileSearchResult> {
        let mut hits: Vec<&Hit> = self.0.iter().map(|Reverse(hit)| hit).collect();
        hits.sort_by(|a, b| (b.score.cmp(&a.score)).then_with(|| a.path().cmp(b.path())));
        let mut matcher = matcher();
        let mut buffer = Vec::new();
        let mut result = |hit: &Hit| {
            let entry = &hit.block[hit.index];
            let haystack = Utf32Str::new(&entry.path, &mut buffer);
            let mut indices = Vec::new();
            query.0.indices(haystack, &mut matcher, &mut indices);
            indices.sort_unstable();
            indices.dedup();
            let name = Path::new(&*entry.path).file_name();
            FuzzyFileSearchResult {
                root: roots.given(entry.root).to_owned(),
                path: entry.path.to_string(),
                match_type: match entry.is_directory {
                    true => FuzzyFileSearchMatchType::Directory,
                    false => FuzzyFileSearchMatchType::File,
                },
                file_name: name.unwrap_or_default().to_string_lossy().into_owned(),
                score: hit.score,
                indices: Some(indices),
            }
        };
        hits.into_iter().map(&mut result).collect()
    }
}
