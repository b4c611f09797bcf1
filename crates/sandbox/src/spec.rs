//! What the server tells the helper: the command and its jail, in a plain binary form.
//!
//! Both ends are the same build of the same program, so the form needs no versions; it must only be
//! cheap to write and to read.

use std::{
    ffi::{CString, OsString},
    os::unix::ffi::{OsStrExt, OsStringExt},
    path::PathBuf,
};

use crate::{
    Network,
    capabilities::Backend,
    rules::{Access, Entry, Reserved, Rules},
};

/// Everything the helper has to know. It cannot be printed: environments hold secrets.
#[derive(PartialEq, Eq)]
pub(crate) struct Spec {
    pub argv: Vec<CString>,
    /// The files to try to execute, in order; none if only the jail is to be tried.
    pub programs: Vec<CString>,
    pub env: Vec<CString>,
    pub cwd: CString,
    pub tty: bool,
    /// How long descendants may outlive the command, in milliseconds.
    pub linger: Option<u32>,
    pub jail: Option<Jail>,
}

/// The rules and what enforces them.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Jail {
    pub backend: Backend,
    pub rules: Rules,
}

/// A value that can be written to bytes and read back.
pub(crate) trait Code: Sized {
    fn put(&self, out: &mut Vec<u8>);
    /// `None` if the bytes are not what `put` wrote.
    fn get(input: &mut &[u8]) -> Option<Self>;
}

macro_rules! code_struct {
    ($name:ident { $($field:ident),* }) => {
        impl Code for $name {
            fn put(&self, out: &mut Vec<u8>) {
                $(self.$field.put(out);)*
            }
            fn get(input: &mut &[u8]) -> Option<Self> {
                Some(Self { $($field: Code::get(input)?),* })
            }
        }
    };
}

macro_rules! code_enum {
    ($name:ident { $($variant:ident = $number:literal),* }) => {
        impl Code for $name {
            fn put(&self, out: &mut Vec<u8>) {
                out.push(match self { $(Self::$variant => $number),* });
            }
            fn get(input: &mut &[u8]) -> Option<Self> {
                match u8::get(input)? {
                    $($number => Some(Self::$variant),)*
                    _ => None,
                }
            }
        }
    };
}

code_struct!(Spec {
    argv,
    programs,
    env,
    cwd,
    tty,
    linger,
    jail
});
code_struct!(Jail { backend, rules });
code_struct!(Rules {
    network,
    readable,
    entries,
    reserved
});
code_struct!(Entry { path, access });
code_struct!(Reserved { path, directory });
code_enum!(Network { Off = 0, Internet = 1, Host = 2, Gate = 3 });
code_enum!(Access { Write = 0, Read = 1, Masked = 2, Hidden = 3 });

impl Code for Backend {
    fn put(&self, out: &mut Vec<u8>) {
        let (namespaces, version) = match self {
            Self::Namespaces { landlock } => (true, *landlock),
            Self::Landlock { version } => (false, *version),
        };
        namespaces.put(out);
        version.put(out);
    }
    fn get(input: &mut &[u8]) -> Option<Self> {
        Some(match (bool::get(input)?, u32::get(input)?) {
            (true, landlock) => Self::Namespaces { landlock },
            (false, version) => Self::Landlock { version },
        })
    }
}

impl Code for u8 {
    fn put(&self, out: &mut Vec<u8>) {
        out.push(*self);
    }
    fn get(input: &mut &[u8]) -> Option<Self> {
        let (first, rest) = input.split_first()?;
        *input = rest;
        Some(*first)
    }
}

impl Code for bool {
    fn put(&self, out: &mut Vec<u8>) {
        u8::from(*self).put(out);
    }
    fn get(input: &mut &[u8]) -> Option<Self> {
        u8::get(input).map(|byte| byte != 0)
    }
}

impl Code for u32 {
    fn put(&self, out: &mut Vec<u8>) {
        out.extend(self.to_le_bytes());
    }
    fn get(input: &mut &[u8]) -> Option<Self> {
        let (bytes, rest) = input.split_first_chunk()?;
        *input = rest;
        Some(Self::from_le_bytes(*bytes))
    }
}

impl Code for CString {
    fn put(&self, out: &mut Vec<u8>) {
        out.extend(self.as_bytes_with_nul());
    }
    fn get(input: &mut &[u8]) -> Option<Self> {
        let end = input.iter().position(|byte| *byte == 0)?;
        let (bytes, rest) = input.split_at_checked(end + 1)?;
        *input = rest;
        Self::from_vec_with_nul(bytes.to_vec()).ok()
    }
}

/// Resolved paths come from the kernel and hold no zero byte.
impl Code for PathBuf {
    fn put(&self, out: &mut Vec<u8>) {
        out.extend(self.as_os_str().as_bytes());
        out.push(0);
    }
    fn get(input: &mut &[u8]) -> Option<Self> {
        Some(OsString::from_vec(CString::get(input)?.into_bytes()).into())
    }
}

impl<T: Code> Code for Vec<T> {
    fn put(&self, out: &mut Vec<u8>) {
        (self.len() as u32).put(out);
        for item in self {
            item.put(out);
        }
    }
    fn get(input: &mut &[u8]) -> Option<Self> {
        (0..u32::get(input)?).map(|_| T::get(input)).collect()
    }
}

impl<T: Code> Code for Option<T> {
    fn put(&self, out: &mut Vec<u8>) {
        self.is_some().put(out);
        if let Some(value) = self {
            value.put(out);
        }
    }
    fn get(input: &mut &[u8]) -> Option<Self> {
        Some(if bool::get(input)? {
            Some(T::get(input)?)
        } else {
            None
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spec_reads_back_as_written() {
        let text = |text: &str| CString::new(text).unwrap();
        let spec = Spec {
            argv: vec![text("sh"), text("")],
            programs: vec![text("/bin/sh")],
            env: vec![text("A=b")],
            cwd: text("/"),
            tty: true,
            linger: Some(2000),
            jail: Some(Jail {
                backend: Backend::Landlock { version: 7 },
                rules: Rules {
                    network: Network::Internet,
                    readable: Some(vec!["/usr".into()]),
                    entries: vec![Entry {
                        path: "/w".into(),
                        access: Access::Masked,
                    }],
                    reserved: vec![Reserved {
                        path: "/w/.codex".into(),
                        directory: true,
                    }],
                },
            }),
        };
        let mut bytes = Vec::new();
        spec.put(&mut bytes);
        assert!(Spec::get(&mut &bytes[..]) == Some(spec));
        for cut in 0..bytes.len() {
            assert!(Spec::get(&mut &bytes[..cut]).is_none());
        }
    }
}
