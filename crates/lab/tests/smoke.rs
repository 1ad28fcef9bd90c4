use wb_lab::{Job, JobSpec};
use wb_sim::RunOptions;

const EX1: &str = "
    mov r0.x, lane_id
    push_mask BRANCH_END
    and r0.y, r0.x, u(1)
    mask_nz r0.y
    mov r0.x, r0.x
    mov r0.x, r0.x
    mov r0.x, r0.x
    mov r0.x, r0.x
    mov r0.x, r0.x
    pop_mask
BRANCH_END:
    ret
";
const EX2: &str = "
    mov r0.x, lane_id
    push_mask LOOP_END
LOOP_PROLOG:
    lt.u32 r0.y, r0.x, u(16)
    add.u32 r0.x, r0.x, u(1)
    mask_nz r0.y
    jmp LOOP_PROLOG
LOOP_END:
    ret
";

#[test]
fn guppy_clocks() {
    for (text, clocks) in [(EX1, 11), (EX2, 70)] {
        let spec = JobSpec { isa: "guppy".into(), ..Default::default() };
        let job = Job::from_source("ex", text, &spec).unwrap();
        let out = job.run(RunOptions { check: true, ..Default::default() }, None).unwrap();
        assert_eq!(out.cycles, clocks);
        let out = job.run(RunOptions { check: true, timed: false, ..Default::default() }, None).unwrap();
        assert_eq!(out.cycles, clocks);
    }
}
