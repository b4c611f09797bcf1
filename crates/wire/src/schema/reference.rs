//! The reference page: every method with its fields, stability and an example.
//! Writing to a string cannot fail, so what `write!` returns is dropped.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::{Value, json};

use super::Protocol;
use super::example::example;
use super::roots::{named, reachable};
use crate::describe::{Absence, Content, Era, Field, Shape, Tagging, Ty, TypeDef};
use crate::method::{
    CLIENT_REQUESTS, MethodInfo, SERVER_NOTIFICATIONS, SERVER_REQUESTS, Stability,
};

const HEAD: &str = "\
# Protocol reference

Generated from the method table in `crates/wire`; run `cargo xtask codegen` after a change there.

Messages are JSON objects, one per line on stdio and unix sockets, one per text frame on websockets. There is
no `jsonrpc` member. Requests carry `id`, `method` and `params`; answers carry `id` and `result` or `error`.
A client sends `initialize`, then the notification `initialized`, then anything else.

In the tables, *required* members must be present; others may be left out or be `null`. A member or method
marked *experimental* needs `capabilities.experimentalApi` in `initialize`. One marked *since 0.166* was added to the
protocol after 0.118; one marked *until 0.118* was dropped. The server has both, for clients of every age. One marked *Quipu only* is in
no official protocol ([events.md](events.md)).
";

/// The reference page as Markdown.
#[must_use]
pub fn reference() -> String {
    let mut page = HEAD.to_owned();
    let mut types = BTreeMap::new();
    contents(&mut page);
    section(
        &mut page,
        "Requests from the client",
        CLIENT_REQUESTS,
        Kind::ClientRequest,
        &mut types,
    );
    page.push_str("\n## Notifications from the client\n\n### `initialized`\n\nEnds the handshake.\n\n```json\n{\"method\":\"initialized\"}\n```\n");
    section(
        &mut page,
        "Requests from the server",
        SERVER_REQUESTS,
        Kind::ServerRequest,
        &mut types,
    );
    section(
        &mut page,
        "Notifications from the server",
        SERVER_NOTIFICATIONS,
        Kind::Notification,
        &mut types,
    );
    page.push_str("\n## Types\n");
    for def in types.into_values() {
        write!(page, "\n### {}\n\n", def.ts_name).ok();
        paragraph(&mut page, def.doc);
        shape(&mut page, def);
    }
    page
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    ClientRequest,
    ServerRequest,
    Notification,
}

fn contents(page: &mut String) {
    page.push_str("\n| method | from | stability | |\n|---|---|---|---|\n");
    let sides = [
        (CLIENT_REQUESTS, "client"),
        (SERVER_REQUESTS, "server"),
        (SERVER_NOTIFICATIONS, "server, not answered"),
    ];
    for (rows, side) in sides {
        for row in rows {
            let line = format!(
                "| `{}` | {side} | {} | {} |",
                row.name,
                stability(row),
                row.doc.trim()
            );
            writeln!(page, "{line}").ok();
        }
    }
    page.push_str("| `initialized` | client, not answered | stable | Ends the handshake. |\n");
}

fn stability(row: &MethodInfo) -> String {
    let stability = match row.stability {
        Stability::Stable => "stable",
        Stability::Experimental => "experimental",
        Stability::Legacy => "legacy",
    };
    let versions = era(row.era).map_or_else(String::new, |it| format!(", {it}"));
    format!("{stability}{versions}")
}

fn section(
    page: &mut String,
    title: &str,
    rows: &[MethodInfo],
    kind: Kind,
    types: &mut BTreeMap<String, &'static TypeDef>,
) {
    write!(page, "\n## {title}\n").ok();
    for row in rows {
        write!(page, "\n### `{}`\n\n{}", row.name, row.doc.trim()).ok();
        match row.stability {
            Stability::Stable => {}
            Stability::Experimental => page.push_str(" *Experimental.*"),
            Stability::Legacy => page.push_str(" *Legacy.*"),
        }
        if let Some(versions) = era(row.era) {
            write!(page, " *In {versions}.*").ok();
        }
        if kind == Kind::ClientRequest {
            write!(page, " Order: {}.", order(row.lane)).ok();
        }
        page.push_str("\n\n");
        part(page, "Params", row.params, types);
        row.result
            .into_iter()
            .for_each(|ty| part(page, "Result", ty, types));
        examples(page, row, kind);
    }
}

fn order(lane: &str) -> &'static str {
    match lane {
        "Inline" => "before everything that follows on the connection",
        "Free" => "with nothing",
        lane if lane.starts_with("Thread") => "with the thread's other requests",
        lane if lane.starts_with("Ordered") => "with the connection's other requests of the kind",
        _ => "with the other requests of the kind from all connections",
    }
}

/// The members of a method's params or result; what they lead to is described under "Types".
fn part(page: &mut String, title: &str, ty: Ty, types: &mut BTreeMap<String, &'static TypeDef>) {
    let Some(def) = named(ty) else { return };
    types.extend(
        reachable(def, Protocol::Union)
            .into_values()
            .map(|def| (def.ts_name.to_owned(), def)),
    );
    write!(page, "**{title}** ").ok();
    shape(page, def);
}

