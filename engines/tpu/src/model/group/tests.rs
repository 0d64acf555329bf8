use super::*;

#[test]
fn products_and_dihedral_groups_are_groups() {
    for group in [
        Group::abelian(&[2, 2]).unwrap(),
        Group::abelian(&[2, 3, 4]).unwrap(),
        Group::dihedral(3).unwrap(),
        Group::dihedral(6).unwrap(),
        Group::most_square(1),
    ] {
        let again = Group::from_table(&group.rows()).unwrap();
        assert_eq!(again.order(), group.order());
        for a in 0..group.order() {
            assert_eq!((group.times(a, group.inverse(a)), group.times(group.inverse(a), a)), (0, 0));
        }
    }
    assert_ne!(
        Group::dihedral(3).unwrap().times(1, 3),
        Group::dihedral(3).unwrap().times(3, 1),
        "a triangle's symmetries do not commute"
    );
}

#[test]
fn the_most_square_product_is_chosen() {
    let names: Vec<String> =
        [2, 4, 8, 12, 16, 24, 32, 64, 128].map(|order| Group::most_square(order).name().to_owned()).into();
    assert_eq!(
        names,
        [
            "Z2",
            "Z2 x Z2",
            "Z2 x Z2 x Z2",
            "Z2 x Z2 x Z3",
            "Z2 x Z2 x Z4",
            "Z2 x Z3 x Z4",
            "Z2 x Z4 x Z4",
            "Z4 x Z4 x Z4",
            "Z4 x Z4 x Z8"
        ]
    );
}

#[test]
fn tables_that_are_no_group_are_refused() {
    let said = |rows: &[Vec<u16>]| Group::from_table(rows).unwrap_err().to_string();
    assert!(said(&[vec![0, 1], vec![1]]).contains("not square"));
    assert!(said(&[vec![1, 0], vec![0, 1]]).contains("identity"));
    assert!(said(&[vec![0, 1], vec![1, 1]]).contains("repeats"));
    assert!(said(&[vec![0, 1], vec![1, 7]]).contains("entry 7"));
    // A latin square with identity that is not associative.
    let loop5 = [[0, 1, 2, 3, 4], [1, 0, 3, 4, 2], [2, 4, 0, 1, 3], [3, 2, 4, 0, 1], [4, 3, 1, 2, 0]];
    assert!(said(&loop5.map(|row| row.to_vec())).contains("associative"));
}

#[test]
fn names_are_read_as_groups() {
    let orders = ["Z4", "D6", "Z2 x D3", "S3", "A4", "Q8", "Z2^3", "2,2", "z2*z3", "[4,4]", "S4 x Z2"]
        .map(|name| Group::parse(name).unwrap())
        .map(|group| (group.order(), group.is_abelian()));
    let expected = [
        (4, true),
        (12, false),
        (12, false),
        (6, false),
        (12, false),
        (8, false),
        (8, true),
        (4, true),
        (6, true),
        (16, true),
        (48, false),
    ];
    assert_eq!(orders, expected);
    for name in ["Z4", "D6", "Z2 x D3", "S3", "A4", "Q12", "Z2^3", "S4 x Z2"] {
        let group = Group::parse(name).unwrap();
        Group::from_table(&group.rows()).unwrap_or_else(|problem| panic!("{name}: {problem}"));
    }
    assert_eq!(Group::parse("Z2 x D3").unwrap().name(), "Z2 x D3");
    assert_eq!(Group::parse("Z2^3").unwrap(), Group::abelian(&[2, 2, 2]).unwrap());
}

#[test]
fn texts_that_are_no_groups_are_refused() {
    for text in ["", "E8", "Z", "D0", "Q6", "S9", "Z200", "Z12 x Z13", "2,,2", "0", "Z2^99"] {
        assert!(Group::parse(text).is_err(), "{text}");
    }
}
