//! The encodings of instructions.

/// How an instruction was (or is to be) encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    Sop1,
    Sop2,
    Sopc,
    Sopk,
    Sopp,
    Smem,
    Vop1,
    Vop2,
    Vopc,
    Vop3,
    /// VOP1, VOP2 or VOPC with sub-dword selection.
    Sdwa,
    /// VOP1 or VOP2 with data from other lanes.
    Dpp,
    Ds,
    Flat,
    Mubuf,
    Mimg,
}
