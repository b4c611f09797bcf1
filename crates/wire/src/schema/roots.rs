//! Which types are published on their own, and what they lead to.

use std::collections::{BTreeMap, BTreeSet};

use super::Surface;
use crate::describe::{Content, Describe, Field, Place, Shape, Ty, TypeDef};
use crate::method::{
    CLIENT_REQUESTS, MethodInfo, SERVER_NOTIFICATIONS, SERVER_REQUESTS, Stability,
};
use crate::*;

/// The directory of a type's JSON Schema file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Directory {
    Root,
    V1,
    V2,
}

/// A type with a JSON Schema file of its own.
pub struct Root {
    pub directory: Directory,
    pub def: &'static TypeDef,
}

/// The envelopes, which belong to no method.
pub fn envelopes() -> [&'static TypeDef; 7] {
    [
        named(RequestId::TY),
        named(JsonRpcMessage::TY),
        named(JsonRpcRequest::TY),
        named(JsonRpcNotification::TY),
        named(JsonRpcResponse::TY),
        named(JsonRpcError::TY),
        named(JsonRpcErrorError::TY),
    ]
    .map(|def| match def {
        Some(def) => def,
        None => unreachable!("envelopes are named types"),
    })
}

/// Client requests that appear on a surface in the published unions.
pub fn client_requests(surface: Surface) -> impl Iterator<Item = &'static MethodInfo> {
    CLIENT_REQUESTS
        .iter()
        .filter(move |row| match row.stability {
            Stability::Stable | Stability::Legacy => true,
            Stability::Experimental => surface == Surface::Experimental,
        })
}

/// Params and results of the methods on a surface that JSON Schema knows, and the envelopes.
pub fn roots(surface: Surface) -> Vec<Root> {
    let mut roots: BTreeMap<&str, Root> = BTreeMap::new();
    let mut add = |ty: Ty, directory: Option<Directory>| {
        if let Some(def) = named(ty) {
            let directory = directory.unwrap_or_else(|| directory_of(def));
            roots.insert(def.json_name, Root { directory, def });
        }
    };
    for row in client_requests(surface).filter(|row| row.stability != Stability::Legacy) {
        add(row.params, None);
        row.result.into_iter().for_each(|ty| add(ty, None));
    }
    for row in SERVER_REQUESTS {
        add(row.params, Some(Directory::Root));
        row.result
            .into_iter()
            .for_each(|ty| add(ty, Some(Directory::Root)));
    }
    SERVER_NOTIFICATIONS
        .iter()
        .for_each(|row| add(row.params, None));
    for def in envelopes() {
        roots.insert(
            def.json_name,
            Root {
                directory: Directory::Root,
                def,
            },
        );
    }
    roots.into_values().collect()
}

fn directory_of(def: &TypeDef) -> Directory {
    match def.place {
        Place::Root if def.json_name.starts_with("Initialize") => Directory::V1,
        Place::Root | Place::Nowhere => Directory::Root,
        Place::V2 | Place::Both => Directory::V2,
    }
}

/// The declared type behind a type expression, if it is one.
pub fn named(ty: Ty) -> Option<&'static TypeDef> {
    match ty {
        Ty::Named(def) => Some(def()),
        _ => None,
    }
}

/// All declared types a type leads to, without itself unless it is recursive, by JSON name.
pub fn reachable(def: &'static TypeDef) -> BTreeMap<&'static str, &'static TypeDef> {
    let mut found = BTreeMap::new();
    visit_shape(def, &mut found);
    found
}

fn visit(ty: Ty, found: &mut BTreeMap<&'static str, &'static TypeDef>) {
    match ty {
        Ty::Option(inner) | Ty::List(inner) | Ty::Map(inner) => visit(*inner, found),
        Ty::Named(def) => {
            let def = def();
            // Types without a name in JSON Schema are distinguished by their TypeScript name.
            let key = if def.json_name.is_empty() {
                def.ts_name
            } else {
                def.json_name
            };
            if found.insert(key, def).is_none() {
                visit_shape(def, found);
            }
        }
        Ty::Bool | Ty::String | Ty::Integer(_) | Ty::Number(_) | Ty::Json => {}
    }
}

fn visit_shape(def: &'static TypeDef, found: &mut BTreeMap<&'static str, &'static TypeDef>) {
    match &def.shape {
        Shape::Alias(ty) => visit(*ty, found),
        Shape::Struct(members, _) => visit_members(members, found),
        Shape::Enum(_, variants) => {
            for variant in *variants {
                match &variant.content {
                    Content::Unit => {}
                    Content::One(ty) => visit(*ty, found),
                    Content::Fields(members) => visit_members(members, found),
                }
            }
        }
    }
}

/// Members of later protocol versions are not part of the schemas, nor are the types that only they use.
fn visit_members(members: &[Field], found: &mut BTreeMap<&'static str, &'static TypeDef>) {
    let base = members.iter().filter(|member| member.since.is_none());
    base.for_each(|member| visit(member.ty, found));
}

/// Names of the params and results of experimental methods, when the surface hides them.
pub fn experimental_roots(surface: Surface) -> BTreeSet<&'static str> {
    if surface == Surface::Experimental {
        return BTreeSet::new();
    }
    let hidden = CLIENT_REQUESTS
        .iter()
        .filter(|row| row.stability == Stability::Experimental);
    let types = hidden.flat_map(|row| [Some(row.params), row.result]);
    types
        .flatten()
        .filter_map(named)
        .map(|def| def.json_name)
        .collect()
}
