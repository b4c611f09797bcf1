//! Calls: from the arguments that are given to the parameters of a function.

use std::rc::Rc;

use super::super::arguments::Arguments;
use super::super::builtins::Run;
use super::super::dict::Dict;
use super::super::heap::Closure;
use super::super::lexer::{Fault, Located, Position};
use super::super::syntax::{Argument, ArgumentKind, Expression, ParameterKind};
use super::super::value::Value;
use super::statements::Flow;
use super::{MAX_CALLS, Machine};

impl Machine<'_> {
    pub(super) fn call_expression(
        &mut self,
        function: &Expression,
        arguments: &[Argument],
        at: Position,
    ) -> Result<Value, Fault> {
        let function = self.value(function)?;
        let mut given = Arguments::new(at);
        for argument in arguments {
            let value = self.value(&argument.value)?;
            self.give(&mut given, &argument.kind, value, argument.value.at)?;
        }
        self.call(&function, given)
    }

    fn give(
        &mut self,
        given: &mut Arguments,
        kind: &ArgumentKind,
        value: Value,
        at: Position,
    ) -> Result<(), Fault> {
        match kind {
            ArgumentKind::Positional => given.positional.push((value, at)),
            ArgumentKind::Named(name) => given.push_named(name.clone(), value, at)?,
            ArgumentKind::Sequence => {
                let items = self.heap.all_items(&value).at(at)?;
                given
                    .positional
                    .extend(items.into_iter().map(|item| (item, at)));
            }
            ArgumentKind::Mapping => {
                let Value::Dict(id) = value else {
                    let message = format!("`**` needs a dictionary, not {}", value.described());
                    return Err(Fault::new(at, message));
                };
                for (_, name, value) in self.heap.dict(id).entries() {
                    // Each name is compared with those before it.
                    self.spend(1 + given.named.len(), at)?;
                    let Value::Text(name) = name else {
                        return Err(Fault::new(
                            at,
                            "the keys of a `**` argument must be strings",
                        ));
                    };
                    given.push_named(name.clone(), value.clone(), at)?;
                }
            }
        }
        Ok(())
    }

    /// Calls a value.
    pub(crate) fn call(&mut self, function: &Value, given: Arguments) -> Result<Value, Fault> {
        match function {
            Value::Builtin(builtin) => match builtin.run {
                Run::Language(run) => run(self, given),
                Run::Host => self
                    .host
                    .call(builtin.name, &self.heap, given)
                    .map(|()| Value::None),
            },
            Value::Method(method) => (method.1.run)(self, &method.0, given),
            Value::Function(id) => {
                let closure = self.heap.function(*id).clone();
                self.call_function(&closure, given)
            }
            other => {
                let message = format!("{} cannot be called", other.described());
                Err(Fault::new(given.call, message))
            }
        }
    }

    /// Calls a value with one argument.
    pub(crate) fn call_with(
        &mut self,
        function: &Value,
        argument: Value,
        at: Position,
    ) -> Result<Value, Fault> {
        let mut given = Arguments::new(at);
        given.positional.push((argument, at));
        self.call(function, given)
    }

    fn call_function(&mut self, closure: &Closure, given: Arguments) -> Result<Value, Fault> {
        let at = given.call;
        if self.calls >= MAX_CALLS {
            let message = format!("more than {MAX_CALLS} calls inside of each other");
            return Err(Fault::new(at, message));
        }
        let function = Rc::clone(&closure.function);
        let values = self.bound(closure, given)?;
        let outer = Some(closure.scope);
        let scope = self.heap.new_scope(outer, &function.locals).at(at)?;
        for (parameter, value) in function.parameters.iter().zip(values) {
            self.heap.assign(scope, &parameter.name, value);
        }
        self.calls += 1;
        let flow = self.within(scope, |machine| {
            machine.deeper(at, |machine| machine.block(&function.body))
        })?;
        self.calls -= 1;
        let value = match flow {
            Flow::Return(value) => value,
            Flow::On | Flow::Break | Flow::Continue => Value::None,
        };
        if let Some(kind) = &closure.returns {
            self.check_type(kind, &value, at)?;
        }
        Ok(value)
    }

    /// The value of each parameter.
    fn bound(&mut self, closure: &Closure, given: Arguments) -> Result<Vec<Value>, Fault> {
        let function = &closure.function;
        let call = given.call;
        let mut positional = given.positional.into_iter();
        let mut named = given.named;
        let mut values = Vec::with_capacity(function.parameters.len());
        for (index, parameter) in function.parameters.iter().enumerate() {
            self.spend(1 + named.len(), call)?;
            let by_name = |named: &mut Vec<(Rc<str>, (Value, Position))>| {
                let place = named.iter().position(|(name, _)| *name == parameter.name)?;
                Some(named.remove(place).1)
            };
            let (value, at) = match parameter.kind {
                ParameterKind::Sequence => {
                    let rest = positional.by_ref().map(|(value, _)| value).collect();
                    (self.heap.new_tuple(rest).at(call)?, call)
                }
                ParameterKind::Mapping => (self.mapping(std::mem::take(&mut named), call)?, call),
                ParameterKind::Plain | ParameterKind::Named => {
                    let first = match parameter.kind {
                        ParameterKind::Plain => positional.next(),
                        _ => None,
                    };
                    let second = by_name(&mut named);
                    if let (Some(_), Some((_, at))) = (&first, &second) {
                        return Err(Fault::new(*at, "this argument is given twice"));
                    }
                    let default = || Some((closure.defaults.get(index)?.clone()?, call));
                    first.or(second).or_else(default).ok_or_else(|| {
                        let name = &parameter.name;
                        Fault::new(call, format!("the argument `{name}` is missing"))
                    })?
                }
            };
            if let Some(Some(kind)) = closure.types.get(index) {
                self.check_type(kind, &value, at)?;
            }
            values.push(value);
        }
        if let Some((_, at)) = positional.next() {
            return Err(Fault::new(
                at,
                format!("`{}` takes fewer arguments", function.name),
            ));
        }
        if let Some((name, (_, at))) = named.first() {
            let message = format!("`{}` has no argument `{name}`", function.name);
            return Err(Fault::new(*at, message));
        }
        Ok(values)
    }

    fn mapping(
        &mut self,
        named: Vec<(Rc<str>, (Value, Position))>,
        call: Position,
    ) -> Result<Value, Fault> {
        let mut dict = Dict::default();
        for (name, (value, _)) in named {
            let name = Value::Text(name);
            let key = self.heap.key(&name).at(call)?;
            dict.insert(key, name, value);
        }
        self.heap.new_dict(dict).at(call)
    }
}
