//! Fields as the other modules see them, and the serde attributes they need.

use proc_macro2::{Ident, TokenStream};
use quote::quote;
use syn::{Attribute, Field, GenericArgument, PathArguments, Result, Type, Visibility};

use crate::names::Case;
use crate::options::{Absence, DefaultValue, FieldOptions, TypeOptions, docs};

/// One named field with everything its options decide.
pub struct WireField {
    pub ident: Ident,
    pub ty: Type,
    pub vis: Visibility,
    pub attrs: Vec<Attribute>,
    pub name: String,
    pub doc: String,
    pub options: FieldOptions,
    pub absence: Option<Absence>,
    pub nulls: bool,
}

impl WireField {
    pub fn new(mut field: Field, case: Case, container: &TypeOptions) -> Result<WireField> {
        let options = FieldOptions::take(&mut field.attrs)?;
        let Some(ident) = field.ident.clone() else {
            return Err(syn::Error::new_spanned(
                &field,
                "#[wire] needs named fields",
            ));
        };
        let name = options
            .rename
            .clone()
            .unwrap_or_else(|| case.spell(&ident.to_string()));
        let natural = if container.params {
            Absence::Optional
        } else {
            Absence::Nullable
        };
        let absence = match options.absence {
            Some(absence) => Some(absence),
            None => inner(&field.ty, "Option").map(|_| natural),
        };
        let doc = docs(&field.attrs);
        let nulls = container.nulls;
        Ok(WireField {
            ident,
            ty: field.ty,
            vis: field.vis,
            attrs: field.attrs,
            name,
            doc,
            options,
            absence,
            nulls,
        })
    }

    /// The serde attributes of this field as part of the struct `owner`, for reading and writing.
    pub fn serde(&self, owner: &Ident) -> TokenStream {
        let name = &self.name;
        let aliases = &self.options.aliases;
        let mut out = quote!(rename = #name, #(alias = #aliases,)*);
        if self.options.flatten {
            return quote!(#[serde(flatten)]);
        }
        let is_option = inner(&self.ty, "Option").is_some();
        let is_double = inner(&self.ty, "Option").is_some_and(|t| inner(t, "Option").is_some());
        if is_double {
            out.extend(quote!(default, deserialize_with = "crate::codec::present",));
        }
        match (self.absence, is_option) {
            (Some(Absence::Omitted), true) => {
                out.extend(quote!(skip_serializing_if = "Option::is_none",));
            }
            (Some(Absence::Sparse | Absence::Optional), true) if !self.nulls => {
                out.extend(quote!(skip_serializing_if = "Option::is_none",));
            }
            (Some(Absence::Sparse), false) => {
                out.extend(quote!(
                    default,
                    skip_serializing_if = "crate::codec::is_default",
                ));
            }
            _ => {}
        }
        match &self.options.default {
            Some(DefaultValue::OfType | DefaultValue::Hidden) if !is_option => {
                out.extend(quote!(default,))
            }
            Some(DefaultValue::Json(_)) => {
                let path = format!("{owner}::{}", self.default_fn());
                out.extend(quote!(default = #path,));
            }
            _ => {}
        }
        if self.options.write_only {
            out.extend(quote!(skip_serializing, default,));
        }
        quote!(#[serde(#out)])
    }

    fn default_fn(&self) -> Ident {
        Ident::new(&format!("default_{}", self.ident), self.ident.span())
    }

    /// The associated function of the owner behind `default = "json"`.
    pub fn default_item(&self) -> Option<TokenStream> {
        let Some(DefaultValue::Json(json)) = &self.options.default else {
            return None;
        };
        let (function, ty) = (self.default_fn(), &self.ty);
        Some(quote! {
            fn #function() -> #ty {
                crate::codec::literal(#json)
            }
        })
    }
}

/// `T` of `Wrapper<T>`.
pub fn inner<'a>(ty: &'a Type, wrapper: &str) -> Option<&'a Type> {
    let Type::Path(path) = ty else { return None };
    let last = path.path.segments.last()?;
    if last.ident != wrapper {
        return None;
    }
    let PathArguments::AngleBracketed(args) = &last.arguments else {
        return None;
    };
    args.args.iter().find_map(|arg| match arg {
        GenericArgument::Type(ty) => Some(ty),
        _ => None,
    })
}
