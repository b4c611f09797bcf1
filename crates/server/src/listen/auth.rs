//! Credentials of websocket clients, checked before the upgrade and compared in constant time.

use std::fmt;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, Mac as _};
use serde::Deserialize;
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

use crate::platform;

/// A shorter secret could be guessed: in hexadecimal digits these are 128 bits.
const MIN_SECRET: usize = 32;

/// No secret is longer.
const MAX_SECRET: u64 = 64 * 1024;

/// What a client must present.
#[derive(Clone, PartialEq, Eq)]
pub enum WebSocketAuth {
    /// Nothing.
    None,
    /// A fixed token, kept as its digest.
    CapabilityToken([u8; 32]),
    /// A token signed with a shared secret.
    SignedBearer(SignedBearer),
}

/// The secret behind signed tokens, and what they must claim.
#[derive(Clone, PartialEq, Eq)]
pub struct SignedBearer {
    secret: Vec<u8>,
    issuer: Option<String>,
    audience: Option<String>,
    /// Seconds by which the clocks may differ.
    skew: u64,
}

/// Why the secret on disk cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum AuthError {
    #[error("failed to read websocket auth secret {path}: {source}")]
    Unreadable { path: String, source: io::Error },
    #[error(
        "`--ws-token-sha256` must be a SHA-256 digest of 64 hexadecimal digits; make one with `printf %s \"$TOKEN\" | \
         sha256sum`"
    )]
    Digest,
    #[error("websocket auth secret {0} must not be empty; {advice}", advice = advice(.0))]
    Empty(String),
    #[error(
        "{kind} {path} must be at least {MIN_SECRET} bytes; {advice}",
        advice = advice(.path)
    )]
    Short { kind: &'static str, path: String },
    #[error(
        "websocket auth secret {0} can be opened by other users of this machine; if they may know it, make it \
         private with `chmod 600 {0}`, else {advice}",
        advice = advice(.0)
    )]
    Exposed(String),
}

/// How to make a secret that is accepted.
fn advice(path: &str) -> String {
    format!("make one with `openssl rand -hex 32 > {path} && chmod 600 {path}`")
}

impl WebSocketAuth {
    /// Clients present the content of a file.
    pub fn capability_token(file: &Path) -> Result<WebSocketAuth, AuthError> {
        let token = read_secret(file, "websocket capability token")?;
        Ok(WebSocketAuth::token(&token))
    }

    /// Clients present this text.
    pub fn token(token: &str) -> WebSocketAuth {
        WebSocketAuth::CapabilityToken(Sha256::digest(token).into())
    }

    /// Clients present what has this SHA-256 digest, given in hexadecimal.
    pub fn capability_token_digest(digest: &str) -> Result<WebSocketAuth, AuthError> {
        let digest = digest.trim();
        let mut bytes = [0; 32];
        let is_hex = digest.len() == 64 && digest.bytes().all(|it| it.is_ascii_hexdigit());
        if !is_hex {
            return Err(AuthError::Digest);
        }
        for (byte, digits) in bytes.iter_mut().zip(digest.as_bytes().chunks(2)) {
            let digits = std::str::from_utf8(digits).unwrap_or_default();
            *byte = u8::from_str_radix(digits, 16).map_err(|_| AuthError::Digest)?;
        }
        Ok(WebSocketAuth::CapabilityToken(bytes))
    }

    /// Clients present an HS256 token signed with the content of a file.
    pub fn signed_bearer(
        file: &Path,
        issuer: Option<String>,
        audience: Option<String>,
        skew: u64,
    ) -> Result<WebSocketAuth, AuthError> {
        let secret = read_secret(file, "signed websocket bearer secret")?.into_bytes();
        let given = |text: Option<String>| {
            text.map(|it| it.trim().to_owned())
                .filter(|it| !it.is_empty())
        };
        let (issuer, audience) = (given(issuer), given(audience));
        Ok(WebSocketAuth::SignedBearer(SignedBearer {
            secret,
            issuer,
            audience,
            skew,
        }))
    }

