//! What the browser shows at the end of a login.

use crate::claims::Organization;

const STYLE: &str = "body{font:16px/1.5 system-ui,sans-serif;max-width:34rem;margin:18vh auto;padding:0 1rem;\
                     color:#222;background:#fff}h1{font-size:1.5rem;font-weight:600}code{color:#666}\
                     @media(prefers-color-scheme:dark){body{color:#ddd;background:#181818}code{color:#999}a{color:#9cf}}";

/// The login is done.
pub(crate) fn success(organization: &Organization) -> String {
    let mut body = "<p>You can close this page and go back to where you came from.</p>".to_owned();
    if organization.needs_setup {
        body.push_str(
            "<p>Your organisation has no API access yet. If you want some, \
             <a href=\"https://platform.openai.com/\">set it up</a>.</p>",
        );
    }
    page("You are logged in", &body)
}

/// The login failed. The code is for people who search for it.
pub(crate) fn failure(message: &str, code: &str) -> String {
    let body = format!(
        "<p>{}</p><p>Go back to where you came from and try again.</p><p><code>{}</code></p>",
        escape(message),
        escape(code)
    );
    page("The login failed", &body)
}

fn page(title: &str, body: &str) -> String {
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Quipu: {title}</title>\
         <style>{STYLE}</style></head><body><h1>{title}</h1>{body}</body></html>\n"
    )
}

fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_say_cannot_become_part_of_the_page() {
        let page = failure("<script>alert('x')</script>", "\"a&b\"");
        assert!(!page.contains("<script"), "{page}");
        assert!(page.contains("&lt;script&gt;alert(&#39;x&#39;)"), "{page}");
        assert!(page.contains("&quot;a&amp;b&quot;"), "{page}");
    }
}
