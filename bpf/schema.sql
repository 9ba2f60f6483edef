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
    child_pid BIGINT, -- process that was created
    child_tid BIGINT, -- thread that was created
    status BIGINT, -- return code: 0 or -errno of a system call, exit code of a process
    path VARCHAR, -- file the event is about
    fd BIGINT, -- file descriptor
    bytes BIGINT, -- [bytes] bytes moved or asked for
    addr BIGINT, -- address in the process
    device BIGINT, -- GPU index as the process counts them
    value BIGINT, -- what was measured
    unit VARCHAR, -- unit of value
    count BIGINT -- how many
);
