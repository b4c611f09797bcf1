//! Measures what a list costs as threads pile up: `list_flatness [threads…]`. Not a test: the
//! numbers are for people.

use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::time::Instant;

use quipu_journal::{Query, Store, StoreOptions};
use quipu_wire::ThreadSortKey;

const PER_DAY: u64 = 40;
const PADDING: usize = 20_000;

fn main() -> Result<(), Box<dyn Error>> {
    let sizes: Vec<u64> = std::env::args()
        .skip(1)
        .map(|size| size.parse())
        .collect::<Result<_, _>>()?;
    let sizes = if sizes.is_empty() {
        vec![500, 5_000]
    } else {
        sizes
    };
    let mut report = String::from("threads  no index  cold  warm  by change  by cwd  find\n");
    for size in sizes {
        let home = tempfile::tempdir()?;
        (0..size).try_for_each(|number| write_thread(home.path(), number))?;
        let open = || Store::open(home.path(), StoreOptions::default());
        let default = Query::default();
        let by_change = Query {
            sort: ThreadSortKey::UpdatedAt,
            ..Query::default()
        };
        let by_directory = Query {
            cwds: Some(vec!["/project/7".into()]),
            ..Query::default()
        };
        let store = open();
        let no_index = timed(|| store.list(&default).map(drop))?;
        timed(|| store.list(&by_change).map(drop))?;
        timed(|| store.list(&by_directory).map(drop))?;
        let store = open();
        let cold = timed(|| store.list(&default).map(drop))?;
        let warm = timed(|| store.list(&default).map(drop))?;
        let change = timed(|| store.list(&by_change).map(drop))?;
        let directory = timed(|| store.list(&by_directory).map(drop))?;
        let wanted = thread_id(size / 2).parse()?;
        let find = timed(|| open().find(wanted).map(drop))?;
        writeln!(
            report,
            "{size:>7}  {no_index:>8}  {cold:>4}  {warm:>4}  {change:>9}  {directory:>6}  {find:>4}"
        )?;
    }
    eprintln!("{report}(microseconds)");
    Ok(())
}

fn timed<E: Error + 'static>(work: impl FnOnce() -> Result<(), E>) -> Result<u128, Box<dyn Error>> {
    let start = Instant::now();
    work()?;
    Ok(start.elapsed().as_micros())
}

/// The second a thread begins, counted from the start of 2020.
fn second(number: u64) -> u64 {
    1_577_836_800 + number / PER_DAY * 86_400 + number % PER_DAY
}

fn thread_id(number: u64) -> String {
    let millis = second(number) * 1000;
    format!(
        "{:08x}-{:04x}-7000-8000-{number:012x}",
        millis >> 16,
        millis & 0xffff
    )
}

fn write_thread(home: &Path, number: u64) -> Result<(), Box<dyn Error>> {
    // Twelve months of 28 days are enough of a calendar here.
    let day = number / PER_DAY;
    let (year, month, date) = (2020 + day / 336, day / 28 % 12 + 1, day % 28 + 1);
    let directory = home.join(format!("sessions/{year}/{month:02}/{date:02}"));
    fs::create_dir_all(&directory)?;
    let id = thread_id(number);
    let second = number % PER_DAY;
    let padding = "x".repeat(PADDING);
    let lines = format!(
        "{{\"timestamp\":\"t\",\"type\":\"session_meta\",\"payload\":{{\"id\":\"{id}\",\"timestamp\":\"{year}-{month:02}-{date:02}T12:00:{second:02}.000Z\",\"cwd\":\"/project/{}\",\"originator\":\"x\",\"cli_version\":\"0.118.0\",\"source\":\"vscode\",\"model_provider\":\"mock\",\"base_instructions\":{{\"text\":\"{padding}\"}}}}}}\n\
         {{\"timestamp\":\"t\",\"type\":\"event_msg\",\"payload\":{{\"type\":\"user_message\",\"message\":\"thread {number}\",\"images\":[],\"local_images\":[],\"text_elements\":[]}}}}\n",
        number % 100,
    );
    fs::write(
        directory.join(format!(
            "rollout-{year}-{month:02}-{date:02}T12-00-{second:02}-{id}.jsonl"
        )),
        lines,
    )?;
    Ok(())
}
