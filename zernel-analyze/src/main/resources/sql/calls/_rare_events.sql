-- Calls of the kinds of which a step has few, outermost calls only.
--
-- Views that read such kinds read them here: one pass over the recording instead of one each. Launches are in
-- `_launched`, what only NCCL's calls have in `_nccl_calls`. What few kinds have is not here: to read them from the
-- recording takes little. Sorted, because scattered rows take longer to store, and to sort again for who reads them.
--
-- needs: events
CREATE TABLE _rare_events AS
SELECT
    recording, -- recording
    CAST(kind AS rare_kind) AS kind, -- one of those in `rare_kind`
    name, -- name
    ts_ns, -- [ns] start
    dur_ns, -- [ns] duration, NULL for an instant or an unseen end
    pid, -- process
    tid, -- thread
    bytes, -- [bytes] bytes
    coalesce(role, CASE WHEN kind = 'region' THEN region_role(name) END) AS role, -- part of a step, where it is said
    kind = 'cuda_copy' AND CASE copy_kind
        WHEN 'DtoH' THEN async = 0 OR host_memory = 'pageable'
        WHEN 'HtoD' THEN async = 0
        WHEN 'PtoP' THEN async = 0
        WHEN 'default' THEN async = 0
    END AS blocks, -- whether it is a copy that returns when it is done
    kind = 'cuda_copy' AND copy_kind = 'HtoD' AND host_memory = 'pageable' AS pageable -- whether it copies from such
FROM events
WHERE kind IN (SELECT unnest(enum_range(NULL::rare_kind))::VARCHAR)
    AND outermost(depth, ts_ns)
ORDER BY recording, tid, ts_ns
