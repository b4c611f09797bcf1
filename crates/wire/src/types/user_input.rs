//! What a user can say to the agent.

use quipu_wire_macros::wire;

/// A range of bytes in a text in UTF-8.
#[wire]
pub struct ByteRange {
    pub start: usize,
    /// The byte after the last one.
    pub end: usize,
}

/// A part of a text that the client shows in its own way.
#[wire]
pub struct TextElement {
    pub byte_range: ByteRange,
    /// What to show in its place.
    pub placeholder: Option<String>,
}

/// One piece of what the user says.
#[wire(tag = "type", fields = "snake")]
pub enum UserInput {
    /// Words; the texts of one request may have 1048576 characters in all.
    Text {
        text: String,
        /// Parts that the client shows in its own way; kept and given back, nothing more.
        #[wire(default)]
        text_elements: Vec<TextElement>,
    },
    /// An image on the web or in the URL itself.
    Image {
        /// An `http`, `https` or `data` URL.
        url: String,
    },
    /// An image on the server's machine; if it cannot be read, the model reads that instead.
    LocalImage { path: String },
    /// A skill, whose instructions the model then reads.
    Skill {
        name: String,
        /// The path of its `SKILL.md`.
        path: String,
    },
    /// An app or a plugin that the text mentions.
    Mention {
        name: String,
        /// `app://<id>` or `plugin://<name>@<marketplace>`.
        path: String,
    },
}
