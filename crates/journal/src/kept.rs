//! What a thread keeps beside its rollout, across restarts: one small JSON text per thread and kind, replaced in one step.
//! What concerns all threads is kept in the same way.

use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;
use uuid::Uuid;

use crate::backend::Backend;
use crate::error::{Error, Result};

/// One kind of what one thread keeps, or all together.
#[derive(Clone)]
pub struct Kept {
    backend: Arc<dyn Backend>,
    thread: Option<Uuid>,
    name: &'static str,
}

impl Kept {
    pub(crate) fn new(backend: Arc<dyn Backend>, thread: Option<Uuid>, name: &'static str) -> Self {
        Self {
            backend,
            thread,
            name,
        }
    }

    /// What is kept, if anything is. What cannot be read is reported and counts as none.
    pub fn read<T: DeserializeOwned>(&self) -> Option<T> {
        let (thread, name) = (self.thread, self.name);
        let text = match self.backend.kept(thread, name) {
            Ok(text) => text?,
            Err(error) => {
                tracing::warn!(?thread, name, %error, "failed to read what a thread keeps");
                return None;
            }
        };
        let read = serde_json::from_str(&text);
        read.inspect_err(|error| {
            tracing::warn!(?thread, name, %error, "invalid data of a thread");
        })
        .ok()
    }

    /// What is kept, as it is stored.
    pub fn text(&self) -> Result<Option<String>> {
        self.backend.kept(self.thread, self.name)
    }

    /// Keeps something; on disk when this returns.
    pub fn write(&self, value: &impl Serialize) -> Result<()> {
        let text = serde_json::to_string(value).map_err(Error::Encode)?;
        self.backend.keep(self.thread, self.name, Some(&text))?;
        Ok(())
    }

    /// Keeps something that changes with every turn: it survives the death of this process when this returns, but maybe
    /// no fall of the system soon after. What concerns all threads is kept durably.
    pub fn write_lightly(&self, value: &impl Serialize) -> Result<()> {
        let Some(thread) = self.thread else {
            return self.write(value);
        };
        let text = serde_json::to_string(value).map_err(Error::Encode)?;
        self.backend.keep_lightly(thread, self.name, &text)
    }

    /// Changes what is kept, as if no other process did at the same time; on disk when this returns. `change` may be
    /// called again, with what another process kept meanwhile. `failed` makes an error of what the store says.
    pub fn change<T: Serialize + DeserializeOwned + Default, R, E>(
        &self,
        failed: impl Fn(Error) -> E,
        mut change: impl FnMut(&mut T) -> std::result::Result<R, E>,
    ) -> std::result::Result<R, E> {
        loop {
            let old = self.backend.kept(self.thread, self.name).map_err(&failed)?;
            // What cannot be read is not replaced by something that has less.
            let mut value = match &old {
                Some(text) => serde_json::from_str(text)
                    .map_err(|error| failed(Error::Kept(self.name, error)))?,
                None => T::default(),
            };
            let changed = change(&mut value)?;
            let new =
                serde_json::to_string(&value).map_err(|error| failed(Error::Encode(error)))?;
            let same = match &old {
                Some(old) => *old == new,
                None => serde_json::to_string(&T::default()).is_ok_and(|none| none == new),
            };
            let old = old.as_deref();
            if same
                || self
                    .backend
                    .keep_if(self.thread, self.name, old, &new)
                    .map_err(&failed)?
            {
                return Ok(changed);
            }
        }
    }

    /// Keeps nothing any more; `false` if nothing was kept.
    pub fn remove(&self) -> Result<bool> {
        self.backend.keep(self.thread, self.name, None)
    }
}
