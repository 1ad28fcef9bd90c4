//! The generations of GCN in order: a later one has what the earlier ones have, but for the differences in the table.

/// A generation, small enough to stand in every instruction. [`super::Generation`] says what it is like.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Gcn {
    /// "Volcanic Islands": gfx801 to gfx803.
    #[default]
    Gfx8,
    /// Vega 10: gfx900, gfx902.
    Gfx900,
    /// Vega 20, with dot products: gfx906.
    Gfx906,
    /// MI100, with matrix operations and accumulators: gfx908.
    Gfx908,
    /// MI200, with one register file and packed f32: gfx90a.
    Gfx90a,
    /// MI300: gfx940, gfx941, gfx942.
    Gfx940,
}

impl Gcn {
    pub const ALL: [Gcn; 6] = [Gcn::Gfx8, Gcn::Gfx900, Gcn::Gfx906, Gcn::Gfx908, Gcn::Gfx90a, Gcn::Gfx940];
}
