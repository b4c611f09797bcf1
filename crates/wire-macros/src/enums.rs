//! Expansion of `#[wire]` on an enum: what all kinds share, and the choice between them.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote};
use syn::{Attribute, Fields, ItemEnum, Result, Type, Variant};

use crate::names::Case;
use crate::options::{TypeOptions, VariantOptions, docs};
use crate::serde_code::WireField;
use crate::{describe, gate, strings, structs};

/// The fields of a variant.
enum Content {
    Unit,
    One(Box<Type>),
    Named(Vec<WireField>),
}

/// One variant with everything its options decide.
pub struct WireVariant {
    pub ident: Ident,
    attrs: Vec<Attribute>,
    pub name: String,
    doc: String,
    content: Content,
    pub options: VariantOptions,
}

impl WireVariant {
    fn new(mut variant: Variant, options: &TypeOptions) -> Result<WireVariant> {
        let own = VariantOptions::take(&mut variant.attrs)?;
        let case = options.case.unwrap_or(Case::Camel);
        let name = own
            .rename
            .clone()
            .unwrap_or_else(|| case.spell(&variant.ident.to_string()));
        let content = match variant.fields {
            Fields::Unit => Content::Unit,
            Fields::Unnamed(fields) if fields.unnamed.len() == 1 => {
                Content::One(Box::new(fields.unnamed[0].ty.clone()))
            }
            Fields::Unnamed(fields) => {
                return Err(syn::Error::new_spanned(
                    fields,
                    "#[wire] variants hold one value or named fields",
                ));
            }
            Fields::Named(named) => {
                let case = options.fields.unwrap_or(Case::Camel);
                let fields = named.named.into_iter();
                Content::Named(
                    fields
                        .map(|field| WireField::new(field, case, options))
                        .collect::<Result<_>>()?,
                )
            }
        };
        let doc = docs(&variant.attrs);
        Ok(WireVariant {
            ident: variant.ident,
            attrs: variant.attrs,
            name,
            doc,
            content,
            options: own,
        })
    }

