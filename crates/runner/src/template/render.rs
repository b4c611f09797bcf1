//! Fills a template in.

use std::cmp::Ordering;

use serde_json::Value;

use super::expr::{Comparison, Condition, Expr, Join, Operand, Test};
use super::filter::{is_blank, text};
use super::{MAX_OUTPUT, Node, TemplateError};

/// The variables, those of loops in front of the others.
struct Scope<'a> {
    variables: &'a Value,
    loops: Vec<(&'a str, Value)>,
    output: String,
}

pub fn render(nodes: &[Node], variables: &Value) -> Result<String, TemplateError> {
    let mut scope = Scope {
        variables,
        loops: Vec::new(),
        output: String::new(),
    };
    scope.nodes(nodes)?;
    Ok(scope.output)
}

impl<'a> Scope<'a> {
    fn nodes(&mut self, nodes: &'a [Node]) -> Result<(), TemplateError> {
        for node in nodes {
            match node {
                Node::Text(text) => self.put(text, 0)?,
                Node::Output(expr) => {
                    let value = self.value(expr)?;
                    let text = text(&value).map_err(|message| fail(expr.line, message))?;
                    self.put(&text, expr.line)?;
                }
                Node::If(branches) => {
                    for (condition, body) in branches {
                        if self.holds(condition)? {
                            self.nodes(body)?;
                            break;
                        }
                    }
                }
                Node::For {
                    name,
                    list,
                    body,
                    otherwise,
                } => self.each(name, list, body, otherwise)?,
            }
        }
        Ok(())
    }

    fn each(
        &mut self,
        name: &'a str,
        list: &Expr,
        body: &'a [Node],
        otherwise: &'a [Node],
    ) -> Result<(), TemplateError> {
        let elements = match self.value(list)? {
            Value::Array(elements) => elements,
            Value::Null => Vec::new(),
            _ => return Err(fail(list.line, "`for` needs a list")),
        };
        if elements.is_empty() {
            return self.nodes(otherwise);
        }
        for element in elements {
            self.loops.push((name, element));
            self.nodes(body)?;
            self.loops.pop();
        }
        Ok(())
    }

    fn put(&mut self, text: &str, line: usize) -> Result<(), TemplateError> {
        if self.output.len() + text.len() > MAX_OUTPUT {
            let message = format!("the prompt has more than {MAX_OUTPUT} bytes");
            return Err(fail(line, message));
        }
        self.output.push_str(text);
        Ok(())
    }

    fn value(&self, expr: &Expr) -> Result<Value, TemplateError> {
        let mut value = self.operand(&expr.operand, expr.line)?;
        for (filter, arguments) in &expr.filters {
            let arguments = arguments.iter().map(|it| self.operand(it, expr.line));
            let arguments = arguments.collect::<Result<Vec<_>, _>>()?;
            let filtered = filter.apply(&value, &arguments);
            value = filtered.map_err(|message| fail(expr.line, message))?;
        }
        Ok(value)
    }

    fn operand(&self, operand: &Operand, line: usize) -> Result<Value, TemplateError> {
        match operand {
            Operand::Literal(value) => Ok(value.clone()),
            Operand::Empty => Ok(Value::Null),
            Operand::Path(path) => self.find(path, line),
        }
    }

    fn find(&self, path: &[String], line: usize) -> Result<Value, TemplateError> {
        let Some((first, members)) = path.split_first() else {
            return Ok(Value::Null);
        };
        let of_loop = self.loops.iter().rev().find(|(name, _)| name == first);
        let found = match of_loop {
            Some((_, value)) => Some(value),
            None => self.variables.get(first),
        };
        let mut value = found.ok_or_else(|| fail(line, format!("unknown variable `{first}`")))?;
        for (at, member) in members.iter().enumerate() {
            let next = match value {
                Value::Array(all) => member.parse().ok().and_then(|at: usize| all.get(at)),
                other => other.get(member),
            };
            let shown = || path[..=at + 1].join(".");
            value = next.ok_or_else(|| fail(line, format!("unknown variable `{}`", shown())))?;
        }
        Ok(value.clone())
    }

    fn holds(&self, condition: &Condition) -> Result<bool, TemplateError> {
        match condition {
            Condition::Always => Ok(true),
            Condition::Not(condition) => self.holds(condition).map(|it| !it),
            Condition::Chain(first, more) => {
                let mut holds = self.test(first)?;
                for (join, test) in more {
                    // Every test is looked at, so that an unknown variable is found whatever the others say.
                    let next = self.test(test)?;
                    holds = match join {
                        Join::And => holds && next,
                        Join::Or => holds || next,
                    };
                }
                Ok(holds)
            }
        }
    }

    fn test(&self, test: &Test) -> Result<bool, TemplateError> {
        let left = self.operand(&test.left, test.line)?;
        let Some((comparison, right)) = &test.compared else {
            return Ok(!matches!(left, Value::Null | Value::Bool(false)));
        };
        if *right == Operand::Empty {
            return match comparison {
                Comparison::Equal => Ok(is_blank(&left)),
                Comparison::NotEqual => Ok(!is_blank(&left)),
                _ => Err(fail(
                    test.line,
                    "`empty` and `blank` know `==` and `!=` only",
                )),
            };
        }
        let right = self.operand(right, test.line)?;
        let order = || order(&left, &right).ok_or_else(|| fail(test.line, "these do not compare"));
        Ok(match comparison {
            Comparison::Equal => left == right,
            Comparison::NotEqual => left != right,
            Comparison::Less => order()? == Ordering::Less,
            Comparison::LessOrEqual => order()? != Ordering::Greater,
            Comparison::Greater => order()? == Ordering::Greater,
            Comparison::GreaterOrEqual => order()? != Ordering::Less,
            Comparison::Contains => match (&left, &right) {
                (Value::Array(all), one) => all.contains(one),
                (Value::String(all), Value::String(part)) => all.contains(part),
                (Value::Null, _) => false,
                _ => return Err(fail(test.line, "`contains` needs a list or a text")),
            },
        })
    }
}

fn order(left: &Value, right: &Value) -> Option<Ordering> {
    match (left, right) {
        (Value::String(left), Value::String(right)) => Some(left.cmp(right)),
        (left, right) => left.as_f64()?.partial_cmp(&right.as_f64()?),
    }
}

fn fail(line: usize, message: impl Into<String>) -> TemplateError {
    TemplateError::Render {
        line,
        message: message.into(),
    }
}
