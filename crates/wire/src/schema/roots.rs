//! Which types are published on their own, and what they lead to.

use std::collections::{BTreeMap, BTreeSet};

use super::{Protocol, Surface};
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
    of_era(CLIENT_REQUESTS, surface).filter(move |row| match row.stability {
        Stability::Stable | Stability::Legacy => true,
        Stability::Experimental => surface.experimental,
    })
}

/// Server requests of a surface's protocol.
pub fn server_requests(surface: Surface) -> impl Iterator<Item = &'static MethodInfo> {
    of_era(SERVER_REQUESTS, surface)
}

/// Notifications of a surface's protocol.
pub fn server_notifications(surface: Surface) -> impl Iterator<Item = &'static MethodInfo> {
    of_era(SERVER_NOTIFICATIONS, surface)
}

fn of_era(
    rows: &'static [MethodInfo],
    surface: Surface,
) -> impl Iterator<Item = &'static MethodInfo> {
    rows.iter().filter(move |row| surface.protocol.has(row.era))
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
    for row in server_requests(surface) {
        add(row.params, Some(Directory::Root));
        row.result
            .into_iter()
            .for_each(|ty| add(ty, Some(Directory::Root)));
    }
    server_notifications(surface).for_each(|row| add(row.params, None));
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
pub fn reachable(
    def: &'static TypeDef,
    protocol: Protocol,
) -> BTreeMap<&'static str, &'static TypeDef> {
    let mut visit = Visit {
        protocol,
        found: BTreeMap::new(),
    };
    visit.shape(def);
    visit.found
}

/// Collects the types that a generation's members and variants lead to.
struct Visit {
    protocol: Protocol,
    found: BTreeMap<&'static str, &'static TypeDef>,
}

impl Visit {
    fn ty(&mut self, ty: Ty) {
        match ty {
            Ty::Option(inner) | Ty::List(inner) | Ty::Map(inner) => self.ty(*inner),
            Ty::Named(def) => {
                let def = def();
                // Types without a name in JSON Schema are distinguished by their TypeScript name.
                let key = if def.json_name.is_empty() {
                    def.ts_name
                } else {
                    def.json_name
                };
                if self.found.insert(key, def).is_none() {
                    self.shape(def);
                }
            }
            Ty::Bool | Ty::String | Ty::Integer(_) | Ty::Number(_) | Ty::Json => {}
        }
    }

    fn shape(&mut self, def: &'static TypeDef) {
        match &def.shape {
            Shape::Alias(ty) => self.ty(*ty),
            Shape::Struct(members, _) => self.members(members),
            Shape::Enum(_, variants) => {
                let protocol = self.protocol;
                for variant in variants.iter().filter(|it| protocol.has(it.era)) {
                    match &variant.content {
                        Content::Unit => {}
                        Content::One(ty) => self.ty(*ty),
                        Content::Fields(members) => self.members(members),
                    }
                }
            }
        }
    }

    fn members(&mut self, members: &[Field]) {
        for member in members {
            if self.protocol.has(member.era) {
                self.ty(member.ty);
            }
        }
    }
}

/// Names of the params and results of experimental methods, when the surface hides them.
pub fn experimental_roots(surface: Surface) -> BTreeSet<&'static str> {
    if surface.experimental {
        return BTreeSet::new();
    }
    let hidden =
        of_era(CLIENT_REQUESTS, surface).filter(|row| row.stability == Stability::Experimental);
    let types = hidden.flat_map(|row| [Some(row.params), row.result]);
    types
        .flatten()
        .filter_map(named)
        .map(|def| def.json_name)
        .collect()
}
