//! Finds and reads the `AGENTS.md` files that apply to a thread: the person's own, then the project's from
//! its root down to the working directory. Read once per thread. Blocks on files.

use std::fs;
use std::path::{Path, PathBuf};

const OVERRIDE: &str = "AGENTS.override.md";
const NAME: &str = "AGENTS.md";
const SEPARATOR: &str = "\n\n--- project-doc ---\n\n";

const BELOW: &str = "Directories below the working directory may have AGENTS.md files of their own. Such a file \
    holds for all files in its directory and below it; where several apply, the nearest wins, and the user's \
    words win over all of them. Look for these files before you change something below such a directory.";

/// The longest global file that is read.
const MAX_GLOBAL_BYTES: usize = 1 << 20;

/// Where and how much to read.
#[derive(Debug, Clone, Copy)]
pub struct Search<'a> {
    /// The directory with the person's own file.
    pub home: &'a Path,
    /// The working directory, absolute.
    pub cwd: &'a Path,
    /// Names of files and directories that mark the root of a project.
    pub root_markers: &'a [String],
    /// Names tried where a directory has no `AGENTS.md`.
    pub fallback_names: &'a [String],
    /// How much of the project's files is read; 0 for nothing.
    pub max_bytes: usize,
    /// The model is told that there may be more below the working directory.
    pub mention_below: bool,
}

/// What was found.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// The text for the model, if there is any.
    pub text: Option<String>,
    /// Files that exist but could not be read, with the reason.
    pub unreadable: Vec<String>,
}

/// Reads all that applies.
pub fn read(search: &Search<'_>) -> Found {
    let mut found = Found::default();
    let global = global(search.home, &mut found.unreadable);
    let project = project(search, &mut found.unreadable);
    found.text = match (global, project) {
        (Some(global), Some(project)) => Some(format!("{global}{SEPARATOR}{project}")),
        (global, project) => global.or(project),
    };
    if search.mention_below {
        let text = found.text.take().map_or_else(String::new, |it| it + "\n\n");
        found.text = Some(text + BELOW);
    }
    found
}

/// The person's own file: the first that says anything.
fn global(home: &Path, unreadable: &mut Vec<String>) -> Option<String> {
    [OVERRIDE, NAME].into_iter().find_map(|name| {
        let path = Some(home.join(name)).filter(|path| is_file(path))?;
        let (text, _) = read_up_to(&path, MAX_GLOBAL_BYTES, unreadable)?;
        let text = text.trim();
        (!text.is_empty()).then(|| text.to_owned())
    })
}

/// The project's files, joined; the one that crosses the limit is cut and the rest is left out.
fn project(search: &Search<'_>, unreadable: &mut Vec<String>) -> Option<String> {
    let mut left = search.max_bytes;
    let mut texts = Vec::new();
    for directory in directories(search.cwd, search.root_markers) {
        if left == 0 {
            break;
        }
        let Some(path) = document(&directory, search.fallback_names) else {
            continue;
        };
        let Some((text, taken)) = read_up_to(&path, left, unreadable) else {
            continue;
        };
        if !text.trim().is_empty() {
            left -= taken;
            texts.push(text);
        }
    }
    (!texts.is_empty()).then(|| texts.join("\n\n"))
}

/// The directories to look in, root first: only the working directory if no marker is found above it.
fn directories(cwd: &Path, markers: &[String]) -> Vec<PathBuf> {
    let is_root = |directory: &Path| markers.iter().any(|marker| directory.join(marker).exists());
    let root = cwd
        .ancestors()
        .find(|directory| is_root(directory))
        .unwrap_or(cwd);
    let mut directories: Vec<_> = cwd
        .ancestors()
        .take_while(|directory| directory.starts_with(root))
        .map(Path::to_owned)
        .collect();
    directories.reverse();
    directories
}

/// The file that speaks for a directory.
fn document(directory: &Path, fallback_names: &[String]) -> Option<PathBuf> {
    let names = [OVERRIDE, NAME]
        .into_iter()
        .chain(fallback_names.iter().map(String::as_str));
    names
        .map(|name| directory.join(name))
        .find(|path| is_file(path))
}

fn is_file(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|meta| meta.is_file())
}

/// The first bytes of a file as text, and how many there were; `None` if they could not be read.
fn read_up_to(path: &Path, max: usize, unreadable: &mut Vec<String>) -> Option<(String, usize)> {
    match quipu_disk::read_start(path, max as u64) {
        Ok(bytes) => {
            let read = bytes.len();
            Some((lossy(bytes, read == max), read))
        }
        Err(error) => {
            unreadable.push(format!("{}: {error}", path.display()));
            None
        }
    }
}

