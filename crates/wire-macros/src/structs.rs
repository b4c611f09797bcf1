//! Expansion of `#[wire]` on a struct.

use proc_macro2::{Ident, TokenStream};
use quote::quote;
use syn::{Fields, ItemStruct, Result};

use crate::names::Case;
use crate::options::{TypeOptions, docs};
use crate::serde_code::WireField;
use crate::{describe, gate};

pub fn expand(options: &TypeOptions, item: ItemStruct) -> Result<TokenStream> {
    let case = options.case.unwrap_or(Case::Camel);
    let (ident, vis, attrs) = (&item.ident, &item.vis, &item.attrs);
    let Fields::Named(named) = item.fields else {
        return Err(syn::Error::new_spanned(
            ident,
            "#[wire] needs a struct with named fields",
        ));
    };
    let fields = named
        .named
        .into_iter()
        .map(|field| WireField::new(field, case, options))
        .collect::<Result<Vec<_>>>()?;

    let default = options.default.then(|| quote!(Default,));
    let deny = options
        .closed
        .then(|| quote!(#[serde(deny_unknown_fields)]));
    let flat = fields.iter().any(|field| field.options.flatten);
    let deserialize = (!flat).then(|| quote!(serde::Deserialize,));
    let declared = fields.iter().map(|field| {
        let WireField {
            ident,
            ty,
            vis,
            attrs,
            ..
        } = field;
        let serde = field.serde(&item.ident);
        quote!(#(#attrs)* #serde #vis #ident: #ty)
    });
    let flat_impl = flat.then(|| flattened(ident, &fields));
    let default_items = default_items(ident, &fields);

    let describe = describe::implement(ident, options, &docs(attrs), &shape(options, &fields));
    let gated = gated(ident, &fields);
    Ok(quote! {
        #(#attrs)*
        #[derive(Debug, Clone, PartialEq, #default serde::Serialize, #deserialize)]
        #deny
        #vis struct #ident {
            #(#declared,)*
        }
        #default_items
        const _: () = {
            #flat_impl
            #describe
            #gated
        };
    })
}

fn shape(options: &TypeOptions, fields: &[WireField]) -> TokenStream {
    let fields = describe::fields(fields);
    let extra = if options.open {
        quote!(Open)
    } else if options.closed {
        quote!(Closed)
    } else {
        quote!(Unsaid)
    };
    quote!(crate::describe::Shape::Struct(#fields, crate::describe::Extra::#extra))
}

fn gated(ident: &Ident, fields: &[WireField]) -> TokenStream {
    let used = gate::used(fields, |field| {
        let ident = &field.ident;
        quote!(&self.#ident)
    });
    let strip = gate::strip(fields);
    quote! {
        impl crate::gate::InUse for #ident {}
        impl crate::gate::Gated for #ident {
            fn experimental_use(&self) -> Option<&'static str> {
                #used
                None
            }
            fn strip_experimental(&mut self) {
                #strip
            }
        }
    }
}

/// Reads a struct with flattened parts from its raw text: serde's own flattening buffers values in a form
/// that cannot carry raw JSON.
fn flattened(owner: &Ident, fields: &[WireField]) -> TokenStream {
    let (flat, plain): (Vec<_>, Vec<_>) = fields.iter().partition(|field| field.options.flatten);
    let head_fields = plain.iter().map(|field| {
        let (ident, ty, serde) = (&field.ident, &field.ty, field.serde(owner));
        quote!(#serde #ident: #ty)
    });
    let plain_idents = plain.iter().map(|field| {
        let ident = &field.ident;
        quote!(#ident: head.#ident)
    });
    let known = plain.iter().map(|field| &field.name);
    let flat_reads = flat.iter().map(|field| {
        let (ident, ty) = (&field.ident, &field.ty);
        quote!(#ident: <#ty as crate::codec::Rest>::read(raw.get(), KNOWN).map_err(crate::codec::nested)?)
    });
    quote! {
        impl<'de> serde::Deserialize<'de> for #owner {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                #[derive(serde::Deserialize)]
                struct Head { #(#head_fields,)* }
                const KNOWN: &[&str] = &[#(#known),*];
                let raw = <Box<serde_json::value::RawValue> as serde::Deserialize>::deserialize(deserializer)?;
                let head: Head = serde_json::from_str(raw.get()).map_err(crate::codec::nested)?;
                Ok(#owner { #(#plain_idents,)* #(#flat_reads,)* })
            }
        }
    }
}

/// The associated functions that supply the defaults given as JSON.
pub fn default_items(owner: &Ident, fields: &[WireField]) -> Option<TokenStream> {
    let items: Vec<_> = fields.iter().filter_map(WireField::default_item).collect();
    (!items.is_empty()).then(|| quote!(impl #owner { #(#items)* }))
}
