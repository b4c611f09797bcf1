//! The arguments of one call while they are being understood.

use std::rc::Rc;

use super::lexer::{Fault, Located, Position};
use super::value::Value;

/// A value and where it stands.
pub type Given = (Value, Position);

pub struct Arguments {
    pub call: Position,
    pub(super) positional: Vec<Given>,
    pub(super) named: Vec<(Rc<str>, Given)>,
}

impl Arguments {
    pub(super) fn new(call: Position) -> Arguments {
        Arguments {
            call,
            positional: Vec::new(),
            named: Vec::new(),
        }
    }

    pub(super) fn push_named(
        &mut self,
        name: Rc<str>,
        value: Value,
        at: Position,
    ) -> Result<(), Fault> {
        if self.named.iter().any(|(other, _)| *other == name) {
            return Err(Fault::new(at, "this argument is given twice"));
        }
        self.named.push((name, (value, at)));
        Ok(())
    }

    /// The arguments in the order of `names`; each can be given by its name.
    pub fn bind<const N: usize>(self, names: [&str; N]) -> Result<[Option<Given>; N], Fault> {
        let mut bound = [const { None }; N];
        let positional = self.positional.into_iter().enumerate();
        let positional = positional.map(|(index, given)| (Some(index), given));
        let named = self.named.into_iter().map(|(name, given)| {
            let index = names.iter().position(|known| *known == name.as_ref());
            (index, given)
        });
        for (index, (value, at)) in positional.chain(named) {
            let slot = index.and_then(|index| bound.get_mut(index));
            let slot = slot.ok_or_else(|| {
                let known = names.join(", ");
                Fault::new(at, format!("no such argument; there are: {known}"))
            })?;
            if slot.is_some() {
                return Err(Fault::new(at, "this argument is given twice"));
            }
            *slot = Some((value, at));
        }
        Ok(bound)
    }

    /// The arguments of a function that takes none by name, of which the first are `required`.
    pub(super) fn positional<const N: usize>(
        self,
        required: usize,
    ) -> Result<[Option<Value>; N], Fault> {
        if let Some((name, (_, at))) = self.named.first() {
            let message = format!("there is no argument that is called `{name}`");
            return Err(Fault::new(*at, message));
        }
        let count = self.positional.len();
        if count < required || count > N {
            let wanted = match (required, N) {
                (required, most) if required == most => format!("{most}"),
                (required, most) => format!("{required} to {most}"),
            };
            let message = format!("this takes {wanted} arguments, not {count}");
            return Err(Fault::new(self.call, message));
        }
        let mut bound = [const { None }; N];
        for (slot, (value, _)) in bound.iter_mut().zip(self.positional) {
            *slot = Some(value);
        }
        Ok(bound)
    }

    /// The arguments of a function that takes exactly these and none by name.
    pub(super) fn exactly<const N: usize>(self) -> Result<[Value; N], Fault> {
        let values = self.positional::<N>(N)?;
        Ok(values.map(|value| value.unwrap_or(Value::None)))
    }

    /// Takes out an argument that must be named.
    pub(super) fn take_named(&mut self, name: &str) -> Option<Value> {
        let place = self
            .named
            .iter()
            .position(|(known, _)| known.as_ref() == name)?;
        let (_, (value, _)) = self.named.remove(place);
        Some(value)
    }
}

/// A text that a function was given.
pub(super) fn text(value: &Value, at: Position) -> Result<&Rc<str>, Fault> {
    match value {
        Value::Text(text) => Ok(text),
        other => Err(format!("this needs a string, not {}", other.described())).at(at),
    }
}

/// A whole number that a function was given.
pub(super) fn number(value: &Value, at: Position) -> Result<i128, Fault> {
    match value {
        Value::Number(number) => Ok(*number),
        other => Err(format!("this needs a number, not {}", other.described())).at(at),
    }
}
