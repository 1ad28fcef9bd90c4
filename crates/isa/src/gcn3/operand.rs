//! Operands as decoded: registers, constants and the few scalar sources that are neither.
//! Scalar register numbers are those of the encoding, so that vcc, exec and m0 are ordinary numbers.

use super::gcn::Gcn;
use std::fmt;

/// Numbers of the scalar registers that have names.
pub mod sreg {
    pub const FLAT_SCRATCH: u8 = 102;
    pub const XNACK_MASK: u8 = 104;
    pub const VCC: u8 = 106;
    pub const TBA: u8 = 108;
    pub const TMA: u8 = 110;
    /// ttmp0 to ttmp11.
    pub const TTMP: u8 = 112;
    pub const M0: u8 = 124;
    pub const EXEC: u8 = 126;
    /// s0 to s101.
    pub const COUNT: u8 = 102;

    /// From gfx9 on there are sixteen ttmp registers, and tba and tma are no registers any more.
    pub const fn first_ttmp(gcn: super::Gcn) -> u8 {
        match gcn {
            super::Gcn::Gfx8 => TTMP,
            _ => TBA,
        }
    }
}

/// One operand; 8 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Operand {
    #[default]
    None,
    /// First of the vector registers.
    Vgpr(u8),
    /// First of the scalar registers: s0–s101 or one of [`sreg`].
    Sgpr(u8),
    /// −16 to 64.
    InlineInt(i8),
    InlineFloat(InlineFloat),
    /// The dword that follows the instruction, or the constant of v_madmk and v_madak.
    Literal(u32),
    /// 1 if VCC is zero.
    VccZ,
    /// 1 if EXEC is zero.
    ExecZ,
    Scc,
    /// LDS at the address in M0.
    LdsDirect,
    /// First of the accumulators (gfx908 and later).
    Agpr(u8),
    /// Where memories lie among flat addresses (gfx9 and later).
    Window(Window),
}

/// Scalar sources that say where local and private memory lie among flat addresses, in the order of their numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Window {
    SharedBase,
    SharedLimit,
    PrivateBase,
    PrivateLimit,
    /// For pixel shaders.
    PopsExitingWaveId,
}

impl Window {
    pub const ALL: [Window; 5] = [
        Window::SharedBase,
        Window::SharedLimit,
        Window::PrivateBase,
        Window::PrivateLimit,
        Window::PopsExitingWaveId,
    ];

    pub const fn name(self) -> &'static str {
        match self {
            Window::SharedBase => "src_shared_base",
            Window::SharedLimit => "src_shared_limit",
            Window::PrivateBase => "src_private_base",
            Window::PrivateLimit => "src_private_limit",
            Window::PopsExitingWaveId => "src_pops_exiting_wave_id",
        }
    }
}

/// Floating-point constants that need no literal; the bits depend on the type of the operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum InlineFloat {
    Half,
    MinusHalf,
    One,
    MinusOne,
    Two,
    MinusTwo,
    Four,
    MinusFour,
    /// 1/(2π).
    InvTwoPi,
}

impl InlineFloat {
    pub const ALL: [InlineFloat; 9] = [
        InlineFloat::Half,
        InlineFloat::MinusHalf,
        InlineFloat::One,
        InlineFloat::MinusOne,
        InlineFloat::Two,
        InlineFloat::MinusTwo,
        InlineFloat::Four,
        InlineFloat::MinusFour,
        InlineFloat::InvTwoPi,
    ];

    pub const fn bits16(self) -> u16 {
        match self {
            InlineFloat::Half => 0x3800,
            InlineFloat::MinusHalf => 0xb800,
            InlineFloat::One => 0x3c00,
            InlineFloat::MinusOne => 0xbc00,
            InlineFloat::Two => 0x4000,
            InlineFloat::MinusTwo => 0xc000,
            InlineFloat::Four => 0x4400,
            InlineFloat::MinusFour => 0xc400,
            InlineFloat::InvTwoPi => 0x3118,
        }
    }

