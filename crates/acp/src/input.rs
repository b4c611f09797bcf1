//! What an editor gives, in the words of the server: prompts, MCP servers, directories.

use std::collections::BTreeMap;
use std::path::PathBuf;

use agent_client_protocol::v1::schema::{ContentBlock, EmbeddedResourceResource, McpServer};
use agent_client_protocol::{Error, Result};
use quipu_client::wire::{Json, UserInput};
use serde_json::json;

use crate::agent::invalid;

/// A prompt as the input of a turn.
pub fn of(prompt: Vec<ContentBlock>) -> Result<Vec<UserInput>> {
    let mut input: Vec<UserInput> = Vec::new();
    for block in prompt {
        match block {
            ContentBlock::Text(it) => say(&mut input, &it.text),
            ContentBlock::Image(it) => {
                let url = format!("data:{};base64,{}", it.mime_type, it.data);
                input.push(UserInput::Image { url });
            }
            ContentBlock::ResourceLink(it) => {
                say(&mut input, &format!("[@{}]({})", it.name, path(&it.uri)));
            }
            ContentBlock::Resource(it) => match it.resource {
                EmbeddedResourceResource::TextResourceContents(it) => {
                    let name = path(&it.uri);
                    let text = format!("\n<context ref=\"{name}\">\n{}\n</context>\n", it.text);
                    say(&mut input, &text);
                }
                other => return Err(unsupported(&other)),
            },
            other => return Err(unsupported(&other)),
        }
    }
    match input.is_empty() {
        true => Err(invalid("the prompt is empty")),
        false => Ok(input),
    }
}

/// Adds text, to the text before if there is one: a model reads one message.
fn say(input: &mut Vec<UserInput>, more: &str) {
    match input.last_mut() {
        Some(UserInput::Text { text, .. }) => text.push_str(more),
        _ => input.push(UserInput::Text {
            text: more.to_owned(),
            text_elements: Vec::new(),
        }),
    }
}

fn unsupported(content: &impl serde::Serialize) -> Error {
    let kind = serde_json::to_value(content).unwrap_or_default();
    let kind = kind["type"]
        .as_str()
        .unwrap_or("binary resource")
        .to_owned();
    invalid(format!("content of type `{kind}` is not supported"))
}

/// The path in a URI of a file; others stay as they are.
fn path(uri: &str) -> String {
    let Some(path) = uri.strip_prefix("file://") else {
        return uri.to_owned();
    };
    let (mut bytes, mut rest) = (Vec::new(), path.as_bytes());
    while let Some((first, more)) = rest.split_first() {
        let hex = more.get(..2).filter(|_| *first == b'%');
        let byte = hex.and_then(|it| u8::from_str_radix(std::str::from_utf8(it).ok()?, 16).ok());
        bytes.push(byte.unwrap_or(*first));
        rest = if byte.is_some() { &more[2..] } else { more };
    }
    String::from_utf8(bytes).unwrap_or_else(|_| path.to_owned())
}

/// The editor's MCP servers and further directories as settings of a thread.
pub fn settings(
    servers: &[McpServer],
    directories: &[PathBuf],
) -> Result<Option<BTreeMap<String, Json>>> {
    let mut settings = BTreeMap::new();
    for server in servers {
        let (name, value) = match server {
            McpServer::Stdio(it) => {
                let env: BTreeMap<_, _> = it.env.iter().map(|it| (&it.name, &it.value)).collect();
                let value = json!({ "command": it.command, "args": it.args, "env": env });
                (&it.name, value)
            }
            McpServer::Http(it) => {
                let headers: BTreeMap<_, _> =
                    it.headers.iter().map(|it| (&it.name, &it.value)).collect();
                (&it.name, json!({ "url": it.url, "http_headers": headers }))
            }
            _ => {
                let text = "MCP servers are reached by a command or by streamable HTTP, not by SSE";
                return Err(invalid(text));
            }
        };
        // Names become keys, of which a dot would make two.
        let name: String = name
            .chars()
            .map(|it| {
                if it.is_ascii_alphanumeric() || it == '-' {
                    it
                } else {
                    '_'
                }
            })
            .collect();
        settings.insert(format!("mcp_servers.{name}"), Json::from(value));
    }
    if !directories.is_empty() {
        let value = json!(directories);
        settings.insert(
            "sandbox_workspace_write.writable_roots".to_owned(),
            value.into(),
        );
    }
    Ok((!settings.is_empty()).then_some(settings))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uris_of_files_become_paths() {
        assert_eq!(path("file:///a%20b/c%"), "/a b/c%");
        assert_eq!(
            path("https://example.org/a%20b"),
            "https://example.org/a%20b"
        );
    }
}
