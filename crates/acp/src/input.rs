//! What an editor gives, in the words of the server: prompts, MCP servers, directories.

use std::collections::BTreeMap;
use std::path::PathBuf;

use quipu_client::wire::{Json, UserInput};
use serde_json::json;

use crate::directory;
use crate::error::{Result, invalid};
use crate::schema::{ContentBlock, McpServer, Named};

/// A prompt as the input of a turn.
pub fn of(prompt: Vec<ContentBlock>) -> Result<Vec<UserInput>> {
    let mut input: Vec<UserInput> = Vec::new();
    for block in prompt {
        match block {
            ContentBlock::Text { text } => say(&mut input, &text),
            ContentBlock::Image { data, mime_type } => {
                if !mime_type.starts_with("image/") || !is_base64(&data) {
                    let text =
                        format!("an image of the type `{mime_type}` is not base64 of an image");
                    return Err(invalid(text));
                }
                let url = format!("data:{mime_type};base64,{data}");
                input.push(UserInput::Image { url });
            }
            ContentBlock::ResourceLink { name, uri } => {
                say(&mut input, &format!("[@{name}]({})", path(&uri)));
            }
            ContentBlock::Resource { resource } => {
                let Some(text) = resource.text else {
                    return Err(invalid(
                        "embedded files that are not text are not supported",
                    ));
                };
                let name = path(&resource.uri);
                let text = format!("\n<context ref=\"{name}\">\n{text}\n</context>\n");
                say(&mut input, &text);
            }
            ContentBlock::Audio { .. } => return Err(invalid("audio is not supported")),
        }
    }
    match input.is_empty() {
        true => Err(invalid("the prompt is empty")),
        false => Ok(input),
    }
}

fn is_base64(data: &str) -> bool {
    let digits = data.trim_end_matches('=');
    let is_digit = |it: u8| it.is_ascii_alphanumeric() || it == b'+' || it == b'/';
    data.len().is_multiple_of(4) && data.len() - digits.len() <= 2 && digits.bytes().all(is_digit)
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

/// The name of an MCP server as a key of the settings, of which a dot would make two.
pub fn key(name: &str) -> String {
    let is_plain = |it: &char| it.is_ascii_alphanumeric() || *it == '-';
    let letters = name.chars();
    letters
        .map(|it| if is_plain(&it) { it } else { '_' })
        .collect()
}

/// The editor's MCP servers and further directories as settings of a thread.
pub fn settings(
    servers: &[McpServer],
    directories: &[PathBuf],
) -> Result<Option<BTreeMap<String, Json>>> {
    directory::check_further(directories)?;
    let mut settings = BTreeMap::new();
    for server in servers {
        let McpServer {
            name, env, headers, ..
        } = server;
        let pairs = |named: &[Named]| -> BTreeMap<_, _> {
            let pair = |it: &Named| (it.name.clone(), it.value.clone());
            named.iter().map(pair).collect()
        };
        let value = match (server.kind.as_deref(), &server.command, &server.url) {
            (None | Some("stdio"), Some(command), _) => {
                json!({ "command": command, "args": server.args, "env": pairs(env) })
            }
            (Some("http"), _, Some(url)) => json!({ "url": url, "http_headers": pairs(headers) }),
            _ => {
                let text = format!(
                    "the MCP server `{name}` has neither a command nor an address with the type `http`"
                );
                return Err(invalid(text));
            }
        };
        settings.insert(format!("mcp_servers.{}", key(name)), Json::from(value));
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
