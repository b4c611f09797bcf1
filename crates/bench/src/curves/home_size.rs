//! A new process in a home of many bytes: 1,000 threads whose files end in a hole, as a crash of the machine
//! leaves them. Holes take no room on the disk, but a program that reads whole files reads all of them.

use std::fs::{File, OpenOptions};
use std::path::Path;

use futures_util::future::BoxFuture;

use super::Curve;
use crate::Result;
use crate::ground::Ground;
use crate::rows::{Values, median};
use crate::stock::{MADE, cold_list, many_threads};

const THREADS: usize = 1000;

pub struct HomeSize;

impl Curve for HomeSize {
    fn size_of(&self) -> &'static str {
        "MB in the home"
    }

    fn sizes(&self) -> &'static [usize] {
        &[100, 1000, 10_000]
    }

    fn figures(&self) -> &'static [(&'static str, &'static str)] {
        &[
            ("cold start in a large home", "ms"),
            (
                "first page after a large home was copied in, from cold",
                "ms",
            ),
            ("first page of a large home, from cold", "ms"),
        ]
    }

    fn prepare<'a>(&'a self, ground: &'a Ground<'a>, size: usize) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            let threads = ground.count(THREADS);
            many_threads(ground, MADE, threads).await?;
            let each = size as u64 * 1_000_000 / threads as u64;
            lengthen(&ground.stock().join("sessions"), each)
        })
    }

    fn measure<'a>(&'a self, ground: &'a Ground<'a>, _size: usize) -> Values<'a> {
        Box::pin(async {
            let first = cold_list(ground).await?;
            let (mut greeted, mut listed) = (Vec::new(), Vec::new());
            for _ in 0..5 {
                let times = cold_list(ground).await?;
                greeted.push(times.greeted);
                listed.push(times.listed);
            }
            Ok(vec![median(greeted), first.listed, median(listed)])
        })
    }
}

/// Makes every file below the directory this long; what is added is a hole.
fn lengthen(directory: &Path, length: u64) -> Result<()> {
    for entry in std::fs::read_dir(directory)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            lengthen(&entry.path(), length)?;
            continue;
        }
        let file: File = OpenOptions::new().append(true).open(entry.path())?;
        if file.metadata()?.len() < length {
            file.set_len(length)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holes_lengthen_files_and_keep_what_they_hold() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("day");
        std::fs::create_dir(&path).unwrap();
        let (short, long) = (path.join("short"), path.join("long"));
        std::fs::write(&short, "abc").unwrap();
        std::fs::write(&long, [1; 20]).unwrap();
        lengthen(directory.path(), 10).unwrap();
        assert_eq!(std::fs::read(short).unwrap(), b"abc\0\0\0\0\0\0\0");
        assert_eq!(std::fs::read(long).unwrap().len(), 20);
    }
}
