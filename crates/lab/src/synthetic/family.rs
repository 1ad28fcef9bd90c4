//! The family of benchmarks as data: how deep the tree is, how much stands in its leaves, which branches are marked.

/// Lanes of a wave: what the tree divides.
pub const LANES: u32 = 64;

/// Which branches of the tree may split the wave.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Marks {
    #[default]
    None,
    /// The first ones in program order, which is the outer branch before those inside it.
    First(u32),
    /// All branches of the outer layers.
    Layers(u32),
    All,
}

/// How a mark is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MarkWith {
    /// `split` before the branch, `merge` behind the region (PWS 4.1).
    #[default]
    Split,
    /// MODE bit 21 on during the branch (THESIS 4.5.1).
    Mode,
}

/// One benchmark of the family.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Synthetic {
    /// Layers of nested if/else, 0 to 6: 2^layers paths.
    pub layers: u32,
    /// Work instructions of a work-item and trip that stand in the leaves of the tree, in percent; the others stand
    /// before the tree, where all lanes run them.
    pub divergent: u32,
    /// Work instructions that access memory, in percent of each part.
    pub memory: u32,
    /// Work instructions of a work-item per trip.
    pub leaf: u32,
    /// Times the whole is repeated.
    pub trips: u32,
    /// Work-items of the launch and of a group.
    pub items: u32,
    pub group: u32,
    pub marks: Marks,
    pub mark_with: MarkWith,
}

impl Default for Synthetic {
    fn default() -> Self {
        Synthetic {
            layers: 3,
            divergent: 100,
            memory: 0,
            leaf: 64,
            trips: 4,
            items: 4096,
            group: 64,
            marks: Marks::None,
            mark_with: MarkWith::Split,
        }
    }
}

impl Synthetic {
    /// Work instructions before the tree and in each leaf.
    pub(super) fn parts(&self) -> (u32, u32) {
        let inside = self.leaf * self.divergent / 100;
        (self.leaf - inside, inside)
    }

    /// Whether branch number `place` in program order, in `layer`, is marked.
    pub(super) fn is_marked(&self, place: u32, layer: u32) -> bool {
        match self.marks {
            Marks::None => false,
            Marks::First(n) => place < n,
            Marks::Layers(n) => layer < n,
            Marks::All => true,
        }
    }
}
