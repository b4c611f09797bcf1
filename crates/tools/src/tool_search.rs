//! `tool_search`: finds the tools of the client and of MCP servers that are not listed to the model, which could not
//! call them otherwise. What was found is listed from the next request on, as any provider understands it.
//!
//! Which tools were found is read from the calls in the history: the same search finds the same tools.
//! So a thread that is resumed, forked or woken offers them again, and nothing more is stored.

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use quipu_prompt::apps;
use quipu_wire::{DynamicToolSpec, Json};
use serde::Deserialize;

use crate::call::{Finished, Running};
use crate::mcp::{self, McpScope};
use crate::schema::describe;
use crate::scope::Scope;
use crate::spec::Spec;
use crate::tool::{Parallel, Tool};

/// What the model calls it.
pub const TOOL_SEARCH: &str = "tool_search";

/// How many tools a search finds at most, if the model does not say.
const LIMIT: usize = 8;

/// BM25: how soon more of the same word stops to count.
const SATURATION: f64 = 1.2;
/// BM25: how much a long text counts less than a short one.
const LENGTH_WEIGHT: f64 = 0.75;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    query: String,
    limit: Option<usize>,
}

describe!(Arguments {
    required { query: "Words that the name or the description of the tool may have." }
    optional { limit: "How many tools to find at most. 8 if left out." }
});

pub(crate) struct ToolSearch;

impl Tool for ToolSearch {
    fn name(&self) -> &'static str {
        TOOL_SEARCH
    }

    fn parallel(&self) -> Parallel {
        Parallel::Shared
    }

    fn spec(&self, scope: &Scope) -> Option<Spec> {
        spec(&scope.dynamic_tools, &scope.mcp)
    }

    fn run<'a>(&'a self, run: &'a Running) -> BoxFuture<'a, Finished> {
        std::future::ready(tool_search(run)).boxed()
    }
}

/// A tool that is not listed until it is found.
#[derive(Debug, Clone)]
pub(crate) struct Deferred {
    pub name: String,
    pub description: String,
    pub schema: Json,
}

/// The tools that are not listed until they are found: those that the client defers, and the many of MCP servers.
fn deferred(tools: &[DynamicToolSpec], mcp: &McpScope) -> Vec<Deferred> {
    let own = tools.iter().filter(|tool| tool.defer_loading);
    let own = own.map(|tool| Deferred {
        name: tool.name.clone(),
        description: tool.description.clone(),
        schema: tool.input_schema.clone(),
    });
    own.chain(mcp::deferred(mcp)).collect()
}

/// The tool, if there is anything to find. A client may have a tool of this name, which goes first.
fn spec(tools: &[DynamicToolSpec], mcp: &McpScope) -> Option<Spec> {
    let deferred = tools.iter().filter(|tool| tool.defer_loading).count();
    let deferred = deferred + mcp::deferred_count(mcp);
    let is_taken = tools.iter().any(|tool| tool.name == TOOL_SEARCH);
    let description = format!(
        "Finds tools among {deferred} that are not in your list until you find them. Search before you decide that \
         you cannot do something."
    );
    (deferred > 0 && !is_taken).then(|| Spec::function::<Arguments>(TOOL_SEARCH, &description))
}

fn tool_search(run: &Running) -> Finished {
    let Arguments { query, limit } = match run.arguments() {
        Ok(arguments) => arguments,
        Err(error) => return error.into(),
    };
    if words(&query).is_empty() {
        return "query must have at least one word".into();
    }
    let limit = limit.unwrap_or(LIMIT);
    if limit == 0 {
        return "limit must be greater than zero".into();
    }
    let deferred = deferred(&run.scope.dynamic_tools, &run.scope.mcp);
    let found = search(&deferred, &query, limit);
    if found.is_empty() {
        return format!("No tool matches `{query}`. Try other words.").into();
    }
    let mut text = "You can call these tools now:\n".to_owned();
    for tool in found {
        let schema = tool.schema.get();
        let (name, description) = (&tool.name, &tool.description);
        text += &format!("\n{name}: {description}\nArguments (JSON Schema): {schema}\n");
    }
    text.into()
}

