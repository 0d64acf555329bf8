//! Port numbers from the names of the ports of a switch.

use super::MOST_PORTS;
use lightbay_core::problem::printable;
use lightbay_core::scenario::Assumed;
use std::collections::HashMap;

/// Remedy for names that give no numbers.
const MAP: &str =
    "import a port map (switch,port,side,pod,pod_port,label,state), which gives the number of every port";

/// Rule by which names give the numbers of ports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NumberRule {
    /// Every name is the number of its port.
    Name,
    /// The last number of a name is the number of its port; the text before it is the same in all names.
    Last,
    /// As `Last`, but names count from 0 and numbers from 1.
    FromZero,
    /// The last two numbers of a name are the slot and the port within the slot, both from 1.
    Slots,
}

impl NumberRule {
    /// Returns `true` if the numbers are not the names themselves.
    pub const fn is_assumed(self) -> bool {
        !matches!(self, Self::Name)
    }

    /// Returns the assumption, with a port of a switch as the example.
    pub fn assumed(self, switch: &str, (name, number): (&str, u32), per_slot: u32) -> Assumed {
        let (switch, name) = (printable(switch), printable(name));
        let (what, set_with) = match self {
            Self::Name | Self::Last => {
                ("numbers of ports, from the last number of their names", "a port map")
            }
            Self::FromZero => (
                "numbers of ports, whose names count from 0 (exports need ingress_base=0 to name them so)",
                "a port map",
            ),
            Self::Slots => ("numbers of ports, from slot and port in their names", "ports_per_slot="),
        };
        let slots =
            if self == Self::Slots { format!(", with {per_slot} ports per slot") } else { String::new() };
        Assumed {
            what: what.to_owned(),
            value: format!("{name} of {switch} is port {number}{slots}"),
            set_with: set_with.to_owned(),
        }
    }
}

/// Returns the numbers of the ports of a switch, from 1 and each once, and the rule that gives them.
///
/// # Errors
/// Names from which no rule gives a number for every port, as a phrase, and the remedy.
pub(super) fn of(names: &[&str], per_slot: u32) -> Result<(Vec<u32>, NumberRule), (String, String)> {
    let split: Option<Vec<(&str, u32)>> = names.iter().map(|name| last_number(name)).collect();
    let Some(split) = split else {
        let name = names.iter().find(|name| last_number(name).is_none()).copied().unwrap_or_default();
        return Err((
            format!("the name '{}' does not end with a number below {MOST_PORTS}", printable(name)),
            MAP.to_owned(),
        ));
    };
    let is_alike = split.iter().all(|(text, _)| *text == split[0].0);
    let slots: Option<Vec<Slotted<'_>>> = split.iter().map(|&(text, port)| Slotted::of(text, port)).collect();
    let slots = slots.filter(|slots| slots.iter().all(|one| one.frame() == slots[0].frame()));
    if let Some(slots) = slots.filter(|slots| !is_alike || slots.iter().all(Slotted::is_dotted)) {
        let numbers =
            slots.iter().map(|slotted| slotted.number(per_slot)).collect::<Result<Vec<u32>, _>>()?;
        return unique(names, numbers).map(|numbers| (numbers, NumberRule::Slots));
    }
    if let Some(other) = split.iter().position(|(text, _)| *text != split[0].0) {
        let message = format!(
            "the names '{}' and '{}' differ before their last number, which therefore does not tell the port",
            printable(names[0]),
            printable(names[other])
        );
        return Err((message, MAP.to_owned()));
    }
    let from_zero = split.iter().any(|&(_, number)| number == 0);
    let numbers: Vec<u32> = split.iter().map(|&(_, number)| number + u32::from(from_zero)).collect();
    let is_name = names.iter().zip(&numbers).all(|(name, number)| *name == number.to_string());
    let rule = match (is_name, from_zero) {
        (true, _) => NumberRule::Name,
        (false, true) => NumberRule::FromZero,
        (false, false) => NumberRule::Last,
    };
    unique(names, numbers).map(|numbers| (numbers, rule))
}

