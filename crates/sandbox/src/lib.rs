//! Turns a policy into an enforced process: namespaces, Landlock, seccomp, process groups, PTY.
