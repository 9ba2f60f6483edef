-- Processes as the recorder listed them in the footer.
--
-- needs: footer
-- digest: footer
CREATE VIEW _process_info AS
WITH
    parsed AS (
        SELECT
            recording,
            unnest(from_json(value, '[{"pid":"BIGINT","ppid":"BIGINT","comm":"VARCHAR","exe":"VARCHAR",
                "cmdline":["VARCHAR"],"environment":"MAP(VARCHAR, VARCHAR)",
                "nice":"BIGINT","started_ns":"BIGINT","exited_ns":"BIGINT","exit_status":"BIGINT"}]')) AS p
        FROM footer
        WHERE key = 'zernel.processes'
    )
SELECT
    recording, -- recording
    p.pid AS pid, -- process
    p.ppid AS ppid, -- its parent
    p.comm AS comm, -- its name
    p.exe AS exe, -- its program
    array_to_string(p.cmdline, ' ') AS cmdline, -- its command line
    coalesce(p.environment['RANK'], p.environment['SLURM_PROCID'], p.environment['OMPI_COMM_WORLD_RANK'])
        AS rank, -- its rank, as it was started with
    p.environment['LOCAL_RANK'] AS local_rank, -- its rank on the machine
    p.environment['WORLD_SIZE'] AS world_size, -- ranks of the job
    concat_ws(' ', p.environment['MASTER_ADDR'], p.environment['MASTER_PORT'], p.environment['SLURM_JOB_ID'])
        AS job, -- where its ranks meet, which is the same for all of them; empty where it was started without
    p.environment['OMP_NUM_THREADS'] AS omp_threads, -- threads for operators that it was told to use, as text
    p.nice AS nice, -- nice value of its main thread; NULL for 0, and where it is not known
    p.started_ns AS started_ns, -- [ns] when it started, if known
    p.exited_ns AS exited_ns, -- [ns] when it ended, if it did
    p.exit_status AS exit_status -- its exit code
FROM parsed
