//! Takes the model's references to its notes (`<oai-mem-citation>`) out of what it says, while it says it.

use quipu_wire::{MemoryCitation, MemoryCitationEntry};

const OPEN: &str = "<oai-mem-citation>";
const CLOSE: &str = "</oai-mem-citation>";

/// The longest reference that is read; what is over it is dropped.
const MAX_BODY: usize = 64 << 10;

/// Passes on what people should see, however the text is cut into pieces.
#[derive(Debug, Default)]
pub struct CitationFilter {
    /// The end of the text so far, if it may be the beginning of the next tag.
    held: String,
    /// The reference being read.
    body: Option<String>,
    found: Vec<String>,
}

impl CitationFilter {
    /// Whether a piece is seen as it is.
    pub fn shows(&self, piece: &str) -> bool {
        self.held.is_empty() && self.body.is_none() && !piece.contains('<')
    }

    /// Takes the next piece and passes on what is visible of it.
    pub fn push(&mut self, piece: &str, out: &mut impl FnMut(&str)) {
        let joined;
        let mut rest = piece;
        if !self.held.is_empty() {
            joined = std::mem::take(&mut self.held) + piece;
            rest = &joined;
        }
        while let Some((before, after)) = rest.split_once(self.tag()) {
            self.pass(before, out);
            match self.body.take() {
                None => self.body = Some(String::new()),
                Some(body) => self.found.push(body),
            }
            rest = after;
        }
        // A tag begins with the only `<` in it, so only the last one can be its beginning.
        let start = rest
            .rfind('<')
            .filter(|at| self.tag().starts_with(&rest[*at..]));
        let (known, held) = rest.split_at(start.unwrap_or(rest.len()));
        self.pass(known, out);
        self.held.push_str(held);
    }

    /// Ends the text: what was held back was no tag, and a reference may be left open.
    pub fn finish(&mut self, out: &mut impl FnMut(&str)) {
        let held = std::mem::take(&mut self.held);
        self.pass(&held, out);
        self.found.extend(self.body.take());
    }

    fn tag(&self) -> &'static str {
        if self.body.is_some() { CLOSE } else { OPEN }
    }

    fn pass(&mut self, text: &str, out: &mut impl FnMut(&str)) {
        match &mut self.body {
            Some(body) if body.len() + text.len() <= MAX_BODY => body.push_str(text),
            Some(_) => {}
            None if text.is_empty() => {}
            None => out(text),
        }
    }

    /// All references found so far; nothing if they name nothing.
    pub fn citation(&self) -> Option<MemoryCitation> {
        let entries = self
            .found
            .iter()
            .flat_map(|body| lines(body, "citation_entries"));
        let entries: Vec<_> = entries.filter_map(entry).collect();
        let mut thread_ids = Vec::new();
        for body in &self.found {
            for id in lines(body, "rollout_ids").chain(lines(body, "thread_ids")) {
                if !thread_ids.iter().any(|known| known == id) {
                    thread_ids.push(id.to_owned());
                }
            }
        }
        let is_empty = entries.is_empty() && thread_ids.is_empty();
        (!is_empty).then_some(MemoryCitation {
            entries,
            thread_ids,
        })
    }
}

/// The lines between two tags that say something.
fn lines<'a>(body: &'a str, tag: &str) -> impl Iterator<Item = &'a str> {
    let inner = body
        .split_once(&format!("<{tag}>"))
        .and_then(|(_, rest)| rest.split_once(&format!("</{tag}>")))
        .map_or("", |(inner, _)| inner);
    inner.lines().map(str::trim).filter(|line| !line.is_empty())
}

/// One `path:first-last|note=[…]`.
fn entry(line: &str) -> Option<MemoryCitationEntry> {
    let (place, note) = line.rsplit_once("|note=[")?;
    let (path, range) = place.rsplit_once(':')?;
    let (first, last) = range.split_once('-')?;
    Some(MemoryCitationEntry {
        path: path.trim().to_owned(),
        line_start: first.trim().parse().ok()?,
        line_end: last.trim().parse().ok()?,
        note: note.strip_suffix(']')?.trim().to_owned(),
    })
}
