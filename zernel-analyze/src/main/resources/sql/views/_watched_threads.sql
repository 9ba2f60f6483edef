-- Threads whose time off the CPU is explained: training threads, and the main threads of data workers.
--
-- needs: _thread_numbers, _threads
CREATE TABLE _watched_threads AS
SELECT
    recording, -- recording
    pid, -- process
    tid, -- thread
    thread -- number of the training thread; NULL for a worker
FROM _thread_numbers
UNION ALL
SELECT DISTINCT threads.recording, threads.pid, threads.tid, CAST(NULL AS INTEGER)
FROM _threads AS threads
ANTI JOIN _thread_numbers AS numbers
    ON numbers.recording = threads.recording
    AND numbers.pid = threads.pid
    AND numbers.tid = threads.tid
WHERE threads.comm = 'pt_data_worker' AND threads.tid = threads.pid
