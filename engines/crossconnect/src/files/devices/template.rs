//! Names of ports, made from a template and read back.

use lightbay_core::problem::Problem;

/// Direction of a port: light enters or leaves the switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Ingress port; `A` in names.
    Ingress,
    /// Egress port; `B` in names.
    Egress,
}

impl Role {
    const fn letter(self) -> char {
        match self {
            Self::Ingress => 'A',
            Self::Egress => 'B',
        }
    }
}

/// Piece of a template.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Text(String),
    /// Number of the port.
    Number,
    /// Direction of the port, `A` or `B`.
    Side,
    /// Number of the slot: 1 + (number − 1) div ports per slot.
    Slot,
    /// Number of the port within its slot: 1 + (number − 1) mod ports per slot.
    Port,
}

impl Part {
    const fn is_number(&self) -> bool {
        matches!(self, Self::Number | Self::Slot | Self::Port)
    }
}

/// Template of port names: text with `{n}`, or `{slot}` and `{port}`, and perhaps `{side}`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    parts: Vec<Part>,
    ports_per_slot: u64,
}

impl Template {
    /// Reads a template. `ports_per_slot` applies to templates with `{slot}`.
    ///
    /// # Errors
    /// Unknown placeholders, characters that would need quotes, and templates that give two ports the same name.
    pub fn new(text: &str, ports_per_slot: u64) -> Result<Self, Problem> {
        let wrong = |message: String| {
            Problem::new(
                "port_template",
                message,
                "give text with {n}, or {slot} and {port}, such as '1.{slot}.{port}'",
            )
        };
        let mut parts: Vec<Part> = Vec::new();
        let mut rest = text;
        while let Some(next) = rest.chars().next() {
            let part = if next == '{' {
                let (place, after) = rest[1..]
                    .split_once('}')
                    .ok_or_else(|| wrong(format!("is '{text}', without a closing brace")))?;
                rest = after;
                match place {
                    "n" => Part::Number,
                    "side" => Part::Side,
                    "slot" => Part::Slot,
                    "port" => Part::Port,
                    other => {
                        return Err(wrong(format!(
                            "is '{text}', with the unknown placeholder '{{{other}}}'"
                        )));
                    }
                }
            } else {
                let end = rest.find('{').unwrap_or(rest.len());
                let (literal, after) = rest.split_at(end);
                rest = after;
                Part::Text(literal.to_owned())
            };
            let after_number = parts.last().is_some_and(Part::is_number);
            let unclear = part.is_number()
                || matches!(&part, Part::Text(literal) if literal.starts_with(|c: char| c.is_ascii_digit()));
            if after_number && unclear {
                return Err(wrong(format!("is '{text}', with two numbers and nothing between them")));
            }
            parts.push(part);
        }
        let known = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-' | '/');
        let odd = parts.iter().find_map(|part| match part {
            Part::Text(literal) => literal.chars().find(|&c| !known(c)),
            _ => None,
        });
        if let Some(odd) = odd {
            return Err(wrong(format!("is '{text}', with the character '{odd}'")));
        }
        let count = |wanted: &Part| parts.iter().filter(|part| *part == wanted).count();
        let counts = (count(&Part::Number), count(&Part::Slot), count(&Part::Port));
        if !matches!(counts, (1, 0, 0) | (0, 1, 1)) || count(&Part::Side) > 1 {
            return Err(wrong(format!("is '{text}'")));
        }
        Ok(Self { parts, ports_per_slot: ports_per_slot.max(1) })
    }

    /// Returns `true` if ingress and egress ports differ in name.
    pub fn tells_sides(&self) -> bool {
        self.parts.contains(&Part::Side)
    }

    /// Returns `true` if names are only numbers.
    pub fn is_bare(&self) -> bool {
        self.parts == [Part::Number]
    }

    /// Returns `true` if names have slots; port numbers must then begin at 1.
    pub fn has_slots(&self) -> bool {
        self.parts.contains(&Part::Slot)
    }

    /// Returns the name of a port.
    pub fn name(&self, role: Role, number: u64) -> String {
        let position = number.saturating_sub(1);
        let filled = self.parts.iter().map(|part| match part {
            Part::Text(literal) => literal.clone(),
            Part::Side => role.letter().to_string(),
            Part::Number => number.to_string(),
            Part::Slot => (1 + position / self.ports_per_slot).to_string(),
            Part::Port => (1 + position % self.ports_per_slot).to_string(),
        });
        filled.collect()
    }

    /// Returns the number of a port from its name; `None` if the name does not match the template.
    pub fn number(&self, role: Role, name: &str) -> Option<u64> {
        let (mut number, mut slot, mut port) = (None, None, None);
        let mut rest = name;
        for part in &self.parts {
            match part {
                Part::Text(literal) => rest = rest.strip_prefix(literal.as_str())?,
                Part::Side => rest = rest.strip_prefix(role.letter())?,
                numeric => {
                    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
                    let (digits, after) = rest.split_at(end);
                    rest = after;
                    let value = Some(digits.parse::<u64>().ok()?);
                    match numeric {
                        Part::Slot => slot = value,
                        Part::Port => port = value,
                        _ => number = value,
                    }
                }
            }
        }
        if !rest.is_empty() {
            return None;
        }
        if number.is_some() {
            return number;
        }
        let (slot, port) = (slot?.checked_sub(1)?, port.filter(|&port| port <= self.ports_per_slot)?);
        slot.checked_mul(self.ports_per_slot)?.checked_add(port)
    }
}