/// The names of the deferred tools that the calls in a history have found, or called unseen, and those of the apps
/// that the user mentioned.
pub fn found_tools(tools: &[DynamicToolSpec], mcp: &McpScope, history: &[Json]) -> Vec<String> {
    #[derive(Deserialize)]
    struct Call {
        r#type: String,
        name: String,
        arguments: String,
    }
    let mut found = Vec::new();
    if spec(tools, mcp).is_none() {
        return found;
    }
    let deferred = deferred(tools, mcp);
    for call in history.iter().filter_map(|item| item.parse::<Call>().ok()) {
        if call.r#type != "function_call" {
            continue;
        }
        if call.name != TOOL_SEARCH {
            found.push(call.name);
        } else if let Ok(Arguments { query, limit }) = serde_json::from_str(&call.arguments) {
            let hits = search(&deferred, &query, limit.unwrap_or(LIMIT));
            found.extend(hits.into_iter().map(|tool| tool.name.clone()));
        }
    }
    let known = mcp.apps();
    for id in history.iter().filter_map(apps::noted) {
        let tools = known.get(id).map(|app| app.tools.iter().cloned());
        found.extend(tools.into_iter().flatten());
    }
    found.retain(|name| deferred.iter().any(|it| it.name == *name));
    found
}

/// The tools that match, the best first: BM25 over the words of name and description.
fn search<'a>(tools: &'a [Deferred], query: &str, limit: usize) -> Vec<&'a Deferred> {
    let texts: Vec<(&Deferred, Vec<String>)> = tools
        .iter()
        .map(|tool| (tool, words(&format!("{} {}", tool.name, tool.description))))
        .collect();
    let count = texts.len() as f64;
    let average = texts.iter().map(|(_, text)| text.len()).sum::<usize>() as f64 / count;
    let mut wanted = words(query);
    wanted.sort();
    wanted.dedup();
    let wanted = wanted.into_iter().map(|word| {
        let having = texts
            .iter()
            .filter(|(_, text)| text.contains(&word))
            .count() as f64;
        let rarity = (1.0 + (count - having + 0.5) / (having + 0.5)).ln();
        (word, rarity)
    });
    let wanted: Vec<(String, f64)> = wanted.collect();
    let ranked = texts.iter().map(|(tool, text)| {
        let length = 1.0 - LENGTH_WEIGHT + LENGTH_WEIGHT * text.len() as f64 / average;
        let score = wanted.iter().map(|(word, rarity)| {
            let times = text.iter().filter(|it| *it == word).count() as f64;
            rarity * times * (SATURATION + 1.0) / (times + SATURATION * length)
        });
        (score.sum::<f64>(), *tool)
    });
    let mut ranked: Vec<_> = ranked.filter(|(score, _)| *score > 0.0).collect();
    // Equals stay in the order in which they are offered.
    ranked.sort_by(|(one, _), (other, _)| other.total_cmp(one));
    let tools = ranked.into_iter().map(|(_, tool)| tool);
    tools.take(limit).collect()
}

