//! Registers that tell a work-item who it is (docs/riscv.md, table of CSRs).

/// What such a register holds; numbers are dimensions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkItem {
    LocalId(usize),
    GroupId(usize),
    /// Of the group the work-item is in: those at the far edges may be smaller.
    LocalSize(usize),
    FullLocalSize(usize),
    GlobalSize(usize),
    Groups(usize),
    Dimensions,
    Arguments,
}

/// Number, name, meaning.
#[rustfmt::skip]
pub const WORK_ITEM: &[(u32, &str, WorkItem)] = &[
    (0xcd0, "local_id_x",        WorkItem::LocalId(0)),
    (0xcd1, "local_id_y",        WorkItem::LocalId(1)),
    (0xcd2, "local_id_z",        WorkItem::LocalId(2)),
    (0xcd4, "group_id_x",        WorkItem::GroupId(0)),
    (0xcd5, "group_id_y",        WorkItem::GroupId(1)),
    (0xcd6, "group_id_z",        WorkItem::GroupId(2)),
    (0xcd8, "local_size_x",      WorkItem::LocalSize(0)),
    (0xcd9, "local_size_y",      WorkItem::LocalSize(1)),
    (0xcda, "local_size_z",      WorkItem::LocalSize(2)),
    (0xcdc, "full_local_size_x", WorkItem::FullLocalSize(0)),
    (0xcdd, "full_local_size_y", WorkItem::FullLocalSize(1)),
    (0xcde, "full_local_size_z", WorkItem::FullLocalSize(2)),
    (0xce0, "global_size_x",     WorkItem::GlobalSize(0)),
    (0xce1, "global_size_y",     WorkItem::GlobalSize(1)),
    (0xce2, "global_size_z",     WorkItem::GlobalSize(2)),
    (0xce4, "num_groups_x",      WorkItem::Groups(0)),
    (0xce5, "num_groups_y",      WorkItem::Groups(1)),
    (0xce6, "num_groups_z",      WorkItem::Groups(2)),
    (0xce8, "dimensions",        WorkItem::Dimensions),
    (0xce9, "arguments",         WorkItem::Arguments),
];

/// CSRs of RISC-V itself that exist here: flags, rounding, cycles and instructions.
pub(super) fn is_plain(number: u32) -> bool {
    matches!(number, 1..=3 | 0xc00 | 0xc80 | 0xc02 | 0xc82)
}