    /// Checks an `Authorization` header; the error is for the client.
    pub fn check(&self, header: Option<&[u8]>) -> Result<(), &'static str> {
        if *self == WebSocketAuth::None {
            return Ok(());
        }
        let token = bearer(header.ok_or("missing websocket bearer token")?)
            .ok_or("invalid authorization header")?;
        match self {
            WebSocketAuth::None => Ok(()),
            WebSocketAuth::CapabilityToken(digest) => {
                let same: bool = Sha256::digest(token).ct_eq(digest).into();
                if same {
                    Ok(())
                } else {
                    Err("invalid websocket bearer token")
                }
            }
            WebSocketAuth::SignedBearer(signed) => signed.check(token, now()),
        }
    }
}

/// Secrets are not printed.
impl fmt::Debug for WebSocketAuth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            WebSocketAuth::None => "None",
            WebSocketAuth::CapabilityToken(_) => "CapabilityToken(…)",
            WebSocketAuth::SignedBearer(_) => "SignedBearer(…)",
        })
    }
}

/// The content of a file that nobody else may read, without the blanks around it.
fn read_secret(file: &Path, kind: &'static str) -> Result<String, AuthError> {
    let path = file.display().to_string();
    let (text, is_private) = match read(file) {
        Ok(read) => read,
        Err(source) => return Err(AuthError::Unreadable { path, source }),
    };
    match text.trim() {
        "" => Err(AuthError::Empty(path)),
        secret if secret.len() < MIN_SECRET => Err(AuthError::Short { kind, path }),
        _ if !is_private => Err(AuthError::Exposed(path)),
        secret => Ok(secret.to_owned()),
    }
}

/// The text of a file, and whether only its owner may open it.
fn read(file: &Path) -> io::Result<(String, bool)> {
    let file = File::open(file)?;
    let is_private = platform::is_private(&file.metadata()?);
    let mut text = String::new();
    file.take(MAX_SECRET).read_to_string(&mut text)?;
    Ok((text, is_private))
}

fn now() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_secs())
}

fn bearer(header: &[u8]) -> Option<&str> {
    let text = std::str::from_utf8(header)
        .ok()
        .filter(|text| text.bytes().all(|b| (b' '..=b'~').contains(&b)))?;
    let (scheme, token) = text.split_once(' ')?;
    let token = token.trim();
    (scheme.eq_ignore_ascii_case("bearer") && !token.is_empty()).then_some(token)
}

#[derive(Deserialize)]
struct Header {
    alg: String,
}

#[derive(Deserialize)]
struct Claims {
    exp: i64,
    nbf: Option<i64>,
    iss: Option<String>,
    aud: Option<Audience>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Audience {
    One(String),
    Many(Vec<String>),
}

impl SignedBearer {
    fn check(&self, token: &str, now: u64) -> Result<(), &'static str> {
        let claims = self.claims(token).ok_or("invalid websocket jwt")?;
        let (now, skew) = (i128::from(now), i128::from(self.skew));
        if now > i128::from(claims.exp) + skew {
            return Err("expired websocket jwt");
        }
        if claims.nbf.is_some_and(|nbf| now < i128::from(nbf) - skew) {
            return Err("websocket jwt is not valid yet");
        }
        if self.issuer.is_some() && claims.iss != self.issuer {
            return Err("websocket jwt issuer mismatch");
        }
        let listed = |wanted: &String| match &claims.aud {
            Some(Audience::One(audience)) => audience == wanted,
            Some(Audience::Many(audiences)) => audiences.contains(wanted),
            None => false,
        };
        match &self.audience {
            Some(wanted) if !listed(wanted) => Err("websocket jwt audience mismatch"),
            _ => Ok(()),
        }
    }

