//! The ids that inputs, effects and state carry.

use std::fmt;

use quipu_wire::RequestId;

/// Ids that are text, each a type of its own, so that the compiler distinguishes them. They are read as the text they
/// are, and become the strings of the wire without a copy.
macro_rules! text_ids {
    ($($(#[doc = $doc:literal])+ $name:ident;)+) => {$(
        $(#[doc = $doc])+
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
        pub struct $name(String);

        impl $name {
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl std::ops::Deref for $name {
            type Target = str;

            fn deref(&self) -> &str {
                &self.0
            }
        }

        impl std::borrow::Borrow<str> for $name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }

        impl From<String> for $name {
            fn from(id: String) -> Self {
                Self(id)
            }
        }

        impl From<&str> for $name {
            fn from(id: &str) -> Self {
                Self(id.to_owned())
            }
        }

        impl From<$name> for String {
            fn from(id: $name) -> Self {
                id.0
            }
        }

        impl PartialEq<str> for $name {
            fn eq(&self, other: &str) -> bool {
                self.0 == other
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

text_ids! {
    /// A conversation.
    ThreadId;
    /// One piece of work in a thread.
    TurnId;
    /// One thing that happened in a turn.
    ItemId;
    /// A tool call, or a command of the user. The item that shows it has the same id.
    CallId;
}

impl From<CallId> for ItemId {
    fn from(id: CallId) -> Self {
        Self(id.0)
    }
}

impl From<ItemId> for CallId {
    fn from(id: ItemId) -> Self {
        Self(id.0)
    }
}

/// Ids that count, each a type of its own, so that the compiler distinguishes them.
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
    /// A process that outlives its call, as the model knows it.
    ProcessId(u32);
}

impl HookRunId {
    /// In whose name the user is asked before the hooks run.
    pub(crate) fn asker(self) -> CallId {
        format!("hooks-{}", self.0).into()
    }
}

impl From<QuestionId> for RequestId {
    fn from(id: QuestionId) -> Self {
        Self::Integer(id.0)
    }
}
