//! MODDOC

use std::collections::BTreeMap;

use quipu_wire_macros::wire;

use crate::Json;

/// DOC
#[wire]
pub enum McpElicitationArrayType {
    Array,
}

/// DOC
#[wire(closed)]
pub struct McpElicitationBooleanSchema {
    #[wire(rename = "type")]
    pub kind: McpElicitationBooleanType,
    #[wire(sparse)]
    pub title: Option<String>,
    #[wire(sparse)]
    pub description: Option<String>,
    #[wire(sparse)]
    pub default: Option<bool>,
}

/// DOC
#[wire]
pub enum McpElicitationBooleanType {
    Boolean,
}

/// DOC
#[wire(closed)]
pub struct McpElicitationConstOption {
    #[wire(rename = "const")]
    pub value: String,
    pub title: String,
}

/// DOC
#[wire(untagged)]
pub enum McpElicitationEnumSchema {
    SingleSelectEnumSchema(McpElicitationSingleSelectEnumSchema),
    MultiSelectEnumSchema(McpElicitationMultiSelectEnumSchema),
    LegacyTitledEnumSchema(McpElicitationLegacyTitledEnumSchema),
}

/// DOC
#[wire(closed)]
pub struct McpElicitationLegacyTitledEnumSchema {
    #[wire(rename = "type")]
    pub kind: McpElicitationStringType,
    #[wire(sparse)]
    pub title: Option<String>,
    #[wire(sparse)]
    pub description: Option<String>,
    #[wire(rename = "enum")]
    pub values: Vec<String>,
    #[wire(sparse)]
    pub enum_names: Option<Vec<String>>,
    #[wire(sparse)]
    pub default: Option<String>,
}

/// DOC
#[wire(untagged)]
pub enum McpElicitationMultiSelectEnumSchema {
    UntitledMultiSelectEnumSchema(McpElicitationUntitledMultiSelectEnumSchema),
    TitledMultiSelectEnumSchema(McpElicitationTitledMultiSelectEnumSchema),
}

/// DOC
#[wire(closed)]
pub struct McpElicitationNumberSchema {
    #[wire(rename = "type")]
    pub kind: McpElicitationNumberType,
    #[wire(sparse)]
    pub title: Option<String>,
    #[wire(sparse)]
    pub description: Option<String>,
    #[wire(sparse)]
    pub minimum: Option<f64>,
    #[wire(sparse)]
    pub maximum: Option<f64>,
    #[wire(sparse)]
    pub default: Option<f64>,
}

/// DOC
#[wire]
pub enum McpElicitationNumberType {
    Number,
    Integer,
}

/// DOC
#[wire]
pub enum McpElicitationObjectType {
    Object,
}

/// DOC
#[wire(untagged)]
pub enum McpElicitationPrimitiveSchema {
    EnumSchema(McpElicitationEnumSchema),
    StringSchema(McpElicitationStringSchema),
    NumberSchema(McpElicitationNumberSchema),
    BooleanSchema(McpElicitationBooleanSchema),
}

/// DOC
#[wire(closed)]
pub struct McpElicitationSchema {
    #[wire(rename = "$schema", sparse)]
    pub schema: Option<String>,
    #[wire(rename = "type")]
    pub kind: McpElicitationObjectType,
    pub properties: BTreeMap<String, McpElicitationPrimitiveSchema>,
    #[wire(sparse)]
    pub required: Option<Vec<String>>,
}

/// DOC
#[wire(untagged)]
pub enum McpElicitationSingleSelectEnumSchema {
    UntitledSingleSelectEnumSchema(McpElicitationUntitledSingleSelectEnumSchema),
    TitledSingleSelectEnumSchema(McpElicitationTitledSingleSelectEnumSchema),
}

/// DOC
#[wire(kebab)]
pub enum McpElicitationStringFormat {
    Email,
    Uri,
    Date,
    DateTime,
}

