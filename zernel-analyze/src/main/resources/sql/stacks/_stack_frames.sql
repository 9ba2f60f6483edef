-- Which frames each stack has: numbers only, as there are many.
--
-- needs: _stack_texts, _frames
CREATE TABLE _stack_places AS
WITH
    split AS (
        SELECT id, string_split(stack, ';') AS texts
        FROM _stack_texts
    ),
    numbered AS (
        SELECT id, unnest(texts) AS text, unnest(range(len(texts) - 1, -1, -1)) AS frame
        FROM split
    )
SELECT
    numbered.id, -- number of the stack
    CAST(numbered.frame AS INTEGER) AS frame, -- number of the place in the stack, 0 is the innermost
    frames.number -- number of the frame
FROM numbered
JOIN _frames AS frames ON frames.frame = numbered.text;

-- Where in a stack a process of multiprocessing begins, as a data worker: further out is what forked it.
--
-- needs: _stack_places, _frames
CREATE TABLE _stack_begins AS
SELECT
    places.id, -- number of the stack
    min(places.frame) AS frame -- number of the frame that begins it
FROM _stack_places AS places
JOIN _frames AS frames ON frames.number = places.number
WHERE NOT frames.native
    AND regexp_matches(frames.function, '(^|\.)_bootstrap$')
    AND regexp_matches(frames.file, '/(multiprocess(ing)?|billiard)/process\.py$')
GROUP BY places.id;

-- Every frame of every stack, by its number from the innermost.
--
-- needs: _stack_places, _stack_begins, _frames
CREATE VIEW _stack_frames AS
SELECT
    places.id, -- number of the stack
    CAST(places.frame AS BIGINT) AS frame, -- number of the frame, 0 is the innermost
    frames.function, -- function or symbol
    frames.file, -- file, or library
    frames.line, -- line of the file
    frames.module, -- library, package, python, or NULL for the user's own code
    frames.native, -- whether it is native code
    frames.module IS NULL AND NOT frames.native AND places.frame < coalesce(begins.frame, places.frame + 1)
        AS own, -- whether it is the user's own code, and not of the process that forked this one
    frames.interpreter, -- whether it is Python's interpreter
    frames.called, -- function in few words
    frames.known_call -- number of it in known_calls
FROM _stack_places AS places
JOIN _frames AS frames ON frames.number = places.number
LEFT JOIN _stack_begins AS begins ON begins.id = places.id
