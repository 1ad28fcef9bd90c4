//! What the program learns about the device: the machine's numbers in HIP's terms (`hip_runtime_api.h`,
//! hipDeviceProp_t and hipDeviceAttribute_t), and how many groups fit.

use wavebound::hw::{Machine, Needs};
use wavebound::objects::codeobject::Kernel;

/// Threads of a group, and groups in one dimension.
pub const MAX_BLOCK: i32 = 1024;
pub const MAX_GRID: i32 = i32::MAX;
/// Constant memory is ordinary memory here; as much as an int tells.
const CONSTANT: u64 = i32::MAX as u64;
/// 32-bit and 64-bit atomics in global and local memory, float add, doubles, votes, ballots, shuffles, system fence, 3D grids;
/// no funnel shift, block votes, surfaces, dynamic parallelism.
const ARCH: u32 = 0x97ff;

/// `hipDeviceProp_t` of HIP 5.2.
#[repr(C)]
#[derive(Clone)]
pub struct Properties {
    pub name: [u8; 256],
    pub total_global_mem: usize,
    pub shared_mem_per_block: usize,
    pub regs_per_block: i32,
    pub warp_size: i32,
    pub max_threads_per_block: i32,
    pub max_threads_dim: [i32; 3],
    pub max_grid_size: [i32; 3],
    pub clock_rate: i32,
    pub memory_clock_rate: i32,
    pub memory_bus_width: i32,
    pub total_const_mem: usize,
    pub major: i32,
    pub minor: i32,
    pub multi_processor_count: i32,
    pub l2_cache_size: i32,
    pub max_threads_per_multi_processor: i32,
    pub compute_mode: i32,
    pub clock_instruction_rate: i32,
    pub arch: u32,
    pub concurrent_kernels: i32,
    pub pci_domain_id: i32,
    pub pci_bus_id: i32,
    pub pci_device_id: i32,
    pub max_shared_memory_per_multi_processor: usize,
    pub is_multi_gpu_board: i32,
    pub can_map_host_memory: i32,
    pub gcn_arch: i32,
    pub gcn_arch_name: [u8; 256],
    pub integrated: i32,
    pub cooperative_launch: i32,
    pub cooperative_multi_device_launch: i32,
    pub max_texture_1d_linear: i32,
    pub max_texture_1d: i32,
    pub max_texture_2d: [i32; 2],
    pub max_texture_3d: [i32; 3],
    pub hdp_mem_flush: usize,
    pub hdp_reg_flush: usize,
    pub mem_pitch: usize,
    pub texture_alignment: usize,
    pub texture_pitch_alignment: usize,
    pub kernel_exec_timeout: i32,
    pub ecc: i32,
    pub tcc: i32,
    pub cooperative_unmatched: [i32; 4],
    pub is_large_bar: i32,
    pub asic_revision: i32,
    pub managed_memory: i32,
    pub direct_managed_access: i32,
    pub concurrent_managed_access: i32,
    pub pageable_memory_access: i32,
    pub pageable_uses_host_tables: i32,
}

fn text<const N: usize>(words: &str) -> [u8; N] {
    let mut out = [0; N];
    let len = words.len().min(N - 1);
    out[..len].copy_from_slice(&words.as_bytes()[..len]);
    out
}

/// The number of a target: three digits, of which the last may be a letter. gfx90a is 910.
pub fn version(target: &str) -> i32 {
    let digit = |i: usize| target.chars().nth(i).and_then(|c| c.to_digit(36)).unwrap_or(0) as i32;
    digit(3) * 100 + digit(4) * 10 + digit(5)
}

/// What programs call the device.
pub fn name(machine: &Machine) -> String {
    format!("Wavebound {} (simulated)", machine.name)
}

fn l2_bytes(machine: &Machine) -> i32 {
    let shared = machine.caches.iter().filter(|c| c.shared_by == 0).map(|c| c.size).max();
    shared.map_or(0, |size| i32::try_from(size).unwrap_or(i32::MAX))
}

fn threads_per_core(machine: &Machine) -> i32 {
    (machine.core.waves * machine.core.lanes) as i32
}

fn registers(machine: &Machine) -> i32 {
    (machine.core.register_file * machine.core.lanes * machine.core.partitions) as i32
}

