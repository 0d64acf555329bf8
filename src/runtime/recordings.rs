//! Files of recorded keys: checked before a recording starts, and written when the program ends.

use crate::app::action::Fact;
use crate::app::effect::ExportJob;
use crate::runtime::helpers::export;
use rustix::fs::{Access, access};
use std::path::{Path, PathBuf};

/// Number of other names that are tried for a recording whose file exists.
const OTHER_NAMES: usize = 9;

/// Checks whether a recording can be written to a path.
pub fn check(path: PathBuf) -> Fact {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let problem = if path.is_dir() {
        Some("it is a folder; give the name of a file".to_owned())
    } else if !folder.is_dir() {
        Some(format!("the folder {} does not exist", folder.display()))
    } else {
        let target = if path.exists() { &path } else { folder };
        access(target, Access::WRITE_OK).err().map(|error| error.to_string())
    };
    Fact::RecordingChecked { exists: path.exists(), path, problem }
}

/// Writes a recording when the program ends: under its name, else under a similar name, else in the folder `state`.
/// Returns a message for the shell.
pub fn write_at_end(job: &ExportJob, state: &Path) -> String {
    let named = |number: usize| {
        let stem = job.path.file_stem().unwrap_or_default().to_string_lossy();
        let ending = job.path.extension().map_or_else(String::new, |e| format!(".{}", e.to_string_lossy()));
        job.path.with_file_name(format!("{stem}-{number}{ending}"))
    };
    let in_state = state.join(job.path.file_name().unwrap_or_else(|| "recording.keys".as_ref()));
    let others = (2..OTHER_NAMES + 2).map(named).chain([in_state]);
    let mut why = String::new();
    for path in std::iter::once(job.path.clone()).chain(others) {
        match export(&ExportJob { path, ..job.clone() }) {
            Fact::Exported { path, .. } => return format!("the recorded keys are in {}", path.display()),
            Fact::Failed(text) => why = text,
            _ => {}
        }
    }
    format!("the recorded keys could not be written: {why}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::effect::ExportSubject;

    fn checked(path: &Path) -> (bool, Option<String>) {
        match check(path.to_owned()) {
            Fact::RecordingChecked { exists, problem, .. } => (exists, problem),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_recording_is_refused_before_it_starts_if_its_file_cannot_be_written() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.keys");
        assert_eq!(checked(&file), (false, None));
        std::fs::write(&file, "r").unwrap();
        assert_eq!(checked(&file), (true, None));
        assert!(checked(folder.path()).1.unwrap().starts_with("it is a folder"));
        let lost = checked(&folder.path().join("none/a.keys")).1.unwrap();
        assert!(lost.ends_with("none does not exist"), "{lost}");
    }

    #[test]
    fn at_the_end_an_existing_file_stays_and_the_keys_get_another_name() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.keys");
        let job = |overwrite| ExportJob {
            subject: ExportSubject::Text("z\n".to_owned()),
            against: None,
            format: "keys".to_owned(),
            settings: Vec::new(),
            path: path.clone(),
            overwrite,
        };
        std::fs::write(&path, "r\n").unwrap();
        assert!(write_at_end(&job(false), folder.path()).ends_with("a-2.keys"));
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "r\n");
        assert!(write_at_end(&job(true), folder.path()).ends_with("a.keys"));
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "z\n");
    }
}
