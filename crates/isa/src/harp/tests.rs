//! Tests of whole programs and of every instruction.
