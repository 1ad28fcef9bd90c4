//! Colours of what lanes do. Work is strong and waiting is pale, so that the eye finds what was done; or the colours of the GUPPY
//! document ("Diagram legend").

use crate::history::Cell;

/// Red, green, blue.
pub(crate) type Color = (u8, u8, u8);

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Palette {
    /// Work strong, waiting pale.
    #[default]
    Work,
    /// As the GUPPY document prints it: work white, lanes that are off black.
    Guppy,
}

/// Paths that have a colour of their own; further ones take turns.
pub(crate) const PATHS: usize = 8;

/// Instructions of split paths under [`Palette::Work`], by path number from 1.
const STRONG: [Color; PATHS] = [
    (221, 107, 32),
    (47, 133, 90),
    (184, 50, 128),
    (0, 134, 150),
    (197, 48, 48),
    (107, 70, 193),
    (130, 126, 20),
    (123, 82, 60),
];

const LIGHT: [Color; PATHS] = [
    (255, 221, 89),
    (140, 224, 140),
    (244, 160, 232),
    (120, 224, 236),
    (255, 180, 120),
    (184, 184, 255),
    (206, 240, 110),
    (226, 196, 186),
];

impl Palette {
    /// Red, green, blue.
    pub fn of(self, cell: Cell) -> (u8, u8, u8) {
        match (self, cell) {
            (Palette::Work, Cell::Empty) => (255, 255, 255),
            (Palette::Work, Cell::Ended) => (196, 201, 207),
            (Palette::Work, Cell::Masked) => (226, 229, 233),
            (Palette::Work, Cell::Dispatched) => (43, 108, 176),
            (Palette::Work, Cell::Dependency) => (250, 238, 190),
            (Palette::Work, Cell::Memory) => (249, 215, 181),
            (Palette::Work, Cell::NotDispatched) => (226, 214, 244),
            (Palette::Guppy, Cell::Empty) => (170, 170, 170),
            (Palette::Guppy, Cell::Ended) => (105, 105, 105),
            (Palette::Guppy, Cell::Masked) => (0, 0, 0),
            (Palette::Guppy, Cell::Dispatched) => (255, 255, 255),
            (Palette::Guppy, Cell::Dependency) => (35, 70, 215),
            (Palette::Guppy, Cell::Memory) => (105, 170, 250),
            (Palette::Guppy, Cell::NotDispatched) => (215, 40, 40),
        }
    }

    /// Instructions of split paths, by path number from 1.
    pub(crate) fn paths(self) -> [Color; PATHS] {
        match self {
            Palette::Work => STRONG,
            Palette::Guppy => LIGHT,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How far a colour is from white.
    fn strength((r, g, b): Color) -> u32 {
        [r, g, b].iter().map(|&c| u32::from(255 - c)).sum()
    }

    #[test]
    fn work_is_stronger_than_all_waiting() {
        let work = Palette::Work.paths().into_iter().chain([Palette::Work.of(Cell::Dispatched)]);
        let weakest = work.map(strength).min().unwrap_or(0);
        for cell in [Cell::Dependency, Cell::Memory, Cell::NotDispatched, Cell::Masked, Cell::Empty] {
            assert!(2 * strength(Palette::Work.of(cell)) < weakest, "{cell:?}");
        }
    }
}
