//! TypeScript: a file per type, in the directories and under the names the official server uses. The
//! TypeScript client has the same types in one file (`typescript_client.rs`).
//! Writing to a string cannot fail, so what `write!` returns is dropped.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::roots::{
    client_requests, experimental_roots, named, reachable, roots, server_notifications,
    server_requests,
};
use super::{Files, Protocol, Surface};
use crate::RequestId;
use crate::describe::{
    Absence, Content, Describe, Field, OpenName, Place, Shape, Tagging, Ty, TypeDef,
};
use crate::method::{MethodInfo, Stability};

pub(super) const HEADER: &str = "// GENERATED CODE! DO NOT MODIFY BY HAND!\n\n";
pub(super) const JSON_VALUE: &str = "export type JsonValue = number | string | boolean | Array<JsonValue> | { [key in string]?: JsonValue } | null;\n";

/// All TypeScript files of a surface.
#[must_use]
pub fn typescript(surface: Surface) -> Files {
    let mut files = Files::new();
    let named = types(surface)
        .into_iter()
        .filter(|(_, def)| surface.protocol.opens(def) != Some(OpenName::Dropped));
    for (path, def) in named {
        let directory = if path.starts_with("v2/") {
            Place::V2
        } else {
            Place::Root
        };
        let mut printer = Printer::new(surface, Layout::PerType(directory));
        let body = printer.definition(def);
        let imports = printer.imports(def.ts_name);
        let doc = comment(def.doc, "");
        let text = format!(
            "{HEADER}{imports}{doc}export type {} = {body};\n",
            def.ts_name
        );
        files.insert(path, text);
    }
    for (name, doc, rows, requests) in unions(surface) {
        let mut printer = Printer::new(surface, Layout::PerType(Place::Root));
        let body = printer.union(&rows, requests);
        let text = format!(
            "{}{}export type {name} = {body};\n",
            printer.imports(name),
            comment(doc, "")
        );
        files.insert(format!("{name}.ts"), format!("{HEADER}{text}"));
    }
    let initialized = "export type ClientNotification = { \"method\": \"initialized\" };\n";
    files.insert(
        "ClientNotification.ts".into(),
        format!("{HEADER}{initialized}"),
    );
    files.insert(
        "serde_json/JsonValue.ts".into(),
        format!("{HEADER}{JSON_VALUE}"),
    );
    let (root, v2) = (index(&files, ""), index(&files, "v2/"));
    files.insert(
        "index.ts".into(),
        format!("{root}export * as v2 from \"./v2\";\n"),
    );
    files.insert("v2/index.ts".into(), v2);
    files
}

type Union = (&'static str, &'static str, Vec<&'static MethodInfo>, bool);

fn unions(surface: Surface) -> [Union; 3] {
    [
        (
            "ClientRequest",
            "A request from the client.",
            client_requests(surface).collect(),
            true,
        ),
        (
            "ServerRequest",
            "A request from the server.",
            server_requests(surface).collect(),
            true,
        ),
        (
            "ServerNotification",
            "A notification from the server.",
            server_notifications(surface).collect(),
            false,
        ),
    ]
}

/// Every type with a file of its own, by path.
pub(super) fn types(surface: Surface) -> BTreeMap<String, &'static TypeDef> {
    let legacy = client_requests(surface).filter(|row| row.stability == Stability::Legacy);
    let legacy = legacy
        .flat_map(|row| [Some(row.params), row.result])
        .flatten()
        .filter_map(named);
    let gone = experimental_roots(surface);
    let mut found = BTreeMap::new();
    for def in roots(Surface::whole(surface.protocol))
        .into_iter()
        .map(|root| root.def)
        .chain(legacy)
    {
        for def in std::iter::once(def).chain(reachable(def, surface.protocol).into_values()) {
            if !gone.contains(def.json_name) {
                found.extend(paths(def).map(|path| (path, def)));
            }
        }
    }
    found
}

fn paths(def: &TypeDef) -> impl Iterator<Item = String> {
    let directories: &[&str] = match def.place {
        Place::Root => &[""],
        Place::V2 => &["v2/"],
        Place::Both => &["", "v2/"],
        Place::Nowhere => &[],
    };
    directories
        .iter()
        .map(|directory| format!("{directory}{}.ts", def.ts_name))
}

