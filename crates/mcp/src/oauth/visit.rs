//! The visit of the browser that ends a login.

use quipu_oauth::{Answer, Callback, form};

/// Waits for the code that belongs to this login; the error is what the provider said instead. Other visitors
/// get an error and do not end the login.
pub(super) async fn code(
    callback: &mut Callback,
    path: &str,
    state: &str,
) -> Result<String, String> {
    loop {
        let request = callback.request().await;
        let head = request.head();
        let outcome = match head.method == "GET" && head.path == path {
            true => read(&head.query, state),
            false => None,
        };
        let (status, text) = match &outcome {
            Some(Ok(_)) => (200, "Authentication complete. You may close this window."),
            Some(Err(text)) => (400, text.as_str()),
            None => (400, "Invalid OAuth callback"),
        };
        let answer = Answer::text(status, text);
        match outcome {
            Some(outcome) => {
                // Waits for the browser: the caller may end the process that serves the page.
                answer.deliver(request).await;
                return outcome;
            }
            None => answer.send(request),
        }
    }
}

/// Reads the query of a visit; `None` if it is not the one that this login waits for.
fn read(query: &str, state: &str) -> Option<Result<String, String>> {
    let query = form::decode(query);
    if let Some(error) = query.get("error") {
        let text = match query.get("error_description") {
            Some(why) => format!("OAuth provider returned `{error}`: {why}"),
            None => format!("OAuth provider returned `{error}`"),
        };
        return Some(Err(text));
    }
    // Another state belongs to another login, which must not end this one.
    let is_ours = query.get("state").is_some_and(|theirs| theirs == state);
    let code = query.get("code").filter(|_| is_ours)?;
    Some(Ok(code.clone()))
}
