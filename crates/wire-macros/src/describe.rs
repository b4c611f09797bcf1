//! The description of a type: constants from which schemas, TypeScript and the reference page come.

use proc_macro2::{Ident, TokenStream};
use quote::quote;
use syn::Type;

use crate::options::{Absence, DefaultValue, EraOptions, TypeOptions};
use crate::serde_code::{WireField, inner};

/// `impl Describe` for a named type with the given shape.
pub fn implement(
    ident: &Ident,
    options: &TypeOptions,
    doc: &str,
    shape: &TokenStream,
) -> TokenStream {
    let rust_name = ident.to_string();
    let json_name = options.json_name.as_ref().unwrap_or(&rust_name);
    let ts_name = options.ts_name.as_ref().unwrap_or(&rust_name);
    let place = if options.no_ts {
        quote!(Nowhere)
    } else if options.both {
        quote!(Both)
    } else if options.root {
        quote!(Root)
    } else {
        quote!(V2)
    };
    // A constant would be copied into every crate that uses the type, with its pointers, which the loader corrects at each
    // start: two thirds of all of them.
    quote! {
        impl crate::describe::Describe for #ident {
            const TY: crate::describe::Ty = crate::describe::Ty::Named(|| {
                static DEF: crate::describe::TypeDef = crate::describe::TypeDef {
                    json_name: #json_name,
                    ts_name: #ts_name,
                    doc: #doc,
                    place: crate::describe::Place::#place,
                    shape: #shape,
                };
                &DEF
            });
        }
    }
}

/// A constant slice of field descriptions.
pub fn fields(fields: &[WireField]) -> TokenStream {
    let fields = fields.iter().map(field);
    quote!(&[#(#fields),*])
}

fn field(field: &WireField) -> TokenStream {
    let WireField {
        name,
        doc,
        ty,
        options,
        absence,
        ..
    } = field;
    let absence = match absence {
        None => quote!(Never),
        Some(Absence::Nullable | Absence::Omitted) => quote!(Nullable),
        Some(Absence::Optional) => quote!(Optional),
        Some(Absence::Sparse) => quote!(Sparse),
    };
    let default = match &options.default {
        None => quote!(None),
        Some(DefaultValue::Hidden) => quote!(Some("")),
        Some(DefaultValue::Json(json)) => quote!(Some(#json)),
        Some(DefaultValue::OfType) => {
            let json = type_default(ty);
            quote!(Some(#json))
        }
    };
    let experimental = options.experimental.is_some();
    let era = era(&options.era);
    let (write_only, bigint, unknown) = (options.write_only, options.bigint, options.unknown);
    let (described, flatten) = (options.described, options.flatten);
    quote! {
        crate::describe::Field {
            name: #name,
            doc: #doc,
            ty: <#ty as crate::describe::Describe>::TY,
            absence: crate::describe::Absence::#absence,
            default: #default,
            experimental: #experimental,
            era: #era,
            write_only: #write_only,
            bigint: #bigint,
            unknown: #unknown,
            described: #described,
            flatten: #flatten,
        }
    }
}

/// The constant for the protocol versions that have something.
pub fn era(era: &EraOptions) -> TokenStream {
    let (since, until) = (text(&era.since), text(&era.until));
    quote!(crate::describe::Era { since: #since, until: #until })
}

/// A constant text, if there is one.
pub fn text(text: &Option<String>) -> TokenStream {
    match text {
        None => quote!(None),
        Some(text) => quote!(Some(#text)),
    }
}

/// The JSON of a type's default, for the types that carry the option.
fn type_default(ty: &Type) -> &'static str {
    if inner(ty, "Option").is_some() {
        "null"
    } else if inner(ty, "Vec").is_some() {
        "[]"
    } else if inner(ty, "BTreeMap").is_some() {
        "{}"
    } else {
        "false"
    }
}
