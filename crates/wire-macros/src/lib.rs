//! `#[wire]`: one declaration of a protocol type gives its serde code, its description (the source of
//! JSON Schema, TypeScript and the reference page) and its stability gate.
//!
//! The attribute exists because those four must never disagree. It is private to `quipu-wire`, whose
//! modules show every option in use. [`calls!`] is for `quipu-client`.
//!
//! Options on a type:
//!
//! | option | meaning |
//! |---|---|
//! | `params` | absent fields are left out when written; TypeScript marks them `?: T \| null` |
//! | `params, nulls` | the same in TypeScript, but absent fields are written as `null` |
//! | `snake`, `kebab`, `lower`, `screaming`, `pascal` | spelling of field or variant names (camelCase if none) |
//! | `fields = "snake"` | spelling of the fields inside an enum's variants |
//! | `tag = "type"` | a union distinguished by a member of that name; `tag_alias` is accepted too when read |
//! | `untagged` | a union distinguished by JSON type, each variant holding one type |
//! | `exhaustive` | only clients send it, so no `Unrecognized` variant is added |
//! | `lenient` | an unknown variant is kept even under strict decoding; of a string enum, a word of 1 to 48 bytes |
//! | `nameless` | of a lenient string enum: versions after the base write a plain string instead of the type's name |
//! | `closed`, `open` | `additionalProperties` is `false` / `true` |
//! | `apart` | each value of a string enum is its own entry in JSON Schema |
//! | `root`, `both`, `no_ts` | TypeScript file in the root directory / also there / nowhere (`v2/` otherwise) |
//! | `json_name = "…"`, `ts_name = "…"` | the published name where it differs from the Rust name |
//! | `default` | derives `Default` |
//!
//! Options on a field: `rename`, `alias`, `nullable` / `optional` / `sparse` / `omitted` (how absence is written),
//! `default` (shown in the schema; `= "json"` for a value), `hidden_default`, `write_only`, `bigint`,
//! `unknown`, `described` (an any-JSON field whose schema is `{}` rather than `true`), `flatten`,
//! `experimental = "descriptor"` (with `sent`: still sent to clients without the capability), `nested`,
//! `since = "0.166"` and `until = "0.118"` (the first and last protocol version that has it; a member with `since`
//! and `hidden_default` is always sent, but servers of earlier versions leave it out).
//! Options on a variant: `rename`, `alias`, `apart`, `closed`, `experimental`, `since`, `until`,
//! `also` (an alias that later protocol versions list beside the name).
//!
//! Unless `exhaustive`, an enum gains a variant `Unrecognized` that keeps what a newer peer sent;
//! decoding under `codec::strict` refuses it instead.

mod calls;
mod describe;
mod enums;
mod gate;
mod names;
mod options;
mod serde_code;
mod strings;
mod structs;

use proc_macro::TokenStream;
use syn::{Item, parse_macro_input};

/// Makes a struct or enum a type of the protocol; see the crate documentation for the options.
#[proc_macro_attribute]
pub fn wire(args: TokenStream, item: TokenStream) -> TokenStream {
    let options = parse_macro_input!(args with options::TypeOptions::parse);
    let item = parse_macro_input!(item as Item);
    let expanded = match item {
        Item::Struct(item) => structs::expand(&options, item),
        Item::Enum(item) => enums::expand(&options, item),
        other => Err(syn::Error::new_spanned(
            other,
            "#[wire] goes on a struct or an enum",
        )),
    };
    expanded
        .unwrap_or_else(|error| error.to_compile_error())
        .into()
}

/// Gives a type named `Client` one method per row of `quipu_wire::client_requests!`, whose callback it
/// is. `Call`, the marker types as `request` and the params types must be in scope.
#[proc_macro]
pub fn calls(rows: TokenStream) -> TokenStream {
    calls::expand(&parse_macro_input!(rows as calls::Rows)).into()
}
