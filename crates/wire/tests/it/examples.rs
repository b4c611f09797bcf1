//! Example values of every type, made from its description: the smallest, the fullest, and one for every
//! variant of every union on the way.

use quipu_wire::describe::{Absence, Content, Field, Shape, Tagging, Ty, TypeDef};
use serde_json::{Map, Value, json};

/// How deep values nest; descriptions may be recursive.
const DEPTH: usize = 7;
/// Examples of one type; more would only repeat what other types show.
const MOST: usize = 150;

/// Examples of a type, the smallest first.
pub fn examples(ty: Ty) -> Vec<Value> {
    of_type(ty, DEPTH)
}

fn of_type(ty: Ty, depth: usize) -> Vec<Value> {
    match ty {
        Ty::Bool => vec![json!(true), json!(false)],
        Ty::String => vec![json!("text")],
        Ty::Integer(_) => vec![json!(7)],
        Ty::Number(_) => vec![json!(0.5)],
        Ty::Json => vec![json!({ "any": [1, null] })],
        Ty::Option(inner) => of_type(*inner, depth),
        Ty::List(inner) => lists(of_type(*inner, depth)),
        Ty::Map(inner) => maps(of_type(*inner, depth)),
        Ty::Named(def) => of_def(def(), depth),
    }
}

fn lists(items: Vec<Value>) -> Vec<Value> {
    let first = items.first().cloned();
    let each = items.into_iter().map(|item| json!([item]));
    each.chain(first.map(|it| json!([it, it]))).collect()
}

fn maps(items: Vec<Value>) -> Vec<Value> {
    items
        .into_iter()
        .map(|item| json!({ "key": item }))
        .collect()
}

fn of_def(def: &'static TypeDef, depth: usize) -> Vec<Value> {
    match &def.shape {
        Shape::Alias(_) if def.json_name == "AbsolutePathBuf" => vec![json!("/some/path")],
        Shape::Alias(ty) => of_type(*ty, depth),
        Shape::Struct(fields, _) => objects(&Map::new(), fields, depth),
        Shape::Enum(tagging, variants) => {
            let mut all = Vec::new();
            for variant in *variants {
                all.extend(match (tagging, &variant.content) {
                    (Tagging::Tagged(tag), Content::Fields(fields)) => {
                        let tag = Map::from_iter([((*tag).to_owned(), json!(variant.name))]);
                        objects(&tag, fields, depth)
                    }
                    (Tagging::Tagged(tag), Content::Unit) => vec![json!({ *tag: variant.name })],
                    (Tagging::Untagged, Content::One(ty)) => deeper(*ty, depth),
                    (_, Content::Unit) => vec![json!(variant.name)],
                    (Tagging::Tagged(tag), Content::One(ty)) => {
                        let tagged = deeper(*ty, depth).into_iter().map(|mut value| {
                            value[*tag] = json!(variant.name);
                            value
                        });
                        tagged.collect()
                    }
                    (_, Content::One(ty)) => wrapped(variant.name, deeper(*ty, depth)),
                    (_, Content::Fields(fields)) => {
                        wrapped(variant.name, objects(&Map::new(), fields, depth))
                    }
                });
            }
            all.truncate(MOST);
            all
        }
    }
}

fn deeper(ty: Ty, depth: usize) -> Vec<Value> {
    let mut values = of_type(ty, depth.saturating_sub(1));
    if depth == 0 {
        values.truncate(1);
    }
    values
}

fn wrapped(name: &str, values: Vec<Value>) -> Vec<Value> {
    values
        .into_iter()
        .map(|value| json!({ name: value }))
        .collect()
}

/// The smallest object, the fullest, and the fullest with each further example of each field.
fn objects(start: &Map<String, Value>, fields: &'static [Field], depth: usize) -> Vec<Value> {
    let (mut small, mut full) = (start.clone(), start.clone());
    let mut further = Vec::new();
    for field in fields.iter().filter(|field| !field.write_only) {
        let needed = field.absence == Absence::Never && field.default.is_none();
        if !needed && depth == 0 {
            continue;
        }
        let mut values = deeper(field.ty, depth).into_iter();
        let Some(first) = values.next() else { continue };
        if needed || field.flatten {
            put(&mut small, field, &first);
        }
        put(&mut full, field, &first);
        further.extend(values.map(|value| (field, first.clone(), value)));
    }
    let mut all = vec![Value::from(small), Value::from(full.clone())];
    for (field, first, value) in further.into_iter().take(MOST) {
        let mut object = full.clone();
        if let (true, Value::Object(first)) = (field.flatten, first) {
            object.retain(|key, _| !first.contains_key(key));
        }
        put(&mut object, field, &value);
        all.push(object.into());
    }
    all
}

fn put(object: &mut Map<String, Value>, field: &Field, value: &Value) {
    match value {
        Value::Object(inner) if field.flatten => object.extend(inner.clone()),
        _ => drop(object.insert(field.name.to_owned(), value.clone())),
    }
}
