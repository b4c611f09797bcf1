//! The functions a rules file can call: `prefix_rule`, `network_rule` and `host_executable`.

use super::file::{Examples, FileRules};
use super::network::{NetworkDecision, NetworkProtocol, NetworkRule, normal_host};
use super::prefix::{Decision, PrefixRule};
use quipu_starlark::{Arguments, Builtin, Fault, Given, Heap, Host, Position, Value};

static FUNCTIONS: [Builtin; 3] = [
    Builtin::of_host("prefix_rule"),
    Builtin::of_host("network_rule"),
    Builtin::of_host("host_executable"),
];

impl Host for FileRules {
    fn functions(&self) -> &'static [Builtin] {
        &FUNCTIONS
    }

    fn call(&mut self, function: &str, heap: &Heap, given: Arguments) -> Result<(), Fault> {
        match function {
            "prefix_rule" => prefix_rule(self, heap, given),
            "network_rule" => network_rule(self, given),
            _ => host_executable(self, heap, given),
        }
    }
}

fn required(given: Option<Given>, name: &str, call: Position) -> Result<Given, Fault> {
    given.ok_or_else(|| Fault::new(call, format!("the argument `{name}` is missing")))
}

fn text((value, at): Given, name: &str) -> Result<String, Fault> {
    match value {
        Value::Text(text) => Ok(text.as_ref().to_owned()),
        other => {
            let found = other.described();
            Err(Fault::new(
                at,
                format!("`{name}` must be a string, not {found}"),
            ))
        }
    }
}

fn list<'h>(
    heap: &'h Heap,
    (value, at): Given,
    name: &str,
) -> Result<(&'h [Value], Position), Fault> {
    match value {
        Value::List(items) => Ok((heap.list(items), at)),
        other => {
            let found = other.described();
            Err(Fault::new(
                at,
                format!("`{name}` must be a list, not {found}"),
            ))
        }
    }
}

fn words(items: &[Value], name: &str, at: Position) -> Result<Vec<String>, Fault> {
    items
        .iter()
        .map(|item| match item {
            Value::Text(text) => Ok(text.as_ref().to_owned()),
            other => {
                let found = other.described();
                Err(Fault::new(
                    at,
                    format!("`{name}` holds {found}, not a string"),
                ))
            }
        })
        .collect()
}

fn justification(given: Option<Given>) -> Result<Option<String>, Fault> {
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

fn prefix_rule(rules: &mut FileRules, heap: &Heap, given: Arguments) -> Result<(), Fault> {
    let call = given.call;
    let [pattern, decision, matching, not_matching, reason] =
        given.bind(["pattern", "decision", "match", "not_match", "justification"])?;
    let (items, at) = list(heap, required(pattern, "pattern", call)?, "pattern")?;
    let mut pattern = Vec::with_capacity(items.len());
    for item in items {
        pattern.push(match item {
            Value::Text(word) => vec![word.as_ref().to_owned()],
            Value::List(alternatives) => words(heap.list(*alternatives), "pattern", at)?,
            other => {
                let found = other.described();
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
        matching: examples(heap, matching, "match")?,
        not_matching: examples(heap, not_matching, "not_match")?,
        call,
    };
    rules.push_prefix(rule, examples);
    Ok(())
}

/// Example commands, each a line or a list of words.
fn examples(heap: &Heap, given: Option<Given>, name: &str) -> Result<Vec<Vec<String>>, Fault> {
    let Some(given) = given else {
        return Ok(Vec::new());
    };
    let (items, at) = list(heap, given, name)?;
    items
        .iter()
        .map(|item| {
            let example = match item {
                Value::Text(line) => shlex::split(line).ok_or_else(|| {
                    Fault::new(
                        at,
                        format!("`{name}` holds a line with an open quote: {line}"),
                    )
                })?,
                Value::List(items) => words(heap.list(*items), name, at)?,
                other => {
                    let found = other.described();
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

fn network_rule(rules: &mut FileRules, given: Arguments) -> Result<(), Fault> {
    let call = given.call;
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

fn host_executable(rules: &mut FileRules, heap: &Heap, given: Arguments) -> Result<(), Fault> {
    let call = given.call;
    let [name, paths] = given.bind(["name", "paths"])?;
    let (name, at) = required(name, "name", call)?;
    let name = text((name, at), "name")?;
    if name.is_empty() || name.contains(['/', '\\']) {
        return Err(Fault::new(
            at,
            "`name` must be a program's name without directories",
        ));
    }
    let (items, at) = list(heap, required(paths, "paths", call)?, "paths")?;
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
