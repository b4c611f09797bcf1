//! Text with places for parameters: `{{name}}`, or `{{outer.inner}}`.

use std::fmt::Write as _;

use serde::Serialize;
use serde_json::Value;

/// Why a template cannot be filled.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TemplateError {
    /// A place that does not end.
    #[error("`{{{{` in `{near}` has no `}}}}`")]
    Open {
        /// The text from there on.
        near: String,
    },
    /// A place without a parameter.
    #[error("the template has a place for `{name}`, but there is no such parameter")]
    Missing {
        /// The name in the template.
        name: String,
    },
    /// Parameters that cannot be written as JSON.
    #[error("the parameters cannot be written as JSON: {0}")]
    Parameters(String),
}

/// Fills the places of a template. Texts are put in as they are, everything else as JSON. A parameter's
/// own text is not searched for places.
pub(crate) fn fill<P: Serialize + ?Sized>(
    template: &str,
    params: &P,
) -> Result<String, TemplateError> {
    let params = serde_json::to_value(params);
    let params = params.map_err(|error| TemplateError::Parameters(error.to_string()))?;
    let mut text = String::with_capacity(template.len());
    let mut rest = template;
    while let Some((before, place)) = rest.split_once("{{") {
        text.push_str(before);
        let Some((name, after)) = place.split_once("}}") else {
            let near = format!("{{{{{}", place.chars().take(40).collect::<String>());
            return Err(TemplateError::Open { near });
        };
        let name = name.trim();
        match find(&params, name) {
            Some(Value::String(value)) => text.push_str(value),
            Some(value) => write!(text, "{value}").unwrap_or_default(),
            None => {
                let name = name.to_owned();
                return Err(TemplateError::Missing { name });
            }
        }
        rest = after;
    }
    text.push_str(rest);
    Ok(text)
}

fn find<'a>(params: &'a Value, name: &str) -> Option<&'a Value> {
    name.split('.')
        .try_fold(params, |value, part| value.get(part))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn places_are_filled_once() {
        let params = json!({ "a": "{{b}}", "b": { "c": [1, true] }, "n": 3 });
        let text = fill("{ {{a}} {{ b.c }} {{n}} }", &params);
        assert_eq!(text.as_deref(), Ok("{ {{b}} [1,true] 3 }"));
    }

    #[test]
    fn what_is_missing_is_named() {
        let missing = TemplateError::Missing {
            name: "x".to_owned(),
        };
        assert_eq!(fill("{{x}}", &json!({})), Err(missing));
        let open = fill("a {{x", &json!({ "x": 1 })).unwrap_err();
        assert_eq!(open.to_string(), "`{{` in `{{x` has no `}}`");
    }
}
