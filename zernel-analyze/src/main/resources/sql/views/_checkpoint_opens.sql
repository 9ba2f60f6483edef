-- Opens of checkpoint files, known by their names.
--
-- The names are `.pt`, `.pth`, `.ckpt`, `.safetensors`, `.distcp`, or have `checkpoint` in the path. Whether a file was
-- opened to be written is not recorded.
--
-- needs: events
CREATE TABLE _checkpoint_opens AS
SELECT
    recording, -- recording
    pid, -- process
    tid, -- thread
    ts_ns, -- [ns] when
    path -- the file
FROM events
WHERE kind = 'io_open'
    AND coalesce(status, ts_ns * 0) >= 0
    AND (
        regexp_matches(path, '\.(pt|pth|ckpt|safetensors|distcp)(\.tmp)?$')
        OR contains(lower(path), 'checkpoint')
    )
