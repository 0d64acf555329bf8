//! Writing a file so that a crash at any moment leaves the old content or the new, never a mixture.
//!
//! This is the only code that replaces a user's file: it writes a temporary file in the same folder, then calls
//! `fsync`, renames the file, and calls `fsync` for the folder. Only this module and [`crate::append`] open a user's
//! file for writing.

use crate::error::{SessionError, folder_of};
use crate::private;
use std::ffi::OsStr;
use std::fs::{self, File, FileType, TryLockError};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

#[cfg(test)]
mod tests;

/// Start and end of the name of an unfinished file; a file with such a name that no process writes may be deleted.
const TEMPORARY: (&str, &str) = (".lightbay-", ".tmp");

/// Permissions of a file that other users may read; the umask then removes some of them.
const PUBLIC_MODE: u32 = 0o666;

/// Treatment of an existing file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overwrite {
    /// Keep the existing file and fail, even if it appears during the write.
    Refuse,
    /// Replace the existing file.
    Allow,
}

/// Writes `bytes` to `path`. A replaced file keeps its permissions. A symbolic link stays and its target is replaced. A
/// pipe or character device (`/dev/null`) receives the bytes directly.
///
/// # Errors
/// [`SessionError`] that names the path and the remedy; the old file is then unchanged.
pub fn atomic_write(path: &Path, bytes: &[u8], overwrite: Overwrite) -> Result<(), SessionError> {
    atomic_write_with(path, overwrite, |file| file.write_all(bytes))
}

/// Writes a file like [`atomic_write`], for content that is produced piece by piece.
///
/// # Errors
/// As [`atomic_write`], and every error of `fill`.
pub fn atomic_write_with(
    path: &Path,
    overwrite: Overwrite,
    fill: impl FnOnce(&mut File) -> io::Result<()>,
) -> Result<(), SessionError> {
    write(path, follow(path)?, overwrite, PUBLIC_MODE, fill)
}

/// Writes a file of a session, readable by its owner only; refuses to write to a symbolic link.
///
/// # Errors
/// As [`atomic_write`], and [`SessionError::NotRegular`] for a link.
pub(crate) fn private_write(path: &Path, bytes: &[u8]) -> Result<(), SessionError> {
    private_write_with(path, |file| file.write_all(bytes))
}

/// Writes a file that other users should not read, such as a list of sessions or a plan in the state folder; an
/// existing file also becomes readable by its owner only. A missing folder is created with the same restriction.
///
/// # Errors
/// As [`atomic_write`].
pub fn own_write(path: &Path, bytes: &[u8]) -> Result<(), SessionError> {
    let folder = folder_of(path);
    private::make_folders(folder).map_err(|error| SessionError::writing(folder, error))?;
    write(path, follow(path)?, Overwrite::Allow, private::FILE_MODE, |file| file.write_all(bytes))
}

/// Writes a file like [`private_write`], for content that is produced piece by piece.
///
/// # Errors
/// As [`private_write`], and every error of `fill`.
pub(crate) fn private_write_with(
    path: &Path,
    fill: impl FnOnce(&mut File) -> io::Result<()>,
) -> Result<(), SessionError> {
    private::refuse_link(path).map_err(|error| SessionError::writing(path, error))?;
    write(path, path.to_owned(), Overwrite::Allow, private::FILE_MODE, fill)
}

fn write(
    path: &Path,
    target: PathBuf,
    overwrite: Overwrite,
    mode: u32,
    fill: impl FnOnce(&mut File) -> io::Result<()>,
) -> Result<(), SessionError> {
    let mut permissions = None;
    match fs::symlink_metadata(&target) {
        Ok(found) if found.is_dir() => return Err(SessionError::IsFolder { path: path.to_owned() }),
        Ok(found) if !found.is_file() => return write_through(path, &target, found.file_type(), fill),
        Ok(_) if overwrite == Overwrite::Refuse => {
            return Err(SessionError::Exists { path: path.to_owned() });
        }
        Ok(found) if found.permissions().readonly() => {
            let source = io::Error::new(io::ErrorKind::PermissionDenied, "it is write-protected");
            return Err(SessionError::NotWritable { path: path.to_owned(), source });
        }
        // A private file becomes private even if the file that it replaces was not.
        Ok(found) => permissions = Some(found.permissions()).filter(|_| mode != private::FILE_MODE),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(SessionError::writing(path, error)),
    }
    if target.file_name().is_none() {
        return Err(SessionError::IsFolder { path: path.to_owned() });
    }

    let folder = folder_of(&target);
    let failed = |error| blame(path, folder, error);
    let mut temporary = new_temporary(folder, mode).map_err(failed)?;
    fill(temporary.as_file_mut()).map_err(failed)?;
    if let Some(permissions) = permissions {
        temporary.as_file().set_permissions(permissions).map_err(failed)?;
    }
    temporary.as_file().sync_all().map_err(failed)?;
    let persisted = match overwrite {
        Overwrite::Allow => temporary.persist(&target),
        Overwrite::Refuse => temporary.persist_noclobber(&target),
    };
    persisted.map_err(|error| match error.error.kind() {
        io::ErrorKind::AlreadyExists => SessionError::Exists { path: path.to_owned() },
        io::ErrorKind::IsADirectory => SessionError::IsFolder { path: path.to_owned() },
        _ => SessionError::writing(path, error.error),
    })?;
    sync_folder(folder).map_err(failed)
}