fn index(files: &Files, directory: &str) -> String {
    let mut text = HEADER.to_owned();
    for file in files.keys().filter_map(|path| path.strip_prefix(directory)) {
        if let Some(name) = file.strip_suffix(".ts").filter(|name| !name.contains('/')) {
            // Writing to a string cannot fail.
            writeln!(text, "export type {{ {name} }} from \"./{name}\";").ok();
        }
    }
    text
}

pub(super) fn comment(doc: &str, before: &str) -> String {
    if doc.is_empty() {
        return String::new();
    }
    let lines = doc
        .lines()
        .map(|line| format!(" * {line}").trim_end().to_owned() + "\n");
    format!("{before}/**\n{} */\n", lines.collect::<String>())
}

/// The name of a type where all are in one file: two names exist in both versions of the protocol.
pub(super) fn one_file_name(def: &TypeDef) -> String {
    match (def.ts_name, def.place) {
        ("SessionSource" | "WebSearchAction", Place::Root) => format!("Legacy{}", def.ts_name),
        (name, _) => name.to_owned(),
    }
}

/// Where the printed types live.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Layout {
    /// Each in a file of its own, in this directory.
    PerType(Place),
    /// All in one file.
    OneFile {
        /// Whether clients write values of the type. They may leave out what has a default.
        written: bool,
    },
}

/// Prints types, remembering what they refer to.
pub(super) struct Printer {
    surface: Surface,
    pub(super) layout: Layout,
    imports: BTreeMap<String, String>,
    /// The types referred to, for a layout in one file.
    pub(super) referred: Vec<&'static TypeDef>,
}

impl Printer {
    pub(super) fn new(surface: Surface, layout: Layout) -> Printer {
        Printer {
            surface,
            layout,
            imports: BTreeMap::new(),
            referred: Vec::new(),
        }
    }

    fn imports(&self, own: &str) -> String {
        let mut text = String::new();
        for (name, from) in self.imports.iter().filter(|(name, _)| *name != own) {
            writeln!(text, "import type {{ {name} }} from \"{from}\";").ok();
        }
        if !text.is_empty() {
            text.push('\n');
        }
        text
    }

    fn import(&mut self, def: &'static TypeDef) -> String {
        let name = def.ts_name;
        let Layout::PerType(here) = self.layout else {
            self.referred.push(def);
            return one_file_name(def);
        };
        let from = match (here, def.place) {
            (_, Place::Both) | (Place::V2, Place::V2) | (Place::Root, Place::Root) => {
                format!("./{name}")
            }
            (Place::V2, _) => format!("../{name}"),
            (_, _) => format!("./v2/{name}"),
        };
        self.imports.insert(name.to_owned(), from);
        name.to_owned()
    }

    fn json_value(&mut self) -> String {
        let from = if self.layout == Layout::PerType(Place::V2) {
            "../serde_json/JsonValue"
        } else {
            "./serde_json/JsonValue"
        };
        self.imports.insert("JsonValue".into(), from.into());
        "JsonValue".into()
    }

    pub(super) fn definition(&mut self, def: &TypeDef) -> String {
        match &def.shape {
            Shape::Alias(ty) => self.ty(*ty),
            Shape::Struct(fields, _) => self.structure(fields),
            Shape::Enum(tagging, variants) => {
                let protocol = self.surface.protocol;
                let open = protocol.opens(def).is_some();
                if open && matches!(self.layout, Layout::PerType(_)) {
                    return "string".into();
                }
                let parts = variants
                    .iter()
                    .filter(|variant| protocol.has(variant.era))
                    .map(|variant| match (tagging, &variant.content) {
                        (Tagging::Tagged(tag), content) => self.tagged(tag, variant.name, content),
                        (Tagging::Named | Tagging::Open(_), Content::Unit) => match variant.also {
                            Some(also) if protocol != Protocol::V0_118 => {
                                format!("{:?} | {also:?}", variant.name)
                            }
                            _ => format!("{:?}", variant.name),
                        },
                        (Tagging::Named, Content::One(ty)) => {
                            format!("{{ {:?}: {} }}", variant.name, self.ty(*ty))
                        }
                        (Tagging::Named, Content::Fields(fields)) => {
                            format!("{{ {:?}: {} }}", variant.name, self.structure(fields))
                        }
                        (Tagging::Untagged, Content::One(ty)) => self.ty(*ty),
                        (Tagging::Untagged | Tagging::Open(_), _) => "never".into(),
                    });
                // The words are named although any text is accepted, so that editors suggest them.
                let any = open.then(|| "(string & {})".to_owned());
                parts.chain(any).collect::<Vec<_>>().join(" | ")
            }
        }
    }

