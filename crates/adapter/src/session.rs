//! What a program remembers between evaluations: typed slices that change by events only.
//!
//! A slice's state is never changed in place, so a copy of a session shares everything with the
//! original and a tool call can work on a copy of its own: what it did is replayed on success and
//! dropped with the copy on failure.

use std::any::Any;
use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::sync::Arc;

use parking_lot::Mutex;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Value, json};

/// Events that a session's log keeps; the oldest are forgotten, their effects are not.
const MOST_LOGGED: usize = 10_000;

/// A part of a session with a type of its own: its state, and how an event changes it.
///
/// ```
/// use quipu_adapter::{Session, Slice};
/// use serde::{Deserialize, Serialize};
///
/// #[derive(Clone, Default, Serialize, Deserialize)]
/// struct Cart {
///     items: Vec<String>,
/// }
///
/// impl Slice for Cart {
///     const NAME: &'static str = "cart";
///     type Event = String;
///
///     fn apply(&mut self, item: String) {
///         self.items.push(item);
///     }
/// }
///
/// let session = Session::new();
/// session.dispatch::<Cart>("bread".to_owned());
/// assert_eq!(session.get::<Cart>().items, ["bread"]);
/// ```
pub trait Slice: Clone + Default + Serialize + DeserializeOwned + Send + Sync + 'static {
    /// The slice's name where sessions are stored; unique among the slices of a program.
    const NAME: &'static str;
    /// What can happen to it.
    type Event: Clone + Serialize + DeserializeOwned + Send + Sync + 'static;

    /// The state after an event. It must depend on nothing but the two, and not use the session.
    fn apply(&mut self, event: Self::Event);
}

/// The slices of a program, shared by all clones. A session can be written as JSON and read again;
/// slices are read when they are first asked for.
#[derive(Clone, Default)]
pub struct Session {
    state: Arc<Mutex<State>>,
}

/// The slices of a session at one moment. Taking and keeping one costs little: states are shared.
#[derive(Clone, Default)]
pub struct Snapshot {
    slices: BTreeMap<String, Entry>,
}

#[derive(Default)]
struct State {
    slices: BTreeMap<String, Entry>,
    log: VecDeque<Arc<dyn Logged>>,
    /// A working copy keeps its whole log, since it is replayed.
    is_copy: bool,
}

#[derive(Clone)]
enum Entry {
    Live(Arc<dyn AnySlice>),
    Stored(Arc<Value>),
}

trait AnySlice: Send + Sync {
    fn as_any(&self) -> &dyn Any;
    fn json(&self) -> Value;
}

/// Something that changed a session.
trait Logged: Send + Sync {
    fn apply(&self, slices: &mut BTreeMap<String, Entry>);
    fn as_any(&self) -> &dyn Any;
    fn slice(&self) -> Option<&str>;
    fn json(&self) -> Value;
}

impl Session {
    /// A session without a past.
    #[must_use]
    pub fn new() -> Session {
        Session::default()
    }

    /// The state of a slice: its default if nothing has happened to it, or if a stored state is not
    /// one of this type ([`try_get`](Self::try_get) says why).
    #[must_use]
    pub fn get<S: Slice>(&self) -> S {
        self.try_get().unwrap_or_default()
    }

    /// The state of a slice, or why the stored one cannot be read.
    pub fn try_get<S: Slice>(&self) -> serde_json::Result<S> {
        state_of(&self.state.lock().slices)
    }

    /// Whether a slice has a state, because something has happened to it.
    #[must_use]
    pub fn has<S: Slice>(&self) -> bool {
        self.state.lock().slices.contains_key(S::NAME)
    }

    /// Something happened: the slice's state changes, and the log has one more event.
    pub fn dispatch<S: Slice>(&self, event: S::Event) {
        self.state.lock().push(Arc::new(Dispatched::<S>(event)));
    }

    /// The events of a slice that the log still has, oldest first.
    #[must_use]
    pub fn events<S: Slice>(&self) -> Vec<S::Event> {
        let state = self.state.lock();
        let of_slice = state.log.iter().filter(|it| it.slice() == Some(S::NAME));
        of_slice
            .filter_map(|it| match it.as_any().downcast_ref::<Dispatched<S>>() {
                Some(Dispatched(event)) => Some(event.clone()),
                None => serde_json::from_value(it.json()["event"].take()).ok(),
            })
            .collect()
    }

    /// The slices as they are now.
    #[must_use]
    pub fn snapshot(&self) -> Snapshot {
        let slices = self.state.lock().slices.clone();
        Snapshot { slices }
    }

    /// Brings all slices back to what they were. The log keeps what happened since, and this.
    pub fn restore(&self, snapshot: &Snapshot) {
        self.state.lock().push(Arc::new(Restored(snapshot.clone())));
    }

