//! Time per instruction; `cargo test --release -- --ignored --nocapture valu::tests::speed`.

use super::*;
use std::hint::black_box;
use std::time::Instant;

#[test]
#[ignore = "prints times, checks nothing"]
fn nanoseconds_per_instruction() {
    let ops = "VMovB32 VAddU32 VAddcU32 VMulLoU32 VLshlrevB32 VAndB32 VCndmaskB32 VMaxI32 VBfeU32 VMadI32I24 VAddF32 VMulF32 \
        VMacF32 VMadF32 VFmaF32 VMinF32 VRndneF32 VCvtF32I32 VCvtI32F32 VCvtF32F64 VCvtF64F32 VCmpGtI32 VCmpEqU32 VCmpLtF32 VCmpGtF64 VCmpLtU64 VCmpClassF32 VMadU64U32 \
        VLshlrevB64 VAddF64 VMulF64 VFmaF64 VRcpF32 VRcpF64 VSqrtF32 VExpF32 VLogF32 VSinF32 VLdexpF32 VLdexpF64 VDivScaleF32 VDivFmasF32 VDivFixupF32 VDivScaleF64 VAddU16 VAddF16 VFmaF16 VCvtF32F16 VCvtF16F32";
    let mut r = regs(COMPILED);
    for lane in 0..64 {
        for i in 0..3 {
            fill(
                &mut r,
                i,
                lane,
                u64::from((1.0 + lane as f32 * 0.37 + i as f32).to_bits()) | 0x3ff0_0000 << 32,
            );
        }
    }
    let time = |i: &Inst, r: &mut Regs, lanes: u64| {
        // Short samples, the best counts: other work on the machine then hardly shows.
        let n = 200;
        let mut best = f64::INFINITY;
        for _ in 0..200 {
            let start = Instant::now();
            for _ in 0..n {
                execute(black_box(i), r, black_box(lanes)).unwrap();
            }
            best = best.min(start.elapsed().as_nanos() as f64 / f64::from(n));
        }
        best
    };
    println!("{:<18} {:>8} {:>8} {:>8}  ns per instruction of 64 lanes", "", "full", "partial", "scalar");
    for name in ops.split_whitespace() {
        let op = Op::all().find(|op| format!("{op:?}") == name).unwrap();
        let vector = inst(op);
        let mut scalar = vector;
        scalar.src[0] = Operand::Sgpr(14);
        r.set_pair(14, 0x3ff0_0000_3fc0_0000);
        let row = [
            time(&vector, &mut r, !0),
            time(&vector, &mut r, 0x0ff0_5555_ffff_0000),
            time(&scalar, &mut r, !0),
        ];
        println!("{:<18} {:8.1} {:8.1} {:8.1}", op.name(), row[0], row[1], row[2]);
    }
    let mut i = inst(Op::VMadF32);
    i.neg = 4;
    println!("{:<18} {:8.1}", "v_mad_f32 neg", time(&i, &mut r, !0));
    i = inst(Op::VLshlrevB32);
    i.format = Format::Sdwa;
    i.imm = 6 << 8 | 6 << 16 | 4 << 24;
    println!("{:<18} {:8.1}", "v_lshlrev_b32 sdwa", time(&i, &mut r, !0));
}
