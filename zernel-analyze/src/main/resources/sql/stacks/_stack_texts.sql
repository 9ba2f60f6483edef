-- The different stacks, with a number for each.
--
-- A recording has few different stacks for many events, so whatever is done with their text is done here once.
--
-- needs: events
CREATE TABLE _stack_texts AS
SELECT
    CAST(row_number() OVER (ORDER BY stack) AS INTEGER) AS id, -- number of the stack, from 1
    stack -- its text, frames joined by `;`, the outermost first
FROM (SELECT DISTINCT stack FROM events WHERE stack IS NOT NULL)
