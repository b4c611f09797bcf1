//! The page for people. It has no script and asks for nothing, so what stands in an issue can only be read.

use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

const STYLE: &str = "\
:root{color-scheme:light dark}\
body{font:15px/1.45 system-ui,sans-serif;margin:2rem auto;max-width:75rem;padding:0 1rem}\
h1{font-size:1.3rem}h2{font-size:1.05rem;margin-top:2rem}\
dl{display:flex;flex-wrap:wrap;gap:1rem 2.5rem;margin:1rem 0}dt{opacity:.65;font-size:.85rem}dd{margin:0;font-size:1.2rem}\
table{border-collapse:collapse;width:100%}th,td{text-align:left;padding:.35rem .6rem;border-bottom:1px solid #8884;vertical-align:top}\
th{font-weight:600;opacity:.7;font-size:.85rem}td{overflow-wrap:anywhere}\
.error{border-left:4px solid #c33;padding:.5rem 1rem;background:#c331}\
.none{opacity:.6}";

/// Nothing may be loaded or run but the page's own style.
pub fn policy() -> String {
    let hash = STANDARD.encode(Sha256::digest(STYLE.as_bytes()));
    format!(
        "default-src 'none'; style-src 'sha256-{hash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
}

pub fn html(state: &Value) -> String {
    let mut page = String::new();
    // Writing to a text cannot fail.
    write(&mut page, state).unwrap_or_default();
    page
}

fn write(page: &mut String, state: &Value) -> std::fmt::Result {
    page.push_str(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>Quipu runner</title>\
         <meta name=\"viewport\" content=\"width=device-width\">",
    );
    if let Some(ms) = state["refresh_ms"].as_u64() {
        // Browsers take whole seconds, and 0 would mean without a pause.
        let seconds = ms.div_ceil(1000);
        write!(page, "<meta http-equiv=\"refresh\" content=\"{seconds}\">")?;
    }
    write!(
        page,
        "<style>{STYLE}</style></head><body><h1>Quipu runner</h1>"
    )?;
    for place in ["/config_error", "/last_error"] {
        if let Some(error) = state.pointer(place).and_then(Value::as_str) {
            write!(page, "<p class=\"error\">{}</p>", escaped(error))?;
        }
    }
    figures(page, state)?;
    let rows = |key: &str| state[key].as_array().cloned().unwrap_or_default();
    table(
        page,
        "Running",
        &[
            "issue",
            "title",
            "state",
            "host",
            "session",
            "turns",
            "tokens",
            "last event",
            "since",
        ],
        &[
            "/issue_identifier",
            "/title",
            "/state",
            "/host",
            "/session_id",
            "/turn_count",
            "/tokens/total_tokens",
            "/last_message",
            "/started_at",
        ],
        &rows("running"),
    )?;
    table(
        page,
        "Retrying",
        &["issue", "attempt", "due", "error"],
        &["/issue_identifier", "/attempt", "/due_at", "/error"],
        &rows("retrying"),
    )?;
    table(
        page,
        "Waiting",
        &["issue", "title", "state", "reason"],
        &["/issue_identifier", "/title", "/state", "/reason"],
        &rows("waiting"),
    )?;
    if !state["rate_limits"].is_null() {
        let limits = escaped(&state["rate_limits"].to_string());
        write!(page, "<h2>Rate limits</h2><p><code>{limits}</code></p>")?;
    }
    page.push_str("</body></html>\n");
    Ok(())
}

fn figures(page: &mut String, state: &Value) -> std::fmt::Result {
    page.push_str("<dl>");
    for (name, place) in [
        ("running", "/counts/running"),
        ("retrying", "/counts/retrying"),
        ("waiting", "/counts/waiting"),
        ("completed", "/counts/completed"),
        ("tokens", "/codex_totals/total_tokens"),
        ("cost", "/codex_totals/cost"),
        ("seconds", "/codex_totals/seconds_running"),
        ("tokens today", "/today/total_tokens"),
        ("cost today", "/today/cost"),
        ("as of", "/generated_at"),
    ] {
        write!(
            page,
            "<div><dt>{name}</dt><dd>{}</dd></div>",
            shown(state.pointer(place))
        )?;
    }
    page.push_str("</dl>");
    Ok(())
}

fn table(
    page: &mut String,
    title: &str,
    heads: &[&str],
    places: &[&str],
    rows: &[Value],
) -> std::fmt::Result {
    write!(page, "<h2>{title}</h2>")?;
    if rows.is_empty() {
        page.push_str("<p class=\"none\">none</p>");
        return Ok(());
    }
    page.push_str("<table><tr>");
    for head in heads {
        write!(page, "<th>{head}</th>")?;
    }
    page.push_str("</tr>");
    for row in rows {
        page.push_str("<tr>");
        for place in places {
            write!(page, "<td>{}</td>", shown(row.pointer(place)))?;
        }
        page.push_str("</tr>");
    }
    page.push_str("</table>");
    Ok(())
}

fn shown(value: Option<&Value>) -> String {
    match value {
        None | Some(Value::Null) => "–".to_owned(),
        Some(Value::String(text)) => escaped(text),
        Some(Value::Number(it)) if it.is_f64() => format!("{:.2}", it.as_f64().unwrap_or(0.0)),
        Some(other) => escaped(&other.to_string()),
    }
}

/// Text that a browser shows and does not obey.
fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for it in text.chars() {
        match it {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            it => safe.push(it),
        }
    }
    safe
}
