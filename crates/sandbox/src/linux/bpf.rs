//! A minimal assembler for system call filters.
//!
//! A filter holds a block per system call that decides about it; other calls are allowed. The blocks
//! are found by binary search: the kernel tries the filter with every call there is when it is
//! installed, so a plain list would cost more than anything else here.

/// The BPF instructions in use, as numbers of the kernel's interface.
const LOAD: u16 = 0x20;
const JUMP: u16 = 0x05;
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
    /// Somebody outside is asked.
    Ask,
    Kill,
}

impl Verdict {
    fn value(self) -> u32 {
        match self {
            Self::Allow => libc::SECCOMP_RET_ALLOW,
            Self::Fail(errno) => libc::SECCOMP_RET_ERRNO | errno.cast_unsigned(),
            Self::Ask => libc::SECCOMP_RET_USER_NOTIF,
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
    /// It has none of these bits.
    NoBit { argument: u32, bits: u32 },
}

/// The verdict if all tests hold.
pub(crate) type Rule<'a> = (&'a [Test], Verdict);

/// How many blocks are worth searching one by one.
const LEAF: usize = 4;

/// A program under construction.
#[derive(Clone, Debug, Default)]
pub(crate) struct Program {
    blocks: Vec<Block>,
}

#[derive(Clone, Debug)]
struct Block {
    call: u32,
    code: Vec<libc::sock_filter>,
}

fn instruction(code: u16, jt: u8, jf: u8, k: u32) -> libc::sock_filter {
    libc::sock_filter { code, jt, jf, k }
}

fn give(verdict: Verdict) -> libc::sock_filter {
    instruction(RETURN, 0, 0, verdict.value())
}

impl Program {
    /// Decides a call by the first rule that holds, else by `otherwise`.
    pub(crate) fn decide(&mut self, call: libc::c_long, rules: &[Rule<'_>], otherwise: Verdict) {
        let mut code = Vec::new();
        for (tests, verdict) in rules {
            // Written backwards: a test that fails jumps over the rest of its rule.
            let mut rule = vec![give(*verdict)];
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
                    Test::NoBit { argument, bits } => rule.extend([
                        instruction(JUMP_IF_ANY_BIT, rest, 0, bits),
                        instruction(LOAD, 0, 0, lower_half(argument)),
                    ]),
                }
            }
            code.extend(rule.into_iter().rev());
        }
        code.push(give(otherwise));
        self.blocks.push(Block {
            call: call as u32,
            code,
        });
    }

    /// The finished program. Calls of a foreign architecture end the process: their numbers mean
    /// other things.
    pub(crate) fn finish(mut self) -> Vec<libc::sock_filter> {
        let mut code = vec![
            instruction(LOAD, 0, 0, ARCHITECTURE),
            instruction(JUMP_IF_EQUAL, 1, 0, THIS_ARCHITECTURE),
            give(Verdict::Kill),
            instruction(LOAD, 0, 0, NUMBER),
        ];
        if cfg!(target_arch = "x86_64") {
            code.push(instruction(JUMP_IF_GREATER_OR_EQUAL, 0, 1, X32));
            code.push(give(Verdict::Fail(libc::ENOSYS)));
        }
        self.blocks.sort_by_key(|block| block.call);
        code.extend(search(&self.blocks));
        code
    }
}

fn search(blocks: &[Block]) -> Vec<libc::sock_filter> {
    if blocks.len() > LEAF {
        let (low, high) = blocks.split_at(blocks.len() / 2);
        let (low, start) = (search(low), high[0].call);
        let mut code = vec![
            instruction(JUMP_IF_GREATER_OR_EQUAL, 0, 1, start),
            instruction(JUMP, 0, 0, low.len() as u32),
        ];
        code.extend(low);
        code.extend(search(high));
        return code;
    }
    let mut code = Vec::new();
    for block in blocks {
        // The rules of one call are few; jumps reach 255 instructions.
        debug_assert!(block.code.len() < 256);
        code.push(instruction(
            JUMP_IF_EQUAL,
            0,
            block.code.len() as u8,
            block.call,
        ));
        code.extend(&block.code);
    }
    code.push(give(Verdict::Allow));
    code
}

fn lower_half(argument: u32) -> u32 {
    let half = if cfg!(target_endian = "big") { 4 } else { 0 };
    ARGUMENTS + 8 * argument + half
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the kernel would do with the program.
    fn run(program: &[libc::sock_filter], call: u32, arguments: [u32; 3]) -> u32 {
        let (mut at, mut value) = (0, 0);
        loop {
            let step = program[at];
            at += 1;
            let jump = |holds: bool| usize::from(if holds { step.jt } else { step.jf });
            match step.code {
                LOAD => {
                    value = match step.k {
                        NUMBER => call,
                        ARCHITECTURE => THIS_ARCHITECTURE,
                        offset => arguments[((offset - ARGUMENTS) / 8) as usize],
                    }
                }
                AND => value &= step.k,
                JUMP => at += step.k as usize,
                JUMP_IF_EQUAL => at += jump(value == step.k),
                JUMP_IF_GREATER_OR_EQUAL => at += jump(value >= step.k),
                JUMP_IF_ANY_BIT => at += jump(value & step.k != 0),
                RETURN => return step.k,
                code => panic!("unknown instruction {code}"),
            }
        }
    }

    #[test]
    fn every_call_finds_its_block_and_others_pass() {
        for count in 0..40_u32 {
            let mut program = Program::default();
            for call in (0..count).rev() {
                program.decide(
                    3 * i64::from(call),
                    &[],
                    Verdict::Fail(call.cast_signed() + 1),
                );
            }
            let program = program.finish();
            for call in 0..150_u32 {
                let expected = match call % 3 == 0 && call / 3 < count {
                    true => Verdict::Fail((call / 3).cast_signed() + 1),
                    false => Verdict::Allow,
                };
                assert_eq!(
                    run(&program, call, [0; 3]),
                    expected.value(),
                    "{count} {call}"
                );
            }
        }
    }

    #[test]
    fn the_first_rule_that_holds_decides() {
        let mut program = Program::default();
        let both = [
            Test::Equals {
                argument: 0,
                mask: 0xf,
                value: 2,
            },
            Test::AnyBit {
                argument: 2,
                bits: 0b1100,
            },
        ];
        let second = [Test::Equals {
            argument: 0,
            mask: u32::MAX,
            value: 2,
        }];
        let rules: [Rule<'_>; 2] = [(&both, Verdict::Allow), (&second, Verdict::Fail(2))];
        program.decide(7, &rules, Verdict::Fail(3));
        let program = program.finish();
        for (arguments, expected) in [
            ([0x12, 0, 4], Verdict::Allow),
            ([2, 0, 8], Verdict::Allow),
            ([2, 0, 1], Verdict::Fail(2)),
            ([0x12, 0, 1], Verdict::Fail(3)),
            ([1, 0, 4], Verdict::Fail(3)),
        ] {
            assert_eq!(
                run(&program, 7, arguments),
                expected.value(),
                "{arguments:?}"
            );
        }
    }
}
