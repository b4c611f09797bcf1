//! The ids that inputs, effects and state carry.

use std::fmt;

use quipu_wire::RequestId;

/// A conversation.
pub type ThreadId = String;
/// One piece of work in a thread.
pub type TurnId = String;
/// One thing that happened in a turn.
pub type ItemId = String;
/// A tool call, or a command of the user. The item that shows it has the same id.
pub type CallId = String;

/// Ids that count, each a type of its own, so that the compiler tells them apart.
macro_rules! number_ids {
    ($($(#[doc = $doc:literal])+ $name:ident($number:ty);)+) => {$(
        $(#[doc = $doc])+
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name($number);

        impl $name {
            #[must_use]
            pub const fn new(number: $number) -> Self {
                Self(number)
            }

            #[must_use]
            pub const fn get(self) -> $number {
                self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    )+};
}

number_ids! {
    /// A question to the user.
    QuestionId(i64);
    /// A client's request that waits for its answer.
    ReplyToken(u64);
    /// A request to the model.
    SampleId(u64);
    /// A run of hooks.
    HookRunId(u64);
}

impl From<QuestionId> for RequestId {
    fn from(id: QuestionId) -> Self {
        Self::Integer(id.0)
    }
}
