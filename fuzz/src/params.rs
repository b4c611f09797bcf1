//! What must hold for any bytes taken as the params of any method. The fuzz target and a plain test of
//! quipu-wire both run this.

use std::fmt::Debug;

use quipu_wire::codec::decode_strictly;
use quipu_wire::method::{Method, request};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Panics if a law of the decoders is broken.
pub fn check(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    check_all(text);
}

macro_rules! all {
    ($($(#[doc = $doc:literal])+ $stability:ident $name:ident = $wire:literal ($params:ty) -> $result:ty, $lane:ident $(($key:ident))? $(, $bound:ident $version:literal)?;)*) => {
        fn check_all(text: &str) {
            $(check_one::<<request::$name as Method>::Params>($wire, text);)*
        }
    };
}

quipu_wire::client_requests!(all);

/// What a server accepts, a client accepts too; and what was written reads and is written the same.
fn check_one<T: Serialize + DeserializeOwned + PartialEq + Debug>(method: &str, text: &str) {
    let strict = decode_strictly::<T>(text);
    let tolerant = serde_json::from_str::<T>(text);
    let read = match (strict, tolerant) {
        (Ok(strict), Ok(tolerant)) => {
            assert_eq!(strict, tolerant, "{method}: two readings");
            strict
        }
        (Ok(_), Err(error)) => panic!("{method}: only the strict reader accepts it: {error}"),
        (Err(_), Ok(tolerant)) => tolerant,
        (Err(_), Err(_)) => return,
    };
    let write = |params: &T| serde_json::to_string(params).expect("what was read can be written");
    let written = write(&read);
    assert!(!written.contains('\n'), "{method}: more than one line");
    let again: T = serde_json::from_str(&written).expect("what we write we can read");
    assert_eq!(
        written,
        write(&again),
        "{method}: changed by writing and reading"
    );
}
