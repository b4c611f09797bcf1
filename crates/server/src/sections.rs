//! Sections of threads as data, in one text of the store: which there are, and which threads are in each, in order.

use quipu_journal::Store;
use quipu_wire::{
    Thread, ThreadSection, ThreadSectionAppearance, ThreadSectionMoveParams,
    ThreadSectionUpdateParams,
};
use serde::{Deserialize, Serialize};

use crate::{Refusal, clock};

/// The section that is always there, with the id that clients know.
pub(crate) const PINNED: &str = "01984de2-8f74-7c91-a3b2-5c5e937cf318";
const PINNED_NAME: &str = "Pinned";
/// Sections that there may be.
const MAX_SECTIONS: usize = 1_000;
/// Characters of a name.
const MAX_NAME: usize = 1_000;
/// Threads that may be in a section.
const MAX_THREADS: usize = 10_000;

/// All sections.
#[derive(Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Sections(Vec<Section>);

#[derive(Serialize, Deserialize)]
struct Section {
    id: String,
    name: String,
    appearance: Option<ThreadSectionAppearance>,
    threads: Vec<Member>,
}

/// A thread in a section.
#[derive(Serialize, Deserialize)]
pub(crate) struct Member {
    pub id: String,
    pub entered_at: i64,
}

impl Default for Sections {
    fn default() -> Sections {
        Sections(vec![Section {
            id: PINNED.to_owned(),
            name: PINNED_NAME.to_owned(),
            appearance: None,
            threads: Vec::new(),
        }])
    }
}

impl Section {
    fn shown(&self) -> ThreadSection {
        ThreadSection {
            id: self.id.clone(),
            name: self.name.clone(),
            appearance: self.appearance.clone(),
        }
    }
}

impl Sections {
    /// The sections as they are stored.
    pub fn read(store: &Store) -> Sections {
        store.sections().read().unwrap_or_default()
    }

    /// Changes them; stored when this returns.
    pub fn change<R>(
        store: &Store,
        change: impl FnMut(&mut Sections) -> Result<R, Refusal>,
    ) -> Result<R, Refusal> {
        let failed = |error: quipu_journal::Error| {
            Refusal::internal(format!("failed to store sections: {}", error.reason()))
        };
        store.sections().change(failed, change)
    }

    /// The sections after a cursor. Ids are made in their order.
    pub fn after(&self, cursor: Option<&str>) -> Vec<ThreadSection> {
        let rest = self.0.iter().filter(|it| cursor < Some(it.id.as_str()));
        rest.map(Section::shown).collect()
    }

    pub fn create(
        &mut self,
        name: &str,
        appearance: Option<ThreadSectionAppearance>,
    ) -> Result<ThreadSection, Refusal> {
        let name = checked(name)?;
        if self.0.len() >= MAX_SECTIONS {
            let text = format!("there are {MAX_SECTIONS} sections, which is the most");
            return Err(Refusal::invalid_params(text));
        }
        let section = Section {
            id: uuid::Uuid::now_v7().to_string(),
            name,
            appearance,
            threads: Vec::new(),
        };
        let shown = section.shown();
        self.0.push(section);
        Ok(shown)
    }

    pub fn update(&mut self, params: ThreadSectionUpdateParams) -> Result<ThreadSection, Refusal> {
        let name = checked(&params.name)?;
        let section = self.named(&params.section_id, "renamed")?;
        let section = &mut self.0[section];
        section.name = name;
        if let Some(appearance) = params.appearance {
            section.appearance = appearance;
        }
        Ok(section.shown())
    }

    pub fn delete(&mut self, id: &str) -> Result<(), Refusal> {
        let place = self.named(id, "deleted")?;
        self.0.remove(place);
        Ok(())
    }

    /// The place of a section that a client made.
    fn named(&self, id: &str, done: &str) -> Result<usize, Refusal> {
        if id == PINNED {
            let text = format!("the built-in pinned section cannot be {done}");
            return Err(Refusal::invalid_params(text));
        }
        let place = self.0.iter().position(|it| it.id == id);
        place.ok_or_else(|| Refusal::invalid_params(format!("thread section not found: {id}")))
    }

    /// Moves a thread into a section, within it, or out of it.
    pub fn move_thread(&mut self, params: ThreadSectionMoveParams) -> Result<(), Refusal> {
        let refuse = |text: String| Err(Refusal::invalid_request(text));
        let thread = params.thread_id;
        let Some(id) = params.section_id.flatten() else {
            if params.before_thread_id.is_some() {
                return refuse("beforeThreadId requires a non-null sectionId".to_owned());
            }
            self.forget(&thread);
            return Ok(());
        };
        let Some(place) = self.0.iter().position(|it| it.id == id) else {
            return refuse(format!("section {id} does not exist"));
        };
        if params.before_thread_id.as_ref() == Some(&thread) {
            return refuse(format!("thread {thread} cannot be moved before itself"));
        }
        let before = params.before_thread_id;
        let is_there = |before: &String| self.0[place].threads.iter().any(|it| it.id == *before);
        if let Some(before) = before.as_ref().filter(|before| !is_there(before)) {
            return refuse(format!("before thread {before} is not in section {id}"));
        }
        if self.0[place].threads.len() >= MAX_THREADS {
            return refuse(format!("a section has at most {MAX_THREADS} threads"));
        }
        let known = self.0[place].threads.iter().find(|it| it.id == thread);
        let entered_at = known.map_or_else(clock::unix_seconds, |it| it.entered_at);
        self.forget(&thread);
        let threads = &mut self.0[place].threads;
        let position = threads
            .iter()
            .position(|it| Some(&it.id) == before.as_ref());
        let member = Member {
            id: thread,
            entered_at,
        };
        threads.insert(position.unwrap_or(threads.len()), member);
        Ok(())
    }

    /// Takes a thread out of its section; `false` if it is in none.
    pub fn forget(&mut self, thread: &str) -> bool {
        let mut was_there = false;
        for section in &mut self.0 {
            let before = section.threads.len();
            section.threads.retain(|it| it.id != thread);
            was_there |= section.threads.len() < before;
        }
        was_there
    }

    /// The section of a thread, and since when it is there.
    pub fn of(&self, thread: &str) -> Option<(ThreadSection, i64)> {
        self.0.iter().find_map(|section| {
            let member = section.threads.iter().find(|it| it.id == thread)?;
            Some((section.shown(), member.entered_at))
        })
    }

    /// Shows in which section a thread is.
    pub fn show(&self, thread: &mut Thread) {
        let found = self.of(&thread.id);
        (thread.section, thread.section_entered_at) = found.unzip();
    }

    /// The threads of a section in their order; none if there is no such section.
    pub fn threads(&self, section: &str) -> &[Member] {
        let section = self.0.iter().find(|it| it.id == section);
        section.map_or(&[], |it| &it.threads)
    }

    /// The threads that are in any section.
    pub fn all_threads(&self) -> impl Iterator<Item = &Member> {
        self.0.iter().flat_map(|it| &it.threads)
    }
}

/// A name without blanks around it.
fn checked(name: &str) -> Result<String, Refusal> {
    let name = name.trim();
    if name.is_empty() {
        return Err(Refusal::invalid_params("section name must not be empty"));
    }
    if name.chars().count() > MAX_NAME {
        let text = format!("section name must not exceed {MAX_NAME} characters");
        return Err(Refusal::invalid_params(text));
    }
    Ok(name.to_owned())
}
