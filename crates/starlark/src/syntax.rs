//! What the parser makes of a file: statements and expressions, each with its place.

use std::rc::Rc;

use super::lexer::Position;
use super::scope::Names;
use super::text::Piece;

pub(super) type Name = Rc<str>;
pub(super) type Block = Vec<Statement>;

#[derive(Debug)]
pub(super) enum Statement {
    Expression(Expression),
    Assign {
        target: Target,
        annotation: Option<Expression>,
        value: Expression,
    },
    /// `target op= value`.
    Augment {
        target: Target,
        operator: Operator,
        value: Expression,
        at: Position,
    },
    For {
        target: Target,
        over: Expression,
        body: Block,
    },
    If {
        branches: Vec<(Expression, Block)>,
        otherwise: Block,
    },
    Define(Rc<Function>),
    Return(Option<Expression>),
    Break,
    Continue,
    Pass,
}

/// What can be assigned to.
#[derive(Debug)]
pub(super) enum Target {
    Name(Name, Position),
    Index {
        object: Expression,
        key: Expression,
        at: Position,
    },
    Several(Vec<Target>, Position),
}

#[derive(Debug)]
pub(super) struct Expression {
    pub at: Position,
    pub kind: Term,
}

#[derive(Debug)]
pub(super) enum Term {
    Text(Name),
    Format(Vec<Piece>),
    Number(i128),
    Float(f64),
    Ellipsis,
    Name(Name),
    List(Vec<Expression>),
    Tuple(Vec<Expression>),
    Dict(Vec<(Expression, Expression)>),
    ListLoop(Box<Expression>, Vec<Clause>),
    DictLoop(Box<(Expression, Expression)>, Vec<Clause>),
    Call(Box<Expression>, Vec<Argument>),
    Attribute(Box<Expression>, Name),
    /// One key, or several with commas between.
    Index(Box<Expression>, Vec<Expression>),
    Slice(Box<Slice>),
    Not(Box<Expression>),
    Unary(Sign, Box<Expression>),
    And(Vec<Expression>),
    Or(Vec<Expression>),
    Compare(Box<(Expression, Comparison, Expression)>),
    /// Operators of one precedence, from left to right.
    Chain(Box<Expression>, Vec<(Operator, Expression)>),
    Conditional(Box<Conditional>),
    Lambda(Rc<Function>),
}

#[derive(Debug)]
pub(super) struct Slice {
    pub object: Expression,
    pub from: Option<Expression>,
    pub to: Option<Expression>,
    pub step: Option<Expression>,
}

/// `then if condition else otherwise`.
#[derive(Debug)]
pub(super) struct Conditional {
    pub condition: Expression,
    pub then: Expression,
    pub otherwise: Expression,
}

/// A part of a comprehension after its item.
#[derive(Debug)]
pub(super) enum Clause {
    For(Target, Expression),
    If(Expression),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operator {
    Add,
    Subtract,
    Multiply,
    Divide,
    FloorDivide,
    Modulo,
    Or,
    Xor,
    And,
    ShiftLeft,
    ShiftRight,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sign {
    Plus,
    Minus,
    Invert,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Comparison {
    Equal,
    Unequal,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    In,
    NotIn,
}

#[derive(Debug)]
pub(super) struct Argument {
    pub kind: ArgumentKind,
    pub value: Expression,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum ArgumentKind {
    Positional,
    Named(Name),
    /// `*value`.
    Sequence,
    /// `**value`.
    Mapping,
}

/// A `def` or a `lambda`.
#[derive(Debug)]
pub(super) struct Function {
    pub name: Name,
    pub at: Position,
    pub parameters: Vec<Parameter>,
    pub returns: Option<Expression>,
    pub body: Block,
    /// Every name that is assigned in the body, and the parameters.
    pub locals: Names,
}

#[derive(Debug)]
pub(super) struct Parameter {
    pub name: Name,
    pub at: Position,
    pub kind: ParameterKind,
    pub annotation: Option<Expression>,
    pub default: Option<Expression>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ParameterKind {
    Plain,
    /// After a `*`: only by name.
    Named,
    /// `*name`: the positional arguments that are left.
    Sequence,
    /// `**name`: the named arguments that are left.
    Mapping,
}
