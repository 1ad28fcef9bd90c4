//! The short kernel header: `.kernel NAME`, `.arg TYPE [NAME]`, `.lds BYTES`. It stands for an `.amdhsa_kernel`
//! block with the usual registers; how many are used is counted in the code (docs/gcn3.md, "Assembler").

use super::argument::{ArgHeader, ArgType, VALUES};
use super::cursor::{Cursor, Parse};
use super::kernel::KernelHeader;
use crate::diag::nearest;
use crate::gcn3::inst::Inst;
use crate::gcn3::operand::Operand;

impl KernelHeader {
    /// s[0:1] holds the address of the arguments, s2 s3 s4 the group's place, v0 v1 v2 the work-item's.
    pub(super) fn brief(name: &str) -> KernelHeader {
        KernelHeader {
            user_sgpr_kernarg_segment_ptr: true,
            system_sgpr_workgroup_id_y: true,
            system_sgpr_workgroup_id_z: true,
            system_vgpr_workitem_id: 2,
            next_free_vgpr: 3,
            next_free_sgpr: 5,
            is_brief: true,
            ..KernelHeader::new(name)
        }
    }

    /// `.arg TYPE [NAME]`: the next place in the argument segment, aligned to its size.
    pub(super) fn arg(&mut self, c: &mut Cursor) -> Parse<()> {
        let here = c.here();
        let word = c.word().map_or("", |w| w.0);
        let Some(ty) = ArgType::parse(word) else {
            let names = ["buf", "local"].into_iter().chain(VALUES.map(|v| v.0));
            let error = c.error(here, format!("`{word}` is not a type of argument"), "here");
            return Err(match nearest(word, names) {
                Some(near) => error.hint(format!("did you mean `{near}`?")),
                None => error.hint("buf, local, or a number: i8 to i64, u8 to u64, f16, f32, f64"),
            });
        };
        let name = c.word().map_or_else(|| format!("arg{}", self.args.len()), |w| w.0.to_owned());
        c.done()?;
        let offset = self.kernarg_size.next_multiple_of(ty.bytes());
        self.kernarg_size = offset + ty.bytes();
        self.args.push(ArgHeader { name, ty, offset });
        Ok(())
    }

    /// Counts the registers an instruction names.
    pub(super) fn count(&mut self, inst: &Inst) {
        for used in inst.uses() {
            match used.operand {
                Operand::Vgpr(n) => {
                    self.next_free_vgpr = self.next_free_vgpr.max(u32::from(n) + u32::from(used.dwords));
                }
                Operand::Sgpr(n) if n < 102 => {
                    let end = (u32::from(n) + u32::from(used.dwords)).min(102);
                    self.next_free_sgpr = self.next_free_sgpr.max(end);
                }
                _ => {}
            }
        }
        self.next_free_vgpr = self.next_free_vgpr.min(256);
    }
}
