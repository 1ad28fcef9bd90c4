//! What programs learn about platform and device: the machine's numbers in OpenCL's terms. What is not there says so: no images,
//! no pipes, no queues on the device.

use crate::codes::Outcome;
use crate::info::{list, names, text, uint, ulong, unknown, version, yes};
use crate::runtime::Runtime;
use wavebound::hw::Machine;
use wavebound::isa::gcn3::{GFX8, Gcn, generation};

/// Bytes that a launch can print.
pub const PRINTF_BYTES: u64 = 1 << 20;
/// Work-items of a group: what clang compiles kernels for that do not ask for more.
pub const LARGEST_GROUP: u64 = 256;
/// Sub-buffers begin at multiples of this, which is what the allocator gives.
pub const ALIGN: u64 = 256;
const VENDOR: &str = "Wavebound";
const OPENCL: &str = "OpenCL 3.0 Wavebound";

const EXTENSIONS: [&str; 11] = [
    "cl_khr_global_int32_base_atomics",
    "cl_khr_global_int32_extended_atomics",
    "cl_khr_local_int32_base_atomics",
    "cl_khr_local_int32_extended_atomics",
    "cl_khr_int64_base_atomics",
    "cl_khr_int64_extended_atomics",
    "cl_khr_byte_addressable_store",
    "cl_khr_fp64",
    "cl_khr_fp16",
    "cl_khr_subgroups",
    "cl_khr_extended_versioning",
];
const PLATFORM_EXTENSIONS: [&str; 2] = ["cl_khr_icd", "cl_khr_extended_versioning"];
const FEATURES: [&str; 7] = [
    "__opencl_c_int64",
    "__opencl_c_fp64",
    "__opencl_c_generic_address_space",
    "__opencl_c_atomic_order_acq_rel",
    "__opencl_c_atomic_order_seq_cst",
    "__opencl_c_program_scope_global_variables",
    "__opencl_c_subgroups",
];
/// Versions of OpenCL C that programs may ask for. 2.0 compiles, too, but promises pipes and queues of the device.
const LANGUAGES: [(u32, u32); 4] = [(1, 0), (1, 1), (1, 2), (3, 0)];

/// The GPU that a machine is, as compilers call it.
pub fn target(machine: &Machine) -> &str {
    if machine.arch.is_empty() { GFX8.usual.name } else { &machine.arch }
}

/// Kernels keep small numbers of single precision: the compiler's choice for this GPU (its fused operations are fast with them).
fn keeps_denormals(machine: &Machine) -> bool {
    generation::of_name(target(machine)).is_some_and(|found| found.0.gcn != Gcn::Gfx8)
}