    fn tagged(&mut self, tag: &str, name: &str, content: &Content) -> String {
        match content {
            Content::Unit => format!("{{ {tag:?}: {name:?} }}"),
            Content::One(ty) => format!("{{ {tag:?}: {name:?} }} & {}", self.ty(*ty)),
            Content::Fields(fields) => {
                format!("{{ {tag:?}: {name:?}, {} }}", self.fields(fields))
            }
        }
    }

    fn structure(&mut self, fields: &[Field]) -> String {
        let flat: Vec<&Field> = fields.iter().filter(|field| field.flatten).collect();
        let plain = self.fields(fields);
        let mut parts = Vec::new();
        if !plain.is_empty() {
            parts.push(format!("{{ {plain} }}"));
        }
        parts.extend(flat.iter().map(|field| format!("({})", self.ty(field.ty))));
        match parts.is_empty() {
            true => "Record<string, never>".into(),
            false => parts.join(" & "),
        }
    }

    fn fields(&mut self, fields: &[Field]) -> String {
        let hidden = |field: &&Field| {
            field.flatten
                || !self.surface.protocol.has(field.era)
                || field.write_only
                || (field.experimental && !self.surface.experimental)
        };
        let shown: Vec<&Field> = fields.iter().filter(|field| !hidden(field)).collect();
        shown
            .iter()
            .map(|field| self.field(field))
            .collect::<Vec<_>>()
            .join(" ")
    }

    fn field(&mut self, field: &Field) -> String {
        let bare = match field.ty {
            Ty::Option(Ty::Option(inner)) => **inner,
            Ty::Option(inner) => *inner,
            other => other,
        };
        let mut ty = match bare {
            Ty::Integer(_) if field.bigint && matches!(self.layout, Layout::PerType(_)) => {
                "bigint".to_owned()
            }
            Ty::Json if field.unknown => "unknown".to_owned(),
            Ty::List(Ty::Json) if field.unknown => "unknown[]".to_owned(),
            other => self.ty(other),
        };
        let nullable = matches!(field.ty, Ty::Option(_)) && field.absence != Absence::Sparse;
        if nullable {
            ty += " | null";
        }
        let mark = match self.may_be_left_out(field) {
            true => "?",
            false => "",
        };
        format!("{}{}{mark}: {ty},", comment(field.doc, "\n"), field.name)
    }

    /// Whether a value without the member has the type.
    pub(super) fn may_be_left_out(&self, field: &Field) -> bool {
        let later = field.era.since.is_some();
        match (field.absence, self.layout) {
            (Absence::Optional | Absence::Sparse, _) => true,
            (Absence::Never, Layout::OneFile { written: true }) => later || field.default.is_some(),
            (Absence::Nullable, Layout::OneFile { written: true }) => true,
            (Absence::Never | Absence::Nullable, Layout::OneFile { .. }) => later,
            (Absence::Never | Absence::Nullable, Layout::PerType(_)) => false,
        }
    }

    pub(super) fn ty(&mut self, ty: Ty) -> String {
        match ty {
            Ty::Bool => "boolean".into(),
            Ty::String => "string".into(),
            Ty::Integer(_) | Ty::Number(_) => "number".into(),
            Ty::Json => self.json_value(),
            Ty::Option(inner) => format!("{} | null", self.ty(*inner)),
            Ty::List(inner) => format!("Array<{}>", self.ty(*inner)),
            Ty::Map(inner) => format!("{{ [key in string]?: {} }}", self.ty(*inner)),
            Ty::Named(def) => match def() {
                def if def.place == Place::Nowhere || self.writes_out(def) => self.definition(def),
                def => self.import(def),
            },
        }
    }

    /// Whether the type has no name in this version, only in others.
    fn writes_out(&self, def: &TypeDef) -> bool {
        let dropped = self.surface.protocol.opens(def) == Some(OpenName::Dropped);
        dropped && matches!(self.layout, Layout::PerType(_))
    }

    fn union(&mut self, rows: &[&MethodInfo], requests: bool) -> String {
        let parts = rows.iter().map(|row| {
            let id = match requests {
                true => format!(" id: {},", self.ty(RequestId::TY)),
                false => String::new(),
            };
            let params = match row.params {
                Ty::Json => "undefined".into(),
                ty => self.ty(ty),
            };
            format!("{{ \"method\": {:?},{id} params: {params}, }}", row.name)
        });
        parts.collect::<Vec<_>>().join(" | ")
    }
}