/// The words of a text in small letters. `getUser`, `get_user` and `get users` have the same two.
fn words(text: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut before = ' ';
    let mut rest = text.chars().peekable();
    while let Some(char) = rest.next() {
        let is_before_small = rest.peek().is_some_and(|next| next.is_lowercase());
        let begins = char.is_uppercase() && (!before.is_uppercase() || is_before_small);
        if begins || !char.is_alphanumeric() {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut().filter(|_| char.is_alphanumeric()) {
            word.extend(char.to_lowercase());
        }
        before = char;
    }
    for word in &mut words {
        if word.len() > 3 && word.ends_with('s') && !word.ends_with("ss") {
            word.pop();
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn tool(name: &str, description: &str) -> DynamicToolSpec {
        DynamicToolSpec {
            namespace: None,
            name: name.to_owned(),
            description: description.to_owned(),
            input_schema: json!({ "type": "object" }).into(),
            defer_loading: true,
        }
    }

    fn names(tools: &[DynamicToolSpec], query: &str, limit: usize) -> Vec<String> {
        let tools = deferred(tools, &McpScope::default());
        let found = search(&tools, query, limit);
        found.into_iter().map(|tool| tool.name.clone()).collect()
    }

    fn office() -> Vec<DynamicToolSpec> {
        vec![
            tool("create_ticket", "Opens a ticket in the tracker."),
            tool("closeTicket", "Closes a ticket in the tracker."),
            tool(
                "send_mail",
                "Sends a message to a colleague, with a ticket if need be.",
            ),
            tool("HTTPFetch", "Gets a page."),
            DynamicToolSpec {
                defer_loading: false,
                ..tool("list_tickets", "Lists tickets.")
            },
        ]
    }

    #[test]
    fn names_are_split_at_case_and_underscores() {
        let two = ["get", "user"];
        for text in [
            "getUser",
            "get_user",
            "GET users",
            "GetUser",
            "get-user",
            " get…user ",
        ] {
            assert_eq!(words(text), two, "{text}");
        }
        assert_eq!(
            words("HTTPServer S3Bucket"),
            ["http", "server", "s3", "bucket"]
        );
        assert_eq!(words("Adresse für Größe"), ["adresse", "für", "größe"]);
        assert_eq!(words("bus address"), ["bus", "address"]);
        assert!(words("_ -…").is_empty());
    }

    #[test]
    fn rare_and_frequent_words_and_short_texts_rank_first() {
        let tools = office();
        assert_eq!(names(&tools, "close tickets", 8)[0], "closeTicket");
        assert_eq!(names(&tools, "mail a ticket", 8)[0], "send_mail");
        assert_eq!(names(&tools, "http", 8), ["HTTPFetch"]);
        let by_length = ["create_ticket", "closeTicket", "send_mail"];
        assert_eq!(
            names(&tools, "ticket", 8),
            by_length,
            "equals in the client's order"
        );
        assert_eq!(names(&tools, "ticket", 2), by_length[..2]);
    }

    #[test]
    fn only_deferred_tools_that_match_are_found() {
        let tools = office();
        assert!(names(&tools, "list", 8).is_empty());
        assert!(names(&tools, "weather", 8).is_empty());
        assert!(names(&tools, "", 8).is_empty());
        assert!(names(&[], "ticket", 8).is_empty());
        assert!(names(&[tool("", "")], "ticket", 8).is_empty());
    }

    #[test]
    fn it_is_offered_only_if_there_is_something_to_find() {
        let none = McpScope::default();
        let mut tools = office();
        assert!(spec(&tools, &none).is_some_and(|spec| spec.description.contains("among 4 ")));
        tools.push(tool(TOOL_SEARCH, "The client's own."));
        assert!(spec(&tools, &none).is_none());
        assert!(spec(&office()[4..], &none).is_none());
        assert!(spec(&[], &none).is_none());
    }

    #[test]
    fn a_history_tells_what_was_found() {
        let call = |name: &str, arguments: &str| {
            Json::from(json!({
                "type": "function_call", "call_id": "c", "name": name, "arguments": arguments,
            }))
        };
        let history = [
            json!({ "type": "message", "role": "user", "content": [] }).into(),
            call("tool_search", r#"{"query":"ticket","limit":1}"#),
            call("tool_search", "broken"),
            call("HTTPFetch", "{}"),
            call("list_tickets", "{}"),
            call("exec_command", "{}"),
        ];
        let (tools, none) = (office(), McpScope::default());
        assert_eq!(
            found_tools(&tools, &none, &history),
            ["create_ticket", "HTTPFetch"]
        );
        assert!(found_tools(&tools[4..], &none, &history).is_empty());
    }
}