fn shape(page: &mut String, def: &TypeDef) {
    match &def.shape {
        Shape::Alias(ty) => write!(page, "{}\n\n", type_name(*ty)).ok(),
        Shape::Struct([], _) => write!(page, "none.\n\n").ok(),
        Shape::Struct(fields, _) => {
            page.truncate(page.trim_end().len());
            page.push_str("\n\n");
            table(page, None, fields);
            Some(())
        }
        Shape::Enum(tagging, variants) => {
            page.push_str("one of:\n\n");
            for variant in *variants {
                let head = match (tagging, &variant.content) {
                    (Tagging::Tagged(tag), _) => {
                        format!("`{{\"{tag}\": \"{}\", …}}`", variant.name)
                    }
                    (Tagging::Named | Tagging::Open(_), Content::Unit) => {
                        format!("`\"{}\"`", variant.name)
                    }
                    (Tagging::Named, _) => format!("`{{\"{}\": …}}`", variant.name),
                    (Tagging::Untagged, Content::One(ty)) => type_name(*ty),
                    (Tagging::Untagged | Tagging::Open(_), _) => String::new(),
                };
                let content = match &variant.content {
                    Content::One(ty) if *tagging != Tagging::Untagged => {
                        format!(" {}", type_name(*ty))
                    }
                    _ => String::new(),
                };
                let versions = era(variant.era).map_or_else(String::new, |it| format!(" ({it})"));
                let line = format!("- {head}{content}{versions} {}", one_line(variant.doc));
                writeln!(page, "{}", line.trim_end()).ok();
                if let Content::Fields(fields) = &variant.content {
                    bullets(page, fields);
                }
            }
            if matches!(tagging, Tagging::Open(_)) {
                page.push_str("- any other text of up to 48 bytes (since 0.166)\n");
            }
            page.push('\n');
            Some(())
        }
    };
}

fn table(page: &mut String, prefix: Option<&str>, fields: &[Field]) {
    page.push_str("| member | type | | |\n|---|---|---|---|\n");
    for field in fields {
        let name = format!("{}{}", prefix.unwrap_or_default(), field.name);
        let name = if field.flatten {
            "…".to_owned()
        } else {
            format!("`{name}`")
        };
        let line = format!(
            "| {name} | {} | {} | {} |",
            type_name(field.ty),
            presence(field),
            one_line(field.doc)
        );
        writeln!(page, "{line}").ok();
    }
    page.push('\n');
}

fn bullets(page: &mut String, fields: &[Field]) {
    for field in fields {
        let notes = [presence(field), one_line(field.doc)];
        let notes = notes
            .iter()
            .filter(|note| !note.is_empty())
            .map(String::as_str)
            .collect::<Vec<_>>()
            .join("; ");
        let line = format!(
            "  - `{}`: {}{}{notes}",
            field.name,
            type_name(field.ty),
            if notes.is_empty() { "" } else { ", " }
        );
        writeln!(page, "{line}").ok();
    }
}

fn presence(field: &Field) -> String {
    let mut notes = Vec::new();
    match (field.absence, field.default) {
        (Absence::Never, None) => notes.push("required".to_owned()),
        (_, Some(json)) if !json.is_empty() && json != "null" => {
            notes.push(format!("default `{json}`"))
        }
        _ => {}
    }
    if field.experimental {
        notes.push("experimental".to_owned());
    }
    notes.extend(era(field.era));
    notes.join(", ")
}

/// Which versions have something, in words.
fn era(era: Era) -> Option<String> {
    let since = era.since.map(|version| match version {
        super::OWN => "Quipu only".to_owned(),
        version => format!("since {version}"),
    });
    since.or_else(|| era.until.map(|version| format!("until {version}")))
}

fn type_name(ty: Ty) -> String {
    match ty {
        Ty::Bool => "boolean".into(),
        Ty::String => "string".into(),
        Ty::Integer(_) => "integer".into(),
        Ty::Number(_) => "number".into(),
        Ty::Json => "any JSON".into(),
        Ty::Option(inner) => type_name(*inner),
        Ty::List(inner) => format!("list of {}", type_name(*inner)),
        Ty::Map(inner) => format!("map to {}", type_name(*inner)),
        Ty::Named(def) => {
            let name = def().ts_name;
            format!("[{name}](#{})", name.to_lowercase())
        }
    }
}

fn examples(page: &mut String, row: &MethodInfo, kind: Kind) {
    let params = match row.params {
        Ty::Json => Value::Null,
        ty => example(ty),
    };
    let mut messages = Vec::new();
    match kind {
        Kind::Notification => messages.push(json!({ "method": row.name, "params": params })),
        Kind::ClientRequest | Kind::ServerRequest => {
            messages.push(match params {
                Value::Null => json!({ "id": 1, "method": row.name }),
                params => json!({ "id": 1, "method": row.name, "params": params }),
            });
            messages.extend(
                row.result
                    .map(|ty| json!({ "id": 1, "result": example(ty) })),
            );
        }
    }
    page.push_str("```json\n");
    for message in messages {
        writeln!(page, "{message}").ok();
    }
    page.push_str("```\n");
}

fn paragraph(page: &mut String, doc: &str) {
    if !doc.is_empty() {
        write!(page, "{doc}\n\n").ok();
    }
}

fn one_line(doc: &str) -> String {
    doc.split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
        .replace('|', "\\|")
}
