package io.dyber.zernel.record.probe;

import io.dyber.zernel.record.schema.Constant;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/// What a call is to a step of the job, as the user says: `(role=data_wait)`.
///
/// It is the column `role` of each row of the call; the analyzer makes steps and phases of these rows.
public enum CallRole {
    /// A step, from one call to the next.
    STEP,
    /// Waiting for the next batch.
    DATA_WAIT,
    COMPUTE,
    /// Waiting for a device, or for anything else.
    SYNC,
    COLLECTIVE,
    OPTIMIZER,
    CHECKPOINT;

    /// The column of the recording.
    static final String COLUMN = "role";

    String title() {
        return name().toLowerCase(Locale.ROOT);
    }

    /// As the value that the column has in every row.
    Constant constant() {
        return Constant.of(COLUMN, title());
    }

    static List<String> titles() {
        return Arrays.stream(values()).map(CallRole::title).toList();
    }

    static Optional<CallRole> named(String title) {
        return Arrays.stream(values()).filter(role -> role.title().equals(title)).findFirst();
    }
}
