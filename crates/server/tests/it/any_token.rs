//! What must hold for any bytes as the credential of a websocket client. The fuzz target `token` and a
//! plain test both run this.

use std::io::Write as _;
use std::sync::LazyLock;

use quipu_server::WebSocketAuth;

const SECRET: &[u8] = b"a secret of the fuzzer, 32 bytes";

/// Both kinds of credentials, made from one secret.
static AUTHS: LazyLock<[WebSocketAuth; 2]> = LazyLock::new(|| {
    let mut file = tempfile::NamedTempFile::new().expect("a file can be made");
    file.write_all(SECRET).expect("a file can be written");
    let issuer = Some("issuer".to_owned());
    let signed = WebSocketAuth::signed_bearer(file.path(), issuer, Some("quipu".to_owned()), 30);
    let capability = WebSocketAuth::capability_token(file.path());
    [signed, capability].map(|auth| auth.expect("the secret will do"))
});

/// Panics if somebody gets in who should not.
pub fn check(data: &[u8]) {
    let [signed, capability] = &*AUTHS;
    let header = [b"Bearer ", data].concat();
    for header in [data, &header] {
        // Nobody can sign without the secret, which is in no corpus.
        let answer = signed.check(Some(header));
        assert!(answer.is_err(), "a forged token was taken");
        let answer = capability.check(Some(header));
        let knows = header.windows(SECRET.len()).any(|part| part == SECRET);
        assert!(answer.is_err() || knows, "a wrong token was taken");
    }
    assert!(signed.check(None).is_err() && capability.check(None).is_err());
    assert!(WebSocketAuth::None.check(Some(data)).is_ok());
}

#[cfg(test)]
#[test]
fn the_laws_hold_for_the_corpus_of_the_fuzzer() {
    let corpus = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus/token");
    let inputs: Vec<_> = std::fs::read_dir(corpus).unwrap().collect();
    assert!(!inputs.is_empty());
    for input in inputs {
        check(&std::fs::read(input.unwrap().path()).unwrap());
    }
}
