//! The plan files of a session: `plans/0007.json`, or `plans/0007.json.gz` above 16 MB. A plan stays uncompressed if
//! the reader would refuse the compressed file.

use crate::atomic::private_write;
use crate::book::PlanId;
use crate::error::SessionError;
use crate::private::{self, not_regular_of};
use flate2::Compression;
use flate2::write::GzEncoder;
use lightbay_core::plan::{Header, SCHEMA};
use lightbay_core::problem::Problem;
use lightbay_core::read::{Content, check_readable, read_json};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Plans above this size are compressed. A plan stays uncompressed if it has more values than the reader accepts in a
/// file of the compressed size.
pub const COMPRESS_ABOVE_BYTES: usize = 16 << 20;

/// A plan file of a session.
#[derive(Debug)]
pub struct PlanEntry {
    /// Number of the plan.
    pub plan: PlanId,
    /// Path of the file.
    pub path: PathBuf,
    /// Size of the file on disk, bytes.
    pub bytes: u64,
    /// The envelope (everything but scenario and result), or the problem of the file.
    pub header: Result<Header, Problem>,
}

/// Writes a plan, and replaces an existing plan of the same number; returns the size of the file.
pub(crate) fn write_plan(folder: &Path, plan: PlanId, json: &[u8]) -> Result<u64, SessionError> {
    let plain = folder.join(format!("{:04}.json", plan.0));
    let packed = folder.join(format!("{:04}.json.gz", plan.0));
    private::refuse_link(folder).map_err(|error| SessionError::writing(folder, error))?;
    let packed_json = compressed(json).map_err(|error| SessionError::writing(&packed, error))?;
    let (written, other) = if let Some(packed_json) = packed_json {
        private_write(&packed, &packed_json)?;
        (packed, plain)
    } else {
        check_readable(json, json.len() as u64).map_err(|problem| SessionError::broken(&plain, problem))?;
        private_write(&plain, json)?;
        (plain, packed)
    };
    remove_if_there(&other)?;
    fs::metadata(&written).map(|found| found.len()).map_err(|error| SessionError::reading(&written, error))
}

/// Returns the compressed form of a large plan, if the reader accepts it.
fn compressed(json: &[u8]) -> io::Result<Option<Vec<u8>>> {
    if json.len() <= COMPRESS_ABOVE_BYTES {
        return Ok(None);
    }
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(json)?;
    let packed = encoder.finish()?;
    Ok(Some(packed).filter(|packed| check_readable(json, packed.len() as u64).is_ok()))
}

/// Deletes a plan's file.
pub(crate) fn delete_plan(folder: &Path, plan: PlanId) -> Result<(), SessionError> {
    for path in candidates(folder, plan)? {
        remove_if_there(&path)?;
    }
    Ok(())
}

fn remove_if_there(path: &Path) -> Result<(), SessionError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(SessionError::Io { path: path.to_owned(), doing: "delete", source: error })
        }
        _ => Ok(()),
    }
}

/// Returns the numbers of the plan files in a folder, ascending. Reads no file.
pub(crate) fn numbers(folder: &Path) -> Result<Vec<PlanId>, SessionError> {
    Ok(files(folder)?.into_keys().collect())
}

/// Times of the last change and sizes of plan files, by plan. A file that changes has another entry.
pub type PlanStamps = BTreeMap<PlanId, (Option<SystemTime>, u64)>;

/// Returns the time of the last change and the size of every plan file in a folder. Reads no file.
pub(crate) fn stamps(folder: &Path) -> Result<PlanStamps, SessionError> {
    let newest = |paths: Vec<PathBuf>| {
        let found = paths.iter().filter_map(|path| fs::metadata(path).ok());
        found.map(|found| (found.modified().ok(), found.len())).max()
    };
    Ok(files(folder)?.into_iter().filter_map(|(plan, paths)| Some((plan, newest(paths)?))).collect())
}

/// Returns all plans in a folder with their headers, ascending by number; of two files with one number, the newest file
/// that can be read.
pub(crate) fn entries(folder: &Path) -> Result<Vec<PlanEntry>, SessionError> {
    let files: Vec<(PlanId, Vec<PathBuf>)> = files(folder)?.into_iter().collect();
    // Reading hundreds of plans takes hundreds of milliseconds, so several threads share the files.
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(MOST_READERS);
    let share = files.len().div_ceil(threads).max(LEAST_SHARE);
    let read = |files: &[(PlanId, Vec<PathBuf>)]| -> Vec<PlanEntry> {
        files.iter().map(|(plan, paths)| entry(folder, *plan, paths.clone())).collect()
    };
    Ok(std::thread::scope(|scope| {
        let mut shares = files.chunks(share);
        let own = shares.next();
        let others: Vec<_> = shares
            .map(|files| {
                let builder = std::thread::Builder::new().name("lb-plans".to_owned());
                (files, builder.spawn_scoped(scope, move || read(files)))
            })
            .collect();
        let mut entries = own.map_or_else(Vec::new, read);
        for (files, thread) in others {
            // Without a thread, and if its thread has failed, the share is read here.
            let found = thread.ok().and_then(|thread| thread.join().ok());
            entries.extend(found.unwrap_or_else(|| read(files)));
        }
        entries
    }))
}

/// Maximum number of threads that read plans.
const MOST_READERS: usize = 4;

