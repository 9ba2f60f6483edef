-- How much of what threads that do not train compute is to hand objects to other processes, or to take them.
--
-- By samples of these threads, with stacks. Processes without steps have no thread that trains.
--
-- needs: stack_events, _ipc_stacks, _thread_numbers
CREATE VIEW _ipc_shares AS
WITH
    thresholds AS (
        SELECT
            10 AS min_samples, -- of these threads
            0.5 AS min_share -- of these, from which on that is the work
    )
SELECT
    events.recording, -- recording
    events.pid, -- process
    count(*) AS samples, -- samples of its threads that do not train
    count_if(stacks.hands) / count(*) AS share, -- of these, that pickle, send or receive, 0 to 1
    count(*) >= any_value(thresholds.min_samples)
        AND count_if(stacks.hands) >= any_value(thresholds.min_share) * count(*)
        AS mostly -- whether that is most of what they compute
FROM stack_events AS events
CROSS JOIN thresholds
ANTI JOIN _thread_numbers AS training
    ON training.recording = events.recording
    AND training.pid = events.pid
    AND training.tid = events.tid
LEFT JOIN _ipc_stacks AS stacks ON stacks.id = events.id
WHERE events.kind = 'sample'
GROUP BY events.recording, events.pid
