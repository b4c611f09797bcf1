//! JSON Schema (draft 07): a file per published type, and two bundles.
//!
//! The layout is the official server's, so that tools which read its files read ours: a bundle that keeps
//! the second protocol version in a namespace of its own, and a flat one of that version alone.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use super::roots::{
    Folder, client_requests, envelopes, experimental_roots, named, reachable, roots,
};
use super::{Files, Surface};
use crate::describe::{
    Absence, Content, Extra, Field, Place, Shape, Tagging, Ty, TypeDef, Variant,
};
use crate::method::{MethodInfo, SERVER_NOTIFICATIONS, SERVER_REQUESTS, Stability};

const DIALECT: &str = "http://json-schema.org/draft-07/schema#";

/// All JSON Schema files of a surface.
#[must_use]
pub fn json_schemas(surface: Surface) -> Files {
    let mut files = Files::new();
    let mut put = |folder: &str, name: &str, schema: &Value| {
        files.insert(format!("{folder}{name}.json"), format!("{schema:#}"));
    };
    for root in roots(surface) {
        let folder = match root.folder {
            Folder::Root => "",
            Folder::V1 => "v1/",
            Folder::V2 => "v2/",
        };
        put(folder, root.def.json_name, &standalone(root.def, surface));
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
    let definitions = printer.definitions(reachable(def).into_values());
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

/// One of the unions of all messages of a kind.
struct Union {
    name: &'static str,
    rows: Vec<&'static MethodInfo>,
    requests: bool,
}

fn unions(surface: Surface) -> Vec<Union> {
    let published = client_requests(surface).filter(|row| row.stability != Stability::Legacy);
    let notifications = SERVER_NOTIFICATIONS.iter().filter(|row| in_json_union(row));
    vec![
        Union {
            name: "ClientRequest",
            rows: published.collect(),
            requests: true,
        },
        Union {
            name: "ServerRequest",
            rows: SERVER_REQUESTS.iter().collect(),
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
                "properties": { "method": { "type": "string", "enum": ["initialized"] } },
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
        properties.insert(
            "method".into(),
            json!({ "type": "string", "enum": [row.name] }),
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
            "title": format!("{}{kind}", capitalised(row.name)),
            "description": row.doc,
            "required": required,
            "properties": properties,
        })
    }

    /// Everything the union leads to.
    fn types(&self) -> BTreeMap<&'static str, &'static TypeDef> {
        let mut types = BTreeMap::new();
        for def in self.rows.iter().filter_map(|row| named(row.params)) {
            types.insert(def.json_name, def);
            types.extend(reachable(def));
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
        let all = unions(Surface::Experimental);
        let whole = all
            .iter()
            .find(|union| union.name == self.name)
            .unwrap_or(self);
        let gone = experimental_roots(surface);
        let types = whole
            .types()
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
fn v2_types() -> BTreeMap<&'static str, &'static TypeDef> {
    let mut types = BTreeMap::new();
    for root in roots(Surface::Experimental)
        .iter()
        .filter(|root| root.folder == Folder::V2)
    {
        types.insert(root.def.json_name, root.def);
        types.extend(reachable(root.def));
    }
    let id = envelopes()[0];
    types.insert(id.json_name, id);
    types
}

fn bundle(surface: Surface) -> Value {
    let v2 = v2_types();
    let names: BTreeSet<&str> = v2.keys().copied().collect();
    let inner = Printer {
        surface,
        v2: Some(&names),
    };
    let gone = experimental_roots(surface);

    let mut outer_types: BTreeMap<&str, &'static TypeDef> = BTreeMap::new();
    let all = roots(Surface::Experimental);
    for root in all.iter().filter(|root| root.folder != Folder::V2) {
        outer_types.insert(root.def.json_name, root.def);
        let below = reachable(root.def).into_iter();
        outer_types.extend(below.filter(|(name, _)| !names.contains(name) || is_shared(name)));
    }
    let kept = |types: BTreeMap<&'static str, &'static TypeDef>| {
        types
            .into_values()
            .filter(|def| !gone.contains(def.json_name))
            .collect::<Vec<_>>()
    };
    let mut definitions = inner.definitions(kept(outer_types).into_iter());
    for union in unions(surface) {
        definitions.insert(union.name.into(), union.schema(&inner).into());
    }
    let v2_definitions = inner.definitions(kept(v2).into_iter());
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
    let mut types = v2_types();
    let mut definitions = Map::new();
    let with = |union: &&Union| matches!(union.name, "ClientRequest" | "ServerNotification");
    for union in unions(surface).iter().filter(with) {
        types.extend(union.types());
        definitions.insert(union.name.into(), union.schema(&printer).into());
    }
    let kept = types
        .into_values()
        .filter(|def| !gone.contains(def.json_name));
    definitions.extend(printer.definitions(kept));
    json!({
        "$schema": DIALECT,
        "title": "CodexAppServerProtocolV2",
        "type": "object",
        "definitions": definitions,
    })
}

fn capitalised(name: &str) -> String {
    let mut chars = name.chars();
    chars
        .next()
        .map_or_else(String::new, |c| c.to_uppercase().chain(chars).collect())
}

/// Prints descriptions as schemas.
struct Printer<'v> {
    surface: Surface,
    /// The names that live in the bundle's `v2` namespace; `None` where all names are flat.
    v2: Option<&'v BTreeSet<&'static str>>,
}

impl Printer<'_> {
    fn definitions(&self, types: impl Iterator<Item = &'static TypeDef>) -> Map<String, Value> {
        let named = types.filter(|def| is_defined(def));
        named
            .map(|def| (def.json_name.to_owned(), self.definition(def).into()))
            .collect()
    }

    fn reference(&self, name: &str) -> Value {
        let space = if self.v2.is_some_and(|v2| v2.contains(name)) {
            "v2/"
        } else {
            ""
        };
        json!({ "$ref": format!("#/definitions/{space}{name}") })
    }

    fn definition(&self, def: &TypeDef) -> Map<String, Value> {
        let mut schema = match &def.shape {
            Shape::Alias(ty) => object(self.ty(*ty)),
            Shape::Struct(fields, extra) => self.structure(fields, *extra),
            Shape::Enum(tagging, variants) => self.enumeration(*tagging, variants),
        };
        if !def.doc.is_empty() {
            schema.insert("description".into(), def.doc.into());
        }
        schema
    }

    fn structure(&self, fields: &[Field], extra: Extra) -> Map<String, Value> {
        let mut schema = self.members(None, fields);
        match extra {
            Extra::Unsaid => {}
            Extra::Open => drop(schema.insert("additionalProperties".into(), true.into())),
            Extra::Closed => drop(schema.insert("additionalProperties".into(), false.into())),
        }
        for def in fields
            .iter()
            .filter(|f| f.flatten)
            .filter_map(|f| named(f.ty))
        {
            schema.extend(
                self.definition(def)
                    .into_iter()
                    .filter(|(key, _)| key != "description"),
            );
        }
        schema
    }

    /// An object with these members, after a tag if there is one.
    fn members(&self, tag: Option<(&str, &str)>, fields: &[Field]) -> Map<String, Value> {
        let mut properties = Map::new();
        let mut required = Vec::new();
        if let Some((tag, value)) = tag {
            properties.insert(tag.into(), json!({ "type": "string", "enum": [value] }));
            required.push(tag);
        }
        for field in fields.iter().filter(|f| !f.flatten && !self.hides(f)) {
            properties.insert(field.name.into(), self.field(field));
            if field.absence == Absence::Never && field.default.is_none() {
                required.push(field.name);
            }
        }
        let mut schema = object(json!({ "type": "object" }));
        if !required.is_empty() {
            required.sort_unstable();
            schema.insert("required".into(), required.into());
        }
        if !properties.is_empty() {
            schema.insert("properties".into(), properties.into());
        }
        schema
    }

    fn hides(&self, field: &Field) -> bool {
        field.experimental && self.surface == Surface::Stable
    }

    fn field(&self, field: &Field) -> Value {
        let plain = match field.ty {
            Ty::Option(inner) if matches!(field.absence, Absence::Never) => Ty::Option(inner),
            other => other,
        };
        let mut schema = match self.ty(plain) {
            Value::Object(schema) => schema,
            // A schema that allows everything cannot carry a description unless it is an object.
            _ if field.described => Map::new(),
            everything => return everything,
        };
        let notes = !field.doc.is_empty() || field.default.is_some_and(|json| !json.is_empty());
        if notes && schema.contains_key("$ref") {
            schema = object(json!({ "allOf": [schema] }));
        }
        if !field.doc.is_empty() {
            schema.insert("description".into(), field.doc.into());
        }
        if let Some(default) = field
            .default
            .and_then(|json| serde_json::from_str(json).ok())
        {
            schema.insert("default".into(), default);
        }
        if field.write_only {
            schema.insert("writeOnly".into(), true.into());
        }
        schema.into()
    }

    fn enumeration(&self, tagging: Tagging, variants: &[Variant]) -> Map<String, Value> {
        match tagging {
            Tagging::Named => self.named_variants(variants),
            Tagging::Tagged(tag) => {
                let entries = variants
                    .iter()
                    .map(|variant| self.tagged_variant(tag, variant));
                object(json!({ "oneOf": entries.collect::<Vec<_>>() }))
            }
            Tagging::Untagged => {
                let entries = variants
                    .iter()
                    .filter_map(|variant| match &variant.content {
                        Content::One(ty) => Some(self.ty(*ty)),
                        _ => None,
                    });
                object(json!({ "anyOf": entries.collect::<Vec<_>>() }))
            }
        }
    }

    fn named_variants(&self, variants: &[Variant]) -> Map<String, Value> {
        let grouped = variants
            .iter()
            .filter(|v| matches!(v.content, Content::Unit) && !v.apart);
        let grouped: Vec<&str> = grouped.map(|variant| variant.name).collect();
        if grouped.len() == variants.len() {
            return object(json!({ "type": "string", "enum": grouped }));
        }
        let mut entries = Vec::new();
        if !grouped.is_empty() {
            entries.push(json!({ "type": "string", "enum": grouped }));
        }
        for variant in variants {
            let content = match &variant.content {
                Content::Unit if variant.apart => {
                    entries.push(described(
                        json!({ "type": "string", "enum": [variant.name] }),
                        variant.doc,
                    ));
                    continue;
                }
                Content::Unit => continue,
                Content::One(ty) => self.ty(*ty),
                Content::Fields(fields) => self.members(None, fields).into(),
            };
            let entry = json!({
                "type": "object",
                "required": [variant.name],
                "properties": { variant.name: content },
                "additionalProperties": false,
            });
            entries.push(described(entry, variant.doc));
        }
        object(json!({ "oneOf": entries }))
    }

    fn tagged_variant(&self, tag: &'static str, variant: &Variant) -> Value {
        let fields: &[Field] = match &variant.content {
            Content::Unit => &[],
            Content::Fields(fields) => fields,
            Content::One(ty) => match named(*ty).map(|def| &def.shape) {
                Some(Shape::Struct(fields, _)) => fields,
                _ => &[],
            },
        };
        let mut schema = self.members(Some((tag, variant.name)), fields);
        if variant.closed {
            schema.insert("additionalProperties".into(), false.into());
        }
        described(schema.into(), variant.doc)
    }

    fn ty(&self, ty: Ty) -> Value {
        match ty {
            Ty::Bool => json!({ "type": "boolean" }),
            Ty::String => json!({ "type": "string" }),
            Ty::Integer(format) if format.starts_with('u') => {
                json!({ "type": "integer", "format": format, "minimum": 0 })
            }
            Ty::Integer(format) => json!({ "type": "integer", "format": format }),
            Ty::Number(format) => json!({ "type": "number", "format": format }),
            Ty::Json => Value::Bool(true),
            Ty::List(inner) => json!({ "type": "array", "items": self.ty(*inner) }),
            Ty::Map(inner) => json!({ "type": "object", "additionalProperties": self.ty(*inner) }),
            Ty::Option(inner) => nullable(self.ty(*inner)),
            Ty::Named(def) => match def() {
                def if is_defined(def) => self.reference(def.json_name),
                def => self.definition(def).into(),
            },
        }
    }
}

/// Whether a type has a definition of its own; the others are written out where they are used.
fn is_defined(def: &TypeDef) -> bool {
    let inlined = def.json_name.is_empty();
    let flattened = def.json_name == "McpServerElicitationRequest";
    !inlined && !flattened && (def.place != Place::Nowhere || is_struct_or_envelope(def))
}

fn is_struct_or_envelope(def: &TypeDef) -> bool {
    matches!(def.shape, Shape::Struct(..)) || def.json_name.starts_with("JSONRPC")
}

fn nullable(schema: Value) -> Value {
    let Value::Object(mut schema) = schema else {
        return schema;
    };
    match schema.get("type") {
        Some(Value::String(kind)) => {
            let kinds = json!([kind, "null"]);
            schema.insert("type".into(), kinds);
            schema.into()
        }
        Some(_) => schema.into(),
        None => json!({ "anyOf": [schema, { "type": "null" }] }),
    }
}

fn described(mut schema: Value, doc: &str) -> Value {
    if let (Value::Object(schema), false) = (&mut schema, doc.is_empty()) {
        schema.insert("description".into(), doc.into());
    }
    schema
}

fn object(schema: Value) -> Map<String, Value> {
    match schema {
        Value::Object(schema) => schema,
        _ => Map::new(),
    }
}
