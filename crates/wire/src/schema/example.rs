//! Example values for the reference page, made from the descriptions.

use serde_json::{Map, Value, json};

use crate::describe::{Absence, Content, Field, Shape, Tagging, Ty, TypeDef};

/// A plausible value of a type. Optional members are left out.
pub fn example(ty: Ty) -> Value {
    value(ty, "", 0)
}

fn value(ty: Ty, name: &str, depth: usize) -> Value {
    match ty {
        Ty::Bool => json!(true),
        Ty::String => json!(text(name)),
        Ty::Integer(_) if name.ends_with("At") => json!(1_730_910_000),
        Ty::Integer(_) => json!(1),
        Ty::Number(_) => json!(0.5),
        Ty::Json => json!({}),
        Ty::Option(_) => Value::Null,
        Ty::List(_) if depth > 3 => json!([]),
        Ty::List(inner) => json!([value(*inner, singular(name), depth + 1)]),
        Ty::Map(inner) => json!({ "name": value(*inner, "", depth + 1) }),
        Ty::Named(def) => declared(def(), name, depth + 1),
    }
}

fn declared(def: &TypeDef, name: &str, depth: usize) -> Value {
    match &def.shape {
        Shape::Alias(_) if def.json_name == "AbsolutePathBuf" => json!("/home/me/project"),
        Shape::Alias(ty) => value(*ty, name, depth),
        Shape::Struct(fields, _) => members(None, fields, depth).into(),
        Shape::Enum(tagging, variants) => {
            let Some(variant) = variants.first() else {
                return Value::Null;
            };
            match (tagging, &variant.content) {
                (Tagging::Tagged(tag), Content::Fields(fields)) => {
                    members(Some((tag, variant.name)), fields, depth).into()
                }
                (Tagging::Tagged(tag), _) => json!({ *tag: variant.name }),
                (_, Content::Unit) => json!(variant.name),
                (Tagging::Untagged, Content::One(ty)) => value(*ty, name, depth),
                (_, Content::One(ty)) => json!({ variant.name: value(*ty, "", depth) }),
                (_, Content::Fields(fields)) => {
                    json!({ variant.name: members(None, fields, depth) })
                }
            }
        }
    }
}

fn members(tag: Option<(&str, &str)>, fields: &[Field], depth: usize) -> Map<String, Value> {
    let mut object = Map::new();
    if let Some((tag, name)) = tag {
        object.insert(tag.into(), name.into());
    }
    for field in fields {
        let shown = match field.absence {
            Absence::Never => field.default.is_none(),
            Absence::Nullable => true,
            Absence::Optional | Absence::Sparse => false,
        };
        if field.flatten {
            if let Value::Object(inner) = value(field.ty, field.name, depth) {
                object.extend(inner.into_iter().filter(|(key, _)| key != "name"));
            }
        } else if shown && !field.write_only {
            object.insert(field.name.into(), value(field.ty, field.name, depth));
        }
    }
    object
}

fn singular(name: &str) -> &str {
    name.strip_suffix('s').unwrap_or(name)
}

fn text(name: &str) -> &'static str {
    match name {
        "threadId" | "conversationId" | "reviewThreadId" | "id" => {
            "0199a213-81c0-7800-8aa1-bbab2a035a53"
        }
        "turnId" | "expectedTurnId" => "0199a213-9b5c-7d42-a3c1-0f6f4a3b2c11",
        "itemId" | "callId" => "call_1",
        "cwd" | "root" | "cwds" => "/home/me/project",
        "path" => "/home/me/project/src/main.rs",
        "command" => "cargo test",
        "model" => "gpt-5.1-codex",
        "modelProvider" => "openai",
        "dataBase64" | "deltaBase64" => "aGVsbG8=",
        "delta" | "text" => "Hello",
        "version" => "1.0.0",
        "query" => "main",
        "message" => "A message.",
        "name" => "example",
        "url" | "authorizationUrl" | "authUrl" => "https://example.com",
        _ => "…",
    }
}
