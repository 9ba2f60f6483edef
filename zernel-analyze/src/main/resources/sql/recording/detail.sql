-- How much each recording holds of its detail, calls that come by the thousand in a step, and why.
--
-- Recordings of earlier builds hold all of it and have no row here.
--
-- needs: footer, _detail_shares
CREATE VIEW detail AS
WITH
    parsed AS (
        SELECT
            recording,
            from_json(value, '{"asked":"VARCHAR","recorded":"VARCHAR","budget":"DOUBLE","why":"VARCHAR",
                "kinds":["VARCHAR"]}') AS d
        FROM footer
        WHERE key = 'zernel.detail'
    ),
    shares AS (
        SELECT recording, max(windows) AS windows, max(share) AS share
        FROM _detail_shares
        GROUP BY recording
    )
SELECT
    parsed.recording, -- recording
    parsed.d.asked AS asked, -- what the option says
    parsed.d.recorded AS recorded, -- what that came to: all, windows, off, sample:N or count
    parsed.d.budget AS budget, -- share of a step by which detail may make it longer; NULL for none
    parsed.d.why AS why, -- why it came to that
    array_to_string(parsed.d.kinds, ', ') AS kinds, -- kinds that are detail
    shares.windows, -- windows of time in which they were recorded; NULL for all the time
    coalesce(shares.share, 1) AS time_share -- share of the time in which they were, 0 to 1
FROM parsed
LEFT JOIN shares ON shares.recording = parsed.recording
ORDER BY parsed.recording
