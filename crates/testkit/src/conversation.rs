//! A client that sees everything in the order it came, answers and events alike. For tests in which
//! the order is the point, or in which the server is in trouble.

use std::collections::VecDeque;

use quipu_rpc::Connection;
use serde_json::{Value, json};

use crate::raw::Raw;

const READ: &str = "thread/readState/changed";

/// One connected and introduced client.
pub struct Conversation {
    raw: Raw,
    asked: i64,
    /// What came before an answer that was waited for.
    heard: VecDeque<Value>,
}

impl Conversation {
    /// Introduces itself, experimental API included, but without the notification of what is read of a thread, which
    /// would come with every turn.
    pub async fn start(connection: Connection) -> Conversation {
        Conversation::start_as(connection, "testkit").await
    }

    /// The same under another name.
    pub async fn start_as(connection: Connection, name: &str) -> Conversation {
        let capabilities = json!({ "experimentalApi": true, "optOutNotificationMethods": [READ] });
        Conversation::start_with(connection, name, capabilities).await
    }

    /// The same with numbered events.
    pub async fn start_numbered(connection: Connection) -> Conversation {
        let capabilities = json!({
            "experimentalApi": true,
            "optOutNotificationMethods": [READ],
            "quipu": { "events": true },
        });
        Conversation::start_with(connection, "testkit", capabilities).await
    }

    /// The same with capabilities of its own.
    pub async fn start_with(
        connection: Connection,
        name: &str,
        capabilities: Value,
    ) -> Conversation {
        let mut conversation = Conversation {
            raw: Raw::new(connection),
            asked: 0,
            heard: VecDeque::new(),
        };
        let hello = json!({
            "clientInfo": { "name": name, "version": "1.0" },
            "capabilities": capabilities,
        });
        conversation.call("initialize", hello).await;
        conversation
    }

    /// Asks without waiting; the id of the request.
    pub async fn ask(&mut self, method: &str, params: Value) -> i64 {
        self.asked += 1;
        let message = json!({ "id": self.asked, "method": method, "params": params });
        self.raw.send([message.to_string()]).await;
        self.asked
    }

    /// The answer to a request. What comes before it stays to be taken.
    pub async fn answered(&mut self, id: i64) -> Result<Value, Value> {
        let answers = |message: &Value| message["id"] == id && message.get("method").is_none();
        let place = self.heard.iter().position(answers);
        let mut came = place.and_then(|place| self.heard.remove(place));
        loop {
            let mut message = match came.take() {
                Some(message) => message,
                None => self.receive().await,
            };
            if answers(&message) {
                return match message.get_mut("error") {
                    Some(error) => Err(error.take()),
                    None => Ok(message["result"].take()),
                };
            }
            self.heard.push_back(message);
        }
    }

    /// Asks for something that may be refused.
    pub async fn try_call(&mut self, method: &str, params: Value) -> Result<Value, Value> {
        let id = self.ask(method, params).await;
        self.answered(id).await
    }

    /// Asks for something that must work.
    pub async fn call(&mut self, method: &str, params: Value) -> Value {
        let answer = self.try_call(method, params).await;
        answer.unwrap_or_else(|error| panic!("{method} was refused: {error}"))
    }

    /// Asks for something that must be refused; the message of the error.
    pub async fn refused(&mut self, method: &str, params: Value) -> String {
        match self.try_call(method, params).await {
            Ok(result) => panic!("{method} was not refused: {result}"),
            Err(error) => error["message"].as_str().unwrap_or_default().to_owned(),
        }
    }

    /// The same with params that are no value, or not one that could be printed.
    pub async fn refused_text(&mut self, method: &str, params: &str) -> String {
        self.asked += 1;
        let id = self.asked;
        let message = format!(r#"{{"id":{id},"method":"{method}","params":{params}}}"#);
        self.raw.send([message]).await;
        match self.answered(id).await {
            Ok(result) => panic!("{method} was not refused: {result}"),
            Err(error) => error["message"].as_str().unwrap_or_default().to_owned(),
        }
    }

    /// Answers a request of the server.
    pub async fn reply(&mut self, id: &Value, result: Value) {
        let message = json!({ "id": id, "result": result });
        self.raw.send([message.to_string()]).await;
    }

    /// Answers a request of the server with an error.
    pub async fn refuse(&mut self, id: &Value) {
        let error = json!({ "code": -32000, "message": "not today" });
        let message = json!({ "id": id, "error": error });
        self.raw.send([message.to_string()]).await;
    }

    /// What comes next; answers included.
    pub async fn next(&mut self) -> Value {
        match self.heard.pop_front() {
            Some(message) => message,
            None => self.receive().await,
        }
    }

    /// Everything up to the next message of a method, and that one.
    pub async fn until(&mut self, method: &str) -> Vec<Value> {
        let mut messages = Vec::new();
        loop {
            messages.push(self.next().await);
            if messages.last().is_some_and(|it| it["method"] == method) {
                return messages;
            }
        }
    }

    /// The next message of a method; what comes before it is not looked at.
    pub async fn skip_to(&mut self, method: &str) -> Value {
        self.until(method).await.pop().unwrap_or_default()
    }

    /// Everything that can still be read from a server that is gone.
    pub async fn rest(mut self) -> Vec<Value> {
        let mut messages = Vec::from(self.heard);
        while let Some(message) = self.raw.next().await {
            messages.push(message);
        }
        messages
    }

    /// Says no more, but still listens.
    pub async fn end(&mut self) {
        self.raw.end().await;
    }

    /// Leaves.
    pub async fn leave(mut self) {
        self.raw.end().await;
    }

    async fn receive(&mut self) -> Value {
        let message = self.raw.next().await;
        message.unwrap_or_else(|| panic!("the server is gone; unread: {:?}", self.heard))
    }
}

/// A message in a few words, for looking at orders.
pub fn brief(message: &Value) -> String {
    let Some(method) = message["method"].as_str() else {
        return "answer".to_owned();
    };
    let params = &message["params"];
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    match method {
        "item/started" | "item/completed" => {
            let item = &params["item"];
            let status = text(&item["status"]);
            format!("{method} {} {status}", text(&item["type"]))
                .trim_end()
                .to_owned()
        }
        "thread/status/changed" => {
            let flags = params["status"]["activeFlags"].as_array();
            let flags: Vec<String> = flags.into_iter().flatten().map(text).collect();
            format!(
                "status {} {}",
                text(&params["status"]["type"]),
                flags.join(" ")
            )
            .trim_end()
            .to_owned()
        }
        "turn/completed" => format!("{method} {}", text(&params["turn"]["status"])),
        _ => method.to_owned(),
    }
}
