-- Frames of the user's own code in each stack, innermost first, each with what it led to.
--
-- needs: _stack_frames
CREATE TABLE _own_frames AS
SELECT
    id, -- number of the stack
    row_number() OVER stack AS depth, -- number of the frame among the user's own, 1 is the innermost
    concat_ws(' ', concat_ws(':', regexp_extract(file, '[^/]*$'), line), called)
        AS line, -- where: `train.py:88 validate`
    lag(called) OVER stack AS called, -- function of the next one further in; NULL of the innermost
    file, -- file of it
    function -- function of it
FROM _stack_frames
WHERE own AND file NOT LIKE '<%'
WINDOW stack AS (PARTITION BY id ORDER BY frame)
