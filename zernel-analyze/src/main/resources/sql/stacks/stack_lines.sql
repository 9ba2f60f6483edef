-- The line of each different stack: where in the user's own code the thread was, and what that called.
--
-- It is the innermost frame of the user's own code, in no package and no standard library; of code that has a file,
-- before code that was given as text. Where there is none, it is the innermost frame of Python, else of native code.
--
-- needs: _stack_frames, _stack_texts
CREATE TABLE stack_lines AS
WITH
    -- Frames that say nothing: of Python's interpreter, and what stands for those that were not taken.
    telling AS (
        SELECT id, frame, function, file, line, module, native, called
        FROM _stack_frames
        WHERE NOT interpreter AND coalesce(function <> '[deeper]', TRUE)
    ),
    chosen AS (
        SELECT
            id,
            coalesce(
                min(frame) FILTER (module IS NULL AND NOT native AND file NOT LIKE '<%'),
                min(frame) FILTER (module IS NULL AND NOT native),
                min(frame) FILTER (NOT native),
                min(frame)
            ) AS frame,
            coalesce(bool_or(module IS NULL AND NOT native), FALSE) AS own,
            bool_or(NOT native) AS python
        FROM telling
        GROUP BY id
    ),
    inward AS (
        SELECT telling.id, arg_max(telling.called, telling.frame) AS called
        FROM telling
        JOIN chosen ON chosen.id = telling.id
        WHERE telling.frame < chosen.frame
        GROUP BY telling.id
    )
SELECT
    texts.id, -- number of the stack
    CASE
        WHEN telling.function IS NULL THEN telling.file
        WHEN telling.native THEN telling.called || coalesce(' (' || telling.file || ')', '')
        ELSE concat_ws(
            ' ',
            concat_ws(':', regexp_extract(telling.file, '[^/]*$'), telling.line),
            telling.function
        )
    END AS line, -- where the thread was: `train.py:88 log_loss`
    inward.called, -- what that called: function or library; NULL where the line is the innermost frame
    telling.file, -- file of the line, or library
    chosen.own, -- whether it is the user's own code
    chosen.python, -- whether Python's code is in the stack
    texts.stack -- text of the whole stack
FROM _stack_texts AS texts
JOIN chosen ON chosen.id = texts.id
JOIN telling ON telling.id = chosen.id AND telling.frame = chosen.frame
LEFT JOIN inward ON inward.id = texts.id
