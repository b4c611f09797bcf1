//! What Quipu has beyond the protocol, for clients that ask for it: numbered events.

use quipu_wire_macros::wire;

/// What a client can ask of Quipu in `initialize`.
#[wire(root)]
pub struct QuipuCapabilities {
    /// Numbers the notifications of threads, so that a client can resume after the last one it saw.
    #[wire(default)]
    pub events: bool,
}

/// Where a client left off, in `thread/resume`.
#[wire]
pub struct QuipuResume {
    /// The number of the last event that the client saw of the thread.
    pub after: i64,
}

/// Where the numbered events of a thread are.
#[wire]
pub struct ThreadEvents {
    /// The number of the last event so far; those up to it that the client asked for follow this answer, then later ones.
    pub seq: i64,
    /// What follows, if the client said where it left off.
    #[wire(sparse)]
    pub replay: Option<EventReplay>,
}

/// What a client that resumes gets of the events it missed.
#[wire]
pub enum EventReplay {
    /// Every event.
    Complete,
    /// The older ones without deltas: items as they were started and completed, each marked `condensed`.
    Condensed,
    /// None, since they are too old or unknown. The thread in this answer is what counts.
    Reset,
}
