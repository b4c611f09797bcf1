//! Strings with a name of their own in the published schemas, and absolute paths.

use std::fmt;
use std::path::{Component, Path, PathBuf};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::describe::{Describe, Place, Shape, Ty, TypeDef};
use crate::gate::Gated;

macro_rules! named {
    ($($(#[doc = $doc:literal])+ $name:ident($inner:ty), $json:literal, $place:ident;)*) => {$(
        $(#[doc = $doc])+
        #[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub $inner);

        impl Describe for $name {
            const TY: Ty = Ty::Named(|| {
                static DEF: TypeDef = TypeDef {
                    json_name: $json,
                    ts_name: stringify!($name),
                    doc: concat!($($doc),+),
                    place: Place::$place,
                    shape: Shape::Alias(<$inner>::TY),
                };
                &DEF
            });
        }

        impl Gated for $name {}
    )*};
}

named! {
    /// The id of a thread.
    ThreadId(String), "ThreadId", Root;
    /// The path of a sub-agent below its root thread.
    AgentPath(String), "AgentPath", Root;
    /// The hash of a commit.
    GitSha(String), "", Root;
    /// A command prefix to allow from now on, word by word.
    ExecPolicyAmendment(Vec<String>), "", Both;
}

impl fmt::Display for ThreadId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// An absolute path without `.` and `..`; links are kept.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AbsolutePath(String);

impl AbsolutePath {
    /// Takes an absolute path; `None` if it is relative or not UTF-8.
    #[must_use]
    pub fn new(path: impl AsRef<Path>) -> Option<AbsolutePath> {
        let path = path.as_ref();
        if !path.is_absolute() {
            return None;
        }
        let mut clean = PathBuf::new();
        for component in path.components() {
            match component {
                Component::CurDir => {}
                Component::ParentDir => {
                    clean.pop();
                }
                other => clean.push(other),
            }
        }
        clean.into_os_string().into_string().ok().map(AbsolutePath)
    }

    /// The path.
    #[must_use]
    pub fn as_path(&self) -> &Path {
        Path::new(&self.0)
    }

    /// The path as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl AsRef<Path> for AbsolutePath {
    fn as_ref(&self) -> &Path {
        self.as_path()
    }
}

impl fmt::Display for AbsolutePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Serialize for AbsolutePath {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for AbsolutePath {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<AbsolutePath, D::Error> {
        let text = String::deserialize(deserializer)?;
        AbsolutePath::new(text).ok_or_else(|| {
            serde::de::Error::custom("AbsolutePathBuf deserialized without a base path")
        })
    }
}

impl Describe for AbsolutePath {
    const TY: Ty = Ty::Named(|| {
        static DEF: TypeDef = TypeDef {
            json_name: "AbsolutePathBuf",
            ts_name: "AbsolutePathBuf",
            doc: "An absolute path, with `.` and `..` resolved and links kept.",
            place: Place::Root,
            shape: Shape::Alias(Ty::String),
        };
        &DEF
    });
}

impl Gated for AbsolutePath {}