/// DOC
#[wire(closed)]
pub struct McpElicitationStringSchema {
    #[wire(rename = "type")]
    pub kind: McpElicitationStringType,
    #[wire(sparse)]
    pub title: Option<String>,
    #[wire(sparse)]
    pub description: Option<String>,
    #[wire(sparse)]
    pub min_length: Option<u32>,
    #[wire(sparse)]
    pub max_length: Option<u32>,
    #[wire(sparse)]
    pub format: Option<McpElicitationStringFormat>,
    #[wire(sparse)]
    pub default: Option<String>,
}

/// DOC
#[wire]
pub enum McpElicitationStringType {
    String,
}

/// DOC
#[wire(closed)]
pub struct McpElicitationTitledEnumItems {
    pub any_of: Vec<McpElicitationConstOption>,
}

/// DOC
#[wire(closed)]
pub struct McpElicitationTitledMultiSelectEnumSchema {
    #[wire(rename = "type")]
    pub kind: McpElicitationArrayType,
    #[wire(sparse)]
    pub title: Option<String>,
    #[wire(sparse)]
    pub description: Option<String>,
    #[wire(sparse, bigint)]
    pub min_items: Option<u64>,
    #[wire(sparse, bigint)]
    pub max_items: Option<u64>,
    pub items: McpElicitationTitledEnumItems,
    #[wire(sparse)]
    pub default: Option<Vec<String>>,
}

/// DOC
#[wire(closed)]
pub struct McpElicitationTitledSingleSelectEnumSchema {
    #[wire(rename = "type")]
    pub kind: McpElicitationStringType,
    #[wire(sparse)]
    pub title: Option<String>,
    #[wire(sparse)]
    pub description: Option<String>,
    pub one_of: Vec<McpElicitationConstOption>,
    #[wire(sparse)]
    pub default: Option<String>,
}

/// DOC
#[wire(closed)]
pub struct McpElicitationUntitledEnumItems {
    #[wire(rename = "type")]
    pub kind: McpElicitationStringType,
    #[wire(rename = "enum")]
    pub values: Vec<String>,
}

/// DOC
#[wire(closed)]
pub struct McpElicitationUntitledMultiSelectEnumSchema {
    #[wire(rename = "type")]
    pub kind: McpElicitationArrayType,
    #[wire(sparse)]
    pub title: Option<String>,
    #[wire(sparse)]
    pub description: Option<String>,
    #[wire(sparse, bigint)]
    pub min_items: Option<u64>,
    #[wire(sparse, bigint)]
    pub max_items: Option<u64>,
    pub items: McpElicitationUntitledEnumItems,
    #[wire(sparse)]
    pub default: Option<Vec<String>>,
}

/// DOC
#[wire(closed)]
pub struct McpElicitationUntitledSingleSelectEnumSchema {
    #[wire(rename = "type")]
    pub kind: McpElicitationStringType,
    #[wire(sparse)]
    pub title: Option<String>,
    #[wire(sparse)]
    pub description: Option<String>,
    #[wire(rename = "enum")]
    pub values: Vec<String>,
    #[wire(sparse)]
    pub default: Option<String>,
}

/// Parameters of the request `mcpServer/elicitation/request`.
#[wire(params)]
pub struct McpServerElicitationRequestParams {
    pub thread_id: String,
    #[wire(nullable)]
    pub turn_id: Option<String>,
    pub server_name: String,
    #[wire(flatten)]
    pub request: McpServerElicitationRequest,
}

/// What an MCP server asks the user for.
#[wire(tag = "mode", no_ts)]
pub enum McpServerElicitationRequest {
    Form {
        #[wire(rename = "_meta")]
        meta: Option<Json>,
        message: String,
        requested_schema: McpElicitationSchema,
    },
    Url {
        #[wire(rename = "_meta")]
        meta: Option<Json>,
        message: String,
        url: String,
        elicitation_id: String,
    },
}

/// DOC
#[wire(exhaustive)]
pub enum McpServerElicitationAction {
    Accept,
    Decline,
    Cancel,
}

/// Answer to the request `mcpServer/elicitation/request`.
#[wire]
pub struct McpServerElicitationRequestResponse {
    pub action: McpServerElicitationAction,
    #[wire(described)]
    pub content: Option<Json>,
    #[wire(rename = "_meta", described)]
    pub meta: Option<Json>,
}