pub fn properties(machine: &Machine, memory: u64) -> Properties {
    let lds = machine.core.lds_bytes as usize;
    let khz = (machine.clock_mhz * 1000) as i32;
    let target = crate::fatbin::target(machine);
    let version = version(target);
    Properties {
        name: text(&name(machine)),
        total_global_mem: memory as usize,
        shared_mem_per_block: lds,
        regs_per_block: registers(machine),
        warp_size: machine.core.lanes as i32,
        max_threads_per_block: MAX_BLOCK,
        max_threads_dim: [MAX_BLOCK; 3],
        max_grid_size: [MAX_GRID; 3],
        clock_rate: khz,
        memory_clock_rate: khz,
        memory_bus_width: (machine.dram.bandwidth * 8) as i32,
        total_const_mem: CONSTANT as usize,
        major: version / 100,
        minor: version / 10 % 10,
        multi_processor_count: machine.cores as i32,
        l2_cache_size: l2_bytes(machine),
        max_threads_per_multi_processor: threads_per_core(machine),
        compute_mode: 0,
        clock_instruction_rate: khz,
        arch: ARCH,
        concurrent_kernels: 1,
        pci_domain_id: 0,
        pci_bus_id: 1,
        pci_device_id: 0,
        max_shared_memory_per_multi_processor: lds,
        is_multi_gpu_board: 0,
        can_map_host_memory: 1,
        gcn_arch: version,
        gcn_arch_name: text(target),
        integrated: 0,
        cooperative_launch: 1,
        cooperative_multi_device_launch: 0,
        max_texture_1d_linear: i32::MAX,
        max_texture_1d: 16384,
        max_texture_2d: [16384; 2],
        max_texture_3d: [2048; 3],
        hdp_mem_flush: 0,
        hdp_reg_flush: 0,
        mem_pitch: i32::MAX as usize,
        texture_alignment: 256,
        texture_pitch_alignment: 256,
        kernel_exec_timeout: 0,
        ecc: 0,
        tcc: 0,
        cooperative_unmatched: [0; 4],
        is_large_bar: 1,
        asic_revision: 0,
        managed_memory: 1,
        direct_managed_access: 1,
        concurrent_managed_access: 0,
        pageable_memory_access: 0,
        pageable_uses_host_tables: 0,
    }
}

/// `hipDeviceProp_tR0600`, that of HIP 6.
#[repr(C)]
#[derive(Clone)]
pub struct Properties6 {
    pub name: [u8; 256],
    pub uuid: [u8; 16],
    pub luid: [u8; 8],
    pub luid_device_node_mask: u32,
    pub total_global_mem: usize,
    pub shared_mem_per_block: usize,
    pub regs_per_block: i32,
    pub warp_size: i32,
    pub mem_pitch: usize,
    pub max_threads_per_block: i32,
    pub max_threads_dim: [i32; 3],
    pub max_grid_size: [i32; 3],
    pub clock_rate: i32,
    pub total_const_mem: usize,
    pub major: i32,
    pub minor: i32,
    pub texture_alignment: usize,
    pub texture_pitch_alignment: usize,
    pub device_overlap: i32,
    pub multi_processor_count: i32,
    pub kernel_exec_timeout: i32,
    pub integrated: i32,
    pub can_map_host_memory: i32,
    pub compute_mode: i32,
    pub max_texture_1d: i32,
    pub max_texture_1d_mipmap: i32,
    pub max_texture_1d_linear: i32,
    pub max_texture_2d: [i32; 2],
    pub max_texture_2d_other: [i32; 7],
    pub max_texture_3d: [i32; 3],
    /// Other 3D textures, cube maps, layers and surfaces: none.
    pub max_other_images: [i32; 25],
    pub surface_alignment: usize,
    pub concurrent_kernels: i32,
    pub ecc: i32,
    pub pci_bus_id: i32,
    pub pci_device_id: i32,
    pub pci_domain_id: i32,
    pub tcc: i32,
    pub async_engine_count: i32,
    pub unified_addressing: i32,
    pub memory_clock_rate: i32,
    pub memory_bus_width: i32,
    pub l2_cache_size: i32,
    pub persisting_l2: i32,
    pub max_threads_per_multi_processor: i32,
    pub stream_priorities: i32,
    pub global_l1: i32,
    pub local_l1: i32,
    pub shared_mem_per_multi_processor: usize,
    pub regs_per_multi_processor: i32,
    pub managed_memory: i32,
    pub is_multi_gpu_board: i32,
    pub multi_gpu_board_group: i32,
    pub host_native_atomic: i32,
    pub single_to_double_ratio: i32,
    pub pageable_memory_access: i32,
    pub concurrent_managed_access: i32,
    pub compute_preemption: i32,
    pub host_pointer_for_registered: i32,
    pub cooperative_launch: i32,
    pub cooperative_multi_device_launch: i32,
    pub shared_mem_per_block_optin: usize,
    pub pageable_uses_host_tables: i32,
    pub direct_managed_access: i32,
    pub max_blocks_per_multi_processor: i32,
    pub access_policy_window: i32,
    pub reserved_shared_mem: usize,
    pub host_register: i32,
    pub sparse_arrays: i32,
    pub host_register_read_only: i32,
    pub timeline_semaphores: i32,
    pub memory_pools: i32,
    pub gpu_direct: [i32; 3],
    pub pool_handle_types: u32,
    pub deferred_mapping: i32,
    pub ipc_events: i32,
    pub cluster_launch: i32,
    pub unified_function_pointers: i32,
    pub reserved: [i32; 95],
    pub gcn_arch_name: [u8; 256],
    pub max_shared_memory_per_multi_processor: usize,
    pub clock_instruction_rate: i32,
    pub arch: u32,
    pub hdp_mem_flush: usize,
    pub hdp_reg_flush: usize,
    pub cooperative_unmatched: [i32; 4],
    pub is_large_bar: i32,
    pub asic_revision: i32,
}

