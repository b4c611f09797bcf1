//! The methods of strings, lists and dictionaries.

mod dict;
mod list;
mod split;
mod text;

use std::rc::Rc;

use super::arguments::Arguments;
use super::eval::Machine;
use super::lexer::Fault;
use super::types::Type;
use super::value::Value;

type Run = fn(&mut Machine, &Value, Arguments) -> Result<Value, Fault>;

pub struct Method {
    pub name: &'static str,
    pub(crate) run: Run,
}

impl std::fmt::Debug for Method {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

const fn method(name: &'static str, run: Run) -> Method {
    Method { name, run }
}

fn methods(value: &Value) -> &'static [Method] {
    match value {
        Value::Text(_) => &text::METHODS,
        Value::List(_) => &list::METHODS,
        Value::Dict(_) => &dict::METHODS,
        _ => &[],
    }
}

/// What a function that makes values of a type calls that type.
fn type_name(value: &Value) -> Option<&'static str> {
    let Value::Builtin(builtin) = value else {
        return None;
    };
    Type::named(builtin.name)?;
    Some(match builtin.name {
        "str" => "string",
        name => name,
    })
}

/// `value.name`.
pub(super) fn attribute(value: &Value, name: &str) -> Result<Value, String> {
    if name == "type"
        && let Some(found) = type_name(value)
    {
        return Ok(Value::text(found));
    }
    let found = methods(value).iter().find(|method| method.name == name);
    match found {
        Some(method) => Ok(Value::Method(Rc::new((value.clone(), method)))),
        None => Err(format!("{} has no `{name}`", value.described())),
    }
}

/// All that `attribute` finds, by name.
pub(super) fn names(value: &Value) -> Vec<&'static str> {
    let methods = methods(value).iter().map(|method| method.name);
    let own = type_name(value).map(|_| "type");
    methods.chain(own).collect()
}
