//! A separate folder for every test, and functions that run the program in this folder.

use serde_json::Value;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use tempfile::TempDir;

/// The program under test.
pub const PROGRAM: &str = env!("CARGO_BIN_EXE_lightbay");

/// A folder that only one test uses, with a home folder in it.
pub struct Place {
    folder: TempDir,
}

/// Exit code and output of a finished program.
pub struct Ran {
    /// Exit code; `None` if a signal killed it.
    pub code: Option<i32>,
    /// Standard output.
    pub out: String,
    /// Standard error.
    pub err: String,
}

impl Place {
    pub fn new() -> Self {
        Self { folder: TempDir::new().unwrap() }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, content).unwrap();
        path
    }

    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    pub fn json(&self, name: &str) -> Value {
        serde_json::from_str(&self.read(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// Returns the names of the files in the folder, without the home folder.
    pub fn files(&self) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(self.folder.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .filter(|name| name != "home")
            .collect();
        names.sort();
        names
    }

    /// Returns the command that runs the program in this folder, without settings of the user or the machine.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(PROGRAM);
        command
            .args(arguments)
            .current_dir(self.folder.path())
            .env_clear()
            .env("HOME", self.path("home"))
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("TERM", "xterm-256color")
            .env("LANG", "C.UTF-8")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    pub fn run(&self, arguments: &[&str]) -> Ran {
        self.command(arguments).output().unwrap().into()
    }

    /// Runs the program with `input` on standard input.
    pub fn feed(&self, arguments: &[&str], input: &[u8]) -> Ran {
        let mut child = self.command(arguments).stdin(Stdio::piped()).spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let input = input.to_vec();
        // The program may stop reading at any point.
        let writer = std::thread::spawn(move || drop(stdin.write_all(&input)));
        let ran = child.wait_with_output().unwrap().into();
        writer.join().unwrap();
        ran
    }

    pub fn spawn(&self, arguments: &[&str]) -> Child {
        self.command(arguments).spawn().unwrap()
    }

    /// Writes a scenario file with the program and returns its path.
    pub fn scenario(&self, preset: &str, name: &str) -> PathBuf {
        self.run(&["new", preset, "-o", name]).done();
        self.path(name)
    }

    /// Writes a plan file with the program and returns its path.
    pub fn plan(&self, preset: &str, method: &str, name: &str) -> PathBuf {
        self.run(&["solve", &format!("preset:{preset}"), "--method", method, "-o", name]).done();
        self.path(name)
    }
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code(),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

impl Ran {
    /// Asserts that the program ended with exit code 0.
    #[track_caller]
    pub fn done(self) -> Self {
        self.exit(0)
    }

    #[track_caller]
    pub fn exit(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "\n--- out\n{}\n--- err\n{}", self.out, self.err);
        self
    }

    /// Asserts that standard error contains each of the texts `parts`.
    #[track_caller]
    pub fn says(self, parts: &[&str]) -> Self {
        for part in parts {
            assert!(self.err.contains(part), "'{part}' is missing in:\n{}", self.err);
        }
        self
    }

    /// Asserts that standard output contains each of the texts `parts`.
    #[track_caller]
    pub fn prints(self, parts: &[&str]) -> Self {
        for part in parts {
            assert!(self.out.contains(part), "'{part}' is missing in:\n{}", self.out);
        }
        self
    }

    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error} in:\n{}", self.out))
    }
}

/// Returns `true` if a file is there.
pub fn exists(path: &Path) -> bool {
    path.exists()
}
