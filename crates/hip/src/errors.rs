//! HIP's error codes with their names and texts (`hip_runtime_api.h`, hipError_t), and what ends a program
//! instead.

/// A `hipError_t`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Code(pub i32);

impl Code {
    pub const SUCCESS: Code = Code(0);
    pub const INVALID_VALUE: Code = Code(1);
    pub const OUT_OF_MEMORY: Code = Code(2);
    pub const INVALID_CONFIGURATION: Code = Code(9);
    pub const INVALID_PITCH: Code = Code(12);
    pub const INVALID_SYMBOL: Code = Code(13);
    pub const INVALID_DEVICE_POINTER: Code = Code(17);
    pub const INVALID_MEMCPY_DIRECTION: Code = Code(21);
    pub const MISSING_CONFIGURATION: Code = Code(52);
    pub const INVALID_DEVICE_FUNCTION: Code = Code(98);
    pub const INVALID_DEVICE: Code = Code(101);
    pub const INVALID_IMAGE: Code = Code(200);
    pub const FILE_NOT_FOUND: Code = Code(301);
    pub const UNSUPPORTED_LIMIT: Code = Code(215);
    pub const INVALID_HANDLE: Code = Code(400);
    pub const ILLEGAL_STATE: Code = Code(401);
    pub const NOT_FOUND: Code = Code(500);
    pub const NOT_READY: Code = Code(600);
    pub const PEER_NOT_ENABLED: Code = Code(705);
    pub const NOT_SUPPORTED: Code = Code(801);
    pub const HOST_ALREADY_REGISTERED: Code = Code(712);
    pub const HOST_NOT_REGISTERED: Code = Code(713);
    pub const CAPTURE_UNSUPPORTED: Code = Code(900);
    pub const COOPERATIVE_TOO_LARGE: Code = Code(720);

    pub fn name(self) -> &'static str {
        self.row().map_or("hipErrorUnknown\0", |r| r.1)
    }

    pub fn text(self) -> &'static str {
        self.row().map_or("unknown error\0", |r| r.2)
    }

    fn row(self) -> Option<&'static (i32, &'static str, &'static str)> {
        TABLE.iter().find(|r| r.0 == self.0)
    }
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

/// A failure that ends the program.
pub fn fatal<T>(text: impl Into<String>) -> Outcome<T> {
    Err(Failure::Fatal(text.into()))
}

/// Code, name, text; texts are ours. Zero bytes at the end let C read them.
const TABLE: &[(i32, &str, &str)] = &[
    (0, "hipSuccess\0", "no error\0"),
    (1, "hipErrorInvalidValue\0", "invalid argument\0"),
    (2, "hipErrorOutOfMemory\0", "out of memory\0"),
    (3, "hipErrorNotInitialized\0", "initialization error\0"),
    (4, "hipErrorDeinitialized\0", "driver shutting down\0"),
    (9, "hipErrorInvalidConfiguration\0", "invalid configuration argument\0"),
    (12, "hipErrorInvalidPitchValue\0", "invalid pitch argument\0"),
    (13, "hipErrorInvalidSymbol\0", "invalid device symbol\0"),
    (17, "hipErrorInvalidDevicePointer\0", "invalid device pointer\0"),
    (21, "hipErrorInvalidMemcpyDirection\0", "invalid copy direction for memcpy\0"),
    (35, "hipErrorInsufficientDriver\0", "driver version is insufficient for runtime version\0"),
    (52, "hipErrorMissingConfiguration\0", "no configuration for the launch\0"),
    (53, "hipErrorPriorLaunchFailure\0", "an earlier launch failed\0"),
    (98, "hipErrorInvalidDeviceFunction\0", "invalid device function\0"),
    (100, "hipErrorNoDevice\0", "no GPU is detected\0"),
    (101, "hipErrorInvalidDevice\0", "invalid device ordinal\0"),
    (200, "hipErrorInvalidImage\0", "device kernel image is invalid\0"),
    (201, "hipErrorInvalidContext\0", "invalid device context\0"),
    (205, "hipErrorMapFailed\0", "mapping of buffer object failed\0"),
    (206, "hipErrorUnmapFailed\0", "unmapping of buffer object failed\0"),
    (209, "hipErrorNoBinaryForGpu\0", "no kernel image is available for the device\0"),
    (215, "hipErrorUnsupportedLimit\0", "limit is not supported on this architecture\0"),
    (217, "hipErrorPeerAccessUnsupported\0", "peer access is not supported between these two devices\0"),
    (300, "hipErrorInvalidSource\0", "device kernel image is invalid\0"),
    (301, "hipErrorFileNotFound\0", "file not found\0"),
    (302, "hipErrorSharedObjectSymbolNotFound\0", "shared object symbol not found\0"),
    (400, "hipErrorInvalidHandle\0", "invalid resource handle\0"),
    (401, "hipErrorIllegalState\0", "the operation cannot be performed in the present state\0"),
    (500, "hipErrorNotFound\0", "named symbol not found\0"),
    (600, "hipErrorNotReady\0", "device not ready\0"),
    (700, "hipErrorIllegalAddress\0", "an illegal memory access was encountered\0"),
    (701, "hipErrorLaunchOutOfResources\0", "too many resources requested for launch\0"),
    (702, "hipErrorLaunchTimeOut\0", "the launch timed out and was terminated\0"),
    (704, "hipErrorPeerAccessAlreadyEnabled\0", "peer access is already enabled\0"),
    (705, "hipErrorPeerAccessNotEnabled\0", "peer access has not been enabled\0"),
    (710, "hipErrorAssert\0", "device-side assert triggered\0"),
    (
        712,
        "hipErrorHostMemoryAlreadyRegistered\0",
        "part or all of the requested memory range is already mapped\0",
    ),
    (713, "hipErrorHostMemoryNotRegistered\0", "pointer does not correspond to a registered memory region\0"),
    (719, "hipErrorLaunchFailure\0", "unspecified launch failure\0"),
    (720, "hipErrorCooperativeLaunchTooLarge\0", "too many blocks in cooperative launch\0"),
    (801, "hipErrorNotSupported\0", "operation not supported\0"),
    (900, "hipErrorStreamCaptureUnsupported\0", "operation not permitted when stream is capturing\0"),
    (901, "hipErrorStreamCaptureInvalidated\0", "operation failed due to a previous error during capture\0"),
    (
        906,
        "hipErrorStreamCaptureImplicit\0",
        "operation would make the legacy stream depend on a capturing stream\0",
    ),
    (
        908,
        "hipErrorStreamCaptureWrongThread\0",
        "attempt to terminate a thread-local capture sequence from another thread\0",
    ),
    (999, "hipErrorUnknown\0", "unknown error\0"),
    (1052, "hipErrorRuntimeMemory\0", "runtime memory call returned error\0"),
    (1053, "hipErrorRuntimeOther\0", "runtime call other than memory returned error\0"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_end_for_c_and_codes_are_in_order() {
        assert!(TABLE.iter().all(|(_, name, text)| name.ends_with('\0') && text.ends_with('\0')));
        assert!(TABLE.is_sorted_by_key(|r| r.0));
        assert_eq!(Code::INVALID_VALUE.name(), "hipErrorInvalidValue\0");
        assert_eq!(Code(12345).name(), "hipErrorUnknown\0");
    }
}
