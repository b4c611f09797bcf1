//! What this machine can enforce, found out by trying.

use std::fmt;

use crate::{Enforcement, SpawnError};

/// What builds the walls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Backend {
    /// With a version of Landlock in addition; 0 if there is none.
    Namespaces {
        landlock: u32,
    },
    Landlock {
        version: u32,
    },
}

/// What is available to enforce a policy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capabilities {
    /// A whole jail of namespaces could be built, or which step of it failed.
    pub namespaces: Result<(), String>,
    /// The version of the kernel's Landlock interface; 0 if it is missing or switched off.
    pub landlock: u32,
    /// Whether system calls can be filtered.
    pub seccomp: bool,
}

impl Capabilities {
    /// Whether policies can be enforced; if not, why, and what would help.
    pub fn check(&self) -> Result<(), SpawnError> {
        self.choose(Enforcement::Auto).map(|_| ())
    }

    fn choose(&self, wanted: Enforcement) -> Result<Backend, SpawnError> {
        self.backend(wanted).ok_or_else(|| self.refusal())
    }

    /// What enforces policies unless a command asks for something else.
    fn backend(&self, wanted: Enforcement) -> Option<Backend> {
        let namespaces = self.seccomp && self.namespaces.is_ok();
        let landlock = self.seccomp && self.landlock > 0;
        match wanted {
            Enforcement::Auto | Enforcement::Namespaces if namespaces => {
                Some(Backend::Namespaces {
                    landlock: self.landlock,
                })
            }
            Enforcement::OnlyNamespaces if namespaces => Some(Backend::Namespaces { landlock: 0 }),
            Enforcement::Auto | Enforcement::Landlock if landlock => Some(Backend::Landlock {
                version: self.landlock,
            }),
            Enforcement::OldLandlock(version) if landlock && version > 0 => {
                Some(Backend::Landlock {
                    version: version.min(self.landlock),
                })
            }
            _ => None,
        }
    }

    fn refusal(&self) -> SpawnError {
        if !cfg!(target_os = "linux") {
            return only_on_linux();
        }
        let mut reasons = Vec::new();
        if !self.seccomp {
            reasons.push("system calls cannot be filtered".to_owned());
        }
        if let Err(reason) = &self.namespaces {
            reasons.push(format!("no namespaces: {reason}"));
        }
        if self.landlock == 0 {
            reasons.push("no Landlock in this kernel".to_owned());
        }
        SpawnError::CannotEnforce {
            reason: reasons.join("; "),
            fix: FIX.to_owned(),
        }
    }
}

impl fmt::Display for Capabilities {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.backend(Enforcement::Auto) {
            Some(Backend::Namespaces { landlock: 0 }) => {
                write!(f, "sandbox: namespaces and seccomp")?;
            }
            Some(Backend::Namespaces { .. }) => {
                write!(f, "sandbox: namespaces, Landlock and seccomp")?;
            }
            Some(Backend::Landlock { .. }) => write!(f, "sandbox: Landlock and seccomp")?,
            None => write!(f, "sandbox: none, sandboxed commands are refused")?,
        }
        match &self.namespaces {
            Ok(()) => write!(f, " (namespaces: yes")?,
            Err(reason) => write!(f, " (namespaces: no, {reason}")?,
        }
        match self.landlock {
            0 => write!(f, "; Landlock: no")?,
            version => write!(f, "; Landlock: version {version}")?,
        }
        write!(f, "; seccomp: {})", if self.seccomp { "yes" } else { "no" })
    }
}

const FIX: &str = "Allow unprivileged user namespaces (sysctl kernel.unprivileged_userns_clone=1, \
    user.max_user_namespaces above 0, kernel.apparmor_restrict_unprivileged_userns=0), or run on a \
    kernel with Landlock (5.13 or later, with landlock among its security modules); if something \
    else confines this program, choose the external sandbox policy";

/// Why other systems refuse every policy that has to be enforced.
pub(crate) fn only_on_linux() -> SpawnError {
    SpawnError::CannotEnforce {
        reason: "commands can only be sandboxed on Linux so far".to_owned(),
        fix: "Run them with full access, or choose the external sandbox policy if something else \
            confines this program"
            .to_owned(),
    }
}

/// Finds out what can be enforced here; the answer is kept.
pub async fn capabilities() -> Result<Capabilities, SpawnError> {
    probe::capabilities().await
}

/// What is to enforce the policy of one command.
pub(crate) async fn choose(wanted: Enforcement) -> Result<Backend, SpawnError> {
    capabilities().await?.choose(wanted)
}

#[cfg(target_os = "linux")]
mod probe {
    use std::fs::File;

    use tokio::sync::OnceCell;

    use super::{Backend, Capabilities};
    use crate::{
        Grants, Hidden, Network, Policy, Readable, Rules, SpawnError,
        lifeline::{Lifeline, StartError},
        linux::{landlock, seccomp},
        spec::{Jail, Spec},
    };

    static FOUND: OnceCell<Capabilities> = OnceCell::const_new();

    pub(super) async fn capabilities() -> Result<Capabilities, SpawnError> {
        FOUND.get_or_try_init(find).await.cloned()
    }

    async fn find() -> Result<Capabilities, SpawnError> {
        let found = Capabilities {
            namespaces: try_namespaces().await?,
            landlock: landlock::version(),
            seccomp: seccomp::is_available(),
        };
        tracing::info!("{found}");
        Ok(found)
    }

    /// Builds a jail without running anything in it.
    async fn try_namespaces() -> Result<Result<(), String>, SpawnError> {
        let policy = Policy::ReadOnly {
            readable: Readable::Everything,
            hidden: Hidden::default(),
            network: Network::Off,
        };
        let rules = Rules::resolve(&policy, &Grants::default());
        let spec = Spec {
            argv: Vec::new(),
            programs: Vec::new(),
            env: Vec::new(),
            cwd: c"/".into(),
            tty: false,
            linger: None,
            jail: rules.map(|rules| Jail {
                backend: Backend::Namespaces {
                    landlock: landlock::version(),
                },
                rules,
            }),
        };
        let null = || {
            File::open("/dev/null")
                .map_err(|source| SpawnError::Start {
                    what: "/dev/null",
                    source,
                })
                .map(Into::into)
        };
        match Lifeline::start(&spec, [null()?, null()?, null()?]).await {
            Ok(_) => Ok(Ok(())),
            Err(StartError::Failed(failure)) => {
                Ok(Err(format!("{}: {}", failure.describe(), failure.error())))
            }
            Err(StartError::Spawn(error)) => Err(error),
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod probe {
    use super::Capabilities;
    use crate::SpawnError;

    pub(super) async fn capabilities() -> Result<Capabilities, SpawnError> {
        Ok(Capabilities {
            namespaces: Err("not on this system".to_owned()),
            landlock: 0,
            seccomp: false,
        })
    }
}
