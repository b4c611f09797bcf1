//! The functions a rules file can call: `prefix_rule`, `network_rule` and `host_executable`.

use super::eval::Value;
use super::file::{Examples, FileRules};
use super::lexer::{Fault, Position};
use super::network::{NetworkDecision, NetworkProtocol, NetworkRule, normal_host};
use super::prefix::{Decision, PrefixRule};

/// The arguments of one call while it is being understood.
pub(super) struct Arguments {
    call: Position,
    given: Vec<(Option<String>, Value, Position)>,
}

impl Arguments {
    pub(super) fn new(call: Position) -> Arguments {
        let given = Vec::new();
        Arguments { call, given }
    }

    pub(super) fn push(
        &mut self,
        name: Option<&str>,
        value: Value,
        at: Position,
    ) -> Result<(), Fault> {
        let repeated = |(other, _, _): &(Option<String>, Value, Position)| {
            name.is_some() && other.as_deref() == name
        };
        if self.given.iter().any(repeated) {
            return Err(Fault::new(at, "this argument is given twice"));
        }
        self.given.push((name.map(str::to_owned), value, at));
        Ok(())
    }

    /// Puts the arguments in the order of `names`.
    fn bind<const N: usize>(
        self,
        names: [&str; N],
    ) -> Result<[Option<(Value, Position)>; N], Fault> {
        let mut bound = [const { None }; N];
        for (index, (name, value, at)) in self.given.into_iter().enumerate() {
            let slot = match &name {
                Some(name) => names.iter().position(|known| known == name),
                None => Some(index),
            };
            let slot = slot.and_then(|slot| bound.get_mut(slot)).ok_or_else(|| {
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
}

/// A call that declares something.
pub(super) fn call(function: &str, given: Arguments, rules: &mut FileRules) -> Result<(), Fault> {
    let at = given.call;
    match function {
        "prefix_rule" => prefix_rule(given, at, rules),
        "network_rule" => network_rule(given, at, rules),
        "host_executable" => host_executable(given, at, rules),
        _ => Err(Fault::new(
            at,
            format!(
                "there is no function `{function}`; \
                 there are: prefix_rule, network_rule, host_executable"
            ),
        )),
    }
}

type Given = Option<(Value, Position)>;

fn required(given: Given, name: &str, call: Position) -> Result<(Value, Position), Fault> {
    given.ok_or_else(|| Fault::new(call, format!("the argument `{name}` is missing")))
}

fn text((value, at): (Value, Position), name: &str) -> Result<String, Fault> {
    match value {
        Value::Text(text) => Ok(text),
        other => {
            let found = other.type_name();
            Err(Fault::new(
                at,
                format!("`{name}` must be a string, not {found}"),
            ))
        }
    }
}

fn list((value, at): (Value, Position), name: &str) -> Result<(Vec<Value>, Position), Fault> {
    match value {
        Value::List(items) => Ok((items, at)),
        other => {
            let found = other.type_name();
            Err(Fault::new(
                at,
                format!("`{name}` must be a list, not {found}"),
            ))
        }
    }
}

fn words(items: Vec<Value>, name: &str, at: Position) -> Result<Vec<String>, Fault> {
    items
        .into_iter()
        .map(|item| match item {
            Value::Text(text) => Ok(text),
            other => {
                let found = other.type_name();
                Err(Fault::new(
                    at,
                    format!("`{name}` holds {found}, not a string"),
                ))
            }
        })
        .collect()
}

fn justification(given: Given) -> Result<Option<String>, Fault> {
    let Some((value, at)) = given else {
        return Ok(None);
    };
    let reason = text((value, at), "justification")?;
    if reason.trim().is_empty() {
        return Err(Fault::new(
            at,
            "`justification` is empty; leave it out instead",
        ));
    }
    Ok(Some(reason))
}

fn prefix_rule(given: Arguments, call: Position, rules: &mut FileRules) -> Result<(), Fault> {
    let [pattern, decision, matching, not_matching, reason] =
        given.bind(["pattern", "decision", "match", "not_match", "justification"])?;
    let (items, at) = list(required(pattern, "pattern", call)?, "pattern")?;
    let mut pattern = Vec::with_capacity(items.len());
    for item in items {
        pattern.push(match item {
            Value::Text(word) => vec![word],
            Value::List(alternatives) => words(alternatives, "pattern", at)?,
            other => {
                let found = other.type_name();
                let message = format!("`pattern` holds {found}, not a string or list of strings");
                return Err(Fault::new(at, message));
            }
        });
    }
    let decision = match decision {
        None => Decision::Allow,
        Some((value, at)) => {
            let word = text((value, at), "decision")?;
            Decision::from_name(&word).ok_or_else(|| {
                Fault::new(
                    at,
                    "`decision` must be \"allow\", \"prompt\" or \"forbidden\"",
                )
            })?
        }
    };
    let rule = PrefixRule::new(pattern, decision, justification(reason)?)
        .map_err(|error| Fault::new(at, error.to_string()))?;
    let examples = Examples {
        matching: examples(matching, "match")?,
        not_matching: examples(not_matching, "not_match")?,
        call,
    };
    rules.push_prefix(rule, examples);
    Ok(())
}

/// Example commands, each a line or a list of words.
fn examples(given: Given, name: &str) -> Result<Vec<Vec<String>>, Fault> {
    let Some(given) = given else {
        return Ok(Vec::new());
    };
    let (items, at) = list(given, name)?;
    items
        .into_iter()
        .map(|item| {
            let example = match item {
                Value::Text(line) => shlex::split(&line).ok_or_else(|| {
                    Fault::new(
                        at,
                        format!("`{name}` holds a line with an open quote: {line}"),
                    )
                })?,
                Value::List(items) => words(items, name, at)?,
                other => {
                    let found = other.type_name();
                    return Err(Fault::new(
                        at,
                        format!("`{name}` holds {found}, not a command"),
                    ));
                }
            };
            if example.is_empty() {
                return Err(Fault::new(at, format!("`{name}` holds an empty command")));
            }
            Ok(example)
        })
        .collect()
}

fn network_rule(given: Arguments, call: Position, rules: &mut FileRules) -> Result<(), Fault> {
    let [host, protocol, decision, reason] =
        given.bind(["host", "protocol", "decision", "justification"])?;
    let (host, at) = required(host, "host", call)?;
    let host = text((host, at), "host")?;
    let host = normal_host(&host).map_err(|error| Fault::new(at, error.to_string()))?;
    let (protocol, at) = required(protocol, "protocol", call)?;
    let name = text((protocol, at), "protocol")?;
    let protocol = NetworkProtocol::from_name(&name).ok_or_else(|| {
        Fault::new(
            at,
            "`protocol` must be \"http\", \"https\", \"socks5_tcp\" or \"socks5_udp\"",
        )
    })?;
    let (decision, at) = required(decision, "decision", call)?;
    let name = text((decision, at), "decision")?;
    let decision = NetworkDecision::from_name(&name)
        .ok_or_else(|| Fault::new(at, "`decision` must be \"allow\", \"prompt\" or \"deny\""))?;
    rules.network.push(NetworkRule {
        host,
        protocol,
        decision,
        justification: justification(reason)?,
    });
    Ok(())
}

fn host_executable(given: Arguments, call: Position, rules: &mut FileRules) -> Result<(), Fault> {
    let [name, paths] = given.bind(["name", "paths"])?;
    let (name, at) = required(name, "name", call)?;
    let name = text((name, at), "name")?;
    if name.is_empty() || name.contains(['/', '\\']) {
        return Err(Fault::new(
            at,
            "`name` must be a program's name without folders",
        ));
    }
    let (items, at) = list(required(paths, "paths", call)?, "paths")?;
    let paths = words(items, "paths", at)?;
    for path in &paths {
        if !path.starts_with('/') {
            return Err(Fault::new(at, format!("`{path}` is not an absolute path")));
        }
        if path.rsplit('/').next() != Some(name.as_str()) {
            return Err(Fault::new(
                at,
                format!("`{path}` is not a path of `{name}`"),
            ));
        }
    }
    rules.executables.insert(name, paths);
    Ok(())
}