/// The same for HIP 6.
pub fn properties6(machine: &Machine, memory: u64) -> Properties6 {
    let p = properties(machine, memory);
    Properties6 {
        name: p.name,
        uuid: [0; 16],
        luid: [0; 8],
        luid_device_node_mask: 0,
        total_global_mem: p.total_global_mem,
        shared_mem_per_block: p.shared_mem_per_block,
        regs_per_block: p.regs_per_block,
        warp_size: p.warp_size,
        mem_pitch: p.mem_pitch,
        max_threads_per_block: p.max_threads_per_block,
        max_threads_dim: p.max_threads_dim,
        max_grid_size: p.max_grid_size,
        clock_rate: p.clock_rate,
        total_const_mem: p.total_const_mem,
        major: p.major,
        minor: p.minor,
        texture_alignment: p.texture_alignment,
        texture_pitch_alignment: p.texture_pitch_alignment,
        device_overlap: 0,
        multi_processor_count: p.multi_processor_count,
        kernel_exec_timeout: p.kernel_exec_timeout,
        integrated: p.integrated,
        can_map_host_memory: p.can_map_host_memory,
        compute_mode: p.compute_mode,
        max_texture_1d: p.max_texture_1d,
        max_texture_1d_mipmap: 0,
        max_texture_1d_linear: p.max_texture_1d_linear,
        max_texture_2d: p.max_texture_2d,
        max_texture_2d_other: [0; 7],
        max_texture_3d: p.max_texture_3d,
        max_other_images: [0; 25],
        surface_alignment: 0,
        concurrent_kernels: p.concurrent_kernels,
        ecc: p.ecc,
        pci_bus_id: p.pci_bus_id,
        pci_device_id: p.pci_device_id,
        pci_domain_id: p.pci_domain_id,
        tcc: p.tcc,
        async_engine_count: 0,
        unified_addressing: 1,
        memory_clock_rate: p.memory_clock_rate,
        memory_bus_width: p.memory_bus_width,
        l2_cache_size: p.l2_cache_size,
        persisting_l2: 0,
        max_threads_per_multi_processor: p.max_threads_per_multi_processor,
        stream_priorities: 0,
        global_l1: 1,
        local_l1: 1,
        shared_mem_per_multi_processor: p.max_shared_memory_per_multi_processor,
        regs_per_multi_processor: p.regs_per_block,
        managed_memory: p.managed_memory,
        is_multi_gpu_board: p.is_multi_gpu_board,
        multi_gpu_board_group: 0,
        host_native_atomic: 1,
        single_to_double_ratio: 0,
        pageable_memory_access: p.pageable_memory_access,
        concurrent_managed_access: p.concurrent_managed_access,
        compute_preemption: 0,
        host_pointer_for_registered: 1,
        cooperative_launch: p.cooperative_launch,
        cooperative_multi_device_launch: p.cooperative_multi_device_launch,
        shared_mem_per_block_optin: p.shared_mem_per_block,
        pageable_uses_host_tables: p.pageable_uses_host_tables,
        direct_managed_access: p.direct_managed_access,
        max_blocks_per_multi_processor: machine.core.waves as i32,
        access_policy_window: 0,
        reserved_shared_mem: 0,
        host_register: 1,
        sparse_arrays: 0,
        host_register_read_only: 0,
        timeline_semaphores: 0,
        memory_pools: 1,
        gpu_direct: [0; 3],
        pool_handle_types: 0,
        deferred_mapping: 0,
        ipc_events: 0,
        cluster_launch: 0,
        unified_function_pointers: 0,
        reserved: [0; 95],
        gcn_arch_name: p.gcn_arch_name,
        max_shared_memory_per_multi_processor: p.max_shared_memory_per_multi_processor,
        clock_instruction_rate: p.clock_instruction_rate,
        arch: p.arch,
        hdp_mem_flush: p.hdp_mem_flush,
        hdp_reg_flush: p.hdp_reg_flush,
        cooperative_unmatched: p.cooperative_unmatched,
        is_large_bar: p.is_large_bar,
        asic_revision: p.asic_revision,
    }
}