    pub const fn bits32(self) -> u32 {
        match self {
            InlineFloat::Half => 0x3f00_0000,
            InlineFloat::MinusHalf => 0xbf00_0000,
            InlineFloat::One => 0x3f80_0000,
            InlineFloat::MinusOne => 0xbf80_0000,
            InlineFloat::Two => 0x4000_0000,
            InlineFloat::MinusTwo => 0xc000_0000,
            InlineFloat::Four => 0x4080_0000,
            InlineFloat::MinusFour => 0xc080_0000,
            InlineFloat::InvTwoPi => 0x3e22_f983,
        }
    }

    pub const fn bits64(self) -> u64 {
        match self {
            InlineFloat::Half => 0x3fe0_0000_0000_0000,
            InlineFloat::MinusHalf => 0xbfe0_0000_0000_0000,
            InlineFloat::One => 0x3ff0_0000_0000_0000,
            InlineFloat::MinusOne => 0xbff0_0000_0000_0000,
            InlineFloat::Two => 0x4000_0000_0000_0000,
            InlineFloat::MinusTwo => 0xc000_0000_0000_0000,
            InlineFloat::Four => 0x4010_0000_0000_0000,
            InlineFloat::MinusFour => 0xc010_0000_0000_0000,
            InlineFloat::InvTwoPi => 0x3fc4_5f30_6dc9_c882,
        }
    }
}

impl Operand {
    pub const VCC: Operand = Operand::Sgpr(sreg::VCC);
    pub const EXEC: Operand = Operand::Sgpr(sreg::EXEC);
    pub const M0: Operand = Operand::Sgpr(sreg::M0);

    pub fn is_constant(self) -> bool {
        matches!(self, Operand::InlineInt(_) | Operand::InlineFloat(_) | Operand::Literal(_))
    }

    /// The value of a constant for an operand of type `ty`, in the low bits; none for anything else.
    /// A literal of a 64-bit float is its high half, of a signed integer it is sign-extended. Packed halves get the half in
    /// the low one and nothing in the high one; packed integers get a float constant as an f32 has it.
    pub fn constant(self, ty: Ty) -> Option<u64> {
        Some(match (self, ty.dwords()) {
            (Operand::InlineInt(v), 2) if ty == Ty::PkF32 => u64::from(v as i32 as u32),
            (Operand::InlineFloat(f), 2) if ty == Ty::PkF32 => f.bits32().into(),
            (Operand::InlineFloat(f), _) if ty == Ty::PkF16 => f.bits16().into(),
            (Operand::InlineInt(v), 2) => v as i64 as u64,
            (Operand::InlineInt(v), _) => u64::from(v as i32 as u32),
            (Operand::InlineFloat(f), 2) => f.bits64(),
            (Operand::InlineFloat(f), _) if ty.bits() == 16 => f.bits16().into(),
            (Operand::InlineFloat(f), _) => f.bits32().into(),
            (Operand::Literal(v), _) if ty == Ty::F64 => u64::from(v) << 32,
            (Operand::Literal(v), 2) if ty == Ty::I64 => v as i32 as i64 as u64,
            (Operand::Literal(v), _) => v.into(),
            _ => return None,
        })
    }
}

/// What an operand holds. The width decides how many registers it spans, the kind how constants read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Ty {
    #[default]
    None,
    B16,
    I16,
    U16,
    F16,
    B32,
    I32,
    U32,
    F32,
    B64,
    I64,
    U64,
    F64,
    B96,
    B128,
    B256,
    B512,
    B1024,
    /// Two halves.
    PkB16,
    PkI16,
    PkU16,
    PkF16,
    /// Two f32.
    PkF32,
    /// One bit per lane in a scalar register pair: carries, conditions.
    Mask,
    /// A 16-bit immediate in the instruction, kept in [`super::Inst::imm`].
    Imm16,
}

