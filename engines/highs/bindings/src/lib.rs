//! Ready-made bindings of HiGHS, in a crate that replaces bindgen.
//!
//! The build script of `highs-sys` calls bindgen to make Rust declarations from the C header of HiGHS. That needs
//! libclang, and bindgen and its dependencies have to be compiled before the first file of HiGHS. The declarations
//! of one version of HiGHS never change: they are the file `highs-1.15.0.rs.txt`. This crate has the part of
//! bindgen's interface that the script uses, and writes that file.
//!
//! For another version of `highs-sys`, remove the line of bindgen below `[patch.crates-io]`, build once, and run
//! bindgen's own program on the headers that are then in `target`:
//!
//! ```sh
//! bindgen --no-layout-tests --no-doc-comments \
//!     --allowlist-file '.*/(highs_c_api|HighsCallbackStruct|HighsInt)\.h' \
//!     -o engines/highs/bindings/src/highs-1.15.0.rs.txt \
//!     target/debug/build/highs-sys-*/out/include/highs/interfaces/highs_c_api.h \
//!     -- -Itarget/debug/build/highs-sys-*/out/include/highs
//! ```
#![forbid(unsafe_code)]

use std::env;
use std::fs;
use std::io;
use std::path::Path;

/// Package and version that the bindings belong to.
const PACKAGE: (&str, &str) = ("highs-sys", "1.15.0");

/// Bindings as bindgen 0.72.1 wrote them. They use the types of `std::os::raw`, so they hold on every system.
const BINDINGS: &str = include_str!("highs-1.15.0.rs.txt");

/// Interface by which bindgen reports to the script what it reads.
pub mod callbacks {
    use std::fmt::Debug;

    /// Receiver of these reports. No header is read here, so its methods are never called.
    pub trait ParseCallbacks: Debug {
        /// Reports a header of the settings.
        fn header_file(&self, _name: &str) {}
        /// Reports a header that another one includes.
        fn include_file(&self, _name: &str) {}
        /// Reports a variable of the environment.
        fn read_env_var(&self, _name: &str) {}
    }
}

/// Settings of a script. They tell how to read the headers of [`PACKAGE`], which is done already, and are dropped.
#[derive(Debug, Default)]
pub struct Builder(());

impl Builder {
    /// Takes an argument of clang.
    #[must_use]
    pub fn clang_arg(self, _argument: impl Into<String>) -> Self {
        self
    }

    /// Takes the header to read.
    #[must_use]
    pub fn header(self, _name: impl Into<String>) -> Self {
        self
    }

    /// Takes whether to write tests of sizes, which these bindings do not have.
    #[must_use]
    pub fn layout_tests(self, _wanted: bool) -> Self {
        self
    }

    /// Takes the receiver of reports.
    #[must_use]
    pub fn parse_callbacks(self, _callbacks: Box<dyn callbacks::ParseCallbacks>) -> Self {
        self
    }

    /// Returns the bindings.
    ///
    /// # Errors
    /// If the script is that of another package or version.
    pub fn generate(self) -> Result<Bindings, String> {
        let variable = |name| env::var(name).unwrap_or_default();
        bindings_for(&variable("CARGO_PKG_NAME"), &variable("CARGO_PKG_VERSION"))
    }
}

/// Returns the bindings for a package of a version, or a message if there are none.
fn bindings_for(name: &str, version: &str) -> Result<Bindings, String> {
    if (name, version) == PACKAGE {
        return Ok(Bindings(()));
    }
    let (package, of) = PACKAGE;
    Err(format!(
        "{name} {version} asks bindgen for bindings, but engines/highs/bindings replaces bindgen and has only those \
         of {package} {of}; engines/highs/bindings/src/lib.rs tells how to make others"
    ))
}

/// Bindings of [`PACKAGE`].
#[derive(Debug)]
pub struct Bindings(());

impl Bindings {
    /// Writes them to a file.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn write_to_file(&self, path: impl AsRef<Path>) -> io::Result<()> {
        fs::write(path, BINDINGS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bindings_are_for_one_version_of_one_package() {
        assert!(bindings_for("highs-sys", "1.15.0").is_ok());
        let refusal = bindings_for("highs-sys", "1.16.0").expect_err("another version");
        assert!(refusal.starts_with("highs-sys 1.16.0 asks bindgen for bindings"), "{refusal}");
        assert!(bindings_for("zstd-sys", "1.15.0").is_err());
    }
}
