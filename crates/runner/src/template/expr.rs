//! What stands inside of `{{ }}` and behind `if`: words are read here, values are found in `render`.

use serde_json::Value;

use super::TemplateError;
use super::filter::Filter;

/// A value and what is done to it.
#[derive(Clone, Debug, PartialEq)]
pub struct Expr {
    pub line: usize,
    pub operand: Operand,
    pub filters: Vec<(Filter, Vec<Operand>)>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Operand {
    Literal(Value),
    /// `empty` and `blank`, which only comparisons know.
    Empty,
    /// A variable and its members.
    Path(Vec<String>),
}

/// When a branch is taken.
#[derive(Clone, Debug, PartialEq)]
pub enum Condition {
    Always,
    Not(Box<Condition>),
    /// From left to right; both operators bind alike, as in Liquid.
    Chain(Box<Test>, Vec<(Join, Test)>),
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Join {
    And,
    Or,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Test {
    pub line: usize,
    pub left: Operand,
    pub compared: Option<(Comparison, Operand)>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Contains,
}

/// The smallest piece of an expression.
#[derive(Clone, Debug, PartialEq)]
enum Word {
    Name(String),
    Text(String),
    Number(serde_json::Number),
    Sign(String),
}

/// The words of an expression, read one after the other.
pub struct Words {
    line: usize,
    words: std::vec::IntoIter<Word>,
}

impl Words {
    pub fn new(text: &str, line: usize) -> Result<Words, TemplateError> {
        let mut rest = text.trim_start();
        let mut words = Vec::new();
        while let Some(first) = rest.chars().next() {
            let (word, length) = match first {
                '"' | '\'' => {
                    let end = rest[1..].find(first);
                    let end = end.ok_or_else(|| fail(line, "a text is not closed"))?;
                    (Word::Text(rest[1..=end].to_owned()), end + 2)
                }
                '0'..='9' | '-' => number(rest, line)?,
                it if is_name(it) => {
                    let length = rest.find(|it| !is_name(it) && it != '-');
                    let length = length.unwrap_or(rest.len());
                    (Word::Name(rest[..length].to_owned()), length)
                }
                _ => {
                    let two = ["==", "!=", "<=", ">="];
                    let long = two.iter().any(|it| rest.starts_with(it));
                    let length = if long { 2 } else { first.len_utf8() };
                    (Word::Sign(rest[..length].to_owned()), length)
                }
            };
            words.push(word);
            rest = rest[length..].trim_start();
        }
        Ok(Words {
            line,
            words: words.into_iter(),
        })
    }

    fn peek(&self) -> Option<&Word> {
        self.words.as_slice().first()
    }

    fn take(&mut self, sign: &str) -> bool {
        let found = matches!(self.peek(), Some(Word::Sign(it)) if it == sign);
        if found {
            self.words.next();
        }
        found
    }

    pub fn take_name(&mut self, name: &str) -> bool {
        let found = matches!(self.peek(), Some(Word::Name(it)) if it == name);
        if found {
            self.words.next();
        }
        found
    }

    pub fn name(&mut self) -> Result<String, TemplateError> {
        match self.words.next() {
            Some(Word::Name(name)) => Ok(name),
            _ => Err(fail(self.line, "a name is missing")),
        }
    }

    pub fn end(&mut self) -> Result<(), TemplateError> {
        match self.words.next() {
            None => Ok(()),
            Some(word) => Err(fail(self.line, format!("unexpected {}", shown(&word)))),
        }
    }

    fn operand(&mut self) -> Result<Operand, TemplateError> {
        let word = self.words.next();
        match word.ok_or_else(|| fail(self.line, "a value is missing"))? {
            Word::Text(text) => Ok(Operand::Literal(text.into())),
            Word::Number(number) => Ok(Operand::Literal(number.into())),
            Word::Name(name) => match name.as_str() {
                "true" => Ok(Operand::Literal(true.into())),
                "false" => Ok(Operand::Literal(false.into())),
                "nil" | "null" => Ok(Operand::Literal(Value::Null)),
                "empty" | "blank" => Ok(Operand::Empty),
                _ => self.path(name).map(Operand::Path),
            },
            word => Err(fail(self.line, format!("unexpected {}", shown(&word)))),
        }
    }

    fn path(&mut self, first: String) -> Result<Vec<String>, TemplateError> {
        let mut path = vec![first];
        loop {
            if self.take(".") {
                path.push(self.name()?);
            } else if self.take("[") {
                match self.words.next() {
                    Some(Word::Text(text)) => path.push(text),
                    Some(Word::Number(number)) => path.push(number.to_string()),
                    _ => return Err(fail(self.line, "`[` needs a text or a number")),
                }
                if !self.take("]") {
                    return Err(fail(self.line, "`[` is not closed"));
                }
            } else {
                return Ok(path);
            }
        }
    }

    pub fn expr(&mut self) -> Result<Expr, TemplateError> {
        let operand = self.operand()?;
        let mut filters = Vec::new();
        while self.take("|") {
            let name = self.name()?;
            let Some(filter) = Filter::named(&name) else {
                return Err(TemplateError::Render {
                    line: self.line,
                    message: format!("unknown filter `{name}`"),
                });
            };
            let mut arguments = Vec::new();
            if self.take(":") {
                arguments.push(self.operand()?);
                while self.take(",") {
                    arguments.push(self.operand()?);
                }
            }
            let (least, most) = filter.arity();
            if arguments.len() < least || arguments.len() > most {
                let message = format!("`{name}` takes {least} to {most} arguments");
                return Err(fail(self.line, message));
            }
            filters.push((filter, arguments));
        }
        Ok(Expr {
            line: self.line,
            operand,
            filters,
        })
    }

    pub fn condition(&mut self) -> Result<Condition, TemplateError> {
        let first = self.test()?;
        let mut more = Vec::new();
        loop {
            let join = match () {
                () if self.take_name("and") => Join::And,
                () if self.take_name("or") => Join::Or,
                () => break,
            };
            more.push((join, self.test()?));
        }
        self.end()?;
        Ok(Condition::Chain(Box::new(first), more))
    }

    fn test(&mut self) -> Result<Test, TemplateError> {
        let left = self.operand()?;
        let comparison = match self.peek() {
            Some(Word::Sign(sign)) => match sign.as_str() {
                "==" => Some(Comparison::Equal),
                "!=" => Some(Comparison::NotEqual),
                "<" => Some(Comparison::Less),
                "<=" => Some(Comparison::LessOrEqual),
                ">" => Some(Comparison::Greater),
                ">=" => Some(Comparison::GreaterOrEqual),
                _ => None,
            },
            Some(Word::Name(name)) if name == "contains" => Some(Comparison::Contains),
            _ => None,
        };
        let compared = match comparison {
            Some(comparison) => {
                self.words.next();
                Some((comparison, self.operand()?))
            }
            None => None,
        };
        Ok(Test {
            line: self.line,
            left,
            compared,
        })
    }
}

fn is_name(it: char) -> bool {
    it.is_alphanumeric() || it == '_'
}

fn number(rest: &str, line: usize) -> Result<(Word, usize), TemplateError> {
    let digits = |it: char| it.is_ascii_digit() || it == '.' || it == '-';
    let length = rest.find(|it| !digits(it)).unwrap_or(rest.len());
    let text = &rest[..length];
    let integer = text.parse::<i64>().ok().map(Into::into);
    let float = || {
        text.parse::<f64>()
            .ok()
            .and_then(serde_json::Number::from_f64)
    };
    let number = integer.or_else(float);
    let number = number.ok_or_else(|| fail(line, format!("`{text}` is not a number")))?;
    Ok((Word::Number(number), length))
}

fn shown(word: &Word) -> String {
    match word {
        Word::Name(text) | Word::Sign(text) => format!("`{text}`"),
        Word::Text(text) => format!("\"{text}\""),
        Word::Number(number) => format!("`{number}`"),
    }
}

pub fn fail(line: usize, message: impl Into<String>) -> TemplateError {
    TemplateError::Parse {
        line,
        message: message.into(),
    }
}
