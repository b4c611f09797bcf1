//! Descriptions of the protocol's types as data: what the schema, TypeScript and reference generators read.

/// A type that can tell its shape.
pub trait Describe {
    /// The shape.
    const TY: Ty;
}

/// A type expression.
#[derive(Clone, Copy)]
pub enum Ty {
    Bool,
    String,
    /// An integer, with its JSON Schema format.
    Integer(&'static str),
    /// A floating-point number, with its JSON Schema format.
    Number(&'static str),
    /// Any JSON value.
    Json,
    Option(&'static Ty),
    List(&'static Ty),
    Map(&'static Ty),
    Named(fn() -> &'static TypeDef),
}

/// A declared type.
pub struct TypeDef {
    /// Its name in JSON Schema.
    pub json_name: &'static str,
    /// Its name in TypeScript.
    pub ts_name: &'static str,
    pub doc: &'static str,
    pub place: Place,
    pub shape: Shape,
}

/// The directory of a type's TypeScript file.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Place {
    Root,
    V2,
    Both,
    Nowhere,
}

/// The shape of a declared type.
pub enum Shape {
    Struct(&'static [Field], Extra),
    Enum(Tagging, &'static [Variant]),
    /// Another name for a type.
    Alias(Ty),
}

/// What JSON Schema says about members beside the declared ones.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Extra {
    Unsaid,
    Open,
    Closed,
}

/// How the variants of an enum are distinguished.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Tagging {
    /// By a member of this name beside the fields.
    Tagged(&'static str),
    /// By a string, or the single key of an object.
    Named,
    /// By a string. The base version lists all of them; later ones accept any text.
    Open(OpenName),
    /// By the JSON type.
    Untagged,
}

/// Whether versions that accept any text still have a name for the type.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum OpenName {
    Kept,
    /// They write a plain string wherever the type is used.
    Dropped,
}

/// One variant of an enum.
pub struct Variant {
    pub name: &'static str,
    pub doc: &'static str,
    pub content: Content,
    /// Its own entry in JSON Schema, not grouped with the other plain strings.
    pub apart: bool,
    pub closed: bool,
    pub era: Era,
    /// Another spelling, which versions after the base list too. It is read, never written.
    pub also: Option<&'static str>,
}

/// The protocol versions that have something; no bound where there is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Era {
    /// The version that added it, if that is later than the base version.
    pub since: Option<&'static str>,
    /// The last version that has it.
    pub until: Option<&'static str>,
}

impl Era {
    /// Every version.
    pub const ALWAYS: Era = Era {
        since: None,
        until: None,
    };
}

/// What a variant holds.
pub enum Content {
    Unit,
    One(Ty),
    Fields(&'static [Field]),
}

/// One member of an object.
pub struct Field {
    pub name: &'static str,
    pub doc: &'static str,
    pub ty: Ty,
    pub absence: Absence,
    /// The JSON that stands for an absent member; empty when the schema does not show it.
    pub default: Option<&'static str>,
    pub experimental: bool,
    pub era: Era,
    pub write_only: bool,
    /// TypeScript says `bigint`.
    pub bigint: bool,
    /// TypeScript says `unknown` for JSON.
    pub unknown: bool,
    /// The schema of an any-JSON member is `{}` rather than `true`.
    pub described: bool,
    pub flatten: bool,
}

/// How an absent value is written.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Absence {
    /// It is always there.
    Never,
    /// `null`.
    Nullable,
    /// Left out, or `null`.
    Optional,
    /// Left out.
    Sparse,
}

macro_rules! plain {
    ($($ty:ty => $shape:expr,)*) => {
        $(impl Describe for $ty { const TY: Ty = $shape; })*
    };
}

plain! {
    bool => Ty::Bool,
    String => Ty::String,
    u8 => Ty::Integer("uint8"),
    u16 => Ty::Integer("uint16"),
    u32 => Ty::Integer("uint32"),
    u64 => Ty::Integer("uint64"),
    usize => Ty::Integer("uint"),
    i32 => Ty::Integer("int32"),
    i64 => Ty::Integer("int64"),
    f32 => Ty::Number("float"),
    f64 => Ty::Number("double"),
    crate::Json => Ty::Json,
}

impl<T: Describe> Describe for Option<T> {
    const TY: Ty = Ty::Option(&T::TY);
}

impl<T: Describe> Describe for Vec<T> {
    const TY: Ty = Ty::List(&T::TY);
}

impl<T: Describe> Describe for std::collections::BTreeMap<String, T> {
    const TY: Ty = Ty::Map(&T::TY);
}
