-- Names of kernels that the recorder learned, by the handle that a launch has.
--
-- Launches that came before the name have only the handle.
--
-- needs: footer
CREATE TABLE _kernel_names AS
WITH
    known AS (
        SELECT
            recording,
            unnest(from_json(value, '[{"pid":"BIGINT","func":"BIGINT","kernel":"VARCHAR"}]')) AS k
        FROM footer
        WHERE key = 'zernel.kernels'
    )
SELECT
    recording, -- recording
    k.pid AS pid, -- process
    k.func AS func, -- handle of the kernel: host stub, cudaKernel_t or CUfunction
    any_value(k.kernel) AS kernel -- its name
FROM known
GROUP BY ALL
