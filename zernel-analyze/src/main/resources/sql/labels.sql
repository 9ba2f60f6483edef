-- What recordings, and the processes in them, are called in text: variables that the labels of the prelude look up.
--
-- Set once, after `files` and `footer` have their rows. As subqueries of each label these would cost more to plan than
-- most findings.
SET VARIABLE recording_labels = (
    WITH
        hosts AS (
            SELECT recording, any_value(value ->> '$.host') AS host
            FROM footer
            WHERE key = 'zernel.recording'
            GROUP BY recording
        ),
        counts AS (
            SELECT count(*) AS files, count(DISTINCT hosts.host) AS hosts
            FROM files
            LEFT JOIN hosts ON hosts.recording = files.recording
        )
    SELECT map_from_entries(list({
        'k': files.recording,
        'v': CASE
            WHEN counts.files = 1 THEN ''
            WHEN counts.hosts = counts.files THEN hosts.host || ' '
            ELSE format('recording {} ', files.recording)
        END
    }))
    FROM files
    LEFT JOIN hosts ON hosts.recording = files.recording
    CROSS JOIN counts
);
SET VARIABLE ranks = (
    WITH
        listed AS (
            SELECT
                recording,
                unnest(from_json(value, '[{"pid":"BIGINT","environment":"MAP(VARCHAR, VARCHAR)"}]')) AS p
            FROM footer
            WHERE key = 'zernel.processes'
        ),
        ranked AS (
            SELECT
                recording,
                p.pid AS pid,
                any_value(
                    coalesce(
                        p.environment['RANK'], p.environment['SLURM_PROCID'], p.environment['OMPI_COMM_WORLD_RANK']
                    )
                ) AS rank
            FROM listed
            GROUP BY ALL
            HAVING rank IS NOT NULL
        ),
        of_recordings AS (
            SELECT recording, map_from_entries(list({'k': pid, 'v': rank})) AS ranks
            FROM ranked
            GROUP BY recording
        )
    SELECT map_from_entries(list({'k': recording, 'v': ranks}))
    FROM of_recordings
);
