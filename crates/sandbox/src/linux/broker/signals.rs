//! Keeping signals inside where Landlock does not do that yet (before version 6).

use super::{
    calls::SignalArg,
    listener::{Answer, Question},
};
use crate::helper::process_table::{self, is_below_us};

/// Lets a signal pass if it stays among the descendants of this supervisor.
pub(super) fn judge(argument: SignalArg, question: &Question) -> Answer {
    let (SignalArg::Process(index) | SignalArg::Thread(index)) = argument;
    let receivers = match (argument, question.int(index)) {
        // Nobody outside can be in the group of a process that started its own session.
        (SignalArg::Process(_), 0) => return Answer::Proceed,
        // That is everybody.
        (SignalArg::Process(_), -1) => return Answer::Error(libc::EPERM),
        (SignalArg::Process(_), group) if group < 0 => {
            let members = process_table::all()
                .into_iter()
                .filter(|entry| entry.group == -group);
            members.map(|entry| entry.pid).collect()
        }
        (_, pid) => vec![pid],
    };
    let receivers: Vec<_> = receivers.into_iter().map(is_below_us).collect();
    match receivers.iter().all(Option::is_none) {
        true => Answer::Error(libc::ESRCH),
        false if receivers.iter().flatten().all(|below| *below) => Answer::Proceed,
        false => Answer::Error(libc::EPERM),
    }
}
