//! The template language of prompts: the part of Liquid that prompts need, and strict. A variable, member or filter
//! that does not exist is an error, never an empty text in a prompt that nobody watches.

mod expr;
mod filter;
mod parse;
mod render;

use serde_json::Value;

use expr::{Condition, Expr};

/// The longest prompt.
pub const MAX_OUTPUT: usize = 1 << 20;

/// A template that was read.
#[derive(Clone, Debug, PartialEq)]
pub struct Template {
    nodes: Vec<Node>,
}

/// A piece of a template.
#[derive(Clone, Debug, PartialEq)]
enum Node {
    Text(String),
    Output(Expr),
    /// The first branch whose condition holds.
    If(Vec<(Condition, Vec<Node>)>),
    For {
        name: String,
        list: Expr,
        body: Vec<Node>,
        /// For a list without elements.
        otherwise: Vec<Node>,
    },
}

/// What is wrong with a template, and in which line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TemplateError {
    #[error("template_parse_error: line {line}: {message}")]
    Parse { line: usize, message: String },
    #[error("template_render_error: line {line}: {message}")]
    Render { line: usize, message: String },
}

impl Template {
    /// Reads a template.
    pub fn parse(text: &str) -> Result<Template, TemplateError> {
        let nodes = parse::nodes(text)?;
        Ok(Template { nodes })
    }

    /// Fills it in with the members of an object.
    pub fn render(&self, variables: &Value) -> Result<String, TemplateError> {
        render::render(&self.nodes, variables)
    }
}
