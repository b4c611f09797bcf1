//! How the program is linked.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if packs_relocations() {
        println!("cargo::rustc-link-arg-bins=-Wl,-z,pack-relative-relocs");
    }
}

/// Whether the loader of the machine that the program is for knows packed relocations, as that of glibc does since
/// 2.36. A program at an address of the system's choice has a hundred thousand pointers to correct when it starts; their
/// list is a tenth of the file, and all of it is read. Packed, it is 70 times smaller: idle memory fell from 22.2 to
/// 18.8 MB in a build without link-time optimisation, and the CPU time of a start by 8 %.
fn packs_relocations() -> bool {
    let is_native = std::env::var("HOST").ok() == std::env::var("TARGET").ok();
    is_native && glibc().is_some_and(|version| version >= (2, 36))
}

/// The version of this machine's glibc, if it has one.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn glibc() -> Option<(u32, u32)> {
    unsafe extern "C" {
        safe fn gnu_get_libc_version() -> *const std::ffi::c_char;
    }
    // SAFETY: the text is a constant of the library, and ends in a zero.
    let version = unsafe { std::ffi::CStr::from_ptr(gnu_get_libc_version()) };
    let (major, minor) = version.to_str().ok()?.split_once('.')?;
    let minor = minor.split('.').next()?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
fn glibc() -> Option<(u32, u32)> {
    None
}