fn versioned(list: &[&'static str]) -> Vec<(&'static str, u32)> {
    list.iter().map(|name| (*name, version(1, 0))).collect()
}

impl Runtime {
    pub fn platform_info(&self, name: u32) -> Outcome<Vec<u8>> {
        match name {
            // CL_PLATFORM_PROFILE, _VERSION, _NAME, _VENDOR, _EXTENSIONS
            0x0900 => text("FULL_PROFILE"),
            0x0901 => text(OPENCL),
            0x0902 => text(VENDOR),
            0x0903 => text(VENDOR),
            0x0904 => text(&PLATFORM_EXTENSIONS.join(" ")),
            // CL_PLATFORM_HOST_TIMER_RESOLUTION, _NUMERIC_VERSION, _EXTENSIONS_WITH_VERSION, _ICD_SUFFIX_KHR
            0x0905 => ulong(1),
            0x0906 => uint(version(3, 0)),
            0x0907 => names(&versioned(&PLATFORM_EXTENSIONS)),
            0x0920 => text("WB"),
            _ => unknown(),
        }
    }

    pub fn device_info(&self, name: u32) -> Outcome<Vec<u8>> {
        let machine = &self.host.device.machine;
        let memory = self.host.device.heap().total();
        let cached = machine.caches.iter().map(|c| u64::from(c.size)).max().unwrap_or(0);
        let line = machine.caches.iter().map(|c| c.line).max().unwrap_or(0);
        // Rounding to nearest, infinities, NaNs, fused operations; zero and infinity as other roundings in single precision.
        let nearest = 2 | 4 | 8 | 16 | 32;
        match name {
            // What kind of device, by whom.
            0x1000 => ulong(4),                                                    // TYPE
            0x1001 => uint(u32::from_be_bytes(*b"WAVE")),                          // VENDOR_ID
            0x102B => text(&format!("{} ({})", machine.name, target(machine))),    // NAME
            0x102C => text(VENDOR),                                                // VENDOR
            0x102D => text(env!("CARGO_PKG_VERSION")),                             // CL_DRIVER_VERSION
            0x102E => text("FULL_PROFILE"),                                        // PROFILE
            0x102F => text(OPENCL),                                                // VERSION
            0x103D => text("OpenCL C 1.2 Wavebound"),                              // OPENCL_C_VERSION
            0x1030 => text(&EXTENSIONS.join(" ")),                                 // EXTENSIONS
            0x1031 => ulong(self.objects.platform),                                // PLATFORM
            0x105E => uint(version(3, 0)),                                         // NUMERIC_VERSION
            0x105F => uint(version(1, 2)), // OPENCL_C_NUMERIC_VERSION_KHR
            0x1060 => names(&versioned(&EXTENSIONS)), // EXTENSIONS_WITH_VERSION
            0x1061 | 0x1062 => Ok(Vec::new()), // ILS_WITH_VERSION, BUILT_IN_KERNELS_WITH_VERSION
            0x1066 => names(&LANGUAGES.map(|(a, b)| ("OpenCL C", version(a, b)))), // OPENCL_C_ALL_VERSIONS
            0x106F => names(&FEATURES.map(|name| (name, version(3, 0)))), // OPENCL_C_FEATURES
            0x105B | 0x103F => text(""),   // IL_VERSION, BUILT_IN_KERNELS
            0x1072 => text(""),            // LATEST_CONFORMANCE_VERSION_PASSED
            // Cores, groups, clock.
            0x1002 => uint(machine.cores),              // MAX_COMPUTE_UNITS
            0x1003 => uint(3),                          // MAX_WORK_ITEM_DIMENSIONS
            0x1004 => ulong(LARGEST_GROUP),             // MAX_WORK_GROUP_SIZE
            0x1005 => list(&[LARGEST_GROUP; 3]),        // MAX_WORK_ITEM_SIZES
            0x100C => uint(machine.clock_mhz),          // MAX_CLOCK_FREQUENCY
            0x100D => uint(64),                         // ADDRESS_BITS
            0x1067 => ulong(machine.core.lanes.into()), // PREFERRED_WORK_GROUP_SIZE_MULTIPLE
            0x105C => uint(LARGEST_GROUP as u32 / machine.core.lanes.max(1)), // MAX_NUM_SUB_GROUPS
            0x105D => yes(true),                        // SUB_GROUP_INDEPENDENT_FORWARD_PROGRESS
            // Vectors: char, short, int, long, float, double, half; preferred and native.
            0x1006 | 0x1036 => uint(4), // PREFERRED_VECTOR_WIDTH_CHAR, NATIVE_VECTOR_WIDTH_CHAR
            0x1007 | 0x1037 => uint(2), // PREFERRED_VECTOR_WIDTH_SHORT, NATIVE_VECTOR_WIDTH_SHORT
            // PREFERRED_VECTOR_WIDTH_INT … NATIVE_VECTOR_WIDTH_HALF
            0x1008..=0x100B | 0x1034 | 0x1038..=0x103C => uint(1),
            // Memory.
            0x1010 => ulong(memory / 4),      // MAX_MEM_ALLOC_SIZE
            0x1017 => ulong(1024),            // MAX_PARAMETER_SIZE
            0x1019 => uint(ALIGN as u32 * 8), // MEM_BASE_ADDR_ALIGN
            0x101A => uint(128),              // MIN_DATA_TYPE_ALIGN_SIZE
            // How global memory is cached (CL_READ_WRITE_CACHE or not), and its lines.
            0x101C => uint(if cached > 0 { 2 } else { 0 }), // GLOBAL_MEM_CACHE_TYPE
            0x101D => uint(line),                           // GLOBAL_MEM_CACHELINE_SIZE
            0x101E => ulong(cached),                        // GLOBAL_MEM_CACHE_SIZE
            0x101F => ulong(memory),                        // GLOBAL_MEM_SIZE
            0x1020 => ulong(memory / 4),                    // MAX_CONSTANT_BUFFER_SIZE
            0x1021 => uint(8),                              // MAX_CONSTANT_ARGS
            0x1022 => uint(1),                              // LOCAL_MEM_TYPE
            0x1023 => ulong(machine.core.lds_bytes.into()), // LOCAL_MEM_SIZE
            0x1024 => yes(false),                           // ERROR_CORRECTION_SUPPORT
            0x1035 => yes(true),                            // HOST_UNIFIED_MEMORY
            0x104D => ulong(memory / 4),                    // MAX_GLOBAL_VARIABLE_SIZE
            0x1054 => ulong(memory / 4),                    // GLOBAL_VARIABLE_PREFERRED_TOTAL_SIZE
            // CL_DEVICE_SVM_CAPABILITIES: coarse grain.
            0x1053 => ulong(1), // SVM_CAPABILITIES
            // PREFERRED_PLATFORM_ATOMIC_ALIGNMENT, PREFERRED_GLOBAL_ATOMIC_ALIGNMENT, PREFERRED_LOCAL_ATOMIC_ALIGNMENT
            0x1058..=0x105A => uint(0),
            // Images: none. Their numbers are zero.
            0x1016 => yes(false), // IMAGE_SUPPORT
            // MAX_READ_IMAGE_ARGS, MAX_WRITE_IMAGE_ARGS, MAX_READ_WRITE_IMAGE_ARGS
            0x100E | 0x100F | 0x104C => uint(0),
            0x1011..=0x1015 | 0x1040 | 0x1041 => ulong(0), // IMAGE2D_MAX_WIDTH … IMAGE_MAX_ARRAY_SIZE
            // MAX_SAMPLERS, IMAGE_PITCH_ALIGNMENT, IMAGE_BASE_ADDRESS_ALIGNMENT
            0x1018 | 0x104A | 0x104B => uint(0),
            // Arithmetic.
            0x101B => ulong(nearest | 128 | u64::from(keeps_denormals(machine))), // SINGLE_FP_CONFIG
            0x1032 | 0x1033 => ulong(nearest | 1), // DOUBLE_FP_CONFIG, HALF_FP_CONFIG
            // The clock of simulated time: nanoseconds of a tick.
            0x1025 => ulong(u64::from((1000 / machine.clock_mhz.max(1)).max(1))), // PROFILING_TIMER_RESOLUTION
            0x1026..=0x1028 => yes(true), // ENDIAN_LITTLE, AVAILABLE, COMPILER_AVAILABLE
            0x103E => yes(true),          // LINKER_AVAILABLE
            // Kernels and functions of the host.
            0x1029 => ulong(3), // EXECUTION_CAPABILITIES
            // Queues of the host: out of order, profiling. Of the device: none.
            0x102A => ulong(3),         // QUEUE_PROPERTIES
            0x104E => ulong(0),         // QUEUE_ON_DEVICE_PROPERTIES
            0x104F..=0x1052 => uint(0), // QUEUE_ON_DEVICE_PREFERRED_SIZE … MAX_ON_DEVICE_EVENTS
            0x1055..=0x1057 => uint(0), // MAX_PIPE_ARGS, PIPE_MAX_ACTIVE_RESERVATIONS, PIPE_MAX_PACKET_SIZE
            // Parts of a device: none.
            0x1042 => ulong(0),            // PARENT_DEVICE
            0x1043 => uint(0),             // PARTITION_MAX_SUB_DEVICES
            0x1044 => list(&[0]),          // PARTITION_PROPERTIES
            0x1045 => ulong(0),            // PARTITION_AFFINITY_DOMAIN
            0x1046 => Ok(Vec::new()),      // PARTITION_TYPE
            0x1047 => uint(1),             // REFERENCE_COUNT
            0x1048 => yes(true),           // PREFERRED_INTEROP_USER_SYNC
            0x1049 => ulong(PRINTF_BYTES), // PRINTF_BUFFER_SIZE
            // Atomics: orders relaxed, acquire-release, sequential; scopes item, group, device. Fences the same.
            0x1063 => ulong(0x01 | 0x02 | 0x04 | 0x10 | 0x20), // ATOMIC_MEMORY_CAPABILITIES
            0x1064 => ulong(0x01 | 0x02 | 0x04 | 0x08 | 0x10 | 0x20), // ATOMIC_FENCE_CAPABILITIES
            // Groups that are not all equal, generic addresses; no collective functions in OpenCL C 3.0, no pipes.
            0x1065 | 0x1069 => yes(true), // NON_UNIFORM_WORK_GROUP_SUPPORT, GENERIC_ADDRESS_SPACE_SUPPORT
            0x1068 | 0x1071 => yes(false), // WORK_GROUP_COLLECTIVE_FUNCTIONS_SUPPORT, PIPE_SUPPORT
            0x1070 => ulong(0),           // DEVICE_ENQUEUE_CAPABILITIES
            _ => unknown(),
        }
    }
}
