//! Encodings against LLVM. One binary, so that everything is linked once.

mod gcn3_llvm;
mod gfx9_llvm;
mod vortex_llvm;
