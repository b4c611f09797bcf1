//! Searches of the web that the provider does, as clients see them.

use quipu_wire::{ResponsesApiWebSearchAction, WebSearchAction};

pub(super) fn action(action: ResponsesApiWebSearchAction) -> WebSearchAction {
    use ResponsesApiWebSearchAction as From;
    match action {
        From::Search { query, queries } => WebSearchAction::Search { query, queries },
        From::OpenPage { url } => WebSearchAction::OpenPage { url },
        From::FindInPage { url, pattern } => WebSearchAction::FindInPage { url, pattern },
        From::Other | From::Unrecognized(_) => WebSearchAction::Other,
    }
}

/// What a search was for, in one line.
pub(super) fn query(action: &WebSearchAction) -> String {
    match action {
        WebSearchAction::Search {
            query: Some(query), ..
        } if !query.is_empty() => query.clone(),
        WebSearchAction::Search {
            queries: Some(queries),
            ..
        } => match queries.as_slice() {
            [] => String::new(),
            [one] => one.clone(),
            [first, ..] => format!("{first} ..."),
        },
        WebSearchAction::OpenPage { url } => url.clone().unwrap_or_default(),
        WebSearchAction::FindInPage { url, pattern } => match (pattern, url) {
            (Some(pattern), Some(url)) => format!("'{pattern}' in {url}"),
            (Some(pattern), None) => format!("'{pattern}'"),
            (None, url) => url.clone().unwrap_or_default(),
        },
        _ => String::new(),
    }
}
