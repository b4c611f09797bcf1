//! What tools work with beside the session: things of the program that can go back to how they were.

use std::any::{Any, TypeId, type_name};
use std::collections::HashMap;
use std::error::Error;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::{Mutex as AsyncMutex, OwnedMutexGuard};

/// Why a resource cannot be saved or brought back.
pub type ResourceError = Box<dyn Error + Send + Sync>;

/// Something that tools use and change. Before each tool call a snapshot is taken, and a call that
/// fails, panics, is interrupted or exceeds a limit is undone by restoring it.
pub trait Resource: Send + Sync + 'static {
    /// What `restore` needs to undo everything that happens from now on.
    type Snapshot: Send + 'static;

    /// Takes a snapshot. If that fails, the tool is not called.
    fn snapshot(&self) -> Result<Self::Snapshot, ResourceError>;

    /// Undoes what happened since the snapshot. If that fails, the evaluation ends: what tools would
    /// do next would be built on a state that nobody wanted.
    fn restore(&self, snapshot: Self::Snapshot) -> Result<(), ResourceError>;
}

/// A value that tools share. It is saved by cloning it.
#[derive(Debug, Default)]
pub struct Shared<T>(Mutex<T>);

impl<T> Shared<T> {
    /// Makes a value a resource.
    pub fn new(value: T) -> Shared<T> {
        Shared(Mutex::new(value))
    }

    /// Reads or changes the value. Do not use it again inside `change`.
    pub fn with<R>(&self, change: impl FnOnce(&mut T) -> R) -> R {
        change(&mut self.0.lock())
    }
}

impl<T: Clone> Shared<T> {
    /// A copy of the value.
    #[must_use]
    pub fn get(&self) -> T {
        self.with(|value| value.clone())
    }
}

impl<T: Clone + Send + 'static> Resource for Shared<T> {
    type Snapshot = T;

    fn snapshot(&self) -> Result<T, ResourceError> {
        Ok(self.get())
    }

    fn restore(&self, snapshot: T) -> Result<(), ResourceError> {
        self.with(|value| *value = snapshot);
        Ok(())
    }
}

/// The resources of a program, by type; shared by all clones. Tool calls that use the same resources
/// run one after the other, also those of different evaluations: only so can one of them be undone.
#[derive(Clone, Default)]
pub struct Resources {
    by_type: HashMap<TypeId, Arc<dyn AnyResource>>,
    turn: Arc<AsyncMutex<()>>,
}

impl Resources {
    /// No resources.
    #[must_use]
    pub fn new() -> Resources {
        Resources::default()
    }

    /// Adds a resource, in place of one of the same type.
    #[must_use]
    pub fn with<R: Resource>(mut self, resource: R) -> Resources {
        let held = Held(Arc::new(resource));
        self.by_type.insert(TypeId::of::<R>(), Arc::new(held));
        self
    }

    /// The resource of a type.
    #[must_use]
    pub fn get<R: Resource>(&self) -> Option<Arc<R>> {
        let held = self.by_type.get(&TypeId::of::<R>())?;
        let held = held.as_any().downcast_ref::<Held<R>>()?;
        Some(Arc::clone(&held.0))
    }

    /// Waits until no other tool call uses them.
    pub(crate) async fn turn(&self) -> OwnedMutexGuard<()> {
        Arc::clone(&self.turn).lock_owned().await
    }

    /// Saves all of them.
    pub(crate) fn save(&self) -> Result<Saved, String> {
        let mut saved = Saved(Vec::with_capacity(self.by_type.len()));
        for resource in self.by_type.values() {
            let undo = catch_unwind(AssertUnwindSafe(|| Arc::clone(resource).save()))
                .unwrap_or_else(|_| Err("it panicked".into()));
            saved.0.push(
                undo.map_err(|error| format!("{} could not be saved: {error}", resource.name()))?,
            );
        }
        Ok(saved)
    }
}

impl fmt::Debug for Resources {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.by_type.values().map(|it| it.name());
        f.debug_set().entries(names).finish()
    }
}

type Undo = Box<dyn FnOnce() -> Result<(), String> + Send>;

/// What undoes a tool call. Dropping it keeps what the call did.
pub(crate) struct Saved(Vec<Undo>);

impl Saved {
    /// Restores all, also if one of them fails; what went wrong.
    pub fn restore(self) -> Result<(), String> {
        let undo = |undo: Undo| {
            let undone = catch_unwind(AssertUnwindSafe(undo));
            undone.unwrap_or_else(|_| Err("restoring a resource panicked".to_owned()))
        };
        let failed: Vec<_> = self.0.into_iter().filter_map(|it| undo(it).err()).collect();
        match failed.is_empty() {
            true => Ok(()),
            false => Err(failed.join("; ")),
        }
    }
}

trait AnyResource: Send + Sync {
    fn as_any(&self) -> &dyn Any;
    fn name(&self) -> &'static str;
    fn save(self: Arc<Self>) -> Result<Undo, ResourceError>;
}

struct Held<R>(Arc<R>);

impl<R: Resource> AnyResource for Held<R> {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn name(&self) -> &'static str {
        type_name::<R>()
    }

    fn save(self: Arc<Self>) -> Result<Undo, ResourceError> {
        let snapshot = self.0.snapshot()?;
        Ok(Box::new(move || {
            let restored = self.0.restore(snapshot);
            restored.map_err(|error| format!("{} could not be restored: {error}", self.name()))
        }))
    }
}
