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
    /// Packed operations and matrices.
    Vop3p,
    /// VOP1, VOP2 or VOPC with sub-dword selection.
    Sdwa,
    /// VOP1 or VOP2 with data from other lanes.
    Dpp,
    Ds,
    Flat,
    /// FLAT that is known to be global memory, with an offset and perhaps a scalar base.
    Global,
    /// FLAT that is known to be private memory.
    Scratch,
    Mubuf,
    /// Buffers whose format the instruction names.
    Mtbuf,
    Mimg,
    /// Interpolation between the corners of a triangle.
    Vintrp,
    /// Results of a shader.
    Exp,
}

impl Format {
    /// Each lane accesses memory.
    pub fn is_vector_memory(self) -> bool {
        match self {
            Format::Ds
            | Format::Flat
            | Format::Global
            | Format::Scratch
            | Format::Mubuf
            | Format::Mtbuf
            | Format::Mimg => true,
            Format::Sop1
            | Format::Sop2
            | Format::Sopc
            | Format::Sopk
            | Format::Sopp
            | Format::Smem
            | Format::Vop1
            | Format::Vop2
            | Format::Vopc
            | Format::Vop3
            | Format::Vop3p
            | Format::Sdwa
            | Format::Dpp
            | Format::Vintrp
            | Format::Exp => false,
        }
    }

    /// The wave or its lanes access memory.
    pub fn is_memory(self) -> bool {
        self == Format::Smem || self.is_vector_memory()
    }
}
