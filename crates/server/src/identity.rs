//! How the server names itself to providers and clients. Some clients read the protocol version out of
//! the user agent, so its form is that of the official server.

mod platform;
mod terminal;

use std::sync::{LazyLock, OnceLock};

use parking_lot::Mutex;
use quipu_config::Env;

/// The variable that overrides the name taken from the first client.
const OVERRIDE: &str = "CODEX_INTERNAL_ORIGINATOR_OVERRIDE";

/// The process-wide identity: the first client gives the originator, the latest the suffix.
pub(crate) struct Identity {
    originator: OnceLock<String>,
    /// `(<os> <os version>; <arch>) <terminal>`, which does not change.
    surroundings: OnceLock<String>,
    latest: Mutex<Option<String>>,
    /// What this server says it is the like of.
    version: Version,
}

/// A version that is looked up when it is needed.
type Version = LazyLock<String, Box<dyn FnOnce() -> String + Send>>;

impl Identity {
    pub fn new(env: &Env, version: impl FnOnce() -> String + Send + 'static) -> Identity {
        let overridden = env.get(OVERRIDE).filter(|name| is_header_value(name));
        Identity {
            originator: overridden
                .map(str::to_owned)
                .map(OnceLock::from)
                .unwrap_or_default(),
            surroundings: OnceLock::new(),
            latest: Mutex::default(),
            version: LazyLock::new(Box::new(version)),
        }
    }

    /// Notes a client and returns the user agent from then on.
    pub fn introduce(&self, env: &Env, name: &str, version: &str) -> String {
        self.originator.get_or_init(|| name.to_owned());
        let suffix = format!("{name}; {version}").trim().to_owned();
        *self.latest.lock() = Some(suffix);
        self.user_agent(env)
    }

    /// The version that clients see.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// The name of the program that drives this process.
    pub fn originator(&self) -> &str {
        self.originator.get().map_or("quipu", String::as_str)
    }

    /// `<originator>/<version> (<os> <os version>; <arch>) <terminal> (<client>; <client version>)`
    pub fn user_agent(&self, env: &Env) -> String {
        let surroundings = self
            .surroundings
            .get_or_init(|| format!("({}) {}", platform::describe(), terminal::token(env)));
        let mut agent = format!("{}/{} {surroundings}", self.originator(), self.version());
        let latest = self.latest.lock();
        if let Some(latest) = &*latest {
            agent.extend([" (", latest, ")"]);
        }
        if is_header_value(&agent) {
            return agent;
        }
        let printable = |c: char| if matches!(c, ' '..='~') { c } else { '_' };
        agent.chars().map(printable).collect()
    }
}

/// Whether a text may stand in an HTTP header: no control characters but the tab.
pub(crate) fn is_header_value(text: &str) -> bool {
    text.bytes()
        .all(|byte| byte == b'\t' || (byte >= b' ' && byte != 0x7f))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn env(vars: &[(&str, &str)]) -> Env {
        Env::new(vars.iter().copied(), "/")
    }

    #[test]
    fn the_first_client_names_the_process_and_the_latest_is_added() {
        let env = env(&[("TERM", "xterm")]);
        let identity = Identity::new(&env, || "0.118.0".to_owned());
        let first = identity.introduce(&env, "first", "1");
        assert!(first.starts_with("first/0.118.0 ("), "{first}");
        assert!(first.ends_with(") xterm (first; 1)"), "{first}");
        let second = identity.introduce(&env, "second", "2");
        assert!(second.starts_with("first/0.118.0 ("), "{second}");
        assert!(second.ends_with(") xterm (second; 2)"), "{second}");
        assert_eq!(identity.originator(), "first");
    }

    #[test]
    fn the_environment_overrides_every_client() {
        let env = env(&[(OVERRIDE, "ide")]);
        let agent = Identity::new(&env, || "0.118.0".to_owned()).introduce(&env, "client", "1");
        assert!(agent.starts_with("ide/0.118.0 ("), "{agent}");
        let bad = self::env(&[(OVERRIDE, "a\nb")]);
        let agent = Identity::new(&bad, || "0.118.0".to_owned()).introduce(&bad, "client", "1");
        assert!(agent.starts_with("client/0.118.0 ("), "{agent}");
    }

    /// Each of these is what the official server answers.
    #[test]
    fn what_no_header_may_hold_is_replaced() {
        let env = env(&[]);
        for (name, version, expected) in [
            ("é", "1", ["é/", "(é; 1)"]),
            ("é", "1\n2", ["_/", "(_; 1_2)"]),
            ("a\tb", "1\n2", ["a_b/", "(a_b; 1_2)"]),
            ("  ", "1", ["  /", "(; 1)"]),
            ("", "", ["/", "(;)"]),
        ] {
            let agent = Identity::new(&env, || "0.118.0".to_owned()).introduce(&env, name, version);
            let [start, end] = expected;
            assert!(agent.starts_with(start) && agent.ends_with(end), "{agent}");
        }
    }
}
