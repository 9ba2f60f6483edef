-- The opened recordings: where, when and how each was made, and whether it is complete.
--
-- A fraction or a percentile of an incomplete recording describes what was stored, not what happened.
--
-- needs: files, footer
-- digest: footer
CREATE TABLE recordings AS
WITH
    about AS (
        SELECT
            recording,
            from_json(value, '{"version":"VARCHAR","simulated":"BOOLEAN","recorder_pid":"BIGINT","host":"VARCHAR",
                "kernel":"VARCHAR",
                "arch":"VARCHAR","cpus":"BIGINT","command":["VARCHAR"],"started_ns":"BIGINT","ended_ns":"BIGINT",
                "stop":"VARCHAR","complete":"BOOLEAN","incomplete_because":["VARCHAR"]}') AS a
        FROM footer
        WHERE key = 'zernel.recording'
    )
SELECT
    files.recording, -- its value in the column recording of every view
    files.path, -- file or folder that was opened
    files.state, -- finished, unfinished (or its recorder died), foreign (no recorder wrote it), trace or digest
    files.note, -- what a reader must know, if anything
    files.rows AS events, -- events in it
    about.a.version AS version, -- version of the recorder
    coalesce(about.a.simulated, FALSE) AS simulated, -- whether the events were made up by the simulator
    about.a.host AS host, -- machine
    about.a.kernel AS kernel, -- its kernel release
    about.a.arch AS arch, -- its processor architecture
    about.a.cpus AS cpus, -- its processors
    about.a.recorder_pid AS recorder_pid, -- process that recorded; NULL in files made before they said so
    array_to_string(about.a.command, ' ') AS command, -- command that was run, if one was
    about.a.started_ns AS started_ns, -- [ns] since the epoch
    about.a.ended_ns AS ended_ns, -- [ns] since the epoch
    about.a.stop AS stop, -- why recording ended
    files.state IN ('finished', 'trace', 'digest') AND coalesce(about.a.complete, FALSE)
        AS complete, -- whether nothing was lost
    array_to_string(about.a.incomplete_because, '; ') AS incomplete_because -- why it is not complete
FROM files
LEFT JOIN about USING (recording)
ORDER BY files.recording
