//! Names of pods, switches and ports in parameters: by number, by name, and by panel number.

use super::{Circuit, CrossconnectScenario, Placed, Port, Side, Wiring};

impl CrossconnectScenario {
    /// Returns pod and index of a port, given its panel number; `None` if the panel has no such port.
    pub fn port_at(&self, side: Side, ocs: u32, number: u32) -> Option<(u32, u32)> {
        let mut rest = number.checked_sub(1)?;
        if let Some(panel) = self.panel(ocs) {
            let end = panel.ports.get(rest as usize)?.end().filter(|&(there, ..)| there == side)?;
            return Some((end.1, end.2));
        }
        for pod in 0..self.pods {
            let ports = self.ports(side, pod as usize, ocs as usize);
            if rest < ports {
                return Some((pod, rest));
            }
            rest -= ports;
        }
        None
    }

    /// Returns the panel number of a port, given by pod and index, as [`Self::port_at`] reads it; `None` if the panel
    /// does not list the port.
    pub fn panel_number(&self, side: Side, ocs: u32, (pod, index): (u32, u32)) -> Option<u32> {
        if let Some(panel) = self.panel(ocs) {
            let end = Some((side, pod, index));
            return panel.ports.iter().find(|port| port.end() == end).map(|port| port.number);
        }
        let before = (0..pod).map(|pod| self.ports(side, pod as usize, ocs as usize)).sum::<u32>();
        Some(1 + before + index)
    }

    /// Parses the two pods of `0-1`, or of `leaf-a-leaf-b` (names may contain the separator); `None` if the text does
    /// not name two pods.
    pub(super) fn pair_named(&self, text: &str) -> Option<(u32, u32)> {
        let pairs = text.match_indices('-').filter_map(|(at, _)| {
            let (a, b) = (text[..at].trim(), text[at + 1..].trim());
            Some((self.pod_named(a)?, self.pod_named(b)?))
        });
        let mut pairs = pairs.filter(|(a, b)| a != b);
        // If the text can be split in two ways, it is ambiguous and matches nothing.
        pairs.next().filter(|_| pairs.next().is_none())
    }

    /// Parses a port written as `switch:pod:side and index`, or as `switch:number` if the switch has a panel; `None`
    /// for any other text.
    pub(super) fn port_named(&self, text: &str) -> Option<Port> {
        let parts: Vec<&str> = text.split(':').map(str::trim).collect();
        match parts.as_slice() {
            [ocs, number] => self.port_on_panel(self.ocs_named(ocs)?, number),
            [ocs, pod, port] => {
                let (side, index) = match port.split_at_checked(1)? {
                    ("a" | "A", index) => (Side::A, index),
                    ("b" | "B", index) => (Side::B, index),
                    _ => return None,
                };
                let ocs_id = self.ocs_named(ocs).or_else(|| self.ocs_numbered(ocs))?;
                let pod = self.pod_named(pod).or_else(|| self.pod_numbered(pod))?;
                Some(Port { ocs_id, pod, side, port_index: index.parse().ok()? })
            }
            _ => None,
        }
    }

    fn port_on_panel(&self, ocs_id: u32, number: &str) -> Option<Port> {
        let at = number.parse::<usize>().ok()?.checked_sub(1)?;
        let (side, pod, port_index) = self.panel(ocs_id)?.ports.get(at)?.end()?;
        Some(Port { ocs_id, pod, side, port_index })
    }

    /// Returns a port in the form that [`Self::port_named`] reads.
    pub(crate) fn port_text(&self, port: Port) -> String {
        let Port { ocs_id, pod, side, port_index } = port;
        match self.panel(ocs_id) {
            Some(panel) => {
                let number = self.panel_number(side, ocs_id, (pod, port_index)).unwrap_or_default();
                format!("{}:{number}", panel.name)
            }
            None => format!("{ocs_id}:{}:{}{port_index}", self.pod_text(pod), side.word()),
        }
    }

    /// Parses a circuit written as `switch:pod.port-pod.port`, or as `switch:number-number` if the switch has a panel;
    /// `None` for any other text.
    pub(super) fn pin_named(&self, text: &str) -> Option<Placed> {
        let (ocs, circuit) = text.rsplit_once(':')?;
        let ocs_id = self.ocs_named(ocs.trim()).or_else(|| self.ocs_numbered(ocs.trim()))?;
        let end = |text: &str, far: bool| -> Option<(u32, u32)> {
            if let Some((pod, port)) = text.trim().rsplit_once('.') {
                let pod = self.pod_named(pod).or_else(|| self.pod_numbered(pod))?;
                return Some((pod, port.parse().ok()?));
            }
            let number = text.trim().parse().ok()?;
            self.panel(ocs_id)?;
            let side = if far && self.wiring != Wiring::SingleSided { Side::B } else { Side::A };
            self.port_at(side, ocs_id, number)
        };
        // Either end may be named first.
        let of = |a: &str, b: &str| Some((end(a, false)?, end(b, true)?));
        let splits = circuit.match_indices('-').map(|(at, _)| (&circuit[..at], &circuit[at + 1..]));
        let mut found = splits.filter_map(|(a, b)| of(a, b).or_else(|| of(b, a)));
        // Names of pods may contain the separator; a text that can be split in two ways is ambiguous.
        let ((pod_a, port_a_index), (pod_b, port_b_index)) =
            found.next().filter(|_| found.next().is_none())?;
        Some(Placed { ocs_id, circuit: Circuit { pod_a, port_a_index, pod_b, port_b_index } })
    }

    /// Returns a circuit in the form that [`Self::pin_named`] reads.
    pub(super) fn pin_text(&self, pin: Placed) -> String {
        let Placed { ocs_id, circuit } = pin;
        let Circuit { pod_a, port_a_index, pod_b, port_b_index } = circuit;
        let Some(own) = self.own_numbers(ocs_id) else {
            let [pod_a, pod_b] = [pod_a, pod_b].map(|pod| self.pod_text(pod));
            return format!("{ocs_id}:{pod_a}.{port_a_index}-{pod_b}.{port_b_index}");
        };
        let numbers = self.ends(circuit).map(|end| own.get(&end).copied().unwrap_or_default());
        format!("{}:{}-{}", self.ocs_name(ocs_id), numbers[0], numbers[1])
    }
}
