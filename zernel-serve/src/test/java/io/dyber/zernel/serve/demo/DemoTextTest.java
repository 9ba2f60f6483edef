package io.dyber.zernel.serve.demo;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

final class DemoTextTest {
    private static final DemoText.Verdict VERDICT = new DemoText.Verdict(
            "Training waits for data.", "pid 4711", 19.6, 9.24, 1.892,
            "mean of 142 steps: 9.2 ms waiting of 19.6 ms; all in next_batch, which is asleep or blocked for 99 % of it",
            "fetch the next batch in a thread or process of its own while this one computes");

    @Test
    void whatWasFoundIsSaidWithReasonAndAdvice() {
        assertThat(DemoText.found(VERDICT)).containsExactly(
                "FOUND   Training waits for data.",
                "        pid 4711 loses 9.2 ms of a step of 19.6 ms; fixing it gains at most",
                "        1.89x, all else as it is",
                "  why   mean of 142 steps: 9.2 ms waiting of 19.6 ms; all in next_batch, which",
                "        is asleep or blocked for 99 % of it",
                "  try   fetch the next batch in a thread or process of its own while this one",
                "        computes");
    }

    @Test
    void theSecondRunIsHeldAgainstThePromise() {
        assertThat(DemoText.fixed(VERDICT, "each batch is fetched while the one before is computed", 10.6)).containsExactly(
                "FIXED   each batch is fetched while the one before is computed",
                "        a step took 19.6 ms and takes 10.6 ms",
                "        promised at most 1.89x; measured 1.85x");
    }

    @Test
    void aJobThatGotSlowerIsSaidToHave() {
        assertThat(DemoText.fixed(VERDICT, "each batch is fetched while the one before is computed", 39.2))
                .last().isEqualTo("        promised at most 1.89x; measured 0.50x");
    }
}
