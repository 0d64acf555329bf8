//! Old or new, whatever happens; and everything a path can be besides a file.

use super::*;
use proptest::prelude::*;
use std::os::unix::fs::symlink;

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

proptest! {
    /// The disk fails, or the program is killed, after any number of bytes.
    #[test]
    fn a_cut_at_any_length_leaves_the_old_content_or_the_new(
        old in prop::option::of(prop::collection::vec(any::<u8>(), 0..200)),
        new in prop::collection::vec(any::<u8>(), 0..200),
        cut in 0_usize..260,
        killed: bool,
    ) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("plan.json");
        if let Some(old) = &old {
            fs::write(&path, old).unwrap();
        }
        let whole = cut >= new.len();
        let written = atomic_write_with(&path, Overwrite::Allow, |file| {
            file.write_all(&new[..cut.min(new.len())])?;
            if killed && !whole {
                // A kill leaves the temporary file behind, which an error would have deleted.
                fs::write(folder.path().join(".lightbay-killed.tmp"), &new[..cut])?;
            }
            if whole { Ok(()) } else { Err(io::Error::from(io::ErrorKind::StorageFull)) }
        });
        let found = fs::read(&path).ok();
        if whole {
            written.unwrap();
            prop_assert_eq!(found, Some(new));
        } else {
            let no_space = matches!(written, Err(SessionError::NoSpace { .. }));
            prop_assert!(no_space);
            prop_assert_eq!(found, old.clone());
        }
        remove_leftovers(folder.path());
        let expected: Vec<&str> = if whole || old.is_some() { vec!["plan.json"] } else { vec![] };
        prop_assert_eq!(names(folder.path()), expected);
    }
}

#[test]
fn refusing_keeps_what_is_there_and_names_the_way_out() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("plan.json");
    atomic_write(&path, b"mine", Overwrite::Refuse).unwrap();
    let error = atomic_write(&path, b"new", Overwrite::Refuse).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!("'{}' exists already; choose another name or overwrite it with --force", path.display())
    );
    assert_eq!(fs::read(&path).unwrap(), b"mine");
    atomic_write(&path, b"new", Overwrite::Allow).unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"new");
}

#[test]
fn a_file_that_appears_while_we_write_is_not_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("plan.json");
    let racing = atomic_write_with(&path, Overwrite::Refuse, |file| {
        fs::write(&path, b"theirs")?;
        file.write_all(b"ours")
    });
    assert!(matches!(racing, Err(SessionError::Exists { .. })), "{racing:?}");
    assert_eq!(fs::read(&path).unwrap(), b"theirs");
    assert_eq!(names(folder.path()), ["plan.json"]);
}

#[test]
fn permissions_of_a_replaced_file_stay_and_a_new_one_is_as_any_other() {
    let folder = tempfile::tempdir().unwrap();
    let (ours, plain) = (folder.path().join("ours"), folder.path().join("plain"));
    fs::write(&plain, b"").unwrap();
    atomic_write(&ours, b"1", Overwrite::Refuse).unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o7777;
    assert_eq!(mode(&ours), mode(&plain));
    fs::set_permissions(&ours, fs::Permissions::from_mode(0o640)).unwrap();
    atomic_write(&ours, b"2", Overwrite::Allow).unwrap();
    assert_eq!(mode(&ours), 0o640);
}

#[test]
fn a_write_protected_file_is_not_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("kept");
    fs::write(&path, b"kept").unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o444)).unwrap();
    let message = atomic_write(&path, b"new", Overwrite::Allow).unwrap_err().to_string();
    assert!(message.contains("write-protected; make it writable"), "{message}");
    assert_eq!(fs::read(&path).unwrap(), b"kept");
}

#[test]
fn a_symbolic_link_stays_and_its_target_is_written() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("real")).unwrap();
    let (link, target) = (folder.path().join("link"), folder.path().join("real/file"));
    symlink("real/file", &link).unwrap();
    atomic_write(&link, b"through a dangling link", Overwrite::Refuse).unwrap();
    assert_eq!(fs::read(&target).unwrap(), b"through a dangling link");
    assert!(matches!(atomic_write(&link, b"", Overwrite::Refuse), Err(SessionError::Exists { .. })));
    atomic_write(&link, b"again", Overwrite::Allow).unwrap();
    assert_eq!(fs::read(&target).unwrap(), b"again");
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());

    let (a, b) = (folder.path().join("a"), folder.path().join("b"));
    symlink(&a, &b).unwrap();
    symlink(&b, &a).unwrap();
    assert!(matches!(atomic_write(&a, b"", Overwrite::Allow), Err(SessionError::NotAFile { .. })));
}

#[test]
fn devices_are_written_to_and_never_replaced() {
    use std::os::unix::fs::FileTypeExt as _;
    atomic_write(Path::new("/dev/null"), b"gone", Overwrite::Refuse).unwrap();
    assert!(fs::metadata("/dev/null").unwrap().file_type().is_char_device());
}

#[test]
fn folders_and_missing_folders_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let error = atomic_write(folder.path(), b"", Overwrite::Allow).unwrap_err();
    assert!(matches!(error, SessionError::IsFolder { .. }), "{error}");
    let error = atomic_write(&folder.path().join("no/plan.json"), b"", Overwrite::Allow).unwrap_err();
    assert!(error.to_string().contains("no' does not exist; create it"), "{error}");
    fs::write(folder.path().join("file"), b"").unwrap();
    let error = atomic_write(&folder.path().join("file/plan.json"), b"", Overwrite::Allow).unwrap_err();
    assert!(!error.to_string().is_empty());
    for name in ["", "..", "/"] {
        assert!(atomic_write(Path::new(name), b"", Overwrite::Allow).is_err(), "'{name}'");
    }
}

#[test]
fn names_with_escape_sequences_are_shown_not_sent() {
    let error = atomic_write(Path::new("/\u{1b}[2J/x"), b"", Overwrite::Allow).unwrap_err();
    assert!(!error.to_string().contains('\u{1b}'), "{error:?}");
}

#[test]
fn what_killed_writers_left_goes_and_what_is_being_written_stays() {
    let folder = tempfile::tempdir().unwrap();
    let abandoned = folder.path().join(".lightbay-abc123.tmp");
    let other = folder.path().join(".lightbay-notes");
    fs::write(&abandoned, b"half of a pl").unwrap();
    fs::write(&other, b"somebody's").unwrap();
    let target = folder.path().join("plan.json");
    atomic_write_with(&target, Overwrite::Refuse, |file| {
        // Another process starts while we write.
        remove_abandoned(folder.path());
        file.write_all(b"whole")
    })
    .unwrap();
    assert_eq!(fs::read(&target).unwrap(), b"whole");
    assert!(!abandoned.exists() && other.exists());
}

#[test]
fn own_files_are_for_their_owner_only_also_if_they_were_not() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state").join("recent.json");
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    own_write(&path, b"1").unwrap();
    assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o600, 0o700));
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    own_write(&path, b"2").unwrap();
    assert_eq!((mode(&path), fs::read(&path).unwrap()), (0o600, b"2".to_vec()));
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    io::Write::write_all(&mut crate::append_to(&path, false).unwrap(), b"3").unwrap();
    assert_eq!((mode(&path), fs::read(&path).unwrap()), (0o600, b"23".to_vec()));
    assert!(crate::append_to(&folder.path().join("none"), false).is_err());
}
