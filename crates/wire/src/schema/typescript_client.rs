//! The generated part of the TypeScript client: all types in one file, and a method per request.
//! Writing to a string cannot fail, so what `write!` returns is dropped.

use std::collections::{BTreeMap, VecDeque};
use std::fmt::Write as _;

use super::roots::named;
use super::typescript::{HEADER, JSON_VALUE, Layout, Printer, comment, one_file_name};
use super::{Files, Protocol, Surface};
use crate::describe::{Shape, Ty, TypeDef};
use crate::method::{
    CLIENT_REQUESTS, MethodInfo, SERVER_NOTIFICATIONS, SERVER_REQUESTS, Stability,
};

const METHODS_HEAD: &str = r#"import { ClientEmitter } from "../emitter.ts";
import type { CallOptions } from "../types.ts";
import type * as protocol from "./protocol.ts";

/**
 * A method for each request of the protocol, named after it: `thread/start` is `threadStart`.
 */
export abstract class Methods extends ClientEmitter {
  /**
   * Sends a request and resolves with its result.
   */
  abstract request<M extends keyof protocol.ClientRequests>(
    method: M,
    params: protocol.ClientRequests[M]["params"],
    options?: CallOptions,
  ): Promise<protocol.ClientRequests[M]["result"]>;
"#;

/// The files of `src/generated` in the client.
#[must_use]
pub fn typescript_client() -> Files {
    let mut protocol = Printed::default();
    let tables = tables(&mut protocol);
    let types: String = protocol.texts.into_values().collect();
    Files::from([
        (
            "protocol.ts".to_owned(),
            format!("{HEADER}{JSON_VALUE}{types}{tables}"),
        ),
        ("methods.ts".to_owned(), format!("{HEADER}{}", methods())),
    ])
}

/// The printed types by name.
#[derive(Default)]
struct Printed {
    texts: BTreeMap<String, String>,
}

impl Printed {
    /// The name of a type, which is printed too, with all that it leads to.
    fn name(&mut self, ty: Ty, written: bool) -> String {
        let mut printer = printer(written);
        let name = printer.ty(ty);
        let mut queue = VecDeque::from(printer.referred);
        while let Some(def) = queue.pop_front() {
            let name = one_file_name(def);
            if self.texts.contains_key(&name) {
                continue;
            }
            let mut printer = self::printer(written);
            let body = printer.definition(def);
            let doc = comment(def.doc, "");
            let text = format!("\n{doc}export type {name} = {body};\n");
            self.texts.insert(name, text);
            queue.extend(printer.referred);
        }
        name
    }

    fn params(&mut self, row: &MethodInfo, written: bool) -> String {
        match row.params {
            Ty::Json => "undefined".to_owned(),
            ty => self.name(ty, written),
        }
    }

