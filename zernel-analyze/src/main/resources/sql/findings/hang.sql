-- The job hangs. A rank never came to a collective, or a call never returned.
--
-- Nothing else is worth fixing before. Named is the rank that the others wait for, and what it did last; ranks that
-- call different collectives are named with their calls. A call that is open because of a missing rank is not a finding
-- of its own.
-- Does not apply when the recording ends soon after: a wait counts that is longer than ten median steps and than every
-- wait of its kind before, one second at least.
--
-- needs: hangs, files
-- severity: high; medium where ranks disagree and the job goes on
-- hint: zernel-analyze nccl --hangs shows all that stand still
WITH
    ranked AS (
        SELECT
            hangs.*,
            count(CASE WHEN what <> 'open call' THEN 1 END) OVER () AS of_ranks,
            count(CASE WHEN what = 'mismatch' THEN 1 END) OVER (PARTITION BY comm_id) AS mismatches,
            -- A rank that is missing because it waits elsewhere is not the one to look at.
            waits > min(waits) OVER (PARTITION BY what) AS waits_itself,
            row_number() OVER (PARTITION BY what, recording, pid ORDER BY since_ns, comm_id) AS place,
            row_number() OVER (PARTITION BY what, name ORDER BY recording, pid) AS place_of_call,
            count(*) OVER (PARTITION BY what, name) AS callers,
            max(waited_ns) OVER () AS longest_ns,
            max(waited_ns) OVER (PARTITION BY what, name) AS longest_call_ns
        FROM hangs
    ),
    told AS (
        SELECT
            ranked.* REPLACE (
                CASE what
                    WHEN 'mismatch' THEN longest_ns
                    WHEN 'open call' THEN longest_call_ns
                    ELSE waited_ns
                END AS waited_ns
            ),
            CASE WHEN what = 'open call' THEN callers ELSE 1 END AS processes
        FROM ranked
        WHERE CASE what
                WHEN 'missing rank' THEN NOT waits_itself AND place = 1 AND mismatches = 0
                WHEN 'mismatch' THEN TRUE
                ELSE of_ranks = 0 AND place_of_call = 1
            END
    )
SELECT
    recording, -- recording
    CASE
        WHEN missing IS NULL THEN ''
        WHEN contains(missing, ',') THEN format('ranks {} of {}, ', missing, nranks)
        ELSE format('rank {} of {}, ', missing, nranks)
    END || thread_label(recording, pid, pid)
        || CASE WHEN processes > 1 THEN format(' and {} more', processes - 1) ELSE '' END
        AS subject, -- the rank that the others wait for
    round(waited_ns / 1e9, 1) AS value, -- seconds without progress
    CASE WHEN waited_ns IS NULL THEN 'mismatched collective' ELSE 's without progress' END AS unit, -- unit of value
    CASE WHEN waited_ns IS NULL THEN 'medium' ELSE 'high' END AS severity, -- high, medium or low
    CASE what
        WHEN 'missing rank' THEN format('ranks {} called {} (number {} of communicator {}), {} never did; ',
            entered, name, number, comm_id, missing)
        WHEN 'mismatch' THEN format('for collective number {} of communicator {}, {}; ', number, comm_id, name)
        ELSE format('{} did not return in {:.1f} s; ', name, waited_ns / 1e9)
    END
        || CASE
            WHEN step_ns IS NOT NULL THEN format('a step takes {} (median); ', ms(step_ns))
            ELSE 'no step was seen; '
        END
        || CASE
            WHEN exited_ns IS NOT NULL
                THEN format('{} with {}', CASE WHEN what = 'open call' THEN 'then it was ended' ELSE 'it exited' END,
                    coalesce(CAST(exit_status AS VARCHAR), 'an unknown code'))
            WHEN what = 'open call' THEN 'it lived on'
            WHEN open_call IS NOT NULL THEN format('it has not returned from {}', open_call)
            ELSE format('its last call was {}', coalesce(last_name, 'not seen'))
        END AS evidence, -- what it rests on
    CASE
        WHEN what = 'mismatch'
            THEN 'let all ranks take the same branch: conditions on data, uneven batches, unused parameters'
        WHEN what <> 'open call' AND exited_ns IS NOT NULL
            THEN 'look at why that rank ended: its log, its exit code, dmesg (out of memory)'
        WHEN what = 'missing rank'
            THEN 'look at that rank: py-spy dump --pid, and whether it has fewer batches (join(), drop_last)'
        WHEN name LIKE '%__next__%'
            THEN 'look at the data workers: whether one died or waits for storage; DataLoader(timeout=60)'
        ELSE 'look at what it waits for: py-spy dump --native --pid; record all ranks to see which one does not come'
    END AS advice, -- what to try
    'zernel-analyze nccl --hangs {}' AS next_command -- to see more
FROM told
