//! The functions and constants of the language.

mod convert;
mod sequences;

use super::arguments::{Arguments, number, text};
use super::eval::Machine;
use super::lexer::{Fault, Located};
use super::methods;
use super::value::Value;

pub(super) use convert::fill;

/// A function that a file can call without defining it.
pub struct Builtin {
    pub(crate) name: &'static str,
    pub(crate) run: Run,
}

impl Builtin {
    /// A function of the [`Host`](crate::Host).
    pub const fn of_host(name: &'static str) -> Self {
        Self {
            name,
            run: Run::Host,
        }
    }
}

/// Who runs a [`Builtin`].
#[derive(Clone, Copy)]
pub(crate) enum Run {
    Language(fn(&mut Machine, Arguments) -> Result<Value, Fault>),
    Host,
}

impl std::fmt::Debug for Builtin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

const fn builtin(
    name: &'static str,
    run: fn(&mut Machine, Arguments) -> Result<Value, Fault>,
) -> Builtin {
    Builtin {
        name,
        run: Run::Language(run),
    }
}

static BUILTINS: [Builtin; 27] = [
    builtin("abs", abs),
    builtin("all", sequences::all),
    builtin("any", sequences::any),
    builtin("bool", convert::bool),
    builtin("chr", chr),
    builtin("dict", convert::dict),
    builtin("dir", dir),
    builtin("enumerate", sequences::enumerate),
    builtin("fail", fail),
    builtin("float", convert::float),
    builtin("getattr", getattr),
    builtin("hasattr", hasattr),
    builtin("hash", hash),
    builtin("int", convert::int),
    builtin("len", sequences::len),
    builtin("list", convert::list),
    builtin("max", sequences::max),
    builtin("min", sequences::min),
    builtin("ord", ord),
    builtin("range", convert::range),
    builtin("repr", convert::repr),
    builtin("reversed", sequences::reversed),
    builtin("sorted", sequences::sorted),
    builtin("str", convert::str),
    builtin("tuple", convert::tuple),
    builtin("type", type_of),
    builtin("zip", sequences::zip),
];

/// What a name stands for where the file itself does not say.
pub(super) fn lookup(name: &str, of_host: &'static [Builtin]) -> Option<Value> {
    match name {
        "None" => return Some(Value::None),
        "True" => return Some(Value::Bool(true)),
        "False" => return Some(Value::Bool(false)),
        _ => {}
    }
    let all = BUILTINS.iter().chain(of_host);
    all.into_iter()
        .find(|builtin| builtin.name == name)
        .map(Value::Builtin)
}

fn abs(machine: &mut Machine, given: Arguments) -> Result<Value, Fault> {
    let at = given.call;
    let [value] = given.exactly()?;
    match value {
        Value::Float(number) => Ok(Value::Float(number.abs())),
        Value::Number(..0) => {
            let sign = super::syntax::Sign::Minus;
            machine.heap.signed(sign, &value).at(at)
        }
        value => number(&value, at).map(Value::Number),
    }
}

fn chr(machine: &mut Machine, given: Arguments) -> Result<Value, Fault> {
    let at = given.call;
    let [code] = given.exactly()?;
    let code = number(&code, at)?;
    let character = u32::try_from(code).ok().and_then(char::from_u32);
    let character = character.ok_or_else(|| format!("{code} is no Unicode character"));
    machine.heap.new_text(character.at(at)?.to_string()).at(at)
}

fn ord(_: &mut Machine, given: Arguments) -> Result<Value, Fault> {
    let at = given.call;
    let [value] = given.exactly()?;
    let mut characters = text(&value, at)?.chars();
    match (characters.next(), characters.next()) {
        (Some(single), None) => Ok(Value::Number(i128::from(u32::from(single)))),
        _ => Err(Fault::new(at, "`ord` needs a string of one character")),
    }
}

fn dir(machine: &mut Machine, given: Arguments) -> Result<Value, Fault> {
    let at = given.call;
    let [value] = given.exactly()?;
    let names = methods::names(&value).into_iter().map(Value::text);
    machine.heap.new_list(names.collect()).at(at)
}

fn fail(machine: &mut Machine, given: Arguments) -> Result<Value, Fault> {
    let at = given.call;
    let mut words = Vec::new();
    for (value, _) in &given.positional {
        words.push(machine.heap.shown(value).at(at)?);
    }
    Err(Fault::new(
        at,
        format!("the file fails: {}", words.join(" ")),
    ))
}

fn getattr(_: &mut Machine, given: Arguments) -> Result<Value, Fault> {
    let at = given.call;
    let [object, name, default] = given.positional(2)?;
    let object = object.unwrap_or(Value::None);
    let name = name.unwrap_or(Value::None);
    match (methods::attribute(&object, text(&name, at)?), default) {
        (Err(_), Some(default)) => Ok(default),
        (found, _) => found.at(at),
    }
}

fn hasattr(_: &mut Machine, given: Arguments) -> Result<Value, Fault> {
    let at = given.call;
    let [object, name] = given.exactly()?;
    let found = methods::attribute(&object, text(&name, at)?);
    Ok(Value::Bool(found.is_ok()))
}

/// The hash that Java gives a string, as the language has it.
fn hash(machine: &mut Machine, given: Arguments) -> Result<Value, Fault> {
    let at = given.call;
    let [value] = given.exactly()?;
    let value = text(&value, at)?;
    machine.heap.spend_text(value.len()).at(at)?;
    let hash = value.encode_utf16().fold(0i32, |hash, unit| {
        hash.wrapping_mul(31).wrapping_add(i32::from(unit))
    });
    Ok(Value::Number(i128::from(hash)))
}

fn type_of(_: &mut Machine, given: Arguments) -> Result<Value, Fault> {
    let [value] = given.exactly()?;
    Ok(Value::text(value.type_name()))
}