    /// The variant as declared, with its serde attributes.
    fn declaration(&self, owner: &Ident) -> TokenStream {
        let WireVariant {
            ident,
            attrs,
            name,
            options,
            ..
        } = self;
        let aliases = &options.aliases;
        let content = match &self.content {
            Content::Unit => quote!(),
            Content::One(ty) => quote!((#ty)),
            Content::Named(fields) => {
                let fields = fields.iter().map(|field| {
                    let WireField {
                        ident, ty, attrs, ..
                    } = field;
                    let serde = field.serde(owner);
                    quote!(#(#attrs)* #serde #ident: #ty)
                });
                quote!({ #(#fields,)* })
            }
        };
        quote!(#(#attrs)* #[serde(rename = #name, #(alias = #aliases,)*)] #ident #content)
    }

    /// A pattern that binds all fields under their own names.
    fn pattern(&self) -> TokenStream {
        let ident = &self.ident;
        match &self.content {
            Content::Unit => quote!(#ident),
            Content::One(_) => quote!(#ident(value)),
            Content::Named(fields) => {
                let idents = fields.iter().map(|field| &field.ident);
                quote!(#ident { #(#idents),* })
            }
        }
    }

    fn gate_arm(&self) -> Option<TokenStream> {
        let ident = &self.ident;
        if let Some(reason) = &self.options.experimental {
            return Some(quote!(Self::#ident { .. } => return Some(#reason),));
        }
        match &self.content {
            Content::Named(fields)
                if fields
                    .iter()
                    .any(|f| f.options.nested || f.options.experimental.is_some()) =>
            {
                let checked = fields
                    .iter()
                    .filter(|f| f.options.nested || f.options.experimental.is_some());
                let idents = checked.map(|field| &field.ident);
                let used = gate::used(fields, |field| {
                    let ident = &field.ident;
                    quote!(#ident)
                });
                Some(quote!(Self::#ident { #(#idents,)* .. } => { #used }))
            }
            _ => None,
        }
    }
}

pub fn expand(options: &TypeOptions, item: ItemEnum) -> Result<TokenStream> {
    let ItemEnum {
        ident,
        vis,
        attrs,
        variants,
        ..
    } = item;
    let variants = variants
        .into_iter()
        .map(|v| WireVariant::new(v, options))
        .collect::<Result<Vec<_>>>()?;
    let describe = description(&ident, options, &docs(&attrs), &variants);
    let unit_only = variants
        .iter()
        .all(|variant| matches!(variant.content, Content::Unit));
    let code = if unit_only && options.tag.is_none() {
        strings::expand(&ident, options, &variants)
    } else {
        unions(&ident, options, &variants)
    };
    let Code {
        derives,
        serde,
        unrecognized,
        impls,
    } = code;
    let declared = variants
        .iter()
        .map(|variant| match unit_only && options.tag.is_none() {
            true => {
                let (attrs, ident) = (&variant.attrs, &variant.ident);
                quote!(#(#attrs)* #ident)
            }
            false => variant.declaration(&helper(&variant.ident)),
        });
    let arms = variants.iter().filter_map(WireVariant::gate_arm);
    Ok(quote! {
        #(#attrs)*
        #[derive(Debug, Clone, PartialEq, #derives)]
        #serde
        #vis enum #ident {
            #(#declared,)*
            #unrecognized
        }
        #impls
        const _: () = {
            #describe
            impl crate::gate::Gated for #ident {
                #[allow(clippy::needless_return, unreachable_patterns, reason = "generated for every enum alike")]
                fn experimental_use(&self) -> Option<&'static str> {
                    match self {
                        #(#arms)*
                        _ => {}
                    }
                    None
                }
            }
        };
    })
}

/// What the kinds of enum differ in.
pub struct Code {
    pub derives: TokenStream,
    pub serde: TokenStream,
    pub unrecognized: Option<TokenStream>,
    pub impls: TokenStream,
}

/// An enum some of whose variants hold values.
fn unions(ident: &Ident, options: &TypeOptions, variants: &[WireVariant]) -> Code {
    let unrecognized = (!options.exhaustive && !options.untagged).then(|| {
        quote!(
            /// A variant this version does not know, sent by a newer peer, kept as it came.
            #[serde(untagged)]
            Unrecognized(crate::Json),
        )
    });
    let (serde, body) = if options.untagged {
        (quote!(#[serde(untagged)]), untagged(ident, variants))
    } else if let Some(tag) = &options.tag {
        (
            quote!(#[serde(tag = #tag)]),
            internally_tagged(ident, options, tag, variants),
        )
    } else {
        (quote!(), externally_tagged(ident, options, variants))
    };
    let impls = quote! {
        impl<'de> serde::Deserialize<'de> for #ident {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                #body
            }
        }
    };
    Code {
        derives: quote!(serde::Serialize,),
        serde,
        unrecognized,
        impls,
    }
}

/// Tries the variants in order: first without leniency, so that a variant whose fields tolerate unknown
/// words does not take what is meant for a later one.
fn untagged(owner: &Ident, variants: &[WireVariant]) -> TokenStream {
    let tries = variants.iter().map(|variant| {
        let ident = &variant.ident;
        quote!(if let Some(value) = crate::codec::fitting(&raw) { return Some(#owner::#ident(value)); })
    });
    let refusal = format!("data did not match any variant of untagged enum {owner}");
    quote! {
        let raw = crate::codec::raw(deserializer)?;
        let read = || { #(#tries)* None };
        let read = crate::codec::strict(read).or_else(read);
        read.ok_or_else(|| serde::de::Error::custom(#refusal))
    }
}

/// Reads the tag first, then the fields of that variant, straight from the text.
fn internally_tagged(
    owner: &Ident,
    options: &TypeOptions,
    tag: &str,
    variants: &[WireVariant],
) -> TokenStream {
    let names = variants.iter().map(|variant| &variant.name);
    let tag_alias = options
        .tag_alias
        .as_ref()
        .map_or_else(|| quote!(None), |alias| quote!(Some(#alias)));
    let rust_name = owner.to_string();
    let helpers = variants.iter().filter_map(|variant| {
        let Content::Named(fields) = &variant.content else { return None };
        let helper = helper(&variant.ident);
        let deny = variant.options.closed.then(|| quote!(#[serde(deny_unknown_fields)]));
        let default_items = structs::default_items(&helper, fields);
        let fields = fields.iter().map(|field| {
            let (ident, ty, serde) = (&field.ident, &field.ty, field.serde(&helper));
            quote!(#serde #ident: #ty)
        });
        Some(quote!(#[derive(serde::Deserialize)] #deny struct #helper { #(#fields,)* } #default_items))
    });
    let arms = variants.iter().map(|variant| {
        let (ident, name, aliases) = (&variant.ident, &variant.name, &variant.options.aliases);
        let build = match &variant.content {
            Content::Unit => quote!(#owner::#ident),
            Content::One(_) => quote!(#owner::#ident(crate::codec::from_raw(&raw)?)),
            Content::Named(_) => {
                let (helper, pattern) = (helper(&variant.ident), variant.pattern());
                let fields = named_idents(variant);
                quote!({
                    let #helper { #(#fields),* } = crate::codec::from_raw(&raw)?;
                    #owner::#pattern
                })
            }
        };
        quote!(#name #(| #aliases)* => #build,)
    });
    let unknown = unknown_arm(owner, options);
    quote! {
        #(#helpers)*
        const NAMES: &[&str] = &[#(#names),*];
        let raw = crate::codec::raw(deserializer)?;
        let tag = crate::codec::tag(&raw, #rust_name, #tag, #tag_alias)?;
        Ok(match &*tag {
            #(#arms)*
            #unknown
        })
    }
}

/// Reads `"name"` or `{"name": content}`; a twin enum carries serde's own reading of the known names.
fn externally_tagged(
    owner: &Ident,
    options: &TypeOptions,
    variants: &[WireVariant],
) -> TokenStream {
    let twin = format_ident!("Known");
    let names = variants.iter().map(|variant| &variant.name);
    let spellings = variants
        .iter()
        .flat_map(|variant| std::iter::once(&variant.name).chain(&variant.options.aliases));
    let declared = variants.iter().map(|variant| variant.declaration(&twin));
    let arms = variants.iter().map(|variant| {
        let pattern = variant.pattern();
        quote!(#twin::#pattern => #owner::#pattern,)
    });
    let rust_name = owner.to_string();
    let unknown = unknown_arm(owner, options);
    quote! {
        #[derive(serde::Deserialize)]
        #[serde(rename = #rust_name)]
        enum #twin { #(#declared,)* }
        const NAMES: &[&str] = &[#(#names),*];
        const SPELLINGS: &[&str] = &[#(#spellings),*];
        let raw = crate::codec::raw(deserializer)?;
        let tag = crate::codec::outer_tag(&raw);
        Ok(match tag.as_deref() {
            Some(tag) if !SPELLINGS.contains(&tag) => match tag { #unknown },
            _ => match crate::codec::from_raw(&raw)? { #(#arms)* },
        })
    }
}

fn unknown_arm(owner: &Ident, options: &TypeOptions) -> TokenStream {
    if options.exhaustive {
        quote!(other => return Err(serde::de::Error::unknown_variant(other, NAMES)),)
    } else {
        let refuse =
            (!options.lenient).then(|| quote!(crate::codec::refuse_if_strict(other, NAMES)?;));
        let other = if options.lenient {
            quote!(_)
        } else {
            quote!(other)
        };
        quote!(#other => {
            #refuse
            #owner::Unrecognized(crate::Json::from_raw(raw).map_err(serde::de::Error::custom)?)
        })
    }
}

fn helper(variant: &Ident) -> Ident {
    Ident::new(&format!("{variant}Fields"), Span::call_site())
}

fn named_idents(variant: &WireVariant) -> Vec<&Ident> {
    match &variant.content {
        Content::Named(fields) => fields.iter().map(|field| &field.ident).collect(),
        _ => Vec::new(),
    }
}

fn description(
    ident: &Ident,
    options: &TypeOptions,
    doc: &str,
    variants: &[WireVariant],
) -> TokenStream {
    let described = variants.iter().map(|variant| {
        let WireVariant {
            name,
            doc,
            options: own,
            ..
        } = variant;
        let content = match &variant.content {
            Content::Unit => quote!(Unit),
            Content::One(ty) => quote!(One(<#ty as crate::describe::Describe>::TY)),
            Content::Named(fields) => {
                let fields = describe::fields(fields);
                quote!(Fields(#fields))
            }
        };
        let apart = own.apart || options.apart;
        let closed = own.closed;
        let era = describe::era(&own.era);
        let also = describe::text(&own.also);
        quote!(crate::describe::Variant {
            name: #name,
            doc: #doc,
            content: crate::describe::Content::#content,
            apart: #apart,
            closed: #closed,
            era: #era,
            also: #also,
        })
    });
    let kind = if options.untagged {
        quote!(Untagged)
    } else if let Some(tag) = &options.tag {
        quote!(Tagged(#tag))
    } else if options.lenient {
        let name = match options.is_nameless() {
            true => quote!(Dropped),
            false => quote!(Kept),
        };
        quote!(Open(crate::describe::OpenName::#name))
    } else {
        quote!(Named)
    };
    let shape =
        quote!(crate::describe::Shape::Enum(crate::describe::Tagging::#kind, &[#(#described),*]));
    describe::implement(ident, options, doc, &shape)
}
