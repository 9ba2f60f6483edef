package io.dyber.zernel.serve.mcp;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/// What a tool answers: the same for programs and as text.
///
/// @param members by name: values as [Rows] makes them
record Answer(Map<String, ? extends @Nullable Object> members, String text) {}
