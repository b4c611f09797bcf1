//! Reading what other versions of a server write. A member that this version expects and an older or
//! newer server leaves out reads as empty: `false`, `0`, `""`, an empty list, an unknown value. What
//! may be left out is known from the description of the types, so nothing here lists fields.
//!
//! It costs nothing until a value cannot be read as it is.

use quipu_wire::describe::{Absence, Content, Field, Shape, Tagging, Ty, TypeDef};
use quipu_wire::method::MethodInfo;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// What stands for a word or a kind that the server did not send. Types read it as `Unrecognized`.
const UNKNOWN: &str = "unknown";

/// The type that a method's result has.
pub(crate) fn result_of(table: &[MethodInfo], method: &str) -> Option<Ty> {
    table.iter().find(|row| row.name == method)?.result
}

/// The type that a method's params have.
pub(crate) fn params_of(table: &[MethodInfo], method: &str) -> Option<Ty> {
    let row = table.iter().find(|row| row.name == method)?;
    Some(row.params)
}

/// Reads a value as it is, else with what it lacks filled in. The error is that of the first try.
pub(crate) fn decode<T: DeserializeOwned>(
    json: &str,
    ty: impl FnOnce() -> Option<Ty>,
) -> Result<T, serde_json::Error> {
    serde_json::from_str(json).or_else(|error| {
        let filled = filled(json, ty()).and_then(|value| serde_json::from_value(value).ok());
        filled.ok_or(error)
    })
}

/// A value with what it lacks filled in.
pub(crate) fn filled(json: &str, ty: Option<Ty>) -> Option<Value> {
    let mut value = serde_json::from_str(json).ok()?;
    fill(&mut value, ty?);
    Some(value)
}

fn fill(value: &mut Value, ty: Ty) {
    match (ty, value) {
        (Ty::Option(_) | Ty::Json, Value::Null) => {}
        (Ty::Option(inner), value) => fill(value, *inner),
        (Ty::List(inner), Value::Array(values)) => {
            values.iter_mut().for_each(|value| fill(value, *inner));
        }
        (Ty::Map(inner), Value::Object(members)) => {
            members.values_mut().for_each(|value| fill(value, *inner));
        }
        (ty, value @ Value::Null) => *value = blank(ty),
        (Ty::Named(def), value) => fill_declared(value, def()),
        _ => {}
    }
}

fn fill_declared(value: &mut Value, def: &TypeDef) {
    match (&def.shape, value) {
        (Shape::Alias(ty), value) => fill(value, *ty),
        (Shape::Struct(fields, _), Value::Object(members)) => fill_members(members, fields),
        (Shape::Enum(Tagging::Tagged(tag), variants), Value::Object(members)) => {
            let name = members.get(*tag).and_then(Value::as_str);
            let variant = variants.iter().find(|it| Some(it.name) == name);
            if let Some(Content::Fields(fields)) = variant.map(|it| &it.content) {
                fill_members(members, fields);
            }
        }
        (Shape::Enum(Tagging::Named, variants), Value::Object(members)) => {
            for variant in *variants {
                match (members.get_mut(variant.name), &variant.content) {
                    (Some(Value::Object(members)), Content::Fields(fields)) => {
                        fill_members(members, fields);
                    }
                    (Some(value), Content::One(ty)) => fill(value, *ty),
                    _ => {}
                }
            }
        }
        _ => {}
    }
}

fn fill_members(members: &mut Map<String, Value>, fields: &[Field]) {
    for field in fields {
        if field.flatten {
            continue;
        }
        let may_lack = matches!(field.absence, Absence::Optional | Absence::Sparse);
        match members.get_mut(field.name) {
            Some(value) => fill(value, field.ty),
            None if may_lack || field.default.is_some() => {}
            None => {
                members.insert(field.name.to_owned(), blank(field.ty));
            }
        }
    }
}

/// The empty value of a type.
fn blank(ty: Ty) -> Value {
    match ty {
        Ty::Bool => false.into(),
        Ty::String => "".into(),
        Ty::Integer(_) | Ty::Number(_) => 0.into(),
        Ty::Json | Ty::Option(_) => Value::Null,
        Ty::List(_) => Value::Array(Vec::new()),
        Ty::Map(_) => Map::new().into(),
        Ty::Named(def) => match &def().shape {
            // Only an absolute path is one.
            Shape::Alias(_) if def().json_name == "AbsolutePathBuf" => "/".into(),
            Shape::Alias(ty) => blank(*ty),
            Shape::Struct(fields, _) => {
                let mut members = Map::new();
                fill_members(&mut members, fields);
                members.into()
            }
            Shape::Enum(Tagging::Tagged(tag), _) => {
                Map::from_iter([((*tag).to_owned(), UNKNOWN.into())]).into()
            }
            Shape::Enum(..) => UNKNOWN.into(),
        },
    }
}

#[cfg(test)]
mod tests {
    use quipu_wire::describe::Describe as _;
    use quipu_wire::{ModelListResponse, SessionSource, Thread, ThreadStatus};

    use super::*;

    #[test]
    fn what_an_older_server_leaves_out_reads_as_empty() {
        let json = r#"{"id":"t","preview":"p","modelProvider":"m","createdAt":1,"turns":[
            {"id":"u","status":"completed","items":[{"type":"agentMessage","id":"i"}]}]}"#;
        let thread: Thread = decode(json, || Some(Thread::TY)).unwrap();
        assert_eq!(
            (&*thread.id, thread.updated_at, thread.ephemeral),
            ("t", 0, false)
        );
        assert_eq!(thread.name, None);
        assert_eq!(thread.source, SessionSource::Unknown);
        assert!(matches!(thread.status, ThreadStatus::Unrecognized(_)));
        assert_eq!(thread.turns[0].error, None);
    }

    #[test]
    fn what_is_of_another_kind_stays_an_error() {
        let wrong = decode::<Thread>(r#"{"id":7}"#, || Some(Thread::TY));
        assert!(wrong.unwrap_err().to_string().contains("invalid type"));
        let unknown = decode::<ModelListResponse>("{}", || None);
        assert!(unknown.unwrap_err().to_string().contains("missing field"));
    }
}
