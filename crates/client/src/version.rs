//! The server's version, which the protocol has in the middle of a user agent.

use std::fmt;

/// A version of the protocol: the first three numbers of a server's version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version {
    /// The first number.
    pub major: u64,
    /// The second number.
    pub minor: u64,
    /// The third number.
    pub patch: u64,
}

impl Version {
    /// A version from its numbers.
    #[must_use]
    pub const fn new(major: u64, minor: u64, patch: u64) -> Version {
        Version {
            major,
            minor,
            patch,
        }
    }

    /// Reads `NAME/1.2.3 (SYSTEM…) …`. The name is a client's choice and may hold anything, so the
    /// version is what stands between a slash and ` (`.
    pub(crate) fn of_user_agent(agent: &str) -> Option<Version> {
        agent.match_indices('/').find_map(|(slash, _)| {
            let (version, _) = agent[slash + 1..].split_once(" (")?;
            Version::parse(version)
        })
    }

    /// Reads `1.2.3`, with anything after a `-` or `+`.
    fn parse(text: &str) -> Option<Version> {
        let numbers = text.split(['-', '+']).next()?;
        let mut numbers = numbers.split('.').map(|it| it.parse().ok());
        let version = Version::new(numbers.next()??, numbers.next()??, numbers.next()??);
        numbers.next().is_none().then_some(version)
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_found_wherever_the_name_ends() {
        let cases = [
            (
                "app/0.118.0 (Linux; x86_64) xterm (app; 1)",
                Some((0, 118, 0)),
            ),
            ("a/b (c)/1.22.333-alpha.4 (x)", Some((1, 22, 333))),
            ("app/1.2 (x)", None),
            ("app/1.2.3.4 (x)", None),
            ("app", None),
            ("", None),
        ];
        for (agent, expected) in cases {
            let expected = expected.map(|(major, minor, patch)| Version::new(major, minor, patch));
            assert_eq!(Version::of_user_agent(agent), expected, "{agent}");
        }
    }

    #[test]
    fn versions_compare_by_number() {
        assert!(Version::new(0, 118, 0) > Version::new(0, 98, 7));
    }
}
