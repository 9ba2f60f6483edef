-- When each rank came to each collective, on one clock, and how much later than the middle rank.
--
-- Arrival is when the rank calls, on its CPU; the GPU begins later. Times of several machines are put on the clock of
-- the first one as far as host_clocks knows them. Of jobs that do not use NCCL, such as those of gloo, the waits of
-- torch.distributed in a step count as one collective: who waits least came last.
--
-- needs: _arrivals, _middle_arrivals, recording_clocks
-- dialect: common
CREATE VIEW rank_arrivals AS
SELECT
    arrivals.comm_id, -- communicator, the same number in all ranks; -1, -2, ... for jobs without NCCL
    arrivals.number, -- number of the collective on it, from 0; of a job without NCCL, of the step
    arrivals.name, -- NCCL function, or torch.distributed
    arrivals.bytes, -- [bytes] of this rank
    arrivals.rank, -- the rank
    arrivals.nranks, -- ranks of the communicator
    arrivals.recording, -- its recording
    arrivals.pid, -- its process
    clocks.clock, -- its machine
    clocks.machine, -- the same as a number
    arrivals.ts_ns, -- [ns] when it called, by its own clock
    arrivals.at_ns, -- [ns] the same by the clock of the first machine, where that is known
    arrivals.error_ns, -- [ns] by which that may be off, +-; NULL where it is not known, and on one machine
    arrivals.by_waits, -- whether that follows from how long it waits, in a job without NCCL
    arrivals.ranks_known, -- whether `rank` is its rank, else a number by process
    arrivals.at_ns - middle.middle_ns AS lag_ns -- [ns] after the middle rank
FROM _arrivals AS arrivals
JOIN _middle_arrivals AS middle ON middle.comm_id = arrivals.comm_id AND middle.number = arrivals.number
JOIN recording_clocks AS clocks ON clocks.recording = arrivals.recording