impl Ty {
    /// Dwords the operand spans in registers.
    pub const fn dwords(self) -> u8 {
        match self {
            Ty::None | Ty::Imm16 => 0,
            Ty::B16 | Ty::I16 | Ty::U16 | Ty::F16 | Ty::B32 | Ty::I32 | Ty::U32 | Ty::F32 => 1,
            Ty::PkB16 | Ty::PkI16 | Ty::PkU16 | Ty::PkF16 => 1,
            Ty::B64 | Ty::I64 | Ty::U64 | Ty::F64 | Ty::Mask | Ty::PkF32 => 2,
            Ty::B96 => 3,
            Ty::B128 => 4,
            Ty::B256 => 8,
            Ty::B512 => 16,
            Ty::B1024 => 32,
        }
    }

    pub const fn bits(self) -> u32 {
        match self {
            Ty::Imm16 | Ty::B16 | Ty::I16 | Ty::U16 | Ty::F16 => 16,
            _ => self.dwords() as u32 * 32,
        }
    }

    pub const fn is_float(self) -> bool {
        matches!(self, Ty::F16 | Ty::F32 | Ty::F64)
    }
}

/// The name of `dwords` scalar registers from `first`, as the assembler writes it.
pub fn scalar_name(f: &mut impl fmt::Write, gcn: Gcn, first: u8, dwords: u8) -> fmt::Result {
    let ttmp = sreg::first_ttmp(gcn);
    let pair = |name: &str, base: u8, f: &mut dyn fmt::Write| match (dwords, first - base) {
        (2, 0) => f.write_str(name),
        (_, 0) => write!(f, "{name}_lo"),
        _ => write!(f, "{name}_hi"),
    };
    match first {
        sreg::FLAT_SCRATCH | 103 => pair("flat_scratch", sreg::FLAT_SCRATCH, f),
        sreg::XNACK_MASK | 105 => pair("xnack_mask", sreg::XNACK_MASK, f),
        sreg::VCC | 107 => pair("vcc", sreg::VCC, f),
        _ if (ttmp..sreg::M0).contains(&first) => range(f, "ttmp", u32::from(first - ttmp), dwords),
        sreg::TBA | 109 => pair("tba", sreg::TBA, f),
        sreg::TMA | 111 => pair("tma", sreg::TMA, f),
        sreg::M0 => f.write_str("m0"),
        sreg::EXEC | 127 => pair("exec", sreg::EXEC, f),
        _ => range(f, "s", first.into(), dwords),
    }
}

/// `v4` or `v[4:7]`.
pub(super) fn range(f: &mut (impl fmt::Write + ?Sized), prefix: &str, first: u32, dwords: u8) -> fmt::Result {
    if dwords <= 1 {
        write!(f, "{prefix}{first}")
    } else {
        write!(f, "{prefix}[{first}:{}]", first + u32::from(dwords) - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_constants() {
        assert_eq!(size_of::<Operand>(), 8);
        for f in InlineFloat::ALL {
            assert_eq!(f64::from(f32::from_bits(f.bits32())), f64::from(f64::from_bits(f.bits64()) as f32));
        }
        assert_eq!(Operand::Literal(0x3ff0_0000).constant(Ty::F64), Some(0x3ff0_0000_0000_0000));
        assert_eq!(Operand::InlineInt(-1).constant(Ty::B64), Some(u64::MAX));
        assert_eq!(Operand::InlineFloat(InlineFloat::One).constant(Ty::F16), Some(0x3c00));
        assert_eq!(Operand::Vgpr(0).constant(Ty::F32), None);
    }

    #[test]
    fn names() {
        let name = |first, dwords| {
            let mut s = String::new();
            scalar_name(&mut s, Gcn::Gfx8, first, dwords).unwrap();
            s
        };
        assert_eq!(name(106, 2), "vcc");
        assert_eq!(name(107, 1), "vcc_hi");
        assert_eq!(name(4, 4), "s[4:7]");
        assert_eq!(name(114, 2), "ttmp[2:3]");
    }
}
