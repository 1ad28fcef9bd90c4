//! OpenCL's error codes (`CL/cl.h`), and what ends a program instead.

/// A `cl_int` that says what went wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Code(pub i32);

impl Code {
    pub const DEVICE_NOT_FOUND: Code = Code(-1);
    pub const COMPILER_NOT_AVAILABLE: Code = Code(-3);
    pub const MEM_OBJECT_ALLOCATION_FAILURE: Code = Code(-4);
    pub const OUT_OF_RESOURCES: Code = Code(-5);
    pub const PROFILING_INFO_NOT_AVAILABLE: Code = Code(-7);
    pub const MEM_COPY_OVERLAP: Code = Code(-8);
    pub const BUILD_PROGRAM_FAILURE: Code = Code(-11);
    pub const MISALIGNED_SUB_BUFFER_OFFSET: Code = Code(-13);
    pub const EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST: Code = Code(-14);
    pub const COMPILE_PROGRAM_FAILURE: Code = Code(-15);
    pub const LINK_PROGRAM_FAILURE: Code = Code(-17);
    pub const DEVICE_PARTITION_FAILED: Code = Code(-18);
    pub const INVALID_VALUE: Code = Code(-30);
    pub const INVALID_DEVICE_TYPE: Code = Code(-31);
    pub const INVALID_PLATFORM: Code = Code(-32);
    pub const INVALID_DEVICE: Code = Code(-33);
    pub const INVALID_CONTEXT: Code = Code(-34);
    pub const INVALID_QUEUE_PROPERTIES: Code = Code(-35);
    pub const INVALID_COMMAND_QUEUE: Code = Code(-36);
    pub const INVALID_HOST_PTR: Code = Code(-37);
    pub const INVALID_MEM_OBJECT: Code = Code(-38);
    pub const INVALID_IMAGE_FORMAT_DESCRIPTOR: Code = Code(-39);
    pub const INVALID_SAMPLER: Code = Code(-41);
    pub const INVALID_BINARY: Code = Code(-42);
    pub const INVALID_BUILD_OPTIONS: Code = Code(-43);
    pub const INVALID_PROGRAM: Code = Code(-44);
    pub const INVALID_PROGRAM_EXECUTABLE: Code = Code(-45);
    pub const INVALID_KERNEL_NAME: Code = Code(-46);
    pub const INVALID_KERNEL: Code = Code(-48);
    pub const INVALID_ARG_INDEX: Code = Code(-49);
    pub const INVALID_ARG_VALUE: Code = Code(-50);
    pub const INVALID_ARG_SIZE: Code = Code(-51);
    pub const INVALID_KERNEL_ARGS: Code = Code(-52);
    pub const INVALID_WORK_DIMENSION: Code = Code(-53);
    pub const INVALID_WORK_GROUP_SIZE: Code = Code(-54);
    pub const INVALID_WORK_ITEM_SIZE: Code = Code(-55);
    pub const INVALID_GLOBAL_OFFSET: Code = Code(-56);
    pub const INVALID_EVENT_WAIT_LIST: Code = Code(-57);
    pub const INVALID_EVENT: Code = Code(-58);
    pub const INVALID_OPERATION: Code = Code(-59);
    pub const INVALID_BUFFER_SIZE: Code = Code(-61);
    pub const INVALID_GLOBAL_WORK_SIZE: Code = Code(-63);
    pub const INVALID_PROPERTY: Code = Code(-64);
    pub const INVALID_COMPILER_OPTIONS: Code = Code(-66);
    pub const INVALID_LINKER_OPTIONS: Code = Code(-67);
    pub const INVALID_PIPE_SIZE: Code = Code(-69);
    /// Of `clGetGLContextInfoKHR` and friends (`cl_gl.h`).
    pub const INVALID_GL_OBJECT: Code = Code(-60);
}

/// Why a call does not succeed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The program learns of it.
    Code(Code),
    /// The program ends with this message: a kernel's fault, or something we cannot do.
    Fatal(String),
}

impl From<Code> for Failure {
    fn from(code: Code) -> Failure {
        Failure::Code(code)
    }
}

pub type Outcome<T = ()> = Result<T, Failure>;

/// An error that the program learns of.
pub fn refuse<T>(code: Code) -> Outcome<T> {
    Err(code.into())
}
