-- Quantiles from a histogram, in place of the exact ones of the prelude, whose memory grows with the events.
--
-- Buckets are log-linear: up to 127 ns one each, above that 64 in each power of two, so the middle of a bucket is within
-- 1/128 of any value in it. As exact quantiles do, these interpolate between the two elements around a place.

-- The bucket of a duration: seven bits that say where in its power of two it is, above them how many bits were cut off.
CREATE MACRO _bucket(ns) AS CASE
    WHEN ns < 128 THEN greatest(ns, 0)
    WHEN ns >= 128 THEN
        ((CAST(floor(log2(ns)) AS BIGINT) - 6) << 7) + (ns >> (CAST(floor(log2(ns)) AS BIGINT) - 6))
END;

-- The duration in the middle of a bucket.
CREATE MACRO _middle(bucket) AS ((bucket % 128) << (bucket >> 7)) + ((CAST(1 AS BIGINT) << (bucket >> 7)) - 1) / 2;

-- The buckets of a map, with how many elements they hold up to each. In a list, so that it is computed once.
CREATE MACRO _cumulated(counts) AS list_transform(
    [counts],
    lambda m: {
        'buckets': map_keys(m),
        'upto': list_transform(
            range(1, len(map_values(m)) + 1),
            lambda i: CAST(list_sum(map_values(m)[1:i]) AS BIGINT)
        )
    }
);

-- The element at a place from 0, and between two elements what lies between them.
CREATE MACRO _element(h, place) AS
    _middle(h.buckets[1 + len(list_filter(h.upto, lambda n: n <= floor(place)))]) * (1 - place + floor(place))
    + _middle(h.buckets[1 + len(list_filter(h.upto, lambda n: n <= ceil(place)))]) * (place - floor(place));

CREATE OR REPLACE MACRO quantiles(ns, shares) AS list_transform(
    _cumulated(histogram(_bucket(ns))),
    lambda h: list_transform(shares, lambda share: _element(h, share * (h.upto[-1] - 1)))
)[1];

CREATE OR REPLACE MACRO quantile_error() AS 1 / 128;
