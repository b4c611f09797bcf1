//! Parsing of the `#[wire(…)]` options on types, variants and fields.

use syn::meta::ParseNestedMeta;
use syn::parse::ParseStream;
use syn::{Attribute, Expr, ExprLit, Lit, LitStr, Meta, Result};

use crate::names::Case;

/// Options on the type itself.
#[derive(Default)]
pub struct TypeOptions {
    pub params: bool,
    pub nulls: bool,
    pub case: Option<Case>,
    pub fields: Option<Case>,
    pub tag: Option<String>,
    pub tag_alias: Option<String>,
    pub untagged: bool,
    pub exhaustive: bool,
    pub lenient: bool,
    nameless: bool,
    pub closed: bool,
    pub open: bool,
    pub apart: bool,
    pub root: bool,
    pub both: bool,
    pub no_ts: bool,
    pub json_name: Option<String>,
    pub ts_name: Option<String>,
    pub default: bool,
}

impl TypeOptions {
    pub fn parse(input: ParseStream) -> Result<TypeOptions> {
        let mut options = TypeOptions::default();
        let parser = syn::meta::parser(|meta| options.set(&meta));
        let tokens: proc_macro2::TokenStream = input.parse()?;
        syn::parse::Parser::parse2(parser, tokens)?;
        Ok(options)
    }

    /// Whether later versions write a plain string instead of the type's name.
    pub fn is_nameless(&self) -> bool {
        self.nameless
    }

    fn set(&mut self, meta: &ParseNestedMeta) -> Result<()> {
        let word = word(meta)?;
        if let Some(case) = Case::from_word(&word) {
            self.case = Some(case);
            return Ok(());
        }
        match word.as_str() {
            "params" => self.params = true,
            "nulls" => self.nulls = true,
            "fields" => self.fields = Case::from_word(&string(meta)?),
            "tag" => self.tag = Some(string(meta)?),
            "tag_alias" => self.tag_alias = Some(string(meta)?),
            "untagged" => self.untagged = true,
            "exhaustive" => self.exhaustive = true,
            "lenient" => self.lenient = true,
            "nameless" => self.nameless = true,
            "closed" => self.closed = true,
            "open" => self.open = true,
            "apart" => self.apart = true,
            "root" => self.root = true,
            "both" => self.both = true,
            "no_ts" => self.no_ts = true,
            "json_name" => self.json_name = Some(string(meta)?),
            "ts_name" => self.ts_name = Some(string(meta)?),
            "default" => self.default = true,
            _ => return Err(meta.error("unknown option for a type")),
        }
        Ok(())
    }
}

/// The protocol versions that added and dropped a member or variant; schemas of others leave it out.
#[derive(Default)]
pub struct EraOptions {
    pub since: Option<String>,
    pub until: Option<String>,
}

/// Options on an enum variant.
#[derive(Default)]
pub struct VariantOptions {
    pub rename: Option<String>,
    pub also: Option<String>,
    pub aliases: Vec<String>,
    pub apart: bool,
    pub closed: bool,
    pub experimental: Option<String>,
    pub era: EraOptions,
}

impl VariantOptions {
    /// Takes the `#[wire]` attributes out of `attrs`.
    pub fn take(attrs: &mut Vec<Attribute>) -> Result<VariantOptions> {
        let mut options = VariantOptions::default();
        take(attrs, |meta| {
            match word(meta)?.as_str() {
                "rename" => options.rename = Some(string(meta)?),
                "alias" => options.aliases.push(string(meta)?),
                "also" => {
                    let other = string(meta)?;
                    options.aliases.push(other.clone());
                    options.also = Some(other);
                }
                "apart" => options.apart = true,
                "closed" => options.closed = true,
                "experimental" => options.experimental = Some(string(meta)?),
                "since" => options.era.since = Some(string(meta)?),
                "until" => options.era.until = Some(string(meta)?),
                _ => return Err(meta.error("unknown option for a variant")),
            }
            Ok(())
        })?;
        Ok(options)
    }
}

