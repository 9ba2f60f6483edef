-- The line of each different stack: where in the user's own code the thread was, and what that called.
--
-- It is the innermost frame of the user's own code, in no package and no standard library; of code that has a file,
-- before code that was given as text. Where there is none, it is the innermost frame of Python, else of native code.
-- What forked a process of multiprocessing, as a data worker, is not its own.
--
-- needs: _stack_frames, _stack_texts
CREATE TABLE stack_lines AS
WITH
    chosen AS (
        SELECT
            id,
            coalesce(
                min(frame) FILTER (own AND file NOT LIKE '<%'),
                min(frame) FILTER (own),
                min(frame) FILTER (NOT native),
                min(frame) FILTER (file IS NOT NULL AND NOT interpreter),
                min(frame) FILTER (file IS NOT NULL),
                min(frame)
            ) AS frame,
            bool_or(own) AS own,
            bool_or(NOT native) AS python
        FROM _stack_frames
        GROUP BY id
    ),
    -- Python's interpreter between two frames says nothing, nor does what stands for frames that were not taken.
    called AS (
        SELECT
            frames.id,
            frames.frame,
            coalesce(frames.called, '') AS function,
            frames.file,
            frames.module IS NOT NULL AND NOT frames.native
                AND (is_wrapper(frames.function) OR frames.file LIKE '%contextlib.py') AS wraps,
            frames.native
        FROM _stack_frames AS frames
        JOIN chosen ON chosen.id = frames.id
        WHERE frames.frame < chosen.frame AND NOT frames.interpreter AND frames.file IS NOT NULL
    ),
    -- A decorator of a package says less than what it decorates, and the call of a module less than the module.
    inward AS (
        SELECT
            id,
            CASE
                WHEN arg_max(wraps, frame)
                    THEN coalesce(arg_max(function, frame) FILTER (NOT wraps AND NOT native), arg_max(function, frame))
                ELSE arg_max(function, frame)
            END AS function,
            arg_max(file, frame) AS file
        FROM called
        GROUP BY id
    )
SELECT
    texts.id, -- number of the stack
    CASE
        WHEN line.function IS NULL THEN line.file
        WHEN line.native THEN line.called || coalesce(' (' || line.file || ')', '')
        ELSE concat_ws(' ', concat_ws(':', regexp_extract(line.file, '[^/]*$'), line.line), line.called)
    END AS line, -- where the thread was: `train.py:88 log_loss`
    nullif(inward.function, '') AS called, -- what that called; NULL where it is the innermost, or has no name
    CASE WHEN inward.function = '' THEN inward.file END AS library, -- of what it called, where only that is known
    line.file, -- file of the line, or library
    chosen.frame, -- number of its frame, 0 is the innermost
    chosen.own, -- whether it is the user's own code
    chosen.python, -- whether Python's code is in the stack
    texts.stack -- text of the whole stack
FROM _stack_texts AS texts
JOIN chosen ON chosen.id = texts.id
JOIN _stack_frames AS line ON line.id = chosen.id AND line.frame = chosen.frame
LEFT JOIN inward ON inward.id = texts.id