/// Returns the text before the number at the end of a name, and the number; `None` if the name ends otherwise, or if it
/// is larger than a panel.
fn last_number(name: &str) -> Option<(&str, u32)> {
    let text = name.trim_end_matches(|sign: char| sign.is_ascii_digit());
    let number = name[text.len()..].parse().ok()?;
    (i64::from(number) < MOST_PORTS).then_some((text, number))
}

/// A name that ends with slot, separator and port.
struct Slotted<'n> {
    before: &'n str,
    separator: char,
    slot: u32,
    port: u32,
}

impl<'n> Slotted<'n> {
    fn of(text: &'n str, port: u32) -> Option<Self> {
        let separator = text.chars().next_back().filter(|sign| !sign.is_alphanumeric())?;
        let (before, slot) = last_number(&text[..text.len() - separator.len_utf8()])?;
        Some(Self { before, separator, slot, port })
    }

    const fn frame(&self) -> (&'n str, char) {
        (self.before, self.separator)
    }

    /// Returns `true` for names of the form `1.2.3`, in which 2 is the slot even if all ports are in the same slot.
    fn is_dotted(&self) -> bool {
        let chassis = self.before.strip_suffix('.');
        self.separator == '.'
            && chassis
                .is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|sign| sign.is_ascii_digit()))
    }

    fn number(&self, per_slot: u32) -> Result<u32, (String, String)> {
        let Self { before, separator, slot, port } = self;
        let name = printable(&format!("{before}{slot}{separator}{port}"));
        if *slot == 0 || *port == 0 {
            return Err((
                format!("'{name}' names slot {slot} and port {port}, but both count from 1"),
                MAP.to_owned(),
            ));
        }
        if *port > per_slot {
            let message =
                format!("'{name}' names port {port} of slot {slot}, but a slot has {per_slot} ports");
            return Err((message, format!("set ports_per_slot={port} or more, or {MAP}")));
        }
        let number = u64::from(slot - 1) * u64::from(per_slot) + u64::from(*port);
        u32::try_from(number).ok().filter(|&number| i64::from(number) <= MOST_PORTS).ok_or_else(|| {
            (format!("'{name}' gives port number {number}, above {MOST_PORTS}"), MAP.to_owned())
        })
    }
}

fn unique(names: &[&str], numbers: Vec<u32>) -> Result<Vec<u32>, (String, String)> {
    let mut seen: HashMap<u32, &str> = HashMap::new();
    for (name, &number) in names.iter().zip(&numbers) {
        if let Some(first) = seen.insert(number, name) {
            let message =
                format!("the names '{}' and '{}' both give port {number}", printable(first), printable(name));
            return Err((message, MAP.to_owned()));
        }
    }
    Ok(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_give_numbers_by_one_rule_per_switch() {
        for (names, numbers, rule) in [
            (&["1", "2", "5"][..], &[1, 2, 5][..], NumberRule::Name),
            (&["Ethernet3", "Ethernet12"], &[3, 12], NumberRule::Last),
            (&["E1/1", "E1/9"], &[1, 9], NumberRule::Last),
            (&["port-0", "port-4"], &[1, 5], NumberRule::FromZero),
            (&["1.1.1", "1.2.2", "1.3.5"], &[1, 10, 21], NumberRule::Slots),
            // All ports are in slot 2.
            (&["1.2.1", "1.2.3"], &[9, 11], NumberRule::Slots),
            (&["E1/1/2", "E1/2/2"], &[2, 10], NumberRule::Slots),
        ] {
            assert_eq!(of(names, 8), Ok((numbers.to_vec(), rule)), "{names:?}");
        }
    }

    #[test]
    fn names_without_a_rule_are_refused() {
        for (names, told) in [
            (&["A1", "B2"][..], "'A1' and 'B2' differ before their last number"),
            (&["1.1.1", "2.1.2"], "differ before their last number"),
            (&["east", "west"], "'east' does not end with a number below"),
            (&["1.1.1", "1.2.9"], "'1.2.9' names port 9 of slot 2, but a slot has 8 ports"),
            (&["1/0/1", "1/1/1"], "names slot 0"),
            (&["p-1", "p-01"], "'p-1' and 'p-01' both give port 1"),
        ] {
            let (message, remedy) = of(names, 8).unwrap_err();
            assert!(message.contains(told) && remedy.contains("import a port map"), "{message}; {remedy}");
        }
    }
}
