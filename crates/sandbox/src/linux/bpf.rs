//! A minimal assembler for system call filters.
//!
//! A filter is a list of blocks, one per system call; each block compares the call's number and, if
//! it is the one, decides. A call that no block names is allowed.

/// The BPF instructions in use, as numbers of the kernel's interface.
const LOAD: u16 = 0x20;
const JUMP_IF_EQUAL: u16 = 0x15;
const JUMP_IF_GREATER_OR_EQUAL: u16 = 0x35;
const JUMP_IF_ANY_BIT: u16 = 0x45;
const AND: u16 = 0x54;
const RETURN: u16 = 0x06;

/// Where the filter finds the call's parts.
const NUMBER: u32 = 0;
const ARCHITECTURE: u32 = 4;
const ARGUMENTS: u32 = 16;

#[cfg(target_arch = "x86_64")]
const THIS_ARCHITECTURE: u32 = 0xC000_003E;
#[cfg(target_arch = "aarch64")]
const THIS_ARCHITECTURE: u32 = 0xC000_00B7;

/// Calls of the x32 variant of x86-64 have this bit, and the same meaning under other numbers.
const X32: u32 = 0x4000_0000;

/// What becomes of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Allow,
    Fail(i32),
    Kill,
}

impl Verdict {
    fn value(self) -> u32 {
        match self {
            Self::Allow => libc::SECCOMP_RET_ALLOW,
            Self::Fail(errno) => libc::SECCOMP_RET_ERRNO | errno.cast_unsigned(),
            Self::Kill => libc::SECCOMP_RET_KILL_PROCESS,
        }
    }
}

/// One test of an argument's lower half.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Test {
    /// It equals a value after masking.
    Equals {
        argument: u32,
        mask: u32,
        value: u32,
    },
    /// It has some of these bits.
    AnyBit { argument: u32, bits: u32 },
}

/// The verdict if all tests hold.
pub(crate) type Rule<'a> = (&'a [Test], Verdict);

/// A program under construction.
#[derive(Clone, Debug)]
pub(crate) struct Program(Vec<libc::sock_filter>);

fn instruction(code: u16, jt: u8, jf: u8, k: u32) -> libc::sock_filter {
    libc::sock_filter { code, jt, jf, k }
}

impl Program {
    /// Calls of a foreign architecture end the process: their numbers mean other things.
    pub(crate) fn new() -> Self {
        let mut program = Self(vec![
            instruction(LOAD, 0, 0, ARCHITECTURE),
            instruction(JUMP_IF_EQUAL, 1, 0, THIS_ARCHITECTURE),
            instruction(RETURN, 0, 0, Verdict::Kill.value()),
            instruction(LOAD, 0, 0, NUMBER),
        ]);
        if cfg!(target_arch = "x86_64") {
            program.0.extend([
                instruction(JUMP_IF_GREATER_OR_EQUAL, 0, 1, X32),
                instruction(RETURN, 0, 0, Verdict::Fail(libc::ENOSYS).value()),
            ]);
        }
        program
    }

    /// Decides a call by the first rule that holds, else by `otherwise`.
    pub(crate) fn decide(&mut self, call: libc::c_long, rules: &[Rule<'_>], otherwise: Verdict) {
        let mut block = Vec::new();
        for (tests, verdict) in rules {
            // Written backwards: a test that fails jumps over the rest of its rule.
            let mut rule = vec![instruction(RETURN, 0, 0, verdict.value())];
            for test in tests.iter().rev() {
                let rest = rule.len() as u8;
                match *test {
                    Test::Equals {
                        argument,
                        mask,
                        value,
                    } => rule.extend([
                        instruction(JUMP_IF_EQUAL, 0, rest, value),
                        instruction(AND, 0, 0, mask),
                        instruction(LOAD, 0, 0, lower_half(argument)),
                    ]),
                    Test::AnyBit { argument, bits } => rule.extend([
                        instruction(JUMP_IF_ANY_BIT, 0, rest, bits),
                        instruction(LOAD, 0, 0, lower_half(argument)),
                    ]),
                }
            }
            block.extend(rule.into_iter().rev());
        }
        block.push(instruction(RETURN, 0, 0, otherwise.value()));
        // Jumps reach 255 instructions; the few rules of one call stay far below.
        debug_assert!(block.len() < 256);
        self.0.push(instruction(
            JUMP_IF_EQUAL,
            0,
            block.len() as u8,
            call as u32,
        ));
        self.0.extend(block);
    }

    /// The finished program.
    pub(crate) fn finish(mut self) -> Vec<libc::sock_filter> {
        self.0
            .push(instruction(RETURN, 0, 0, Verdict::Allow.value()));
        self.0
    }
}

fn lower_half(argument: u32) -> u32 {
    let half = if cfg!(target_endian = "big") { 4 } else { 0 };
    ARGUMENTS + 8 * argument + half
}