    /// A copy to work on, whose events can be replayed here.
    pub(crate) fn working_copy(&self) -> Session {
        let state = State {
            slices: self.state.lock().slices.clone(),
            log: VecDeque::new(),
            is_copy: true,
        };
        Session {
            state: Arc::new(Mutex::new(state)),
        }
    }

    /// Replays what happened to a working copy: all of it, or nothing if a reducer panics, as one may on a
    /// state that somebody else has changed meanwhile.
    pub(crate) fn commit(&self, copy: &Session) {
        let events = std::mem::take(&mut copy.state.lock().log);
        let mut state = self.state.lock();
        let mut slices = state.slices.clone();
        events.iter().for_each(|event| event.apply(&mut slices));
        state.slices = slices;
        events.into_iter().for_each(|event| state.log(event));
    }
}

impl State {
    /// States are replaced, not changed, so one whose reducer panics stays as it was.
    fn push(&mut self, event: Arc<dyn Logged>) {
        event.apply(&mut self.slices);
        self.log(event);
    }

    fn log(&mut self, event: Arc<dyn Logged>) {
        self.log.push_back(event);
        if self.log.len() > MOST_LOGGED && !self.is_copy {
            self.log.pop_front();
        }
    }
}

fn state_of<S: Slice>(slices: &BTreeMap<String, Entry>) -> serde_json::Result<S> {
    match slices.get(S::NAME) {
        None => Ok(S::default()),
        Some(Entry::Stored(json)) => S::deserialize(&**json),
        Some(Entry::Live(live)) => match live.as_any().downcast_ref::<S>() {
            Some(state) => Ok(state.clone()),
            // Two types with one name.
            None => serde_json::from_value(live.json()),
        },
    }
}

impl<S: Slice> AnySlice for S {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn json(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }
}

struct Dispatched<S: Slice>(S::Event);

impl<S: Slice> Logged for Dispatched<S> {
    fn apply(&self, slices: &mut BTreeMap<String, Entry>) {
        let mut state: S = state_of(slices).unwrap_or_default();
        state.apply(self.0.clone());
        slices.insert(S::NAME.to_owned(), Entry::Live(Arc::new(state)));
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn slice(&self) -> Option<&str> {
        Some(S::NAME)
    }

    fn json(&self) -> Value {
        json!({ "slice": S::NAME, "event": self.0 })
    }
}

struct Restored(Snapshot);

impl Logged for Restored {
    fn apply(&self, slices: &mut BTreeMap<String, Entry>) {
        *slices = self.0.slices.clone();
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn slice(&self) -> Option<&str> {
        None
    }

    fn json(&self) -> Value {
        json!({ "restored": self.0 })
    }
}

/// An event of a session that was read: its effect is in the stored states already.
struct Remembered(Value);

impl Logged for Remembered {
    fn apply(&self, _: &mut BTreeMap<String, Entry>) {}

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn slice(&self) -> Option<&str> {
        self.0["slice"].as_str()
    }

    fn json(&self) -> Value {
        self.0.clone()
    }
}

#[derive(Deserialize)]
struct Stored {
    slices: BTreeMap<String, Value>,
    #[serde(default)]
    log: Vec<Value>,
}

impl Serialize for Session {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let log: Vec<Value> = self.state.lock().log.iter().map(|it| it.json()).collect();
        let slices = self.snapshot();
        json!({ "slices": slices, "log": log }).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Session {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Session, D::Error> {
        let Stored { slices, log } = Stored::deserialize(deserializer)?;
        let excess = log.len().saturating_sub(MOST_LOGGED);
        let log = log.into_iter().skip(excess);
        let state = State {
            slices: stored(slices),
            log: log.map(|it| Arc::new(Remembered(it)) as _).collect(),
            is_copy: false,
        };
        Ok(Session {
            state: Arc::new(Mutex::new(state)),
        })
    }
}

fn stored(slices: BTreeMap<String, Value>) -> BTreeMap<String, Entry> {
    let entry = |(name, state)| (name, Entry::Stored(Arc::new(state)));
    slices.into_iter().map(entry).collect()
}

impl Serialize for Snapshot {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.slices.iter().map(|(name, entry)| {
            let json = match entry {
                Entry::Live(live) => live.json(),
                Entry::Stored(json) => (**json).clone(),
            };
            (name, json)
        }))
    }
}

impl<'de> Deserialize<'de> for Snapshot {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Snapshot, D::Error> {
        let slices = stored(BTreeMap::deserialize(deserializer)?);
        Ok(Snapshot { slices })
    }
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session")
            .field("slices", &self.snapshot())
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Snapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.slices.keys()).finish()
    }
}

/// Two snapshots are equal if all slices are, as JSON.
impl PartialEq for Snapshot {
    fn eq(&self, other: &Snapshot) -> bool {
        serde_json::to_value(self).ok() == serde_json::to_value(other).ok()
    }
}
