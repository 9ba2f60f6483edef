-- Files that were opened to write a checkpoint to them: the one place that decides what a checkpoint is.
--
-- They are named like weights (`.pt`, `.pth`, `.ckpt`, `.safetensors`, `.distcp`, ...), also with `.tmp` behind, or
-- lie in a folder or have a name with `checkpoint` or `ckpt`, whatever temporary name they have there. Files of
-- installed packages, of compilers and their caches, settings, logs and pictures are none. Recordings say in
-- `writable` whether a file was opened to be written; in those made before that, a file is none that was read after it
-- was opened, nor a name without a dot, which may be a folder. A file that its thread writes under another name, such
-- as `/tmp/tmpc35jxx3w`, and then renames to one of these is one, too: so Lightning does it.
--
-- Calls with the role `checkpoint` are such openings too, at the begin of the call.
--
-- needs: events, _role_calls
CREATE TABLE _checkpoint_opens AS
WITH
    opened AS (
        SELECT recording, pid, tid, ts_ns, dur_ns, path, writable
        FROM events
        WHERE kind = 'io_open'
            AND coalesce(status, ts_ns * 0) >= 0
            AND coalesce(writable, ts_ns * 0 + 1) <> 0
    ),
    renames AS (
        SELECT recording, pid, tid, ts_ns, path
        FROM events
        WHERE kind = 'io' AND starts_with(name, 'rename') AND path IS NOT NULL AND coalesce(status, ts_ns * 0) >= 0
    ),
    -- The file that was opened last before it has the new name.
    renamed AS (
        SELECT
            renames.recording,
            renames.pid,
            renames.tid,
            opened.ts_ns,
            opened.dur_ns,
            renames.path,
            opened.path AS written_path,
            opened.writable
        FROM renames
        ASOF JOIN (SELECT * FROM opened WHERE writable = 1) AS opened
            ON opened.recording = renames.recording
            AND opened.pid = renames.pid
            AND opened.tid = renames.tid
            AND opened.ts_ns <= renames.ts_ns
        WHERE opened.path <> renames.path
            AND EXISTS (
                SELECT 1
                FROM events AS writes
                WHERE (writes.kind = 'io') IS TRUE
                    AND NOT is_read(writes.name)
                    AND writes.bytes > 0
                    AND writes.recording = opened.recording
                    AND writes.pid = opened.pid
                    AND writes.tid = opened.tid
                    AND writes.path = opened.path
                    AND writes.ts_ns >= opened.ts_ns
            )
    ),
    opens AS (
        SELECT
            recording,
            pid,
            tid,
            ts_ns,
            dur_ns,
            path,
            written_path,
            writable,
            lower(path) AS name,
            -- Without a dot it may be a folder, and folders cannot be opened to be written.
            writable = 1 OR regexp_matches(parse_filename(path), '\.|^tmp') AS is_file
        FROM (
            SELECT recording, pid, tid, ts_ns, dur_ns, path, path AS written_path, writable
            FROM opened
            UNION ALL
            SELECT recording, pid, tid, ts_ns, dur_ns, path, written_path, writable
            FROM renamed
        )
    ),
    named AS (
        SELECT
            recording,
            pid,
            tid,
            ts_ns,
            dur_ns,
            path,
            written_path,
            writable
        FROM opens
        -- Patterns stand here as constants: each is then compiled once, and not for each row.
        WHERE (
                -- Names of weights.
                regexp_matches(
                    name,
                    '\.(pt|pth|pth\.tar|ckpt|safetensors|distcp|pdparams|pdopt|nemo|keras|weights\.h5)'
                    || '([._-]?(tmp|temp|part|partial|incomplete)[^/]*)?$'
                )
                -- Names of checkpoints and of their folders.
                OR (is_file AND regexp_matches(name, '(^|[^a-z])(checkpoint|ckpt)'))
                OR (
                    writable = 1
                    AND regexp_matches(
                        name, '(^|/)(pytorch_model|model|adapter_model|optimizer|scheduler)[^/]*\.bin$'
                    )
                )
            )
            -- Folders of programs.
            AND NOT regexp_matches(
                name,
                '(^|/)(site-packages|dist-packages|lib/python[0-9.]+|__pycache__|[^/]*inductor[^/]*|fxgraph|'
                || 'aotautograd|\.?triton|\.cache)(/|$)'
                || '|^/(proc|sys|usr/lib|usr/share|usr/local/lib|lib|lib64|etc)/'
            )
            -- Other files; before it renames them, torch.compile names files by process and thread.
            AND NOT regexp_matches(
                name,
                '\.(py[cdioxz]?|so[0-9.]*|c|cc|cpp|cu|h|hpp|o|a|s|ptx|cubin|fatbin|ttir|ttgir|llir|jsonl?|ya?ml|toml|'
                || 'txt|log|csv|tsv|md|html?|lock|db|sqlite[^/]*|png|jpe?g|gif|mp4|out|err|gch|load_ok)$|tfevents'
                || '|/\.[0-9]+\.[0-9]+\.tmp$'
            )
        -- The name under which it is written is enough.
        QUALIFY row_number() OVER (PARTITION BY recording, pid, tid, ts_ns ORDER BY path <> written_path, path) = 1
    ),
    read_calls AS (
        SELECT recording, pid, ts_ns, path
        FROM events
        WHERE kind = 'io' AND is_read(name) AND bytes > 0 AND path IN (SELECT path FROM named WHERE writable IS NULL)
    ),
    was_read AS (
        SELECT DISTINCT named.recording, named.pid, named.path, named.ts_ns
        FROM read_calls
        ASOF JOIN named
            ON named.recording = read_calls.recording
            AND named.pid = read_calls.pid
            AND named.path = read_calls.path
            AND named.ts_ns <= read_calls.ts_ns
    )
SELECT recording, pid, tid, start_ns AS ts_ns, NULL AS dur_ns, 'call of ' || name AS path, NULL AS written_path
FROM _role_calls
WHERE role = 'checkpoint'
UNION ALL
SELECT
    named.recording, -- recording
    named.pid, -- process
    named.tid, -- thread
    named.ts_ns, -- [ns] when
    named.dur_ns, -- [ns] how long it took to open it; NULL of a call
    named.path, -- the file, or the call
    named.written_path -- under which name it was written; NULL of a call
FROM named
LEFT JOIN was_read
    ON was_read.recording = named.recording
    AND was_read.pid = named.pid
    AND was_read.path = named.path
    AND was_read.ts_ns = named.ts_ns
WHERE named.writable IS NOT NULL OR was_read.path IS NULL
