//! What narrowed each of the masks a path has had: the branch that is to blame for lanes that are off. A mask that
//! widens to one seen before has that one's origin again; one that lies between two belongs to what narrowed the wider.

use wb_isa::{Mask, NO_PC, Pc};

/// Masks around the present one, each inside the one before it, with the instruction that made it.
#[derive(Clone, Debug, Default)]
pub struct Origins {
    around: Vec<(Mask, Pc)>,
}

impl Origins {
    /// The mask `before.0`, which `before.1` made, becomes `now` by the instruction `by`. What made it, in the sense above.
    pub fn change(&mut self, before: (Mask, Pc), now: Mask, live: Mask, by: Pc) -> Pc {
        while self.around.pop_if(|(mask, _)| *mask & before.0 != before.0 || *mask == before.0).is_some() {}
        self.around.push(before);
        let mut origin = by;
        while let Some(&(mask, made_by)) = self.around.last() {
            if mask == now {
                self.around.pop();
                return made_by;
            }
            if mask & now == now {
                return origin;
            }
            origin = made_by;
            self.around.pop();
        }
        if now == live { NO_PC } else { origin }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIVE: Mask = 0xff;

    /// Follows masks with the instructions that set them; the origin after each.
    fn follow(steps: &[(Mask, Pc)]) -> Vec<Pc> {
        let mut origins = Origins::default();
        let mut now = (LIVE, NO_PC);
        steps
            .iter()
            .map(|&(mask, by)| {
                now = (mask, origins.change(now, mask, LIVE, by));
                now.1
            })
            .collect()
    }

    #[test]
    fn a_mask_that_comes_back_has_its_origin_again() {
        // An outer branch at 1, an inner one at 2, both sides of the inner one, and out again.
        assert_eq!(follow(&[(0x0f, 1), (0x03, 2), (0x0c, 3), (0x0f, 4), (0xff, 5)]), [1, 2, 2, 1, NO_PC]);
    }

    #[test]
    fn a_branch_that_never_divides_is_never_to_blame() {
        // All lanes that are on go the same way at 2: to the empty side and back.
        assert_eq!(follow(&[(0x0f, 1), (0x00, 2), (0x0f, 3), (0x00, 2), (0x0f, 3)]), [1, 2, 1, 2, 1]);
    }

    #[test]
    fn lanes_that_leave_a_loop_one_by_one() {
        assert_eq!(follow(&[(0x7f, 1), (0x3f, 1), (0x1f, 1), (0xff, 9)]), [1, 1, 1, NO_PC]);
        // The loop is inside a branch.
        assert_eq!(follow(&[(0x0f, 7), (0x07, 1), (0x03, 1), (0x0f, 9), (0xf0, 8)]), [7, 1, 1, 7, 7]);
    }

    #[test]
    fn masks_never_seen_before() {
        // Wider than what is remembered, but not all: the outermost that is known.
        assert_eq!(follow(&[(0x03, 1), (0x30, 2), (0x33, 3)]), [1, 1, 1]);
    }
}
