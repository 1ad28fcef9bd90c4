/* Marks for wavefront splitting in OpenCL C and HIP kernels; docs/splitting.md says how they are used.
 *
 *     if (x[i] > 0) {
 *         wavebound_split();      // first statement of a side: split the wave at this branch
 *         ...
 *     }
 *
 * wavebound_split() is an instruction that does nothing (s_nop). It keeps the compiler from turning the branch into
 * selects and from dropping the jump over the side. `wavebound split` finds the branch around it, marks that with
 * split and merge, and removes the instruction.
 *
 * wavebound_split_thesis_on() and _off() set and clear MODE bit 21, which lets branches split under the mechanism
 * `thesis` with divergence.choice = "marked". They need no tool; write them before the branch and on both sides.
 *
 * For other targets all of them are nothing.
 */
#ifndef WAVEBOUND_H
#define WAVEBOUND_H

#if defined(__AMDGCN__)
#define wavebound_split() __asm__ volatile("s_nop 0x5b1")
#define wavebound_split_thesis_on() __asm__ volatile("s_setreg_imm32_b32 hwreg(HW_REG_MODE, 21, 1), 1")
#define wavebound_split_thesis_off() __asm__ volatile("s_setreg_imm32_b32 hwreg(HW_REG_MODE, 21, 1), 0")
#else
#define wavebound_split() ((void)0)
#define wavebound_split_thesis_on() ((void)0)
#define wavebound_split_thesis_off() ((void)0)
#endif

#endif
