//! Beliefs: expected numbers of circuits that take into account that circuits are whole
//! (docs/methods/crossconnect.md, section 7).
//!
//! The weights of scaling belong to independent circuits. Belief propagation (sum-product; Pearl) counts whole circuits:
//! each line sends to each of its columns the chance that no *other* column takes the line. Equal circuits of a pair and
//! equal ports of a pod count as different ones. Then every line has exactly one circuit, and a column stands for as
//! many equal columns as the product of the right sides of its lines. If lines form no cycle, beliefs are exact.

use super::{ASKED, Scaling};
use lightbay_core::method::MethodError;
use lightbay_core::watch::Watch;

/// Smallest and largest message, so that a number of single precision holds products of three.
const MESSAGES: (f64, f64) = (1e-10, 1e10);

impl Scaling {
    /// Sweeps: recomputes the messages of all lines, one kind after the other, from the messages of earlier sweeps.
    pub(crate) fn believe(
        &mut self,
        temperature: f64,
        sweeps: usize,
        watch: &mut impl Watch,
    ) -> Result<(), MethodError> {
        for (factor, line) in self.factors.iter_mut().zip(&self.lines) {
            *factor = line.sum as f32;
        }
        let stay = (1.0 / temperature).exp() as f32;
        self.clear(0);
        for column in 0..self.columns() {
            if column.is_multiple_of(ASKED) {
                watch.checkpoint()?;
            }
            let weight = if self.stays[column] { stay } else { 1.0 };
            let rooms = self.places[column].map(|line| self.factors[line as usize]);
            let [_, from_a, from_b] = self.messages[column];
            let (expected, most) = (self.expected_of(column, weight), self.most[column]);
            // Only installed circuits have an upper bound below the right sides of their lines.
            let is_tight = most < rooms[0].min(rooms[1]).min(rooms[2]) && most < expected;
            let weight = if is_tight { weight * most / expected } else { weight };
            self.weights[column] = weight;
            self.sums[self.places[column][0] as usize] +=
                f64::from(rooms[1] * rooms[2] * weight * from_a * from_b);
        }
        for at in 0..3 * sweeps {
            watch.count(1);
            let (kind, next, last) = (at % 3, (at + 1) % 3, (at + 2) % 3);
            self.clear(next);
            // Changes the messages and adds up those to the next kind in one pass, because memory limits the speed.
            let columns = self.places.chunks(ASKED).zip(self.messages.chunks_mut(ASKED));
            for ((places, messages), weights) in columns.zip(self.weights.chunks(ASKED)) {
                watch.checkpoint()?;
                for ((places, messages), &weight) in places.iter().zip(messages).zip(weights) {
                    let (here, there) = (places[kind] as usize, places[next] as usize);
                    let own = f64::from(weight * messages[next] * messages[last]);
                    let others = (self.sums[here] - own).max(1.0 / MESSAGES.1);
                    messages[kind] = (1.0 / others).max(MESSAGES.0) as f32;
                    let copies = self.factors[here] * self.factors[places[last] as usize];
                    self.sums[there] += f64::from(copies * weight * messages[kind] * messages[last]);
                }
            }
        }
        Ok(())
    }

    /// Empties the sums of a kind. That a port stays free, where that is allowed, has the weight 1.
    fn clear(&mut self, kind: usize) {
        for at in self.range(kind) {
            self.sums[at] = if self.lines[at].exact { 0.0 } else { 1.0 };
        }
    }

    /// Returns the expected number of circuits of a column with a weight.
    fn expected_of(&self, column: usize, weight: f32) -> f32 {
        let odds = weight * self.messages[column].iter().product::<f32>();
        let copies: f32 = self.places[column].iter().map(|&line| self.factors[line as usize]).product();
        copies * odds / (1.0 + odds)
    }

    /// Returns the expected numbers of circuits of all columns after [`Scaling::believe`].
    pub(crate) fn believed(&self) -> impl Iterator<Item = f32> + '_ {
        let expected = |(column, &weight)| self.expected_of(column, weight);
        self.weights.iter().enumerate().map(expected).zip(&self.most).map(|(one, most)| one.min(*most))
    }
}
