//! The JSON Schema of a tool's arguments, from the types that the arguments are read into.
//!
//! Types give the structure; what the model reads about each member stands beside the struct, in [`describe!`].

use std::any::TypeId;

use quipu_wire::Json;
use serde_json::{Map, Value, json};

use crate::memo::Memo;

/// A type that a model can write as JSON.
pub(crate) trait Schema {
    /// Describes it to the model.
    fn schema() -> Value;
}

/// The schemas of arguments in all their variants. Made for every turn, they were a seventh of its cost.
static PRINTED: Memo<(TypeId, String)> = Memo::new();

/// The schema of arguments as JSON. Variants differ in what `change` makes of the schema, given their name; it must
/// depend on nothing else.
pub(crate) fn printed<A: Schema + 'static>(
    variant: String,
    change: impl FnOnce(&mut Value, &str),
) -> Json {
    PRINTED.get((TypeId::of::<A>(), variant), |(_, variant)| {
        let mut schema = A::schema();
        change(&mut schema, variant);
        schema.into()
    })
}

/// Describes a struct to the model. Members that are not listed are accepted and not offered.
macro_rules! describe {
    ($type:ty {
        required { $($required:ident $(: $must:expr)?),* $(,)? }
        optional { $($optional:ident $(: $may:expr)?),* $(,)? }
    }) => {
        impl $crate::schema::Schema for $type {
            fn schema() -> serde_json::Value {
                let mut object = $crate::schema::Object::default();
                $(object.require(stringify!($required), |it: &Self| &it.$required, &[$($must)?]);)*
                $(object.offer(stringify!($optional), |it: &Self| &it.$optional, &[$($may)?]);)*
                object.into_schema()
            }
        }
    };
}
pub(crate) use describe;

/// The members of a struct that were described so far.
#[derive(Default)]
pub(crate) struct Object {
    properties: Map<String, Value>,
    required: Vec<&'static str>,
}

impl Object {
    /// Adds a member, whose type `_field` tells; the description is the first one, if any.
    pub fn offer<S, T: Schema>(&mut self, name: &str, _field: fn(&S) -> &T, description: &[&str]) {
        let mut schema = T::schema();
        if let Some(description) = description.first() {
            schema["description"] = json!(description);
        }
        self.properties.insert(name.to_owned(), schema);
    }

    /// Adds a member that must be given.
    pub fn require<S, T: Schema>(
        &mut self,
        name: &'static str,
        field: fn(&S) -> &T,
        description: &[&str],
    ) {
        self.offer(name, field, description);
        self.required.push(name);
    }

    pub fn into_schema(self) -> Value {
        let mut schema = json!({
            "type": "object", "properties": self.properties, "additionalProperties": false,
        });
        if !self.required.is_empty() {
            schema["required"] = json!(self.required);
        }
        schema
    }
}

macro_rules! simple {
    ($($name:literal: $($type:ty),+;)+) => {
        $($(impl Schema for $type {
            fn schema() -> Value {
                json!({ "type": $name })
            }
        })+)+
    };
}

simple! {
    "string": String;
    "boolean": bool;
    "number": i32, i64, u64, usize;
}

impl<T: Schema> Schema for Option<T> {
    fn schema() -> Value {
        T::schema()
    }
}

impl<T: Schema> Schema for Vec<T> {
    fn schema() -> Value {
        json!({ "type": "array", "items": T::schema() })
    }
}
