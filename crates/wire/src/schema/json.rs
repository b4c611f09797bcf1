//! JSON Schema (draft 07): a file per published type, and two bundles.
//!
//! The layout is the official server's, so that tools which read its files read ours: a bundle that keeps
//! the second protocol version in a namespace of its own, and a flat one of that version alone.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use super::json_printer::{Printer, pascal};
use super::roots::{
    Directory, Root, client_requests, envelopes, experimental_roots, named, reachable, roots,
    server_notifications, server_requests,
};
use super::{Files, Surface};
use crate::describe::TypeDef;
use crate::method::{MethodInfo, Stability};

const DIALECT: &str = "http://json-schema.org/draft-07/schema#";

/// All JSON Schema files of a surface.
#[must_use]
pub fn json_schemas(surface: Surface) -> Files {
    let mut files = Files::new();
    let mut put = |directory: &str, name: &str, schema: &Value| {
        files.insert(format!("{directory}{name}.json"), format!("{schema:#}"));
    };
    for root in roots(surface) {
        let directory = match root.directory {
            Directory::Root => "",
            Directory::V1 => "v1/",
            Directory::V2 => "v2/",
        };
        put(
            directory,
            root.def.json_name,
            &standalone(root.def, surface),
        );
    }
    for union in unions(surface) {
        put("", union.name, &union.standalone(surface));
    }
    put("", "codex_app_server_protocol.schemas", &bundle(surface));
    put(
        "",
        "codex_app_server_protocol.v2.schemas",
        &flat_bundle(surface),
    );
    files
}

/// A schema with the definitions it needs beside it.
fn standalone(def: &'static TypeDef, surface: Surface) -> Value {
    let printer = Printer { surface, v2: None };
    let mut schema = titled(def.json_name, printer.definition(def));
    let definitions = printer.definitions(reachable(def, surface.protocol).into_values());
    if !definitions.is_empty() {
        schema.insert("definitions".into(), definitions.into());
    }
    schema.into()
}

fn titled(title: &str, mut schema: Map<String, Value>) -> Map<String, Value> {
    schema.insert("$schema".into(), DIALECT.into());
    schema.insert("title".into(), title.into());
    schema
}

/// The same definitions, titled where the type has a file of its own: code generators name types by it.
fn published(
    mut definitions: Map<String, Value>,
    surface: Surface,
    kept: fn(&Root) -> bool,
) -> Map<String, Value> {
    for root in roots(Surface::whole(surface.protocol))
        .iter()
        .filter(|root| kept(root))
    {
        if let Some(Value::Object(schema)) = definitions.get_mut(root.def.json_name) {
            *schema = titled(root.def.json_name, std::mem::take(schema));
        }
    }
    definitions
}

/// One of the unions of all messages of a kind.
struct Union {
    name: &'static str,
    rows: Vec<&'static MethodInfo>,
    requests: bool,
}

fn unions(surface: Surface) -> Vec<Union> {
    let published = client_requests(surface).filter(|row| row.stability != Stability::Legacy);
    let notifications = server_notifications(surface).filter(|row| in_json_union(row));
    vec![
        Union {
            name: "ClientRequest",
            rows: published.collect(),
            requests: true,
        },
        Union {
            name: "ServerRequest",
            rows: server_requests(surface).collect(),
            requests: true,
        },
        Union {
            name: "ServerNotification",
            rows: notifications.collect(),
            requests: false,
        },
        Union {
            name: "ClientNotification",
            rows: Vec::new(),
            requests: false,
        },
    ]
}

/// Raw model items are for one internal user; the published union leaves them out.
fn in_json_union(row: &MethodInfo) -> bool {
    row.name != "rawResponseItem/completed"
}

impl Union {
    fn schema(&self, printer: &Printer<'_>) -> Map<String, Value> {
        let mut variants: Vec<Value> = self
            .rows
            .iter()
            .map(|row| self.variant(row, printer))
            .collect();
        if self.name == "ClientNotification" {
            variants.push(json!({
                "type": "object",
                "title": "InitializedNotification",
                "required": ["method"],
                "properties": { "method": {
                    "type": "string",
                    "enum": ["initialized"],
                    "title": "InitializedNotificationMethod",
                } },
            }));
        }
        let schema = Map::from_iter([("oneOf".to_owned(), Value::from(variants))]);
        titled(self.name, schema)
    }

