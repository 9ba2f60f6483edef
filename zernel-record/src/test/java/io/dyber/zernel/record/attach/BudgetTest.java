package io.dyber.zernel.record.attach;

import static org.assertj.core.api.Assertions.assertThat;

import io.dyber.zernel.format.Footer;
import io.dyber.zernel.record.option.LaunchDetail;
import java.util.List;
import java.util.OptionalDouble;
import org.junit.jupiter.api.Test;

final class BudgetTest {
    private final Budget budget = new Budget(OptionalDouble.of(0.01));

    @Test
    void oneIntervalOverTheBudgetIsNoReason() {
        assertThat(budget.check(0.02, LaunchDetail.ALL)).isEmpty();
        assertThat(budget.check(0.005, LaunchDetail.ALL)).isEmpty();
        assertThat(budget.check(0.02, LaunchDetail.ALL)).isEmpty();
    }

    @Test
    void twoInARowAreOne() {
        budget.check(0.02, LaunchDetail.ALL);
        Budget.Change change = budget.check(0.03, LaunchDetail.ALL).orElseThrow();
        assertThat(change.to()).hasToString("sample:16");
        assertThat(change.text())
                .isEqualTo("probes took 3.00 % of a CPU, the budget is 1.00 %: launches sample:16 instead of all");
    }

    @Test
    void eachStepRecordsLessUntilNothingIsLeft() {
        LaunchDetail launches = LaunchDetail.ALL;
        StringBuilder steps = new StringBuilder();
        for (int i = 0; i < 20; i++) {
            launches = budget.check(0.5, launches).map(Budget.Change::to).orElse(launches);
            steps.append(launches).append(' ');
        }
        assertThat(steps.toString().split(" ")).containsSubsequence("all", "sample:16", "count", "off");
        assertThat(launches).isEqualTo(LaunchDetail.OFF);
    }

    @Test
    void withoutABudgetNothingChanges() {
        Budget none = new Budget(OptionalDouble.empty());
        none.check(5, LaunchDetail.ALL);
        assertThat(none.check(5, LaunchDetail.ALL)).isEmpty();
    }

    @Test
    void theFooterSaysWhenWhatChanged() {
        budget.note(new Budget.Change(LaunchDetail.ALL, LaunchDetail.COUNT, 0.25, 0.01), 17);
        assertThat(budget.describe(LaunchDetail.COUNT))
                .isEqualTo(new Footer.Launches(
                        "count", 0.01, List.of(new Footer.LaunchChange(17, "all", "count", 0.25))));
    }
}
