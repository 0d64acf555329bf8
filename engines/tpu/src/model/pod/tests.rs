use super::*;

#[test]
fn the_worked_example_of_the_numbering() {
    // Chip (3,1,2): its +X port is on switch 9, whose minus side is chip (0,1,2).
    assert_eq!(chip([3, 1, 2]), 39);
    assert_eq!(node(5, 39), 359);
    assert_eq!(switch(39, 0), Some(9));
    assert_eq!((face_chip(9, true), face_chip(9, false)), (39, 36));
    assert_eq!((face_port(9, true), face_port(9, false)), (0, 1));
    assert_eq!(switch(36, 1), Some(9));
}

#[test]
fn chips_have_as_many_optical_ports_as_faces() {
    let mut chips = [0; 4];
    for chip in 0..CHIPS as u8 {
        chips[(0..PORTS as u8).filter(|&port| switch(chip, port).is_some()).count()] += 1;
    }
    assert_eq!(chips, [8, 24, 24, 8]);
}

#[test]
fn every_link_class_has_two_arcs_of_opposite_ports() {
    for class in 0..LINK_CLASSES {
        let arcs: Vec<(u8, u8)> =
            (0..ARC_CLASSES).filter(|&arc| LINK_OF_ARC[arc] as usize == class).map(arc_parts).collect();
        let [(a, p), (b, q)] = arcs[..] else { panic!("link class {class} has the arcs {arcs:?}") };
        assert_eq!(q, opposite(p));
        assert_eq!(electrical(a, p), if is_optical(class) { None } else { Some(b) });
    }
}
