//! Requests that act once however often they are sent, by a key that the client chose. What a request will make has its
//! id before it acts, so that after a crash it can be seen whether it did.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::{Arc, Weak};

use parking_lot::Mutex;
use quipu_journal::KeyedRequest;
use serde::Serialize;
use sha2::{Digest as _, Sha256};
use tokio::sync::OwnedMutexGuard;

use crate::{Refusal, Server, clock};

/// The longest key, in bytes.
const MAX_KEY: usize = 256;

/// A request with a key.
pub(crate) struct Once {
    server: Arc<Server>,
    request: KeyedRequest,
    /// It was sent before.
    pub is_repeated: bool,
}

impl Once {
    /// Begins a request, if it has a key. `id` is what it would make.
    pub fn begin(
        server: &Arc<Server>,
        (method, params): (&str, &impl Serialize),
        key: Option<&str>,
        id: impl FnOnce() -> String,
    ) -> Result<Option<Once>, Refusal> {
        let Some(key) = key else { return Ok(None) };
        if key.is_empty() || key.len() > MAX_KEY {
            let text = format!("idempotencyKey must have between 1 and {MAX_KEY} bytes");
            return Err(Refusal::invalid_request(text));
        }
        let request = KeyedRequest {
            key: key.to_owned(),
            digest: digest(method, params),
            made: id(),
            done: false,
            at: clock::unix_seconds(),
        };
        let known = tokio::task::block_in_place(|| server.store.begin_request(request.clone()));
        let known = known.map_err(|error| {
            Refusal::internal(format!("failed to store idempotencyKey: {error}"))
        })?;
        if known.digest != request.digest {
            return Err(Refusal::invalid_request(format!(
                "idempotencyKey `{key}` was used for another request; use a new key for each request"
            )));
        }
        Ok(Some(Once {
            server: Arc::clone(server),
            is_repeated: known.made != request.made || known.done,
            request: known,
        }))
    }

    pub fn key(&self) -> &str {
        &self.request.key
    }

    /// The id of what the request makes or made.
    pub fn made(&self) -> &str {
        &self.request.made
    }

    /// Whether it is known that the request has acted.
    pub fn is_done(&self) -> bool {
        self.request.done
    }

    /// The request has acted and made this.
    pub fn done(mut self, made: &str) {
        made.clone_into(&mut self.request.made);
        let key = self.request.key.clone();
        let stored = tokio::task::block_in_place(|| self.server.store.request_done(self.request));
        if let Err(error) = stored {
            // What it made is found by its id then.
            tracing::error!(key, %error, "failed to store that a request is done");
        }
    }
}

/// The keys of requests that are being dealt with, so that the same request waits for itself.
#[derive(Default)]
pub(crate) struct Keys(Mutex<HashMap<String, Weak<tokio::sync::Mutex<()>>>>);

impl Keys {
    /// Waits until no other request with this key is being dealt with.
    pub async fn wait(&self, key: Option<&str>) -> Option<OwnedMutexGuard<()>> {
        let key = key?;
        let lock = {
            let mut keys = self.0.lock();
            keys.retain(|_, lock| lock.strong_count() > 0);
            let known = keys.get(key).and_then(Weak::upgrade);
            known.unwrap_or_else(|| {
                let lock = Arc::default();
                keys.insert(key.to_owned(), Arc::downgrade(&lock));
                lock
            })
        };
        Some(lock.lock_owned().await)
    }
}

fn digest(method: &str, params: &impl Serialize) -> String {
    let mut hash = Sha256::new();
    hash.update(method);
    hash.update([0]);
    hash.update(serde_json::to_vec(params).unwrap_or_default());
    let mut text = String::new();
    for byte in hash.finalize() {
        // Writing to a string cannot fail.
        write!(text, "{byte:02x}").ok();
    }
    text
}