    fn result(&mut self, row: &MethodInfo, written: bool) -> String {
        row.result
            .map_or_else(|| "undefined".to_owned(), |ty| self.name(ty, written))
    }
}

fn printer(written: bool) -> Printer {
    let surface = Surface::whole(Protocol::Union);
    Printer::new(surface, Layout::OneFile { written })
}

/// The three tables of methods. What clients write comes first, because a type that is both written and
/// read is printed as it may be written.
fn tables(protocol: &mut Printed) -> String {
    let asked: Vec<String> = each(CLIENT_REQUESTS, |row| protocol.params(row, true));
    let answered = each(SERVER_REQUESTS, |row| protocol.result(row, true));
    let results = each(CLIENT_REQUESTS, |row| protocol.result(row, false));
    let questions = each(SERVER_REQUESTS, |row| protocol.params(row, false));
    let notifications = each(SERVER_NOTIFICATIONS, |row| protocol.params(row, false));
    let both = |params: &[String], results: &[String]| -> Vec<String> {
        let pairs = params.iter().zip(results);
        pairs
            .map(|(params, result)| format!("{{ params: {params}; result: {result} }}"))
            .collect()
    };
    let mut text = String::new();
    for (name, doc, rows, types) in [
        (
            "ClientRequests",
            "The requests of a client, by method.",
            CLIENT_REQUESTS,
            both(&asked, &results),
        ),
        (
            "ServerRequests",
            "The requests of a server, by method.",
            SERVER_REQUESTS,
            both(&questions, &answered),
        ),
        (
            "ServerNotifications",
            "The notifications of a server, by method.",
            SERVER_NOTIFICATIONS,
            notifications,
        ),
    ] {
        write!(text, "\n{}export interface {name} {{\n", comment(doc, "")).ok();
        for (row, ty) in rows.iter().zip(types) {
            write!(text, "  /** {} */\n  {:?}: {ty};\n", doc_of(row), row.name).ok();
        }
        text.push_str("}\n");
    }
    text
}

fn each(rows: &[MethodInfo], of: impl FnMut(&MethodInfo) -> String) -> Vec<String> {
    rows.iter().map(of).collect()
}

fn doc_of(row: &MethodInfo) -> String {
    let mark = match row.stability {
        Stability::Stable => "",
        Stability::Experimental => " Experimental.",
        Stability::Legacy => " Legacy.",
    };
    format!("{}{mark}", row.doc.trim())
}

fn methods() -> String {
    let mut text = METHODS_HEAD.to_owned();
    for row in CLIENT_REQUESTS {
        let result = row.result.and_then(named).map_or_else(
            || "undefined".to_owned(),
            |def| format!("protocol.{}", one_file_name(def)),
        );
        let name = method_name(row.name);
        let (params, given) = match named(row.params) {
            None => (String::new(), "undefined"),
            Some(def) => {
                let default = if all_optional(def) { " = {}" } else { "" };
                let ty = one_file_name(def);
                (format!("params: protocol.{ty}{default}, "), "params")
            }
        };
        // Writing to a string cannot fail.
        write!(
            text,
            "\n  /** {} */\n  {name}({params}options?: CallOptions): Promise<{result}> {{\n    \
             return this.request({:?}, {given}, options);\n  }}\n",
            doc_of(row),
            row.name
        )
        .ok();
    }
    text.push_str("}\n");
    text
}

/// `thread/start` as `threadStart`.
fn method_name(wire: &str) -> String {
    let mut words = wire.split(['/', '_']);
    let first = words.next().unwrap_or_default().to_owned();
    words.fold(first, |name, word| {
        let mut letters = word.chars();
        let initial = letters.next().map(|it| it.to_ascii_uppercase());
        name + &initial.into_iter().chain(letters).collect::<String>()
    })
}

fn all_optional(def: &TypeDef) -> bool {
    let printer = printer(true);
    match &def.shape {
        Shape::Struct(fields, _) => {
            !fields.is_empty()
                && fields
                    .iter()
                    .all(|field| !field.flatten && printer.may_be_left_out(field))
        }
        Shape::Enum(..) | Shape::Alias(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn methods_are_named_after_requests() {
        assert_eq!(method_name("thread/start"), "threadStart");
        let counted = method_name("thread/increment_elicitation");
        assert_eq!(counted, "threadIncrementElicitation");
        assert_eq!(
            method_name("config/mcpServer/reload"),
            "configMcpServerReload"
        );
        let names: BTreeSet<String> = CLIENT_REQUESTS
            .iter()
            .map(|it| method_name(it.name))
            .collect();
        assert_eq!(names.len(), CLIENT_REQUESTS.len());
    }

    #[test]
    fn every_type_is_there_once() {
        let files = typescript_client();
        let protocol = &files["protocol.ts"];
        let mut defined = BTreeSet::new();
        for line in protocol.lines() {
            if let Some(rest) = line.strip_prefix("export type ") {
                let name = rest.split(' ').next().unwrap();
                assert!(defined.insert(name), "{name} is defined twice");
            }
        }
    }
}
