//! The duty to answer one request, as a value. It can be discharged once, and losing it (an early
//! return, a panic, an aborted task) discharges it with an internal error.

use bytes::Bytes;
use serde::Serialize;

use crate::close::CloseReason;
use crate::error::ErrorObject;
use crate::id::Id;
use crate::outbox::Outbox;
use crate::write;

/// Owes the answer to one request.
#[derive(Debug)]
pub struct Responder {
    id: Id,
    outbox: Outbox,
    owed: bool,
}

impl Responder {
    /// Takes on the duty to answer request `id` into `outbox`.
    pub fn new(id: Id, outbox: Outbox) -> Self {
        Self {
            id,
            outbox,
            owed: true,
        }
    }

    /// The id of the request.
    pub fn id(&self) -> &Id {
        &self.id
    }

    /// Answers with a result, or with an internal error if it cannot be written as JSON.
    pub async fn result<T: Serialize + ?Sized>(self, result: &T) -> Result<(), CloseReason> {
        let explain =
            |error| ErrorObject::internal(format!("the result cannot be written as JSON: {error}"));
        let message = write::result(&self.id, result)
            .or_else(|error| write::error(&self.id, &explain(error)));
        self.answer(message).await
    }

    /// Answers with a result that `write` adds as JSON text, or with the error that says why it could not.
    pub async fn result_with(
        self,
        write: impl FnOnce(&mut Vec<u8>) -> Result<(), ErrorObject>,
    ) -> Result<(), CloseReason> {
        let message = match write::result_with(&self.id, write) {
            Ok(Ok(message)) => Ok(message),
            Ok(Err(error)) => write::error(&self.id, &error),
            Err(error) => Err(error),
        };
        self.answer(message).await
    }

    /// Answers with an error.
    pub async fn error(self, error: &ErrorObject) -> Result<(), CloseReason> {
        let message = write::error(&self.id, error);
        self.answer(message).await
    }

    /// Ends the duty without an answer, because the asker said that it wants none any more.
    pub fn withdraw(mut self) {
        self.owed = false;
    }

    /// The duty ends when the message is queued: if waiting for room is cancelled, the drop below
    /// still answers. So it does in the impossible case that even an error could not be written.
    async fn answer(mut self, message: serde_json::Result<Bytes>) -> Result<(), CloseReason> {
        let Ok(message) = message else {
            return Ok(());
        };
        let sent = self.outbox.send(message).await;
        self.owed = false;
        sent
    }
}

impl Drop for Responder {
    fn drop(&mut self) {
        if !self.owed {
            return;
        }
        let error = ErrorObject::internal("the request was dropped without an answer");
        let Ok(message) = write::error(&self.id, &error) else {
            return;
        };
        match self.outbox.send_over_limit(message) {
            Ok(()) => tracing::error!(id = %self.id, "a request was dropped without an answer"),
            Err(reason) => tracing::debug!(id = %self.id, %reason, "nobody is left to answer"),
        }
    }
}
