//! A unix socket, where the system has none that programs like this one can use.

use std::convert::Infallible;
use std::io;
use std::path::Path;
use std::sync::Arc;

use super::inherited::Inherited;
use super::slots::Slots;
use super::{ListenError, Listening};
use crate::Server;

/// There is none.
pub(super) struct Unix(Infallible);

impl Unix {
    /// Refuses.
    pub fn open(path: &Path, _: &mut Inherited) -> Result<Unix, ListenError> {
        Err(ListenError::Bind {
            place: format!("unix://{}", path.display()),
            source: io::Error::new(io::ErrorKind::Unsupported, super::NO_UNIX),
        })
    }

    pub fn place(&self) -> Listening {
        match self.0 {}
    }

    pub fn is_inherited(&self) -> bool {
        match self.0 {}
    }

    pub async fn run(&self, _: &Arc<Server>, _: &Slots) {
        match self.0 {}
    }

    pub fn close(self) {
        match self.0 {}
    }
}
