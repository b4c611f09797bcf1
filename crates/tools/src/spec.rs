//! What the model reads about a tool.

use quipu_wire::Json;

use crate::schema::{self, Schema};

/// A tool as the model is offered it.
#[derive(Debug, Clone, PartialEq)]
pub struct Spec {
    pub name: String,
    pub description: String,
    pub kind: SpecKind,
}

/// How a tool is called.
#[derive(Debug, Clone, PartialEq)]
pub enum SpecKind {
    /// With a JSON object that matches this schema.
    Function(Json),
    /// With free text that matches this Lark grammar, where the provider enforces one.
    Text(&'static str),
    /// By the provider itself; this is how it is asked for.
    Hosted(Json),
}

impl Spec {
    /// A tool that is called with these arguments.
    pub(crate) fn function<A: Schema + 'static>(name: &str, description: &str) -> Spec {
        let schema = schema::printed::<A>(String::new(), |_, _| {});
        Spec::with_schema(name, description, schema)
    }

    /// A tool whose arguments are described by a JSON Schema.
    pub(crate) fn with_schema(name: &str, description: &str, schema: Json) -> Spec {
        Spec {
            name: name.to_owned(),
            description: description.to_owned(),
            kind: SpecKind::Function(schema),
        }
    }

    /// A tool that the provider runs.
    pub(crate) fn hosted(name: &str, tool: Json) -> Spec {
        Spec {
            name: name.to_owned(),
            description: String::new(),
            kind: SpecKind::Hosted(tool),
        }
    }
}
