//! Expansion of `#[wire]` on an enum of plain strings.

use proc_macro2::{Ident, TokenStream};
use quote::quote;

use crate::enums::{Code, WireVariant};
use crate::options::TypeOptions;

/// What becomes of a text that is none of the enum's words.
struct Fallback {
    /// The variant for it, if there is one.
    unrecognized: Option<TokenStream>,
    /// How that variant is written.
    text: Option<TokenStream>,
    /// What the decoder does.
    value: TokenStream,
}

impl Fallback {
    fn of(ident: &Ident, options: &TypeOptions) -> Fallback {
        let fallback = quote!(crate::codec::Fallback);
        if options.lenient {
            return Fallback {
                unrecognized: Some(quote!(
                    /// Any other word.
                    Unrecognized(crate::Word),
                )),
                text: Some(quote!(Self::Unrecognized(word) => word.as_str(),)),
                value: quote!(#fallback::Kept(#ident::Unrecognized)),
            };
        }
        if options.exhaustive {
            return Fallback {
                unrecognized: None,
                text: None,
                value: quote!(#fallback::Refused),
            };
        }
        Fallback {
            unrecognized: Some(quote!(
                /// A value this version does not know, sent by a newer peer.
                Unrecognized,
            )),
            text: Some(quote!(Self::Unrecognized => "unrecognized",)),
            value: quote!(#fallback::Unrecognized(#ident::Unrecognized)),
        }
    }
}

/// The code of an enum of plain strings.
pub fn expand(ident: &Ident, options: &TypeOptions, variants: &[WireVariant]) -> Code {
    let names: Vec<_> = variants.iter().map(|variant| &variant.name).collect();
    let idents: Vec<_> = variants.iter().map(|variant| &variant.ident).collect();
    let aliases = alias_pairs(ident, variants);
    // Messages name the words of the base version, as its server does.
    let base = variants.iter().filter(|it| it.options.era.since.is_none());
    let base: Vec<_> = base.map(|variant| &variant.name).collect();
    let rust_name = ident.to_string();
    let Fallback {
        unrecognized,
        text,
        value,
    } = Fallback::of(ident, options);
    let signature = match options.lenient {
        true => quote!(pub fn as_str(&self) -> &str),
        false => quote!(pub const fn as_str(self) -> &'static str),
    };
    let impls = quote! {
        impl #ident {
            /// Every value the protocol names, in its order.
            pub const ALL: &'static [Self] = &[#(Self::#idents),*];

            /// The value as it is written on the wire.
            #[must_use]
            #signature {
                match self {
                    #(Self::#idents => #names,)*
                    #text
                }
            }
        }
        impl std::fmt::Display for #ident {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }
        impl serde::Serialize for #ident {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }
        impl<'de> serde::Deserialize<'de> for #ident {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                const NAMES: &[&str] = &[#(#names),*];
                const BASE: &[&str] = &[#(#base),*];
                crate::codec::string_enum(deserializer, #rust_name, (NAMES, BASE), #ident::ALL, &[#(#aliases),*], #value)
            }
        }
    };
    Code {
        derives: quote!(Copy, Eq, Hash, PartialOrd, Ord,),
        serde: quote!(),
        unrecognized,
        impls,
    }
}

fn alias_pairs(owner: &Ident, variants: &[WireVariant]) -> Vec<TokenStream> {
    let pairs = variants.iter().flat_map(|variant| {
        let ident = &variant.ident;
        variant
            .options
            .aliases
            .iter()
            .map(move |alias| quote!((#alias, #owner::#ident)))
    });
    pairs.collect()
}
