//! Reconfigurations within an iteration: the dark time of a changed circuit, and the maximum number of
//! reconfigurations.

use lightbay_core::param::{Effect, ParamInfo, ParamValue};
use lightbay_core::problem::{Problem, Problems};
use lightbay_core::read::brief;
use lightbay_core::record;
use lightbay_core::record::{FieldType, NumberRange, Place, any, within};
use serde_json::Value;

/// Maximum dark time, seconds; a value above an hour is more likely a wrong unit.
pub const MAX_DELAY_S: f64 = 3600.0;

/// Upper limit of `most_switchings`, far above the number of transfers of any iteration.
pub const MAX_SWITCHINGS: u32 = 100_000;

/// Switches by name, with the dark time of a changed circuit, seconds (`MFABRIC`, measured; guard time included).
pub const SWITCHES: [(&str, f64); 5] = [
    ("plzt", 1e-8),
    ("silicon_photonics", 7e-6),
    ("rotor", 1e-5),
    ("mems", 0.025),
    // The light is back after 25 ms, but transceiver and NIC need this delay to bring up the link.
    ("mems_with_transceivers", 5.7),
];

/// Formats a dark time with a suitable unit, for example as `25 ms`.
pub fn delay_text(delay_s: f64) -> String {
    const UNITS: [(f64, &str); 3] = [(1e-6, "ns"), (1e-3, "us"), (1.0, "ms")];
    let (unit, scale) = UNITS
        .iter()
        .find(|(below, _)| delay_s < *below)
        .map_or(("s", 1.0), |(below, unit)| (*unit, 1e3 / below));
    // Nine digits distinguish typical inputs and hide rounding.
    let rounded = format!("{:.9}", delay_s * scale);
    format!("{} {unit}", rounded.trim_end_matches('0').trim_end_matches('.'))
}

/// Name of the parameter for the dark time.
pub const DELAY: &str = "switching_delay_s";
/// Name of the parameter for the number of reconfigurations.
pub const MOST: &str = "most_switchings";
/// Name of the parameter that takes the dark time from a kind of switch.
pub const SWITCH: &str = "switch";
/// Value of [`SWITCH`] for static circuits.
const NO_SWITCH: &str = "none";

record! {
    /// Rules for changing circuits within an iteration. Without these rules, circuits are static.
    #[derive(Copy)]
    pub struct Reconfiguration {
        /// Time from the setting of a circuit until it carries, guard time included. Its ports are in use during this
        /// time.
        pub delay_s: f64 = any().by(delay, |generator| f64::schema(generator, DELAYS)),
        /// Maximum number of reconfigurations per iteration, not counting the return to the initial circuits. 0:
        /// circuits are static.
        pub most_switchings: u32 = within(0..=i64::from(MAX_SWITCHINGS)),
    }
}

impl Default for Reconfiguration {
    fn default() -> Self {
        Self { delay_s: 0.0, most_switchings: 1 }
    }
}

/// Valid dark times, seconds.
const DELAYS: NumberRange = NumberRange::Float(0.0, MAX_DELAY_S);

/// Reads a dark time; the problem of an invalid value points to a possibly wrong unit.
fn delay(value: &Value, place: &Place<'_>, problems: &mut Problems) -> Option<f64> {
    let delay_s = value.as_f64().filter(|delay_s| (0.0..=MAX_DELAY_S).contains(delay_s));
    if delay_s.is_none() {
        let remedy = format!("give seconds from 0 to {MAX_DELAY_S}, and check the unit");
        problems.add(place.to_string(), format!("is {}", brief(value)), remedy);
    }
    delay_s
}

/// Returns the parameters of reconfigurations.
pub(super) fn knobs() -> [ParamInfo; 3] {
    let mut names = vec![NO_SWITCH];
    names.extend(SWITCHES.map(|(name, _)| name));
    [
        ParamInfo::choice(
            SWITCH,
            &names,
            NO_SWITCH,
            "Type of switch whose circuits change within an iteration; it sets `switching_delay_s`. none: circuits do not change.",
        )
        .effect(Effect::Warm),
        ParamInfo::float(
            DELAY,
            0.0,
            MAX_DELAY_S,
            0.0,
            "Dark time of a circuit that changes within an iteration. Default: circuits do not change.",
        )
        .unit("s")
        .effect(Effect::Warm)
        .derived(),
        ParamInfo::int(
            MOST,
            0,
            i64::from(MAX_SWITCHINGS),
            i64::from(Reconfiguration::default().most_switchings),
            "Maximum number of reconfigurations per iteration, not counting the return to the initial \
             circuits.",
        )
        .effect(Effect::Warm),
    ]
}

/// Value of a parameter of reconfigurations. `None` for other names, for [`SWITCH`] if no kind of switch has the dark
/// time, and for the other two parameters if circuits are static.
pub(super) fn get(group: Option<&Reconfiguration>, name: &str) -> Option<ParamValue> {
    match (name, group) {
        (SWITCH, None) => Some(ParamValue::Text(NO_SWITCH.to_owned())),
        (SWITCH, Some(group)) => {
            let (name, _) = SWITCHES.iter().find(|(_, delay_s)| *delay_s == group.delay_s)?;
            Some(ParamValue::Text((*name).to_owned()))
        }
        (DELAY, Some(group)) => Some(ParamValue::Float(group.delay_s)),
        (MOST, Some(group)) => Some(ParamValue::Int(i64::from(group.most_switchings))),
        _ => None,
    }
}

/// The problem that a maximum number of reconfigurations is set, but no dark time.
pub(super) fn without_switch() -> Problem {
    Problem::new(MOST, "has no effect while circuits are static", "set `switching_delay_s` or `switch` first")
}

/// Changes a parameter of reconfigurations to a value that is within its range; returns `true` if `name` is such a
/// parameter.
///
/// # Errors
/// A maximum number of reconfigurations while circuits are static.
pub(super) fn set(
    group: &mut Option<Reconfiguration>,
    name: &str,
    value: &ParamValue,
) -> Result<bool, Problem> {
    match (name, value) {
        (SWITCH, ParamValue::Text(switch)) => match SWITCHES.iter().find(|(name, _)| name == switch) {
            Some((_, delay_s)) => group.get_or_insert_default().delay_s = *delay_s,
            None => *group = None,
        },
        (DELAY, ParamValue::Float(delay_s)) => {
            group.get_or_insert_default().delay_s = *delay_s;
        }
        (MOST, ParamValue::Int(most)) => {
            let group = group.as_mut().ok_or_else(without_switch)?;
            group.most_switchings = u32::try_from(*most).unwrap_or(MAX_SWITCHINGS);
        }
        _ => return Ok(false),
    }
    Ok(true)
}