/// The number behind a `hipDeviceAttribute_t`; none if it is not one.
pub fn attribute(machine: &Machine, memory: u64, attribute: i32) -> Option<i32> {
    let p = properties(machine, memory);
    Some(match attribute {
        // Begins at hipDeviceAttributeCudaCompatibleBegin, one after the other.
        0 => p.ecc,
        1 | 76 => 0,
        2 => 1,
        3 => p.can_map_host_memory,
        4 => 0,
        5 => p.clock_rate,
        6 => p.compute_mode,
        7 => 0,
        8 => p.concurrent_kernels,
        9 => p.concurrent_managed_access,
        10 => p.cooperative_launch,
        11 => p.cooperative_multi_device_launch,
        12 => 0,
        13 => p.direct_managed_access,
        14 => 1,
        15 => 0,
        16 => p.integrated,
        17 => p.is_multi_gpu_board,
        18 => p.kernel_exec_timeout,
        19 => p.l2_cache_size,
        20 => 1,
        23 => p.major,
        24 => p.managed_memory,
        25 => machine.core.waves as i32,
        26..=28 => MAX_BLOCK,
        29..=31 => MAX_GRID,
        32..=38 => 0,
        39 => p.max_texture_1d,
        40 => 0,
        41 => p.max_texture_1d_linear,
        42 => 0,
        43 => p.max_texture_2d[0],
        44 => p.max_texture_2d[1],
        45..=48 => 0,
        49 => p.max_texture_3d[0],
        50 => p.max_texture_3d[1],
        51 => p.max_texture_3d[2],
        52..=54 => 0,
        56 => p.max_threads_per_block,
        57 => p.max_threads_per_multi_processor,
        58 => i32::MAX,
        59 => p.memory_bus_width,
        60 => p.memory_clock_rate,
        61 => p.minor,
        63 => p.multi_processor_count,
        65 => p.pageable_memory_access,
        66 => 0,
        67 => p.pci_bus_id,
        68 => p.pci_device_id,
        69 => p.pci_domain_id,
        70 => 0,
        71 | 72 => p.regs_per_block,
        73 => 0,
        74 => p.shared_mem_per_block as i32,
        75 => p.shared_mem_per_block as i32,
        77 => 4,
        78 => 1,
        80 => 0,
        81 | 82 => 256,
        83 => CONSTANT as i32,
        84 => i32::try_from(memory).unwrap_or(i32::MAX),
        85 => 1,
        87 => p.warp_size,
        88 => 1,
        // hipDeviceAttributeAmdSpecificBegin.
        10000 => p.clock_instruction_rate,
        10001 => p.arch as i32,
        10002 => p.max_shared_memory_per_multi_processor as i32,
        10003 => p.gcn_arch,
        10005 | 10006 => 0,
        10007..=10010 => 0,
        10011 => p.is_large_bar,
        10012 => p.asic_revision,
        10013 => 0,
        10014 => 0,
        10015 => p.multi_processor_count,
        10016 => 0,
        _ => return None,
    })
}

/// Groups of `threads` threads of a kernel that a core can hold at once.
pub fn groups_per_core(machine: &Machine, kernel: &Kernel, threads: u32, shared: u64) -> u32 {
    let lds = u64::from(kernel.lds_bytes) + shared;
    if threads == 0 || threads > MAX_BLOCK as u32 || lds > u64::from(machine.core.lds_bytes) {
        return 0;
    }
    machine
        .occupancy(Needs {
            waves_per_group: threads.div_ceil(machine.core.lanes.max(1)),
            vgprs: kernel.descriptor.vgprs(),
            sgprs: kernel.descriptor.sgprs(),
            lds_bytes: lds as u32,
        })
        .groups_per_core
}

/// The group size, at most `limit`, that puts most threads on a core; of several the largest. With it, groups for the device.
pub fn best_group(machine: &Machine, kernel: &Kernel, shared: u64, limit: u32) -> (u32, u32) {
    let limit = if limit == 0 { MAX_BLOCK as u32 } else { limit.min(MAX_BLOCK as u32) };
    let step = machine.core.lanes.max(1);
    let sizes = (1..=limit / step).map(|n| n * step);
    let resident = |&threads: &u32| groups_per_core(machine, kernel, threads, shared) * threads;
    let best = sizes.max_by_key(resident).unwrap_or(limit);
    (groups_per_core(machine, kernel, best, shared) * machine.cores, best)
}