/// Text from bytes that may end in the middle of a character.
fn lossy(mut bytes: Vec<u8>, may_be_cut: bool) -> String {
    if may_be_cut
        && let Err(error) = str::from_utf8(&bytes)
        && error.error_len().is_none()
    {
        bytes.truncate(error.valid_up_to());
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Place {
        _directory: tempfile::TempDir,
        home: PathBuf,
        work: PathBuf,
        cwd: PathBuf,
    }

    impl Place {
        /// A home and a workspace with the directory `a/b` to work in.
        fn new(files: &[(&str, &str)]) -> Self {
            let directory = tempfile::tempdir().unwrap();
            let (home, work) = (directory.path().join("home"), directory.path().join("work"));
            let cwd = work.join("a/b");
            fs::create_dir_all(&cwd).unwrap();
            fs::create_dir_all(&home).unwrap();
            let place = Self {
                _directory: directory,
                home,
                work,
                cwd,
            };
            for (path, text) in files {
                let path = place._directory.path().join(path);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, text).unwrap();
            }
            place
        }

        fn read_with(&self, markers: &[&str], fallbacks: &[&str], max_bytes: usize) -> Found {
            let owned = |names: &[&str]| {
                names
                    .iter()
                    .map(|name| (*name).to_owned())
                    .collect::<Vec<_>>()
            };
            read(&Search {
                home: &self.home,
                cwd: &self.cwd,
                root_markers: &owned(markers),
                fallback_names: &owned(fallbacks),
                max_bytes,
                mention_below: false,
            })
        }

        fn text(&self) -> Option<String> {
            self.read_with(&[".git"], &[], 32_768).text
        }
    }

    const GIT: (&str, &str) = ("work/.git/HEAD", "");

    /// Each case was put to the reference program.
    #[test]
    fn files_apply_from_the_root_of_the_project_down() {
        let both = [
            ("work/AGENTS.md", "root\n"),
            ("work/a/b/AGENTS.md", " sub \n\n"),
        ];
        assert_eq!(Place::new(&both).text().unwrap(), " sub \n\n");
        assert_eq!(
            Place::new(&[GIT, both[0], both[1]]).text().unwrap(),
            "root\n\n\n sub \n\n"
        );
        let linked_tree = [
            ("work/a/.git", "gitdir: x"),
            both[0],
            ("work/a/AGENTS.md", "aa"),
        ];
        assert_eq!(Place::new(&linked_tree).text().unwrap(), "aa");
        assert_eq!(Place::new(&[GIT]).text(), None);
    }

    #[test]
    fn the_persons_own_file_comes_first() {
        let own = ("home/AGENTS.md", "  \nG1\n\n");
        assert_eq!(Place::new(&[own]).text().unwrap(), "G1");
        let root = ("work/AGENTS.md", "root");
        let both = Place::new(&[GIT, own, root]).text().unwrap();
        assert_eq!(both, "G1\n\n--- project-doc ---\n\nroot");
        assert_eq!(
            Place::new(&[own, ("home/AGENTS.override.md", "O1\n")])
                .text()
                .unwrap(),
            "O1"
        );
        assert_eq!(
            Place::new(&[own, ("home/AGENTS.override.md", " \n")])
                .text()
                .unwrap(),
            "G1"
        );
    }

    #[test]
    fn an_override_takes_the_place_of_its_neighbour_even_if_blank() {
        let place = Place::new(&[
            GIT,
            ("work/AGENTS.md", "root"),
            ("work/AGENTS.override.md", "over"),
            ("work/a/AGENTS.md", "aa"),
            ("work/a/AGENTS.override.md", " \n"),
        ]);
        assert_eq!(place.text().unwrap(), "over");
    }

    #[test]
    fn other_names_stand_in_and_no_marker_means_no_walk() {
        let place = Place::new(&[
            GIT,
            ("work/X.md", "x"),
            ("work/CLAUDE.md", "c"),
            ("work/a/b/AGENTS.md", "sub"),
            ("work/a/b/X.md", "no"),
        ]);
        let found = place.read_with(&[".git"], &["X.md", "CLAUDE.md"], 32_768);
        assert_eq!(found.text.unwrap(), "x\n\nsub");
        assert_eq!(place.read_with(&[], &["X.md"], 32_768).text.unwrap(), "sub");
    }

    #[test]
    fn the_budget_cuts_between_characters_and_drops_the_rest() {
        let place = Place::new(&[
            GIT,
            ("work/AGENTS.md", "1234567"),
            ("work/a/AGENTS.md", "αβγ"),
            ("work/a/b/AGENTS.md", "later"),
        ]);
        let text = |max| place.read_with(&[".git"], &[], max).text;
        assert_eq!(text(10).unwrap(), "1234567\n\nα");
        assert_eq!(text(7).unwrap(), "1234567");
        assert_eq!(text(0), None);
    }

    #[test]
    fn directories_broken_links_and_strange_bytes_do_no_harm() {
        let place = Place::new(&[
            GIT,
            ("work/real.txt", "linked"),
            ("work/a/b/AGENTS.md/x", ""),
        ]);
        fs::write(place.work.join("real.txt"), b"a\xff\xfeb").unwrap();
        std::os::unix::fs::symlink("real.txt", place.work.join(NAME)).unwrap();
        std::os::unix::fs::symlink("gone", place.work.join("a").join(NAME)).unwrap();
        let found = place.read_with(&[".git"], &[], 32_768);
        assert_eq!(found.text.unwrap(), "a\u{fffd}\u{fffd}b");
        assert!(found.unreadable.is_empty());
    }
}