/// Minimum number of plans that a thread reads.
const LEAST_SHARE: usize = 16;

/// Reads the header of a plan from the newest of its files that can be read.
fn entry(folder: &Path, plan: PlanId, paths: Vec<PathBuf>) -> PlanEntry {
    // Two files with one number remain if a kill occurs between writing one and deleting the other.
    let mut entries = newest_first(paths).into_iter().map(|path| PlanEntry {
        plan,
        bytes: fs::metadata(&path).map_or(0, |found| found.len()),
        header: read_header(&path),
        path,
    });
    let first = entries.next();
    match first {
        Some(entry) if entry.header.is_err() => entries.find(|other| other.header.is_ok()).unwrap_or(entry),
        Some(entry) => entry,
        None => PlanEntry {
            plan,
            path: folder.to_owned(),
            bytes: 0,
            header: Err(Problem::new("", "the file is gone", "solve again")),
        },
    }
}

/// Reads the whole plan as a JSON tree from a folder of plans. The caller still has to validate and check it.
///
/// # Errors
/// [`SessionError`] if the plan does not exist or is damaged.
pub fn read_plan(folder: &Path, plan: PlanId) -> Result<Value, SessionError> {
    let mut first = None;
    for path in newest_first(candidates(folder, plan)?) {
        let read = private::open(&path)
            .map_err(|error| SessionError::reading(&path, error))
            .and_then(|file| read_json(file).map_err(|problem| SessionError::broken(&path, problem)));
        match read {
            Ok(value) => return Ok(value),
            Err(error) => first = first.or(Some(error)),
        }
    }
    let missing = || {
        let path = folder.join(format!("{:04}.json", plan.0));
        SessionError::reading(&path, io::Error::from(io::ErrorKind::NotFound))
    };
    Err(first.unwrap_or_else(missing))
}

fn candidates(folder: &Path, plan: PlanId) -> Result<Vec<PathBuf>, SessionError> {
    Ok(files(folder)?.remove(&plan).unwrap_or_default())
}

fn files(folder: &Path) -> Result<BTreeMap<PlanId, Vec<PathBuf>>, SessionError> {
    let mut found: BTreeMap<PlanId, Vec<PathBuf>> = BTreeMap::new();
    private::refuse_link(folder).map_err(|error| SessionError::reading(folder, error))?;
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(found),
        Err(error) => return Err(SessionError::reading(folder, error)),
    };
    for entry in entries {
        let entry = entry.map_err(|error| SessionError::reading(folder, error))?;
        if let Some(plan) = number_of(&entry.file_name().to_string_lossy()) {
            found.entry(plan).or_default().push(entry.path());
        }
    }
    Ok(found)
}

fn number_of(name: &str) -> Option<PlanId> {
    let digits = name.strip_suffix(".json").or_else(|| name.strip_suffix(".json.gz"))?;
    let number: u64 = digits.parse().ok()?;
    // Accepts only names in our own form, so that `7.json` and `0007.json` do not count as the same plan.
    let plan = PlanId(number);
    (plan.is_valid() && digits == format!("{number:04}")).then_some(plan)
}

/// Returns the names in a folder of plans that look like plans but are ignored because their number is too large.
pub(super) fn too_large(folder: &Path) -> Vec<String> {
    let looks_so = |name: &str| {
        let digits = name.strip_suffix(".json").or_else(|| name.strip_suffix(".json.gz"));
        let digits = digits.map(|digits| digits.trim_start_matches('0'));
        digits.is_some_and(|digits| digits.len() >= 10 && digits.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let names = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> = names
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| looks_so(name))
        .collect();
    names.sort();
    names
}

fn newest_first(mut paths: Vec<PathBuf>) -> Vec<PathBuf> {
    let time = |path: &PathBuf| {
        fs::metadata(path).and_then(|found| found.modified()).unwrap_or(SystemTime::UNIX_EPOCH)
    };
    paths.sort_by_key(|path| std::cmp::Reverse(time(path)));
    paths
}

/// Reads the header of a plan file without keeping its scenario and result. Reads to the end, so that this function
/// detects a truncated or damaged file.
///
/// # Errors
/// Returns the problem of the file.
pub fn read_header(path: &Path) -> Result<Header, Problem> {
    #[derive(Deserialize)]
    struct Envelope {
        schema: String,
        #[serde(rename = "scenario")]
        _scenario: IgnoredAny,
        #[serde(rename = "result")]
        _result: IgnoredAny,
        #[serde(flatten)]
        header: Header,
    }
    let file = private::open(path).map_err(|error| match not_regular_of(&error) {
        Some(what) => Problem::new(
            "",
            format!("is {what}, but a session uses only regular files"),
            "put a regular file in its place",
        ),
        None => Problem::new("", format!("cannot be read: {error}"), "check the file and its permissions"),
    })?;
    let value = Content::take(file)?.json_without(&["scenario", "result"])?;
    let read: Envelope = serde_json::from_value(value)
        .map_err(|error| Problem::new("", format!("is not a plan: {error}"), "solve again"))?;
    if read.schema != SCHEMA {
        return Err(Problem::new(
            "schema",
            format!("is '{}'", read.schema),
            format!("this program reads '{SCHEMA}'; use the version of lightbay that wrote the file"),
        ));
    }
    Ok(read.header)
}
