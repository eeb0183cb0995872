//! `rand()` of the GNU C library, seeded with 1 as in a program that never calls `srand()`: an
//! additive feedback generator over 31 words (its `stdlib/random_r.c`, `TYPE_3`).

const DEGREE: usize = 31;
const SEPARATION: usize = 3;
/// Numbers that it discards after seeding.
const DISCARDED: usize = 10 * DEGREE;

/// The numbers of a program's calls, in their order.
#[derive(Clone, Debug)]
pub struct GlibcRand {
    words: [u32; DEGREE],
    front: usize,
}

impl Default for GlibcRand {
    fn default() -> Self {
        let mut words = [1; DEGREE];
        for place in 1..DEGREE {
            // 16807 x modulo 2^31 - 1, from seed 1. No word is 0.
            words[place] = (u64::from(words[place - 1]) * 16_807 % 0x7fff_ffff) as u32;
        }
        let mut random = Self { words, front: SEPARATION };
        (0..DISCARDED).for_each(|_| _ = random.draw());
        random
    }
}

impl GlibcRand {
    /// The next number, of 31 bits.
    pub fn draw(&mut self) -> u32 {
        let rear = (self.front + DEGREE - SEPARATION) % DEGREE;
        let word = self.words[self.front].wrapping_add(self.words[rear]);
        self.words[self.front] = word;
        self.front = (self.front + 1) % DEGREE;
        word >> 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As printed by a C program.
    #[test]
    fn the_first_numbers_are_those_of_the_library() {
        let mut random = GlibcRand::default();
        let first = [1_804_289_383, 846_930_886, 1_681_692_777, 1_714_636_915, 1_957_747_793];
        assert_eq!([(); 5].map(|()| random.draw()), first);
        let last = (5..1_000).map(|_| random.draw()).last();
        assert_eq!(last, Some(1_143_565_421));
    }
}
