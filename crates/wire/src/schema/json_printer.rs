//! Type descriptions as JSON Schema.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::roots::named;
use super::{Protocol, Surface};
use crate::describe::{
    Absence, Content, Extra, Field, OpenName, Place, Shape, Tagging, Ty, TypeDef, Variant,
};

/// Prints descriptions as schemas.
pub(super) struct Printer<'v> {
    pub(super) surface: Surface,
    /// The names that live in the bundle's `v2` namespace; `None` where all names are flat.
    pub(super) v2: Option<&'v BTreeSet<&'static str>>,
}

impl Printer<'_> {
    pub(super) fn definitions(
        &self,
        types: impl Iterator<Item = &'static TypeDef>,
    ) -> Map<String, Value> {
        let named = types.filter(|def| self.defines(def));
        named
            .map(|def| (def.json_name.to_owned(), self.definition(def).into()))
            .collect()
    }

    pub(super) fn reference(&self, name: &str) -> Value {
        let space = if self.v2.is_some_and(|v2| v2.contains(name)) {
            "v2/"
        } else {
            ""
        };
        json!({ "$ref": format!("#/definitions/{space}{name}") })
    }

    pub(super) fn definition(&self, def: &TypeDef) -> Map<String, Value> {
        let mut schema = match &def.shape {
            _ if self.surface.protocol.opens(def).is_some() => {
                object(json!({ "type": "string", "minLength": 1 }))
            }
            Shape::Alias(ty) => object(self.ty(*ty)),
            Shape::Struct(fields, extra) => self.structure(fields, *extra),
            Shape::Enum(tagging, variants) => self.enumeration(def.json_name, *tagging, variants),
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
            if is_required(field) {
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
        !self.surface.protocol.has(field.era) || (field.experimental && !self.surface.experimental)
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

    fn enumeration(
        &self,
        name: &str,
        tagging: Tagging,
        variants: &'static [Variant],
    ) -> Map<String, Value> {
        let variants: Vec<&Variant> = variants
            .iter()
            .filter(|it| self.surface.protocol.has(it.era))
            .collect();
        match tagging {
            Tagging::Named | Tagging::Open(_) => self.named_variants(name, &variants),
            Tagging::Tagged(tag) => {
                let entries = variants
                    .iter()
                    .map(|variant| self.tagged_variant(name, tag, variant));
                object(json!({ "oneOf": entries.collect::<Vec<_>>() }))
            }
            // A choice of one is none.
            Tagging::Untagged if variants.len() == 1 => match &variants[0].content {
                Content::One(ty) => object(self.ty(*ty)),
                _ => Map::new(),
            },
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

    fn named_variants(&self, name: &str, variants: &[&Variant]) -> Map<String, Value> {
        let plain: Vec<&&Variant> = variants
            .iter()
            .filter(|v| matches!(v.content, Content::Unit) && !v.apart)
            .collect();
        let grouped = plain.iter().flat_map(|variant| self.spellings(variant));
        let grouped: Vec<&str> = grouped.collect();
        if plain.len() == variants.len() {
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
                "title": variant_title(name, variant),
                "required": [variant.name],
                "properties": { variant.name: content },
                "additionalProperties": false,
            });
            entries.push(described(entry, variant.doc));
        }
        object(json!({ "oneOf": entries }))
    }

    /// The names of a variant in the surface's protocol.
    fn spellings(&self, variant: &Variant) -> impl Iterator<Item = &'static str> + use<> {
        let also = variant
            .also
            .filter(|_| self.surface.protocol != Protocol::V0_118);
        [variant.name].into_iter().chain(also)
    }

    fn tagged_variant(&self, name: &str, tag: &'static str, variant: &Variant) -> Value {
        let fields: &[Field] = match &variant.content {
            Content::Unit => &[],
            Content::Fields(fields) => fields,
            Content::One(ty) => match named(*ty).map(|def| &def.shape) {
                Some(Shape::Struct(fields, _)) => fields,
                _ => &[],
            },
        };
        let mut schema = self.members(Some((tag, variant.name)), fields);
        let title = variant_title(name, variant);
        schema["properties"][tag]["title"] = format!("{title}{}", pascal(tag)).into();
        schema.insert("title".into(), title.into());
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
                def if self.defines(def) => self.reference(def.json_name),
                def if self.surface.protocol.opens(def).is_some() => self.ty(Ty::String),
                def => self.definition(def).into(),
            },
        }
    }

    /// Whether a type has a definition of its own; the others are written out where they are used.
    fn defines(&self, def: &TypeDef) -> bool {
        is_defined(def) && self.surface.protocol.opens(def) != Some(OpenName::Dropped)
    }
}

/// Whether the member is always there. What later versions added has a default for what earlier servers send.
fn is_required(field: &Field) -> bool {
    let is_addition = field.era.since.is_some() && field.default == Some("");
    field.absence == Absence::Never && (field.default.is_none() || is_addition)
}

/// Whether a type has a definition of its own in any version.
fn is_defined(def: &TypeDef) -> bool {
    let inlined = def.json_name.is_empty();
    let flattened = def.json_name == "McpServerElicitationRequest";
    !inlined && !flattened && (def.place != Place::Nowhere || is_struct_or_envelope(def))
}

fn is_struct_or_envelope(def: &TypeDef) -> bool {
    matches!(def.shape, Shape::Struct(..)) || def.json_name.starts_with("JSONRPC")
}

/// What code generators call one variant of a union.
fn variant_title(name: &str, variant: &Variant) -> String {
    format!("{}{name}", pascal(variant.name))
}

/// `thread/increment_elicitation` as `Thread/incrementElicitation`.
pub(super) fn pascal(name: &str) -> String {
    let mut pascal = String::with_capacity(name.len());
    let mut raise = true;
    for c in name.chars() {
        if c == '_' {
            raise = true;
        } else {
            pascal.push(if raise { c.to_ascii_uppercase() } else { c });
            raise = false;
        }
    }
    pascal
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
