//! Questions that MCP servers ask the user, and the part of JSON Schema that their forms may use.

use std::collections::BTreeMap;

use quipu_wire_macros::wire;

use crate::Json;

/// The `type` of a field with several choices.
#[wire]
pub enum McpElicitationArrayType {
    Array,
}

/// A yes-or-no field.
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

/// The `type` of a yes-or-no field.
#[wire]
pub enum McpElicitationBooleanType {
    Boolean,
}

/// A choice with a name to show.
#[wire(closed)]
pub struct McpElicitationConstOption {
    /// What is sent back.
    #[wire(rename = "const")]
    pub value: String,
    /// What is shown.
    pub title: String,
}

/// A field to choose from given values.
#[wire(untagged)]
pub enum McpElicitationEnumSchema {
    SingleSelectEnumSchema(McpElicitationSingleSelectEnumSchema),
    MultiSelectEnumSchema(McpElicitationMultiSelectEnumSchema),
    /// The form of older MCP servers.
    LegacyTitledEnumSchema(McpElicitationLegacyTitledEnumSchema),
}

/// A field with one choice, with the names to show in a list of their own.
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
    /// What is shown for each of the values, in the same order.
    #[wire(sparse)]
    pub enum_names: Option<Vec<String>>,
    #[wire(sparse)]
    pub default: Option<String>,
}

/// A field with several choices.
#[wire(untagged)]
pub enum McpElicitationMultiSelectEnumSchema {
    UntitledMultiSelectEnumSchema(McpElicitationUntitledMultiSelectEnumSchema),
    TitledMultiSelectEnumSchema(McpElicitationTitledMultiSelectEnumSchema),
}

/// A number field.
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

/// The `type` of a number field.
#[wire]
pub enum McpElicitationNumberType {
    Number,
    Integer,
}

/// The `type` of a form.
#[wire]
pub enum McpElicitationObjectType {
    Object,
}

/// A field of a form.
#[wire(untagged)]
pub enum McpElicitationPrimitiveSchema {
    EnumSchema(McpElicitationEnumSchema),
    StringSchema(McpElicitationStringSchema),
    NumberSchema(McpElicitationNumberSchema),
    BooleanSchema(McpElicitationBooleanSchema),
}

/// A form: one level of named fields.
#[wire(closed)]
pub struct McpElicitationSchema {
    /// The dialect of JSON Schema, if the MCP server names it.
    #[wire(rename = "$schema", sparse)]
    pub schema: Option<String>,
    #[wire(rename = "type")]
    pub kind: McpElicitationObjectType,
    /// The fields by name.
    pub properties: BTreeMap<String, McpElicitationPrimitiveSchema>,
    /// The names of fields that must be filled in.
    #[wire(sparse)]
    pub required: Option<Vec<String>>,
}

/// A field with one choice.
#[wire(untagged)]
pub enum McpElicitationSingleSelectEnumSchema {
    UntitledSingleSelectEnumSchema(McpElicitationUntitledSingleSelectEnumSchema),
    TitledSingleSelectEnumSchema(McpElicitationTitledSingleSelectEnumSchema),
}

/// What a text field has to look like.
#[wire(kebab)]
pub enum McpElicitationStringFormat {
    Email,
    Uri,
    Date,
    DateTime,
}

/// A text field; its lengths count characters.
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

/// The `type` of a text field.
#[wire]
pub enum McpElicitationStringType {
    String,
}

/// The choices of a field, with names to show.
#[wire(closed)]
pub struct McpElicitationTitledEnumItems {
    pub any_of: Vec<McpElicitationConstOption>,
}

/// A field with several choices, with names to show.
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

/// A field with one choice, with names to show.
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

/// The choices of a field, shown as they are.
#[wire(closed)]
pub struct McpElicitationUntitledEnumItems {
    #[wire(rename = "type")]
    pub kind: McpElicitationStringType,
    #[wire(rename = "enum")]
    pub values: Vec<String>,
}

/// A field with several choices, shown as they are.
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

/// A field with one choice, shown as it is.
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
    /// The running turn, if there is one.
    #[wire(nullable)]
    pub turn_id: Option<String>,
    /// The name of the MCP server in the configuration.
    pub server_name: String,
    #[wire(flatten)]
    pub request: McpServerElicitationRequest,
}

/// What an MCP server asks the user for.
#[wire(tag = "mode", no_ts)]
pub enum McpServerElicitationRequest {
    /// Input for a form. An empty form with `codex_approval_kind` in `_meta` asks to approve a tool
    /// call.
    Form {
        /// The MCP server's metadata; for approvals, the tool, its arguments and what may be
        /// remembered.
        #[wire(rename = "_meta")]
        meta: Option<Json>,
        /// The question to show.
        message: String,
        requested_schema: McpElicitationSchema,
    },
    /// Something to do on a web page.
    Url {
        /// The MCP server's metadata.
        #[wire(rename = "_meta")]
        meta: Option<Json>,
        /// The question to show.
        message: String,
        url: String,
        /// The MCP server's id for this question.
        elicitation_id: String,
    },
}

/// What the user did with a question of an MCP server.
#[wire(exhaustive)]
pub enum McpServerElicitationAction {
    /// Answered it.
    Accept,
    /// Refused to answer.
    Decline,
    /// Put it away without an answer.
    Cancel,
}

/// Answer to the request `mcpServer/elicitation/request`.
#[wire]
pub struct McpServerElicitationRequestResponse {
    pub action: McpServerElicitationAction,
    /// The form's values by name; only looked at with `accept`, where null counts as empty.
    #[wire(described)]
    pub content: Option<Json>,
    /// For a tool approval, `{"persist": "session"}` or `"always"` makes it last.
    #[wire(rename = "_meta", described)]
    pub meta: Option<Json>,
}
