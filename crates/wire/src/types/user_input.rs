//! MODDOC

use quipu_wire_macros::wire;

/// DOC
#[wire]
pub struct ByteRange {
    pub start: usize,
    pub end: usize,
}

/// DOC
#[wire]
pub struct TextElement {
    pub byte_range: ByteRange,
    pub placeholder: Option<String>,
}

/// DOC
#[wire(tag = "type", fields = "snake")]
pub enum UserInput {
    Text {
        text: String,
        #[wire(default)]
        text_elements: Vec<TextElement>,
    },
    Image {
        url: String,
    },
    LocalImage {
        path: String,
    },
    Skill {
        name: String,
        path: String,
    },
    Mention {
        name: String,
        path: String,
    },
}
