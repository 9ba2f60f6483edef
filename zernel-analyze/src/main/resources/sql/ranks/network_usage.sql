-- Network links of the host while a process trained: what each carried, of what it can, and what was lost.
--
-- What a link carries is anybody's traffic on the host. Drops and errors are packets, retransmits are of the ports of
-- InfiniBand and RoCE; those of TCP are counted for the host as a whole.
--
-- needs: _trained, _host_changes, events
-- digest: kept
CREATE TABLE network_usage AS
WITH
    windows AS (
        SELECT recording, pid, min(start_ns) AS start_ns, max(end_ns) AS end_ns
        FROM _trained
        GROUP BY recording, pid
    ),
    parts AS (
        SELECT
            windows.recording,
            windows.pid,
            changes.object AS link,
            changes.name,
            changes.change,
            changes.end_ns - changes.start_ns AS dur_ns
        FROM windows
        JOIN _host_changes AS changes
            ON changes.recording = windows.recording
            AND changes.start_ns < windows.end_ns
            AND changes.end_ns > windows.start_ns
        WHERE changes.name LIKE 'net\_%' ESCAPE '\' OR changes.name LIKE 'tcp\_%' ESCAPE '\'
    ),
    speeds AS (
        SELECT recording, object AS link, arg_max(value, ts_ns) AS bytes_per_s
        FROM events
        WHERE kind = 'host_sample' AND name = 'net_speed'
        GROUP BY recording, object
    ),
    tcp AS (
        SELECT
            recording,
            pid,
            sum(change) FILTER (name = 'tcp_retransmits') AS retransmits,
            sum(change) FILTER (name = 'tcp_segments') AS segments
        FROM parts
        WHERE link IS NULL
        GROUP BY recording, pid
    ),
    links AS (
        SELECT
            recording,
            pid,
            link,
            sum(change) FILTER (name = 'net_rx') / sum(dur_ns) FILTER (name = 'net_rx') * 1e9 AS rx,
            sum(change) FILTER (name = 'net_tx') / sum(dur_ns) FILTER (name = 'net_tx') * 1e9 AS tx,
            max(change / dur_ns) FILTER (name IN ('net_rx', 'net_tx')) * 1e9 AS most,
            sum(change) FILTER (name = 'net_drops') AS drops,
            sum(change) FILTER (name = 'net_errors') AS errors,
            sum(change) FILTER (name = 'net_retransmits') AS retransmits
        FROM parts
        WHERE link IS NOT NULL
        GROUP BY recording, pid, link
    )
SELECT
    links.recording, -- recording
    links.pid, -- process that trains
    links.link, -- interface, or port of InfiniBand as mlx5_0/1
    CAST(links.rx AS BIGINT) AS rx_bytes_per_s, -- [bytes] received per second, mean
    CAST(links.tx AS BIGINT) AS tx_bytes_per_s, -- [bytes] sent per second, mean
    CAST(links.most AS BIGINT) AS most_bytes_per_s, -- [bytes] per second in one direction, the most between two samples
    speeds.bytes_per_s AS speed_bytes_per_s, -- [bytes] per second that it can carry in one direction; NULL if not known
    CAST(links.drops AS BIGINT) AS drops, -- packets dropped
    CAST(links.errors AS BIGINT) AS errors, -- packets with errors
    CAST(links.retransmits AS BIGINT) AS retransmits, -- packets sent again by a port; NULL for interfaces
    CAST(tcp.retransmits AS BIGINT) AS tcp_retransmits, -- TCP segments sent again by the host
    CAST(tcp.segments AS BIGINT) AS tcp_segments, -- TCP segments sent by the host
    row_number() OVER (PARTITION BY links.recording, links.pid ORDER BY greatest(links.rx, links.tx) DESC, links.link)
        AS place, -- 1 for the link that carries most
    format('this host''s link {} carries {}/s in and {}/s out{}', links.link, size(links.rx), size(links.tx),
        coalesce(format(' of {}/s', size(speeds.bytes_per_s)), ''))
        || CASE
            WHEN tcp.retransmits > 0 THEN format(', {:.2f} % of TCP segments are sent again',
                100.0 * tcp.retransmits / greatest(tcp.segments, 1))
            ELSE ''
        END AS link_text -- that as a sentence
FROM links
LEFT JOIN speeds ON speeds.recording = links.recording AND speeds.link = links.link
LEFT JOIN tcp ON tcp.recording = links.recording AND tcp.pid = links.pid
ORDER BY links.recording, links.pid, place
