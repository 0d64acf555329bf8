//! Names of chips, ports and switches, the same in all reports and on all screens.

use crate::model::pod;

/// Name of a switch by dimension, number within the dimension and face position: `X 9 (1,2)`.
pub fn switch(switch: usize) -> String {
    let [u, v] = pod::switch_position(switch);
    format!("{} {} ({u},{v})", axis(pod::switch_dimension(switch)), switch % 16)
}

/// Name of a dimension: `X`, `Y` or `Z`.
pub const fn axis(dimension: usize) -> &'static str {
    match dimension {
        0 => "X",
        1 => "Y",
        _ => "Z",
    }
}

/// Returns the names of the two coordinates of a face position.
pub const fn face(dimension: usize) -> &'static str {
    match dimension {
        0 => "y,z",
        1 => "x,z",
        _ => "x,y",
    }
}

/// Name of a port: `+X`, `-X`, `+Y`, …
pub const fn port(port: u8) -> &'static str {
    match port {
        0 => "+X",
        1 => "-X",
        2 => "+Y",
        3 => "-Y",
        4 => "+Z",
        _ => "-Z",
    }
}

/// Name of a chip of a cube by its coordinates: `(2,0,0)`.
pub fn chip(chip: u8) -> String {
    let [x, y, z] = pod::position(chip);
    format!("({x},{y},{z})")
}

/// Name of a chip of the pod by cube and coordinates: `3 (2,0,0)`.
pub fn node(node: u32) -> String {
    let (cube, place) = pod::parts(node);
    format!("{cube} {}", chip(place))
}

/// Name of an arc class by chip and port: `(2,0,0) -Y`.
pub fn arc(class: usize) -> String {
    let (place, by) = pod::arc_parts(class);
    format!("{} {}", chip(place), port(by))
}

/// Name of the switch of an arc class, `OCS Y 2`, or `electrical`.
pub fn carrier(class: usize) -> String {
    let (place, by) = pod::arc_parts(class);
    match pod::switch(place, by) {
        Some(switch) => format!("OCS {} {}", axis(pod::switch_dimension(switch)), switch % 16),
        None => "electrical".to_owned(),
    }
}

/// Name of an arc by its number: `(2,0,0) -Y` for an arc class of all cubes, `3 (2,0,0) -Y` for a single arc.
pub fn arc_of(arc: usize, is_class: bool) -> String {
    if is_class {
        self::arc(arc)
    } else {
        format!("{} {}", arc / pod::ARC_CLASSES, self::arc(arc % pod::ARC_CLASSES))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worked_example_of_the_numbering_reads_well() {
        // Chip (3,1,2) of cube 5 is node 359; its +X port is on switch 9.
        assert_eq!(node(359), "5 (3,1,2)");
        assert_eq!(switch(9), "X 9 (1,2)");
        let class = pod::arc_class(39, 0);
        assert_eq!((arc(class).as_str(), carrier(class).as_str()), ("(3,1,2) +X", "OCS X 9"));
        assert_eq!(carrier(pod::arc_class(39, 1)), "electrical");
        assert_eq!((switch(47).as_str(), face(2), port(5)), ("Z 15 (3,3)", "x,y", "-Z"));
    }
}
