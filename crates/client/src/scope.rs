//! Which thread and turn a message is about, and who wants to hear of it. Read from the params
//! themselves, so that it also works for methods that this version does not know.

use std::borrow::Cow;

use serde::Deserialize;

/// What a listener wants to hear.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    All,
    Thread(String),
    Turn { thread: String, turn: String },
}

/// What a message is about, as far as it says so.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Place<'a> {
    pub thread: Option<&'a str>,
    pub turn: Option<&'a str>,
}

impl Scope {
    pub fn covers(&self, place: Place<'_>) -> bool {
        match self {
            Scope::All => true,
            Scope::Thread(thread) => place.thread == Some(thread),
            Scope::Turn { thread, turn } => {
                place.thread == Some(thread) && place.turn == Some(turn)
            }
        }
    }

    /// The one thread that is wanted, if not all are.
    pub fn thread(&self) -> Option<&str> {
        match self {
            Scope::All => None,
            Scope::Thread(thread) | Scope::Turn { thread, .. } => Some(thread),
        }
    }
}

/// The members of params that name threads and turns. Either an id stands at the top, or the whole
/// thread or turn.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Ids<'a> {
    #[serde(borrow)]
    thread_id: Option<Text<'a>>,
    #[serde(borrow)]
    turn_id: Option<Text<'a>>,
    #[serde(borrow)]
    thread: Option<Named<'a>>,
    #[serde(borrow)]
    turn: Option<Named<'a>>,
}

#[derive(Deserialize)]
struct Named<'a> {
    #[serde(borrow)]
    id: Text<'a>,
}

/// Borrows unless the text has escapes, which ids do not.
#[derive(Deserialize)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

impl<'a> Ids<'a> {
    /// Params that do not fit are about nothing in particular.
    pub fn of(params: &'a str) -> Ids<'a> {
        serde_json::from_str(params).unwrap_or_default()
    }

    pub fn place(&self) -> Place<'_> {
        Place {
            thread: either(&self.thread_id, &self.thread),
            turn: either(&self.turn_id, &self.turn),
        }
    }
}

fn either<'a>(id: &'a Option<Text<'_>>, whole: &'a Option<Named<'_>>) -> Option<&'a str> {
    let id = id.as_ref().or(whole.as_ref().map(|whole| &whole.id));
    id.map(|id| &*id.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_found_in_every_shape_of_params() {
        let cases = [
            (
                r#"{"threadId":"t","turnId":"u","x":[1]}"#,
                (Some("t"), Some("u")),
            ),
            (
                r#"{"threadId":"t","turn":{"id":"u"}}"#,
                (Some("t"), Some("u")),
            ),
            (r#"{"thread":{"name":null,"id":"t"}}"#, (Some("t"), None)),
            (r#"{"threadId":"a\nb"}"#, (Some("a\nb"), None)),
            (r#"{"threadId":7}"#, (None, None)),
            ("null", (None, None)),
            ("[]", (None, None)),
        ];
        for (params, (thread, turn)) in cases {
            assert_eq!(Ids::of(params).place(), Place { thread, turn }, "{params}");
        }
    }

    #[test]
    fn narrower_scopes_hear_less() {
        let place = Place {
            thread: Some("t"),
            turn: None,
        };
        let turn = Scope::Turn {
            thread: "t".into(),
            turn: "u".into(),
        };
        assert!(Scope::All.covers(Place::default()));
        assert!(Scope::Thread("t".into()).covers(place));
        assert!(!Scope::Thread("x".into()).covers(place));
        assert!(!turn.covers(place));
    }
}
