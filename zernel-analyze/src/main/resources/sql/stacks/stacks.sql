-- The frames of each different stack, one row per frame.
--
-- A stack is what a thread was in when a call that blocked it returned, or when a sample found it on a CPU. Its text is
-- the column `stack` of the events, by which they are joined: `FROM events JOIN stacks USING (stack)`. Python's frames
-- have a file and a line, native ones a library. The user's own code is what is in no package and no standard library.
--
-- needs: _stack_frames, _stack_texts
CREATE VIEW stacks AS
SELECT
    frames.id, -- number of the stack, from 1
    frames.frame, -- number of the frame: 0 is the innermost, where the thread was
    frames.file, -- file of Python's code, or library of native code
    frames.line, -- line of the file; NULL in native code
    frames.function, -- function or symbol; NULL where only the library is known
    frames.module, -- library; package of Python, python for its standard library; NULL for the user's own code
    texts.stack -- text of the whole stack
FROM _stack_frames AS frames
JOIN _stack_texts AS texts ON texts.id = frames.id
ORDER BY frames.id, frames.frame
