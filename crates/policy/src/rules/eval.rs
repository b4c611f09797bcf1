//! Runs a rules file: variables, loops and calls, within fixed limits.

use std::collections::HashMap;

use super::file::FileRules;
use super::functions;
use super::lexer::{Fault, Position};
use super::parser::{Argument, Expression, Loop, Statement, Term};
use super::text::Piece;

/// Values and statements that one file may work through.
const MAX_STEPS: usize = 200_000;

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value {
    Text(String),
    Number(i64),
    Bool(bool),
    None,
    List(Vec<Value>),
    Tuple(Vec<Value>),
}

impl Value {
    pub(super) fn type_name(&self) -> &'static str {
        match self {
            Value::Text(_) => "a string",
            Value::Number(_) => "a number",
            Value::Bool(_) => "a truth value",
            Value::None => "None",
            Value::List(_) => "a list",
            Value::Tuple(_) => "a tuple",
        }
    }

    /// How many values this holds, itself included; large texts count for more.
    fn weight(&self) -> usize {
        match self {
            Value::Text(text) => 1 + text.len() / 64,
            Value::List(items) | Value::Tuple(items) => {
                1 + items.iter().map(Value::weight).sum::<usize>()
            }
            Value::Number(_) | Value::Bool(_) | Value::None => 1,
        }
    }
}

/// The rules that the statements declare.
pub(super) fn run(statements: &[Statement]) -> Result<FileRules, Fault> {
    let mut machine = Machine {
        variables: HashMap::new(),
        steps: 0,
        rules: FileRules::default(),
    };
    machine.block(statements)?;
    Ok(machine.rules)
}

struct Machine {
    variables: HashMap<String, Value>,
    steps: usize,
    rules: FileRules,
}

impl Machine {
    fn spend(&mut self, steps: usize, at: Position) -> Result<(), Fault> {
        self.steps = self.steps.saturating_add(steps);
        if self.steps > MAX_STEPS {
            return Err(Fault::new(at, "the file computes too much"));
        }
        Ok(())
    }

    fn block(&mut self, statements: &[Statement]) -> Result<(), Fault> {
        for statement in statements {
            match statement {
                Statement::Expression(expression) => drop(self.value(expression)?),
                Statement::Assign {
                    name,
                    at,
                    extend,
                    value,
                } => {
                    let mut new = self.value(value)?;
                    if *extend {
                        new = add(self.variable(name, *at)?, new, *at)?;
                        self.spend(new.weight(), *at)?;
                    }
                    self.variables.insert(name.clone(), new);
                }
                Statement::For { loops, body } => {
                    self.each(loops, |machine| machine.block(body))?;
                }
            }
        }
        Ok(())
    }

    /// Binds the names of a loop to one value after the other.
    fn each(
        &mut self,
        loops: &Loop,
        mut body: impl FnMut(&mut Machine) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        let at = loops.over.at;
        let (Value::List(values) | Value::Tuple(values)) = self.value(&loops.over)? else {
            return Err(Fault::new(at, "only a list can be gone through"));
        };
        for value in values {
            self.spend(1, at)?;
            match loops.names.as_slice() {
                [name] => {
                    self.variables.insert(name.clone(), value);
                }
                names => {
                    let parts = match value {
                        Value::List(parts) | Value::Tuple(parts) if parts.len() == names.len() => {
                            parts
                        }
                        _ => {
                            let message = format!("every value must have {} parts", names.len());
                            return Err(Fault::new(at, message));
                        }
                    };
                    self.variables.extend(names.iter().cloned().zip(parts));
                }
            }
            body(self)?;
        }
        Ok(())
    }

    fn variable(&self, name: &str, at: Position) -> Result<Value, Fault> {
        self.variables
            .get(name)
            .cloned()
            .ok_or_else(|| Fault::new(at, format!("nothing here is called `{name}`")))
    }

    fn values(&mut self, expressions: &[Expression]) -> Result<Vec<Value>, Fault> {
        expressions.iter().map(|part| self.value(part)).collect()
    }

    fn value(&mut self, expression: &Expression) -> Result<Value, Fault> {
        let at = expression.at;
        let value = match &expression.kind {
            Term::Text(text) => Value::Text(text.clone()),
            Term::Format(pieces) => self.formatted(pieces)?,
            Term::Number(number) => Value::Number(*number),
            Term::Bool(truth) => Value::Bool(*truth),
            Term::None => Value::None,
            Term::Name(name) => self.variable(name, at)?,
            Term::List(items) => Value::List(self.values(items)?),
            Term::Tuple(items) => Value::Tuple(self.values(items)?),
            Term::Comprehension { item, loops } => self.comprehension(item, loops)?,
            Term::Sum(parts) => {
                let mut parts = parts.iter();
                let mut sum = match parts.next() {
                    Some(first) => self.value(first)?,
                    None => Value::None,
                };
                for part in parts {
                    sum = add(sum, self.value(part)?, part.at)?;
                }
                sum
            }
            Term::Call {
                function,
                arguments,
            } => self.call(function, arguments, at)?,
        };
        self.spend(value.weight(), at)?;
        Ok(value)
    }

    fn formatted(&mut self, pieces: &[Piece]) -> Result<Value, Fault> {
        let mut text = String::new();
        for piece in pieces {
            match piece {
                Piece::Text(part) => text.push_str(part),
                Piece::Variable(name, at) => match self.variable(name, *at)? {
                    Value::Text(part) => text.push_str(&part),
                    Value::Number(number) => text.push_str(&number.to_string()),
                    other => {
                        let message = format!("{} cannot stand in a string", other.type_name());
                        return Err(Fault::new(*at, message));
                    }
                },
            }
        }
        Ok(Value::Text(text))
    }

    /// The names of a comprehension are its own.
    fn comprehension(&mut self, item: &Expression, loops: &Loop) -> Result<Value, Fault> {
        let outer = self.variables.clone();
        self.spend(outer.len(), item.at)?;
        let mut items = Vec::new();
        let done = self.each(loops, |machine| {
            items.push(machine.value(item)?);
            Ok(())
        });
        self.variables = outer;
        done.map(|()| Value::List(items))
    }

    fn call(
        &mut self,
        function: &str,
        arguments: &[Argument],
        at: Position,
    ) -> Result<Value, Fault> {
        let mut given = functions::Arguments::new(at);
        for argument in arguments {
            let value = self.value(&argument.value)?;
            given.push(argument.name.as_deref(), value, argument.value.at)?;
        }
        functions::call(function, given, &mut self.rules)?;
        Ok(Value::None)
    }
}

fn add(left: Value, right: Value, at: Position) -> Result<Value, Fault> {
    match (left, right) {
        (Value::Text(left), Value::Text(right)) => Ok(Value::Text(left + &right)),
        (Value::Number(left), Value::Number(right)) => left
            .checked_add(right)
            .map(Value::Number)
            .ok_or_else(|| Fault::new(at, "this number is too large")),
        (Value::List(left), Value::List(right)) => Ok(Value::List([left, right].concat())),
        (Value::Tuple(left), Value::Tuple(right)) => Ok(Value::Tuple([left, right].concat())),
        (left, right) => {
            let (left, right) = (left.type_name(), right.type_name());
            Err(Fault::new(at, format!("{right} cannot be added to {left}")))
        }
    }
}
