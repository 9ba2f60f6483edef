-- Anomaly detection of autograd is on. It formats a stack for each operator and looks for NaN in each gradient.
--
-- Told by samples of the training thread in which PyTorch formats a stack. What is lost is their share and that of the
-- operators that look for NaN, of the time of a mean step on a CPU; at most, also what surrounds operators in the
-- backward pass, waits there for the pool of threads, or has no name, as nothing tells which of it is of those that
-- look. Samples are few, so it is a range.
-- Does not apply to traces of profilers (python_in_passes).
--
-- needs: _anomaly_samples, step_mean
-- severity: high from 25 % of step time, medium from 10 %
-- hint: torch.is_anomaly_enabled() says whether it is on
WITH
    thresholds AS (
        SELECT
            20 AS min_samples, -- in which the stack of an operator is formatted
            0.1 AS min_share, -- of a step
            2 AS deviations -- standard deviations that a share of samples may be wrong
    ),
    costs AS (
        SELECT
            found.*,
            means.steps,
            means.step_ns,
            least(found.cpu_ns / means.steps, means.step_ns) AS step_cpu_ns,
            (found.formats + found.checks) / found.samples AS share,
            (found.formats + found.checks + found.around) / found.samples AS most_share
        FROM _anomaly_samples AS found
        JOIN step_mean AS means
            ON means.recording = found.recording
            AND means.pid = found.pid
            AND means.tid = found.tid
        WHERE means.steps > 0
    ),
    ranges AS (
        SELECT
            *,
            share * step_cpu_ns AS lost_ns,
            greatest(share - deviations * sqrt(share * (1 - share) / samples), 0) * step_cpu_ns AS least_ns,
            least(most_share + deviations * sqrt(most_share * (1 - most_share) / samples), 1) * step_cpu_ns AS bound_ns
        FROM costs
        CROSS JOIN thresholds
    )
SELECT
    recording, -- recording
    pid, -- process
    tid, -- training thread
    lost_ns AS part_ns, -- [ns] shown as share of step time
    step_ns, -- [ns] step
    lost_ns, -- [ns] in what it does
    bound_ns, -- [ns] saved at most
    least_ns AS least_lost_ns, -- [ns] lost at least
    format('mean of {} steps: {} on the CPU of {}; of {} samples, {} format the stack of an operator and {} look for '
        || 'NaN in gradients, {} to {}; {} more may be of that, around operators of the backward pass; ',
        steps, ms(step_cpu_ns), ms(step_ns), samples, formats, checks, ms(least_ns),
        ms(least(share + (lost_ns - least_ns) / step_cpu_ns, 1) * step_cpu_ns), around) AS evidence, -- what it rests on
    'leave out torch.autograd.set_detect_anomaly(True), or detect_anomaly=True of a trainer, once what it was to find '
        || 'is found' AS advice, -- what to try
    'zernel-analyze stacks {}' AS next_command -- to see more
FROM ranges
CROSS JOIN thresholds
WHERE formats >= thresholds.min_samples
    AND lost_ns >= thresholds.min_share * step_ns
