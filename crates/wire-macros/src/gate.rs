//! The stability gate: which experimental parts of a value are in use, and their removal.

use proc_macro2::TokenStream;
use quote::quote;

use crate::serde_code::WireField;

/// The body that finds the first experimental field in use, in declaration order.
///
/// `access` turns a field into an expression of type `&T`.
pub fn used(fields: &[WireField], access: impl Fn(&WireField) -> TokenStream) -> TokenStream {
    let checks = fields.iter().filter_map(|field| {
        let value = access(field);
        if let Some(reason) = &field.options.experimental {
            Some(quote! {
                if crate::gate::InUse::in_use(#value) {
                    return Some(#reason);
                }
            })
        } else if field.options.nested {
            Some(quote! {
                if let Some(reason) = crate::gate::Gated::experimental_use(#value) {
                    return Some(reason);
                }
            })
        } else {
            None
        }
    });
    quote!(#(#checks)*)
}

/// Statements that reset the experimental fields that must not reach a stable client.
pub fn strip(fields: &[WireField]) -> TokenStream {
    let resets = fields
        .iter()
        .filter(|field| field.options.experimental.is_some() && !field.options.sent)
        .map(|field| {
            let ident = &field.ident;
            quote!(self.#ident = Default::default();)
        });
    quote!(#(#resets)*)
}