    /// The claims of a well-formed token whose signature is ours.
    fn claims(&self, token: &str) -> Option<Claims> {
        let (signed, signature) = token.rsplit_once('.')?;
        let (header, claims) = signed.split_once('.')?;
        let header: Header = serde_json::from_slice(&URL_SAFE_NO_PAD.decode(header).ok()?).ok()?;
        if header.alg != "HS256" {
            return None;
        }
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.secret).ok()?;
        mac.update(signed.as_bytes());
        mac.verify_slice(&URL_SAFE_NO_PAD.decode(signature).ok()?)
            .ok()?;
        serde_json::from_slice(&URL_SAFE_NO_PAD.decode(claims).ok()?).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    const SECRET: &[u8] = b"0123456789abcdef0123456789abcdef";
    const NOW: u64 = 1_000_000;

    fn signed(header: &Value, claims: &Value, secret: &[u8]) -> String {
        let encode = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
        let head = format!("{}.{}", encode(header), encode(claims));
        let mut mac = Hmac::<Sha256>::new_from_slice(secret).unwrap();
        mac.update(head.as_bytes());
        format!(
            "{head}.{}",
            URL_SAFE_NO_PAD.encode(mac.finalize().into_bytes())
        )
    }

    fn check(claims: Value) -> Result<(), &'static str> {
        let auth = SignedBearer {
            secret: SECRET.to_vec(),
            issuer: Some("me".into()),
            audience: Some("q".into()),
            skew: 30,
        };
        auth.check(&signed(&json!({ "alg": "HS256" }), &claims, SECRET), NOW)
    }

    #[test]
    fn claims_are_checked_one_by_one() {
        let good = json!({ "exp": NOW, "iss": "me", "aud": ["x", "q"] });
        let with = |key: &str, value: Value| {
            let mut claims = good.clone();
            claims[key] = value;
            claims
        };
        assert_eq!(check(good.clone()), Ok(()));
        assert_eq!(check(with("exp", json!(NOW - 30))), Ok(()));
        assert_eq!(
            check(with("exp", json!(NOW - 31))),
            Err("expired websocket jwt")
        );
        assert_eq!(
            check(with("exp", json!("soon"))),
            Err("invalid websocket jwt")
        );
        assert_eq!(
            check(with("nbf", json!(NOW + 31))),
            Err("websocket jwt is not valid yet")
        );
        assert_eq!(check(with("nbf", json!(NOW + 30))), Ok(()));
        assert_eq!(
            check(with("iss", json!("you"))),
            Err("websocket jwt issuer mismatch")
        );
        assert_eq!(check(with("aud", json!("q"))), Ok(()));
        assert_eq!(
            check(with("aud", json!("z"))),
            Err("websocket jwt audience mismatch")
        );
        assert_eq!(
            check(with("aud", Value::Null)),
            Err("websocket jwt audience mismatch")
        );
    }

    #[test]
    fn forged_tokens_are_refused() {
        let auth = SignedBearer {
            secret: SECRET.to_vec(),
            issuer: None,
            audience: None,
            skew: 0,
        };
        let claims = json!({ "exp": NOW + 10 });
        let hs256 = json!({ "alg": "HS256" });
        assert_eq!(auth.check(&signed(&hs256, &claims, SECRET), NOW), Ok(()));
        for token in [
            signed(&hs256, &claims, b"another secret, just as long as it"),
            signed(&json!({ "alg": "none" }), &claims, SECRET),
            signed(&json!({ "alg": "HS512" }), &claims, SECRET),
            "a.b".into(),
            "a.b.c".into(),
            String::new(),
        ] {
            assert_eq!(
                auth.check(&token, NOW),
                Err("invalid websocket jwt"),
                "{token}"
            );
        }
    }

    #[test]
    fn the_header_is_read_strictly() {
        let auth = WebSocketAuth::CapabilityToken(Sha256::digest("secret").into());
        assert_eq!(auth.check(None), Err("missing websocket bearer token"));
        for header in ["secret", "Basic secret", "Bearer ", "Bearer\tsecret"] {
            assert_eq!(
                auth.check(Some(header.as_bytes())),
                Err("invalid authorization header"),
                "{header}"
            );
        }
        assert_eq!(auth.check(Some(b"bearer  secret ")), Ok(()));
        assert_eq!(
            auth.check(Some(b"Bearer secre")),
            Err("invalid websocket bearer token")
        );
        assert!(!format!("{auth:?}").contains("secret"));
    }
}
