//! Where the lists, tuples, dictionaries, functions and variables of a run live, and its budget.

use std::cell::Cell;
use std::collections::HashMap;
use std::rc::Rc;

use super::dict::Dict;
use super::scope::Names;
use super::syntax::{Function, Name};
use super::types::Type;
use super::value::{DictId, FunctionId, ListId, Range, TupleId, Value};

/// Values and statements that one file may work through.
const MAX_STEPS: usize = 1_000_000;

/// Bytes of text that count as one step.
const BYTES_PER_STEP: usize = 32;

#[derive(Debug, Default)]
pub(super) struct List {
    pub items: Vec<Value>,
    /// Loops that are going through it: meanwhile it cannot be changed.
    pub loops: usize,
}

/// A function with the variables around it.
#[derive(Debug, Clone)]
pub(super) struct Closure {
    pub function: Rc<Function>,
    pub scope: ScopeId,
    /// For each parameter.
    pub defaults: Rc<[Option<Value>]>,
    pub types: Rc<[Option<Type>]>,
    pub returns: Option<Rc<Type>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ScopeId(usize);

/// The variables of a file, a call or a comprehension; those without a value are yet to get one.
#[derive(Debug)]
struct Scope {
    outer: Option<ScopeId>,
    names: HashMap<Name, Option<Value>>,
}

#[derive(Debug, Default)]
pub struct Heap {
    lists: Vec<List>,
    tuples: Vec<Rc<[Value]>>,
    dicts: Vec<Dict>,
    functions: Vec<Closure>,
    scopes: Vec<Scope>,
    steps: Cell<usize>,
}

impl Heap {
    pub(super) fn spend(&self, steps: usize) -> Result<(), String> {
        let steps = self.steps.get().saturating_add(steps);
        self.steps.set(steps);
        if steps > MAX_STEPS {
            return Err("the file computes too much".to_owned());
        }
        Ok(())
    }

    pub(super) fn new_text(&self, text: impl Into<Rc<str>>) -> Result<Value, String> {
        let text = text.into();
        self.spend_text(text.len())?;
        Ok(Value::Text(text))
    }

    /// Call before a text of this size is made.
    pub(super) fn spend_text(&self, bytes: usize) -> Result<(), String> {
        self.spend(bytes / BYTES_PER_STEP + 1)
    }

    pub(super) fn new_list(&mut self, items: Vec<Value>) -> Result<Value, String> {
        self.spend(items.len() + 1)?;
        self.lists.push(List { items, loops: 0 });
        Ok(Value::List(ListId(self.lists.len() - 1)))
    }

    pub(super) fn new_tuple(&mut self, items: Vec<Value>) -> Result<Value, String> {
        self.new_tuple_id(items).map(Value::Tuple)
    }

    pub(super) fn new_tuple_id(&mut self, items: Vec<Value>) -> Result<TupleId, String> {
        self.spend(items.len() + 1)?;
        self.tuples.push(items.into());
        Ok(TupleId(self.tuples.len() - 1))
    }

    pub(super) fn new_dict(&mut self, dict: Dict) -> Result<Value, String> {
        self.spend(dict.len() + 1)?;
        self.dicts.push(dict);
        Ok(Value::Dict(DictId(self.dicts.len() - 1)))
    }

    pub(super) fn new_function(&mut self, closure: Closure) -> Result<Value, String> {
        self.spend(closure.defaults.len() + 1)?;
        self.functions.push(closure);
        Ok(Value::Function(FunctionId(self.functions.len() - 1)))
    }

    pub(super) fn new_scope(
        &mut self,
        outer: Option<ScopeId>,
        names: &Names,
    ) -> Result<ScopeId, String> {
        self.spend(names.len() + 1)?;
        let names = names.iter().map(|name| (name.clone(), None)).collect();
        self.scopes.push(Scope { outer, names });
        Ok(ScopeId(self.scopes.len() - 1))
    }

    pub fn list(&self, id: ListId) -> &[Value] {
        &self.lists[id.0].items
    }

    /// The items of a list that is about to be changed.
    pub(super) fn list_mut(&mut self, id: ListId) -> Result<&mut Vec<Value>, String> {
        let list = &mut self.lists[id.0];
        match list.loops {
            0 => Ok(&mut list.items),
            _ => Err("a list cannot be changed while a loop goes through it".to_owned()),
        }
    }

    pub(super) fn tuple(&self, id: TupleId) -> &Rc<[Value]> {
        &self.tuples[id.0]
    }

    pub(super) fn dict(&self, id: DictId) -> &Dict {
        &self.dicts[id.0]
    }

    /// A dictionary that is about to be changed.
    pub(super) fn dict_mut(&mut self, id: DictId) -> Result<&mut Dict, String> {
        let dict = &mut self.dicts[id.0];
        match dict.loops {
            0 => Ok(dict),
            _ => Err("a dictionary cannot be changed while a loop goes through it".to_owned()),
        }
    }

    pub(super) fn function(&self, id: FunctionId) -> &Closure {
        &self.functions[id.0]
    }

    /// What a name stands for in this scope or around it; the inner `None` is not assigned yet.
    pub(super) fn variable(&self, scope: ScopeId, name: &str) -> Option<&Option<Value>> {
        let mut scope = &self.scopes[scope.0];
        loop {
            if let Some(found) = scope.names.get(name) {
                return Some(found);
            }
            scope = &self.scopes[scope.outer?.0];
        }
    }

    pub(super) fn assign(&mut self, scope: ScopeId, name: &Name, value: Value) {
        self.scopes[scope.0].names.insert(name.clone(), Some(value));
    }

    /// Marks that a loop starts or ends going through this value.
    pub(super) fn hold(&mut self, value: &Value, starts: bool) {
        let loops = match value {
            Value::List(id) => &mut self.lists[id.0].loops,
            Value::Dict(id) => &mut self.dicts[id.0].loops,
            _ => return,
        };
        *loops = match starts {
            true => *loops + 1,
            false => loops.saturating_sub(1),
        };
    }

    /// The parts of a value that can be gone through.
    pub(super) fn items(&self, value: &Value) -> Result<Items, String> {
        let items: Vec<Value> = match value {
            Value::List(id) => self.list(*id).to_vec(),
            Value::Tuple(id) | Value::Characters(id) => self.tuple(*id).to_vec(),
            Value::Dict(id) => self.dict(*id).keys().cloned().collect(),
            Value::Range(range) => return Ok(Items::Range(*range, 0)),
            other => return Err(format!("{} cannot be gone through", other.described())),
        };
        self.spend(items.len())?;
        Ok(Items::Known(items.into_iter()))
    }

    /// The same as a whole.
    pub(super) fn all_items(&self, value: &Value) -> Result<Vec<Value>, String> {
        if let Value::Range(range) = value {
            self.spend(range.len())?;
        }
        Ok(self.items(value)?.collect())
    }
}

/// Values one after the other; those of a range are made on the way.
pub(super) enum Items {
    Known(std::vec::IntoIter<Value>),
    Range(Range, usize),
}

impl Iterator for Items {
    type Item = Value;

    fn next(&mut self) -> Option<Value> {
        match self {
            Items::Known(items) => items.next(),
            Items::Range(range, next) => {
                if *next >= range.len() {
                    return None;
                }
                *next += 1;
                Some(Value::Number(range.get(*next - 1)))
            }
        }
    }
}
