//! A circulant: every server has circuits to its neighbours at distance 1, 2, … in a ring, repeated while ports are
//! left.

/// Returns the circuits of every pair of servers, row by row, with at most `degree` ports of each server.
pub fn circulant(servers: usize, degree: u32) -> Vec<u16> {
    let mut counts = vec![0u16; servers * servers];
    let most = servers / 2;
    if most == 0 {
        return counts;
    }
    let mut left = degree;
    let mut distance = 1;
    // The loop ends after a round in which no distance fits.
    let mut refused = 0;
    while left > 0 && refused < most {
        // At half the ring, both directions lead to the same server.
        let opposite = 2 * distance == servers;
        let ports = if opposite { 1 } else { 2 };
        if ports <= left {
            for server in 0..servers {
                let other = (server + distance) % servers;
                counts[server * servers + other] += 1;
                if !opposite {
                    counts[other * servers + server] += 1;
                }
            }
            left -= ports;
            refused = 0;
        } else {
            refused += 1;
        }
        distance = distance % most + 1;
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_server_has_the_same_ports() {
        for servers in 2..12 {
            for degree in 0..9 {
                let counts = circulant(servers, degree);
                let ports: Vec<u16> = counts.chunks(servers).map(|row| row.iter().sum()).collect();
                assert!(ports.iter().all(|used| *used == ports[0]), "{servers} {degree} {ports:?}");
                // With an even number of servers nothing stays dark.
                let dark = u32::from(servers % 2 == 1 && degree % 2 == 1);
                assert_eq!(u32::from(ports[0]), degree - dark, "{servers} {degree}");
                for (at, count) in counts.iter().enumerate() {
                    assert_eq!(*count, counts[at % servers * servers + at / servers]);
                }
            }
        }
    }

    #[test]
    fn two_servers_share_all_circuits() {
        assert_eq!(circulant(2, 6), [0, 6, 6, 0]);
        assert_eq!(circulant(4, 6), [0, 2, 2, 2, 2, 0, 2, 2, 2, 2, 0, 2, 2, 2, 2, 0]);
    }
}
