package io.dyber.zernel.serve.source;

/// What a source is doing, for people.
///
/// @param mode `replay` or `tail`
/// @param path the recording
/// @param speed event time per wall-clock time: `1x`, `10x`, `max`
/// @param ended no more events will come
/// @param note one line, e.g. why it ended; empty while there is nothing to say
public record SourceState(String mode, String path, String speed, boolean ended, String note) {}
