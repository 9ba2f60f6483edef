-- Probed functions, one row per function and library file.
--
-- What was not probed cannot show up: a missing kind of event means nothing unless its probes were attached.
-- Counters are exact and come from the recording's footer.
--
-- needs: footer
CREATE VIEW probes AS
WITH
    parsed AS (
        SELECT
            recording,
            unnest(from_json(value, '[{"kind":"VARCHAR","name":"VARCHAR","library":"VARCHAR","symbol":"VARCHAR",
                "cost":"VARCHAR","end":"VARCHAR","state":"VARCHAR","why":"VARCHAR","entries":"BIGINT",
                "returns":"BIGINT",
                "events":"BIGINT","lost":"BIGINT","filtered":"BIGINT","no_return":"BIGINT"}]')) AS probe
        FROM footer
        WHERE key = 'zernel.probes'
    )
SELECT
    recording, -- position of the recording in the list that was opened
    probe.kind AS kind, -- kind of event it produces
    probe.name AS name, -- name that its events carry, if fixed
    probe.library AS library, -- file that holds the function
    probe.symbol AS symbol, -- the function
    probe.state AS state, -- attached, off, waiting (nobody loaded the library), missing or failed
    probe.why AS why, -- reason when it is not attached
    probe.cost AS cost, -- emulated (cheap) or single-stepped
    probe.end AS call_end, -- return, early (just before it), exits (a debug trap, expensive), none; NULL: not said
    probe.entries AS entries, -- calls seen
    probe.returns AS returns, -- returns seen
    probe.events AS events, -- events stored
    probe.lost AS lost, -- events that found their ring full
    probe.filtered AS filtered, -- calls of processes that were not asked for
    probe.no_return AS no_return -- calls whose return was never seen
FROM parsed
ORDER BY ALL
