//! Rules for commands that an administrator sets. They can only make things stricter.

use serde::Deserialize;
use serde_json::Value;

use crate::Table;

/// What happens to a command that matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Decision {
    /// The user is asked.
    Prompt,
    /// It is refused.
    Forbidden,
    /// Not possible here; read so that the mistake can be explained.
    Allow,
}

/// One word of a pattern: any of these.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PatternToken {
    /// The words that match.
    pub any_of: Vec<String>,
}

/// A rule by the first words of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PrefixRule {
    /// The first words.
    pub pattern: Vec<PatternToken>,
    /// What happens.
    pub decision: Decision,
    /// Why.
    pub justification: Option<String>,
}

/// What is wrong with a rule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RulesError {
    /// The list is empty.
    #[error("rules prefix_rules cannot be empty")]
    NoRules,
    /// There is no pattern.
    #[error("rules prefix_rule at index {0} has an empty pattern")]
    EmptyPattern(usize),
    /// There is no decision.
    #[error("rules prefix_rule at index {0} is missing a decision")]
    NoDecision(usize),
    /// The decision is to allow.
    #[error(
        "rules prefix_rule at index {0} has decision 'allow', which is not permitted in requirements.toml: \
         Codex merges these rules with other config and uses the most restrictive result (use 'prompt' or \
         'forbidden')"
    )]
    Allow(usize),
    /// The justification is blank.
    #[error("rules prefix_rule at index {0} has an empty justification")]
    EmptyJustification(usize),
    /// A word of the pattern makes no sense.
    #[error(
        "rules prefix_rule at index {rule} has an invalid pattern token at index {token}: {reason}"
    )]
    Token {
        /// Which rule.
        rule: usize,
        /// Which word.
        token: usize,
        /// Why.
        reason: &'static str,
    },
}

#[derive(Deserialize)]
struct RuleToml {
    pattern: Vec<TokenToml>,
    decision: Option<Decision>,
    justification: Option<String>,
}

#[derive(Deserialize)]
struct TokenToml {
    token: Option<String>,
    any_of: Option<Vec<String>>,
}

/// Reads the rules of a checked file.
pub fn from_table(table: &Table) -> Result<Option<Vec<PrefixRule>>, RulesError> {
    let rules = table
        .get("rules")
        .and_then(|rules| rules.get("prefix_rules"))
        .cloned();
    let Some(rules) =
        rules.and_then(|rules: Value| serde_json::from_value::<Vec<RuleToml>>(rules).ok())
    else {
        return Ok(None);
    };
    if rules.is_empty() {
        return Err(RulesError::NoRules);
    }
    rules
        .into_iter()
        .enumerate()
        .map(|(index, toml)| rule(index, toml))
        .collect::<Result<_, _>>()
        .map(Some)
}

fn rule(index: usize, toml: RuleToml) -> Result<PrefixRule, RulesError> {
    if toml
        .justification
        .as_ref()
        .is_some_and(|text| text.trim().is_empty())
    {
        return Err(RulesError::EmptyJustification(index));
    }
    if toml.pattern.is_empty() {
        return Err(RulesError::EmptyPattern(index));
    }
    let tokens = toml
        .pattern
        .into_iter()
        .enumerate()
        .map(|(position, toml)| {
            token(toml).map_err(|reason| RulesError::Token {
                rule: index,
                token: position,
                reason,
            })
        });
    let pattern = tokens.collect::<Result<_, _>>()?;
    match toml.decision {
        None => Err(RulesError::NoDecision(index)),
        Some(Decision::Allow) => Err(RulesError::Allow(index)),
        Some(decision) => Ok(PrefixRule {
            pattern,
            decision,
            justification: toml.justification,
        }),
    }
}

fn token(toml: TokenToml) -> Result<PatternToken, &'static str> {
    match (toml.token, toml.any_of) {
        (Some(_), Some(_)) => Err("set either token or any_of, not both"),
        (None, None) => Err("set either token or any_of"),
        (Some(token), None) if token.is_empty() => Err("token cannot be empty"),
        (Some(token), None) => Ok(PatternToken {
            any_of: vec![token],
        }),
        (None, Some(any_of)) if any_of.is_empty() => Err("any_of cannot be empty"),
        (None, Some(any_of)) => Ok(PatternToken { any_of }),
    }
}
