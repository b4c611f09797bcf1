//! A connection without a client's manners, for saying what no client should.

use bytes::Bytes;
use quipu_rpc::{CloseCode, Connection, Incoming, Reader, Writer};
use serde_json::Value;

use crate::client::within;

/// Texts out, values in.
pub struct Raw {
    reader: Reader,
    writer: Option<Writer>,
}

impl Raw {
    pub fn new(connection: Connection) -> Raw {
        Raw {
            reader: connection.reader,
            writer: Some(connection.writer),
        }
    }

    /// Sends texts, each as one message.
    pub async fn send<T: Into<Bytes>>(&mut self, messages: impl IntoIterator<Item = T>) {
        let messages: Vec<Bytes> = messages.into_iter().map(Into::into).collect();
        let writer = self.writer.as_mut().expect("nothing is sent after the end");
        let sent = within("room to write", writer.write(messages)).await;
        sent.expect("the server reads");
    }

    /// The next message as it is, or nothing at the end.
    pub async fn next_text(&mut self) -> Option<String> {
        match within("a message", self.reader.next()).await {
            Ok(Some(Incoming::Message(message))) => {
                Some(String::from_utf8(message.into()).expect("messages are UTF-8"))
            }
            Ok(None) => None,
            other => panic!("not a message: {other:?}"),
        }
    }

    /// The next message, or nothing at the end.
    pub async fn next(&mut self) -> Option<Value> {
        let text = self.next_text().await?;
        Some(serde_json::from_str(&text).expect("messages are JSON"))
    }

    /// Sends one request and takes the next message as its answer.
    pub async fn call(&mut self, message: &Value) -> Value {
        self.send([message.to_string()]).await;
        self.next().await.expect("requests are answered")
    }

    /// Ends the sending direction. A pipe ends when its writer is dropped.
    pub async fn end(&mut self) {
        let mut writer = self.writer.take().expect("a connection is ended once");
        let closed = writer.close(CloseCode::NORMAL).await;
        closed.expect("a connection can be ended");
    }
}
