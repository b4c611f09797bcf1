//! The sets of tools that models are offered. Threads with the same settings offer the same ones, turn after turn, so
//! they share a set, whose JSON is printed once.

use std::collections::VecDeque;

use parking_lot::Mutex;
use quipu_model::{Grammar, ToolSet, ToolSpec};
use quipu_tools::{Spec, SpecKind};
use serde_json::value::RawValue;

/// How many different sets are kept.
const LIMIT: usize = 8;

/// The sets that were offered last.
#[derive(Default)]
pub(crate) struct ToolSets(Mutex<VecDeque<(Vec<Spec>, ToolSet)>>);

impl ToolSets {
    /// The set of these tools.
    pub fn get(&self, specs: Vec<Spec>) -> ToolSet {
        let mut known = self.0.lock();
        if let Some((_, set)) = known.iter().find(|(known, _)| *known == specs) {
            return set.clone();
        }
        let set = ToolSet::new(specs.iter().filter_map(offered).collect());
        known.truncate(LIMIT - 1);
        known.push_front((specs, set.clone()));
        set
    }
}

/// A tool in the form that requests to the model have.
fn offered(spec: &Spec) -> Option<ToolSpec> {
    let (name, description) = (spec.name.clone(), spec.description.clone());
    Some(match &spec.kind {
        SpecKind::Function(schema) => ToolSpec::Function {
            name,
            description,
            strict: false,
            defer_loading: None,
            parameters: RawValue::from_string(schema.get().to_owned()).ok()?,
        },
        SpecKind::Hosted(tool) => {
            ToolSpec::Hosted(RawValue::from_string(tool.get().to_owned()).ok()?)
        }
        SpecKind::Text(grammar) => ToolSpec::Custom {
            name,
            description,
            format: Some(Grammar {
                syntax: "lark".to_owned(),
                definition: (*grammar).to_owned(),
            }),
        },
    })
}
