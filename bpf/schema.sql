-- Generated from the BTF of bpf/prebuilt; refresh with -Dgolden.update.
CREATE TABLE events (
    kind VARCHAR NOT NULL, -- what happened: region, backward, io, wait, ...
    name VARCHAR, -- the region, function or system call
    ts_ns BIGINT NOT NULL, -- [ns] start of the event since the epoch
    dur_ns BIGINT, -- [ns] how long it took; NULL for an instant or an unseen end
    pid BIGINT, -- process
    tid BIGINT, -- thread
    cpu BIGINT, -- CPU at the end of the event
    comm VARCHAR, -- name of the thread
    depth BIGINT, -- calls of the same kind around this one: 0 is the outermost, count only these
    stack VARCHAR, -- calls of the thread, the outermost first: function (file:line); ...
    role VARCHAR, -- part of a step that it is, as --probe says: step, data_wait, ...
    bytes BIGINT, -- [bytes] bytes moved or asked for
    addr BIGINT, -- address in the process
    device BIGINT, -- GPU index as the process counts them, in samples as NVML does
    stream BIGINT, -- handle of a CUDA stream, or its id where the library says it so
    count BIGINT, -- how many
    status BIGINT, -- return code: 0 is success; -errno, exit code, CUresult, cudaError_t, ncclResult_t
    func BIGINT, -- handle of a kernel: host stub, cudaKernel_t or CUfunction
    grid_x BIGINT, -- blocks in the grid along x
    grid_y BIGINT, -- blocks in the grid along y
    grid_z BIGINT, -- blocks in the grid along z
    block_x BIGINT, -- threads in a block along x
    block_y BIGINT, -- threads in a block along y
    block_z BIGINT, -- threads in a block along z
    shared_bytes BIGINT, -- [bytes] dynamic shared memory of a block
    kernel VARCHAR, -- name of the kernel, demangled
    src BIGINT, -- address copied from
    copy_kind VARCHAR, -- direction: HtoH, HtoD, DtoH, DtoD, PtoP, default or memset
    async BIGINT, -- 1 when the call is asynchronous by its name, 0 when it waits
    host_memory VARCHAR, -- pinned or pageable; NULL when that cannot be known
    dtype VARCHAR, -- type of the elements
    op VARCHAR, -- reduction
    peer BIGINT, -- root of the collective or rank of the peer
    communicator BIGINT, -- handle of the communicator in the process
    comm_id BIGINT, -- communicator, the same number in all its ranks
    seq BIGINT, -- number of the operation on its communicator, 0 for the first one seen
    rank BIGINT, -- rank in the communicator
    nranks BIGINT, -- ranks in the communicator
    grouped BIGINT, -- 1 inside ncclGroupStart and ncclGroupEnd
    parent BIGINT, -- handle of the communicator it was made from
    color BIGINT, -- which of the parts of the split communicator
    child_pid BIGINT, -- process that was created
    child_tid BIGINT, -- thread that was created
    path VARCHAR, -- file the event is about
    fd BIGINT, -- file descriptor
    miss_bytes BIGINT, -- [bytes] bytes added to the page cache meanwhile, also by readahead
    io_ns BIGINT, -- [ns] blocked on block I/O meanwhile
    writable BIGINT, -- 1 when the file was opened to be written, 0 when only to be read
    object VARCHAR, -- what was waited for: futex, or the file behind fd
    runq_ns BIGINT, -- [ns] of this, ready to run but waiting for a CPU
    state VARCHAR, -- why it was off its CPU: sleeping, blocked, io, preempted, stopped, started
    waker_tid BIGINT, -- thread that ended its sleep; NULL when an interrupt did, as a timer's
    other_pid BIGINT, -- process that had the CPU until this thread got it; NULL when none had
    other_comm VARCHAR, -- name of the thread that had the CPU until this one got it
    period_ns BIGINT, -- [ns] time on a CPU that the sample stands for
    kernel_entry BIGINT, -- what had brought the thread into the kernel: number of a system call (x86-64), -1 a page fault, or what else interrupts code of its own; -2 what interrupts the kernel; -3 a probe of a function; NULL in code of its own
    value BIGINT, -- what was measured
    unit VARCHAR, -- unit of value
    generation BIGINT, -- oldest generation of objects that was looked through: 2 is all
    correlation BIGINT, -- number of the call that launched it, in its process
    launch_ns BIGINT -- [ns] when that call began, since the epoch; NULL when it was not seen
);
