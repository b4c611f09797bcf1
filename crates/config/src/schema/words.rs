//! Types that several tables share.

use super::{Kind, Section, Variant, map};
use Kind::{List, OpenWord, Str, Word, WordSince};

pub const EFFORTS: Kind = OpenWord(
    "reasoning_effort",
    &[
        "none", "minimal", "low", "medium", "high", "xhigh", "max", "ultra",
    ],
);
pub const SUMMARIES: Kind = Word(&["auto", "concise", "detailed", "none"]);
pub const VERBOSITIES: Kind = Word(&["low", "medium", "high"]);
pub const TIERS: Kind = OpenWord("service_tier", &["fast", "flex"]);
pub const REVIEWERS: Kind = WordSince(&["user", "guardian_subagent"], &["auto_review"]);
pub const SANDBOX_MODES: Kind = Word(&["read-only", "workspace-write", "danger-full-access"]);
pub const WEB_SEARCH_MODES: Kind = Word(&["disabled", "cached", "live"]);
pub const PERSONALITIES: Kind = Word(&["none", "friendly", "pragmatic"]);
pub const TOOL_APPROVALS: Kind = Word(&["auto", "prompt", "approve"]);
pub const STRINGS: Kind = List(&Str);
pub const STRING_MAP: Kind = map(&Str);

/// A word that stands alone.
pub const fn plain(name: &'static str) -> Variant {
    Variant {
        name,
        section: None,
        shape: "unit variant",
    }
}

/// A word with a table.
pub const fn carrying(
    name: &'static str,
    section: &'static Section,
    shape: &'static str,
) -> Variant {
    Variant {
        name,
        section: Some(section),
        shape,
    }
}
