//! The generator MRG32k3a (L'Ecuyer 1999): a stream of it, and the draws of a simulator that takes
//! the first number of a new stream each time.
//!
//! Streams are 2^127 steps apart and substreams 2^76 (L'Ecuyer, Simard, Chen and Kelton 2002). All
//! arithmetic is on integers, so the values are exact.

/// A linear map of a component's three state words.
type Matrix = [[u64; 3]; 3];

#[derive(Clone, Copy, Debug)]
struct Component {
    modulus: u64,
    step: Matrix,
}

const M1: u64 = 4_294_967_087;
const M2: u64 = 4_294_944_443;
const COMPONENTS: [Component; 2] = [
    Component { modulus: M1, step: [[0, 1, 0], [0, 0, 1], [M1 - 810_728, 1_403_580, 0]] },
    Component { modulus: M2, step: [[0, 1, 0], [0, 0, 1], [M2 - 1_370_589, 0, 527_612]] },
];

const STREAM: u32 = 127;
const SUBSTREAM: u32 = 76;

impl Component {
    fn apply(&self, map: &Matrix, state: [u64; 3]) -> [u64; 3] {
        // Each product fits in 64 bits, but their sum may not.
        map.map(|row| {
            let sum: u128 = row.iter().zip(state).map(|(&a, s)| u128::from(a * s)).sum();
            (sum % u128::from(self.modulus)) as u64
        })
    }

    fn square(&self, map: &Matrix) -> Matrix {
        let mut squared = [[0; 3]; 3];
        for column in 0..3 {
            let product = self.apply(map, map.map(|row| row[column]));
            for row in 0..3 {
                squared[row][column] = product[row];
            }
        }
        squared
    }

    /// The map that advances 2^`power` steps.
    fn leap(&self, power: u32) -> Matrix {
        (0..power).fold(self.step, |map, _| self.square(&map))
    }
}

/// Draws the first number of each stream in turn.
#[derive(Clone, Debug)]
pub struct FirstOfStreams {
    states: [[u64; 3]; 2],
    to_next_stream: [Matrix; 2],
}

impl FirstOfStreams {
    /// Starts at stream `first` of the generator whose six words are all `seed`, in substream
    /// `run`.
    #[must_use]
    pub fn new(seed: u32, run: u32, first: u64) -> Self {
        let to_next_stream = COMPONENTS.map(|component| component.leap(STREAM));
        let states = [0, 1].map(|index| {
            let component: &Component = &COMPONENTS[index];
            let substream = component.leap(SUBSTREAM);
            let seed = [u64::from(seed); 3];
            (0..run).fold(seed, |state, _| component.apply(&substream, state))
        });
        let mut streams = Self { states, to_next_stream };
        (0..first).for_each(|_| streams.skip());
        streams
    }

    /// Skips a stream.
    pub fn skip(&mut self) {
        for (index, component) in COMPONENTS.iter().enumerate() {
            self.states[index] = component.apply(&self.to_next_stream[index], self.states[index]);
        }
    }

    /// Draws the first number in (0, 1) of the next stream.
    pub fn unit(&mut self) -> f64 {
        let [p1, p2] = [0, 1].map(|index| {
            let component: &Component = &COMPONENTS[index];
            component.apply(&component.step, self.states[index])[2]
        });
        self.skip();
        combined(p1, p2)
    }
}

/// The number in (0, 1) from the last words of both components.
fn combined(p1: u64, p2: u64) -> f64 {
    let difference = if p1 > p2 { p1 - p2 } else { p1 + M1 - p2 };
    difference as f64 * (1.0 / (M1 + 1) as f64)
}

/// A stream of the generator.
#[derive(Clone, Debug)]
pub struct Mrg32k3a([[u64; 3]; 2]);

impl Mrg32k3a {
    /// Substream `run` of a stream of the generator whose six words are all `seed`.
    #[must_use]
    pub fn stream(seed: u32, run: u32, stream: u64) -> Self {
        let states = COMPONENTS.map(|component| {
            // 2^(127 + bit) steps for each bit of the stream's number.
            let mut leap = component.leap(STREAM);
            let mut state = [u64::from(seed); 3];
            for bit in 0..u64::BITS {
                if stream >> bit & 1 == 1 {
                    state = component.apply(&leap, state);
                }
                leap = component.square(&leap);
            }
            let substream = component.leap(SUBSTREAM);
            (0..run).fold(state, |state, _| component.apply(&substream, state))
        });
        Self(states)
    }

    /// Draws a number in (0, 1).
    pub fn unit(&mut self) -> f64 {
        let [[a, b, c], [d, e, f]] = self.0;
        let p1 = (1_403_580 * b + 810_728 * (M1 - a)) % M1;
        let p2 = (527_612 * f + 1_370_589 * (M2 - d)) % M2;
        self.0 = [[b, c, p1], [e, f, p2]];
        combined(p1, p2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A1^(2^76), A2^(2^76), A1^(2^127) and A2^(2^127) as printed by RngStreams (first rows).
    #[test]
    fn leaps_are_the_published_ones() {
        let row = |component: usize, power| COMPONENTS[component].leap(power)[0];
        assert_eq!(row(0, 76), [82_758_667, 1_871_391_091, 4_127_413_238]);
        assert_eq!(row(1, 76), [1_511_326_704, 3_759_209_742, 1_610_795_712]);
        assert_eq!(row(0, 127), [2_427_906_178, 3_580_155_704, 949_770_784]);
        assert_eq!(row(1, 127), [1_464_411_153, 277_697_599, 1_610_723_613]);
    }

    /// The first number of the package's default seed, 12345 six times.
    #[test]
    fn the_first_number_is_the_published_one() {
        let mut streams = FirstOfStreams::new(12_345, 0, 0);
        assert!((streams.unit() - 0.127_011_122_046_577).abs() < 1e-15);
    }

    #[test]
    fn a_stream_begins_with_its_first_number() {
        let mut first = FirstOfStreams::new(1, 1, 5);
        let mut stream = Mrg32k3a::stream(1, 1, 5);
        assert_eq!(stream.unit(), first.unit());
        // The state moves as the matrices say.
        let moved = [0, 1].map(|index: usize| {
            let component: &Component = &COMPONENTS[index];
            component.apply(&component.step, stream.0[index])
        });
        stream.unit();
        assert_eq!(stream.0, moved);
    }

    #[test]
    fn streams_can_be_skipped() {
        let mut drawn = FirstOfStreams::new(1, 1, 0);
        let numbers: Vec<f64> = (0..5).map(|_| drawn.unit()).collect();
        let mut later = FirstOfStreams::new(1, 1, 2);
        assert_eq!(later.unit(), numbers[2]);
        later.skip();
        assert_eq!(later.unit(), numbers[4]);
    }
}
