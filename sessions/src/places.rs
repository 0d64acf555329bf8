//! Places of saved work, logs and the configuration: the XDG folders on every operating system.
//!
//! The caller passes a function that reads environment variables, so that tests do not depend on the machine.

use crate::error::SessionError;
use crate::store::SESSIONS_FOLDER;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Folders and configuration file named on the command line; they take precedence over variables.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Overrides {
    /// Folder in place of `$XDG_DATA_HOME/lightbay`.
    pub data: Option<PathBuf>,
    /// Folder in place of `$XDG_STATE_HOME/lightbay`.
    pub state: Option<PathBuf>,
    /// File in place of `$XDG_CONFIG_HOME/lightbay/config.toml`.
    pub config: Option<PathBuf>,
}

/// The folders of this user. Nothing is created until something is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Places {
    data: PathBuf,
    state: PathBuf,
    config: PathBuf,
}

impl Places {
    /// Finds the folders and the configuration file: the places named by flags, else `LIGHTBAY_DATA`, `LIGHTBAY_STATE`
    /// (folders) and `LIGHTBAY_CONFIG` (a file), else the XDG variables, else their defaults below `HOME`. Empty
    /// variables and relative XDG folders count as unset, as the XDG base directory specification requires.
    ///
    /// # Errors
    /// [`SessionError::NoPlace`] if a folder or the configuration file is set in none of these ways.
    pub fn resolve(given: &Overrides, env: impl Fn(&str) -> Option<OsString>) -> Result<Self, SessionError> {
        let set = |name: &str| env(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let xdg = |name: &str, below_home: &str| {
            set(name)
                .filter(|path| path.is_absolute())
                .or_else(|| set("HOME").map(|home| home.join(below_home)))
                .map(|base| base.join("lightbay"))
        };
        let data = given.data.clone().or_else(|| set("LIGHTBAY_DATA"));
        let state = given.state.clone().or_else(|| set("LIGHTBAY_STATE"));
        let config = given.config.clone().or_else(|| set("LIGHTBAY_CONFIG"));
        let missing = |what, variables| move || SessionError::NoPlace { what, variables };
        Ok(Self {
            data: data
                .or_else(|| xdg("XDG_DATA_HOME", ".local/share"))
                .ok_or_else(missing("sessions", "LIGHTBAY_DATA nor XDG_DATA_HOME nor HOME"))?,
            state: state
                .or_else(|| xdg("XDG_STATE_HOME", ".local/state"))
                .ok_or_else(missing("logs", "LIGHTBAY_STATE nor XDG_STATE_HOME nor HOME"))?,
            config: config
                .or_else(|| xdg("XDG_CONFIG_HOME", ".config").map(|folder| folder.join("config.toml")))
                .ok_or_else(missing("the configuration", "LIGHTBAY_CONFIG nor XDG_CONFIG_HOME nor HOME"))?,
        })
    }

    /// Returns the folder of the sessions.
    pub fn sessions(&self) -> PathBuf {
        self.data.join(SESSIONS_FOLDER)
    }

    /// Returns the folder of logs and of the list of recent sessions.
    pub fn state(&self) -> &Path {
        &self.state
    }

    /// Returns the path of the list of recent sessions.
    pub fn recent(&self) -> PathBuf {
        self.state.join("recent.json")
    }

    /// Returns the folder of the program's own log files.
    pub fn logs(&self) -> PathBuf {
        self.state.join("logs")
    }

    /// Returns the path of the configuration file.
    pub fn config(&self) -> &Path {
        &self.config
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(vars: &[(&str, &str)]) -> Result<Places, SessionError> {
        let vars: Vec<(String, OsString)> =
            vars.iter().map(|(name, value)| ((*name).to_owned(), OsString::from(value))).collect();
        Places::resolve(&Overrides::default(), |name| {
            vars.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone())
        })
    }

    #[test]
    fn defaults_lie_below_home() {
        let places = places(&[("HOME", "/home/ada")]).unwrap();
        assert_eq!(places.sessions(), Path::new("/home/ada/.local/share/lightbay/sessions"));
        assert_eq!(places.recent(), Path::new("/home/ada/.local/state/lightbay/recent.json"));
        assert_eq!(places.logs(), Path::new("/home/ada/.local/state/lightbay/logs"));
        assert_eq!(places.config(), Path::new("/home/ada/.config/lightbay/config.toml"));
    }

    #[test]
    fn xdg_variables_win_over_home_if_they_are_absolute() {
        let places = places(&[
            ("HOME", "/home/ada"),
            ("XDG_DATA_HOME", "/big/data"),
            ("XDG_STATE_HOME", "relative"),
            ("XDG_CONFIG_HOME", ""),
        ])
        .unwrap();
        assert_eq!(places.sessions(), Path::new("/big/data/lightbay/sessions"));
        assert_eq!(places.state(), Path::new("/home/ada/.local/state/lightbay"));
        assert_eq!(places.config(), Path::new("/home/ada/.config/lightbay/config.toml"));
    }

    #[test]
    fn our_variables_win_over_xdg_and_flags_over_all() {
        let env = |name: &str| match name {
            "LIGHTBAY_DATA" => Some(OsString::from("/ours")),
            "LIGHTBAY_STATE" => Some(OsString::from("state")),
            "LIGHTBAY_CONFIG" => Some(OsString::from("/ours/c.toml")),
            "XDG_DATA_HOME" => Some(OsString::from("/xdg")),
            _ => None,
        };
        let places = Places::resolve(&Overrides::default(), env).unwrap();
        assert_eq!(places.sessions(), Path::new("/ours/sessions"));
        assert_eq!(places.state(), Path::new("state"));
        assert_eq!(places.config(), Path::new("/ours/c.toml"));
        let given = Overrides { data: Some("/flag".into()), ..Overrides::default() };
        assert_eq!(Places::resolve(&given, env).unwrap().sessions(), Path::new("/flag/sessions"));
    }

    #[test]
    fn nothing_set_names_the_variables() {
        let message = places(&[]).unwrap_err().to_string();
        assert!(message.contains("LIGHTBAY_DATA nor XDG_DATA_HOME nor HOME"), "{message}");
    }
}