    fn variant(&self, row: &MethodInfo, printer: &Printer<'_>) -> Value {
        let mut properties = Map::new();
        let mut required = vec!["method"];
        let kind = if self.requests {
            "Request"
        } else {
            "Notification"
        };
        let title = format!("{}{kind}", pascal(row.name));
        properties.insert(
            "method".into(),
            json!({ "type": "string", "enum": [row.name], "title": format!("{title}Method") }),
        );
        if self.requests {
            required.insert(0, "id");
            properties.insert("id".into(), printer.reference("RequestId"));
        }
        match named(row.params) {
            Some(def) => {
                required.push("params");
                properties.insert("params".into(), printer.reference(def.json_name));
            }
            None => {
                properties.insert("params".into(), json!({ "type": "null" }));
            }
        }
        json!({
            "type": "object",
            "title": title,
            "description": row.doc,
            "required": required,
            "properties": properties,
        })
    }

    /// Everything the union leads to.
    fn types(&self, surface: Surface) -> BTreeMap<&'static str, &'static TypeDef> {
        let mut types = BTreeMap::new();
        for def in self.rows.iter().filter_map(|row| named(row.params)) {
            types.insert(def.json_name, def);
            types.extend(reachable(def, surface.protocol));
        }
        if self.requests {
            let id = envelopes()[0];
            types.insert(id.json_name, id);
        }
        types
    }

    fn standalone(&self, surface: Surface) -> Value {
        let printer = Printer { surface, v2: None };
        let mut schema = self.schema(&printer);
        // The official generator drops experimental methods from the union after it has collected what
        // they lead to, so those definitions stay.
        let all = unions(Surface::whole(surface.protocol));
        let whole = all
            .iter()
            .find(|union| union.name == self.name)
            .unwrap_or(self);
        let gone = experimental_roots(surface);
        let types = whole
            .types(surface)
            .into_values()
            .filter(|def| !gone.contains(def.json_name));
        let definitions = printer.definitions(types);
        if !definitions.is_empty() {
            schema.insert("definitions".into(), definitions.into());
        }
        schema.into()
    }
}

/// The types of the second protocol version: what its roots lead to.
fn v2_types(surface: Surface) -> BTreeMap<&'static str, &'static TypeDef> {
    let mut types = BTreeMap::new();
    for root in roots(Surface::whole(surface.protocol))
        .iter()
        .filter(|root| root.directory == Directory::V2)
    {
        types.insert(root.def.json_name, root.def);
        types.extend(reachable(root.def, surface.protocol));
    }
    let id = envelopes()[0];
    types.insert(id.json_name, id);
    types
}

fn bundle(surface: Surface) -> Value {
    let v2 = v2_types(surface);
    let names: BTreeSet<&str> = v2.keys().copied().collect();
    let inner = Printer {
        surface,
        v2: Some(&names),
    };
    let gone = experimental_roots(surface);

    let mut outer_types: BTreeMap<&str, &'static TypeDef> = BTreeMap::new();
    let all = roots(Surface::whole(surface.protocol));
    for root in all.iter().filter(|root| root.directory != Directory::V2) {
        outer_types.insert(root.def.json_name, root.def);
        let below = reachable(root.def, surface.protocol).into_iter();
        outer_types.extend(below.filter(|(name, _)| !names.contains(name) || is_shared(name)));
    }
    let kept = |types: BTreeMap<&'static str, &'static TypeDef>| {
        types
            .into_values()
            .filter(|def| !gone.contains(def.json_name))
            .collect::<Vec<_>>()
    };
    let mut definitions = published(
        inner.definitions(kept(outer_types).into_iter()),
        surface,
        |_| true,
    );
    for union in unions(surface) {
        definitions.insert(union.name.into(), union.schema(&inner).into());
    }
    let v2_definitions = published(inner.definitions(kept(v2).into_iter()), surface, |root| {
        root.directory == Directory::V2
    });
    definitions.insert("v2".into(), v2_definitions.into());
    json!({
        "$schema": DIALECT,
        "title": "CodexAppServerProtocol",
        "type": "object",
        "definitions": definitions,
    })
}

/// Types that the nested bundle holds in both namespaces.
fn is_shared(name: &str) -> bool {
    matches!(name, "AbsolutePathBuf" | "RequestId")
}

fn flat_bundle(surface: Surface) -> Value {
    let printer = Printer { surface, v2: None };
    let gone = experimental_roots(surface);
    let mut types = v2_types(surface);
    let mut definitions = Map::new();
    let with = |union: &&Union| matches!(union.name, "ClientRequest" | "ServerNotification");
    for union in unions(surface).iter().filter(with) {
        types.extend(union.types(surface));
        definitions.insert(union.name.into(), union.schema(&printer).into());
    }
    let kept = types
        .into_values()
        .filter(|def| !gone.contains(def.json_name));
    definitions.extend(published(printer.definitions(kept), surface, |root| {
        !is_shared(root.def.json_name)
    }));
    json!({
        "$schema": DIALECT,
        "title": "CodexAppServerProtocolV2",
        "type": "object",
        "definitions": definitions,
    })
}
