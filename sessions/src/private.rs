//! Files inside a session: readable by their owner only, and never opened through a symbolic link. A session may come
//! from another person, and a link in it could read or overwrite any file of the user who opens it.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;

/// Permissions of a file of a session.
pub(crate) const FILE_MODE: u32 = 0o600;

/// Permissions of a folder of a session.
const FOLDER_MODE: u32 = 0o700;

/// Error about an entry of a session that is not a regular file.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct NotRegular(pub(crate) &'static str);

const LINK: NotRegular = NotRegular("a symbolic link");

fn not_regular(what: NotRegular) -> io::Error {
    io::Error::other(what)
}

/// Returns the description of the entry if the error states that an entry is not a regular file; `None` for any other
/// error.
pub(crate) fn not_regular_of(error: &io::Error) -> Option<&'static str> {
    Some(error.get_ref()?.downcast_ref::<NotRegular>()?.0)
}

/// Returns the options for opening a file of a session; [`open_with`] opens it.
pub(crate) fn options() -> OpenOptions {
    let mut options = File::options();
    options.mode(FILE_MODE);
    options
}

/// Opens a regular file.
pub(crate) fn open_with(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    // Opening a pipe must not wait for its other end.
    let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
    let opened = options.custom_flags(flags.bits().cast_signed()).open(path);
    let file = opened.map_err(|error| match fs::symlink_metadata(path) {
        Ok(found) if found.is_symlink() => not_regular(LINK),
        _ => error,
    })?;
    if file.metadata()?.is_file() { Ok(file) } else { Err(not_regular(NotRegular("no regular file"))) }
}

/// Opens a file of lines and makes it readable by its owner only.
///
/// # Errors
/// The error of the system, and anything that is not a regular file.
pub fn append_to(path: &Path, create: bool) -> io::Result<File> {
    let file = open_with(options().append(true).create(create), path)?;
    let permissions = file.metadata()?.permissions();
    if permissions.mode() & 0o077 != 0 {
        file.set_permissions(fs::Permissions::from_mode(permissions.mode() & FILE_MODE))?;
    }
    Ok(file)
}

/// Opens a regular file for reading.
pub(crate) fn open(path: &Path) -> io::Result<File> {
    open_with(options().read(true), path)
}

/// Reads a regular file.
pub(crate) fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    io::Read::read_to_end(&mut open(path)?, &mut bytes)?;
    Ok(bytes)
}

/// Makes a folder that must not exist yet.
pub(crate) fn make_folder(path: &Path) -> io::Result<()> {
    DirBuilder::new().mode(FOLDER_MODE).create(path)
}

/// Makes a folder and its missing parents, each accessible by its owner only; existing folders keep their permissions.
///
/// # Errors
/// The error of the system.
pub fn make_folders(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(FOLDER_MODE).create(path)
}

/// Refuses a path that is a symbolic link.
pub(crate) fn refuse_link(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Ok(found) if found.is_symlink() => Err(not_regular(LINK)),
        _ => Ok(()),
    }
}
