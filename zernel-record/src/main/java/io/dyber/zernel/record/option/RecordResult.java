package io.dyber.zernel.record.option;

import java.nio.file.Path;
import java.util.List;
import java.util.OptionalInt;

/// How a recording ended.
///
/// @param incompleteBecause empty when nothing was lost and everything asked for was recorded
/// @param diskFull whether it ended because there was no room for more
/// @param commandStatus exit status of the recorded command, when there was one and it ended by itself
public record RecordResult(
        Path output,
        long events,
        long lost,
        long bytes,
        List<String> incompleteBecause,
        boolean diskFull,
        OptionalInt commandStatus) {}