/// How an absent value of a field is written, and what TypeScript says of it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Absence {
    /// Written as `null`; `T | null`.
    Nullable,
    /// Left out, or `null` under the type option `nulls`; `?: T | null`.
    Optional,
    /// Left out, or `null` under the type option `nulls`; `?: T`.
    Sparse,
    /// Left out, although the schemas say `null`: `T | null`.
    Omitted,
}

/// What stands for an absent field, and whether the schema shows it.
#[derive(Clone, PartialEq, Eq)]
pub enum DefaultValue {
    OfType,
    Hidden,
    Json(String),
}

/// Options on a field.
#[derive(Default)]
pub struct FieldOptions {
    pub rename: Option<String>,
    pub aliases: Vec<String>,
    pub absence: Option<Absence>,
    pub default: Option<DefaultValue>,
    pub write_only: bool,
    pub bigint: bool,
    pub unknown: bool,
    pub described: bool,
    pub flatten: bool,
    pub experimental: Option<String>,
    pub era: EraOptions,
    pub sent: bool,
    pub nested: bool,
}

impl FieldOptions {
    /// Takes the `#[wire]` attributes out of `attrs`.
    pub fn take(attrs: &mut Vec<Attribute>) -> Result<FieldOptions> {
        let mut options = FieldOptions::default();
        take(attrs, |meta| {
            match word(meta)?.as_str() {
                "rename" => options.rename = Some(string(meta)?),
                "alias" => options.aliases.push(string(meta)?),
                "nullable" => options.absence = Some(Absence::Nullable),
                "optional" => options.absence = Some(Absence::Optional),
                "sparse" => options.absence = Some(Absence::Sparse),
                "omitted" => options.absence = Some(Absence::Omitted),
                "default" if meta.input.peek(syn::Token![=]) => {
                    options.default = Some(DefaultValue::Json(string(meta)?));
                }
                "default" => options.default = Some(DefaultValue::OfType),
                "hidden_default" => options.default = Some(DefaultValue::Hidden),
                "write_only" => options.write_only = true,
                "bigint" => options.bigint = true,
                "unknown" => options.unknown = true,
                "described" => options.described = true,
                "flatten" => options.flatten = true,
                "experimental" => options.experimental = Some(string(meta)?),
                "since" => options.era.since = Some(string(meta)?),
                "until" => options.era.until = Some(string(meta)?),
                "sent" => options.sent = true,
                "nested" => options.nested = true,
                _ => return Err(meta.error("unknown option for a field")),
            }
            Ok(())
        })?;
        Ok(options)
    }
}

/// The text of the doc comment on an item.
pub fn docs(attrs: &[Attribute]) -> String {
    let lines = attrs.iter().filter_map(|attr| match &attr.meta {
        Meta::NameValue(meta) if meta.path.is_ident("doc") => match &meta.value {
            Expr::Lit(ExprLit {
                lit: Lit::Str(text),
                ..
            }) => Some(text.value().trim().to_owned()),
            _ => None,
        },
        _ => None,
    });
    lines.collect::<Vec<_>>().join("\n").trim().to_owned()
}

fn take(
    attrs: &mut Vec<Attribute>,
    mut set: impl FnMut(&ParseNestedMeta) -> Result<()>,
) -> Result<()> {
    for attr in attrs.iter().filter(|attr| attr.path().is_ident("wire")) {
        attr.parse_nested_meta(|meta| set(&meta))?;
    }
    attrs.retain(|attr| !attr.path().is_ident("wire"));
    Ok(())
}

fn word(meta: &ParseNestedMeta) -> Result<String> {
    let ident = meta
        .path
        .get_ident()
        .ok_or_else(|| meta.error("expected a single word"))?;
    Ok(ident.to_string())
}

fn string(meta: &ParseNestedMeta) -> Result<String> {
    Ok(meta.value()?.parse::<LitStr>()?.value())
}