/// Deletes unfinished files of killed writers in `folder`. Only for folders to which no other process writes.
pub(crate) fn remove_leftovers(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        if is_temporary(&entry.file_name()) {
            // Files that cannot be deleted now are tried again when the folder is next opened.
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Deletes unfinished files of killed writers in `folder`, to which other processes may be writing: a running writer
/// holds a lock on its file.
pub fn remove_abandoned(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        if !is_temporary(&entry.file_name()) {
            continue;
        }
        let path = entry.path();
        let Ok(file) = private::open(&path) else { continue };
        // Files that cannot be deleted now are tried again at the next start.
        if file.try_lock().is_ok() {
            let _ = fs::remove_file(&path);
        }
    }
}

fn is_temporary(name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    name.starts_with(TEMPORARY.0) && name.ends_with(TEMPORARY.1)
}

/// Makes the entries of a folder durable.
pub(crate) fn sync_folder(folder: &Path) -> io::Result<()> {
    match File::open(folder).and_then(|folder| folder.sync_all()) {
        // Some network file systems have no fsync of folders; the rename itself has happened.
        Err(error) if matches!(error.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported) => {
            Ok(())
        }
        // A folder that is writable but not readable cannot be opened.
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(()),
        other => other,
    }
}

/// Creates a file and locks it until it is closed, so that no other process treats it as abandoned.
fn new_temporary(folder: &Path, mode: u32) -> io::Result<tempfile::NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(TEMPORARY.0).suffix(TEMPORARY.1);
    // The umask applies, as to any new file.
    builder.permissions(fs::Permissions::from_mode(mode));
    loop {
        let temporary = builder.tempfile_in(folder)?;
        match temporary.as_file().try_lock() {
            // Another process may have deleted the file as abandoned before it was locked.
            Err(TryLockError::WouldBlock) => {}
            Ok(()) if temporary.as_file().metadata()?.nlink() == 0 => {}
            // Without locks nothing counts as abandoned.
            Ok(()) | Err(TryLockError::Error(_)) => return Ok(temporary),
        }
    }
}

/// Returns the path to which a path leads over symbolic links: the path itself if it is not a link. The target need not
/// exist.
fn follow(path: &Path) -> Result<PathBuf, SessionError> {
    let mut path_now = path.to_owned();
    for _ in 0..40 {
        match fs::symlink_metadata(&path_now) {
            Ok(found) if found.file_type().is_symlink() => {
                let target = fs::read_link(&path_now).map_err(|error| SessionError::reading(path, error))?;
                path_now = folder_of(&path_now).join(target);
            }
            _ => return Ok(path_now),
        }
    }
    Err(SessionError::NotAFile { path: path.to_owned(), what: "a cycle of symbolic links" })
}

/// Writes directly to pipes and character devices, because they have no content to replace.
fn write_through(
    path: &Path,
    target: &Path,
    kind: FileType,
    fill: impl FnOnce(&mut File) -> io::Result<()>,
) -> Result<(), SessionError> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt as _;
        if kind.is_char_device() || kind.is_fifo() {
            let failed = |error| SessionError::writing(path, error);
            let mut file = File::options().write(true).open(target).map_err(failed)?;
            return fill(&mut file).and_then(|()| file.flush()).map_err(failed);
        }
        if kind.is_block_device() {
            return Err(SessionError::NotAFile { path: path.to_owned(), what: "a disk" });
        }
    }
    let _ = (target, kind, fill);
    Err(SessionError::NotAFile { path: path.to_owned(), what: "no regular file" })
}

/// Converts an error of a write to an error that names the folder, if the folder is missing or refuses the write, or
/// else the file.
fn blame(path: &Path, folder: &Path, error: io::Error) -> SessionError {
    match error.kind() {
        io::ErrorKind::NotFound => SessionError::NoFolder { path: folder.to_owned() },
        io::ErrorKind::NotADirectory => SessionError::NotAFile { path: folder.to_owned(), what: "no folder" },
        io::ErrorKind::PermissionDenied => {
            SessionError::NotWritable { path: folder.to_owned(), source: error }
        }
        _ => SessionError::writing(path, error),
    }
}
