//! Disks that are full and homes that may not be written. These tests mount small file systems of
//! their own and are skipped where that is not allowed.

use std::fs;
use std::path::Path;
use std::process::Command;

use quipu_journal::{Error, Query, Record, Replay};
use tempfile::TempDir;

use crate::support::{id, item, meta, resume, store, turn};

/// A file system of 256 KiB.
struct SmallDisk(TempDir);

impl SmallDisk {
    fn mount() -> Option<Self> {
        let dir = tempfile::tempdir().unwrap();
        let mounted = mount(&["-t", "tmpfs", "-o", "size=256k", "tmpfs"], dir.path());
        if !mounted {
            eprintln!("skipped: no file system can be mounted here");
        }
        mounted.then(|| Self(dir))
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn remount(&self, mode: &str) {
        assert!(mount(&["-o", &format!("remount,{mode}")], self.path()));
    }

    /// Uses up all space; deleting the file that is returned gives it back.
    fn fill(&self) -> std::path::PathBuf {
        let filler = self.path().join("filler");
        let _full = fs::write(&filler, vec![0; 1 << 20]).unwrap_err();
        filler
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        run("umount", &["-l"], self.path());
    }
}

fn mount(options: &[&str], target: &Path) -> bool {
    run("mount", options, target)
}

#[expect(clippy::disallowed_methods, reason = "only tests mount file systems")]
fn run(program: &str, arguments: &[&str], target: &Path) -> bool {
    let output = Command::new(program).args(arguments).arg(target).output();
    output.is_ok_and(|output| output.status.success())
}

fn large(number: u64) -> Record {
    item("assistant", &format!("{number:0>20000}"))
}

#[test]
fn a_full_disk_loses_nothing_and_leaves_nothing_half_written() {
    let Some(disk) = SmallDisk::mount() else {
        return;
    };
    let mut log = store(disk.path()).create(meta(id(1))).unwrap();
    log.append(&turn("A", "a", "1")).unwrap();
    log.sync().unwrap();
    let mut count = 0;
    let mut good = fs::metadata(log.path()).unwrap().len();
    let error = loop {
        count += 1;
        log.append(&[large(count), large(count + 1000)]).unwrap();
        match log.flush() {
            Ok(()) => good = fs::metadata(log.path()).unwrap().len(),
            Err(error) => break error,
        }
    };
    assert!(matches!(error, Error::DiskFull { .. }), "{error}");
    assert_eq!(fs::metadata(log.path()).unwrap().len(), good);
    assert_eq!(Replay::open(log.path()).unwrap().warnings.count, 0);

    let filler = disk.fill();
    log.append(&turn("B", "b", "2")).unwrap();
    assert!(matches!(log.sync(), Err(Error::DiskFull { .. })));
    fs::remove_file(filler).unwrap();
    log.sync().unwrap_err();

    // A larger disk takes everything that waited, in order.
    disk.remount("size=1m");
    log.sync().unwrap();
    let replay = Replay::open(log.path()).unwrap();
    assert_eq!(replay.turns.len(), 2);
    let items = replay.history.load(log.path()).unwrap().items.len();
    assert_eq!(items as u64, 4 + 2 * count);
}

#[test]
fn a_thread_begun_on_a_full_disk_has_no_file_until_there_is_space() {
    let Some(disk) = SmallDisk::mount() else {
        return;
    };
    let mut log = store(disk.path()).create(meta(id(1))).unwrap();
    log.append(&turn("A", "a", "1")).unwrap();
    fs::create_dir_all(log.path().parent().unwrap()).unwrap();
    let filler = disk.fill();
    assert!(matches!(log.flush(), Err(Error::DiskFull { .. })));
    assert!(!log.path().exists());
    fs::remove_file(filler).unwrap();
    log.sync().unwrap();
    assert_eq!(Replay::open(log.path()).unwrap().turns.len(), 1);
}

#[test]
fn a_read_only_home_can_be_listed_and_read_and_says_why_it_cannot_be_written() {
    let Some(disk) = SmallDisk::mount() else {
        return;
    };
    let mut log = store(disk.path()).create(meta(id(1))).unwrap();
    log.append(&turn("A", "a", "1")).unwrap();
    log.sync().unwrap();
    log.close().unwrap();
    for with_index in [false, true] {
        if with_index {
            disk.remount("rw");
            store(disk.path()).list(&Query::default()).unwrap();
        }
        disk.remount("ro");
        let store = store(disk.path());
        assert_eq!(store.list(&Query::default()).unwrap().threads.len(), 1);
        let path = store.find(id(1)).unwrap().unwrap();
        let turns = 1 + usize::from(with_index);
        assert_eq!(Replay::open(&path).unwrap().turns.len(), turns);
        assert!(matches!(
            store.set_name(id(1), "x"),
            Err(Error::ReadOnly { .. })
        ));
        assert!(matches!(store.archive(id(1)), Err(Error::ReadOnly { .. })));
        let mut new = store.create(meta(id(2))).unwrap();
        assert!(matches!(new.flush(), Err(Error::ReadOnly { .. })));
        let mut resumed = resume(&store, &path);
        resumed.append(&turn("B", "b", "2")).unwrap();
        assert!(matches!(resumed.flush(), Err(Error::ReadOnly { .. })));
        disk.remount("rw");
        resumed.flush().unwrap();
        resumed.close().unwrap();
    }
    assert_eq!(Replay::open(log.path()).unwrap().turns.len(), 3);
}
