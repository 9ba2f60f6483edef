package io.dyber.zernel.serve.mcp;

import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import tools.jackson.databind.JsonNode;

/// The arguments of a call, which are those that its tool takes.
///
/// @param json an object
record Arguments(JsonNode json) {
    /// @throws IllegalArgumentException if one is missing, unknown or not what it should be
    static Arguments of(JsonNode given, List<Parameter> parameters) {
        if (!given.isObject() && !given.isMissingNode() && !given.isNull()) {
            throw new IllegalArgumentException("arguments are no JSON object");
        }
        for (String name : given.propertyNames()) {
            if (parameters.stream().noneMatch(parameter -> parameter.name().equals(name))) {
                throw new IllegalArgumentException("there is no argument '" + name + "'" + known(parameters));
            }
        }
        parameters.forEach(parameter -> check(parameter, given.path(parameter.name())));
        return new Arguments(given);
    }

    private static String known(List<Parameter> parameters) {
        return parameters.isEmpty()
                ? ": this tool takes none"
                : ": there is " + parameters.stream().map(Parameter::name).collect(Collectors.joining(", "));
    }

    private static void check(Parameter parameter, JsonNode value) {
        String name = parameter.name();
        if (value.isMissingNode() || value.isNull()) {
            if (parameter.required()) {
                throw new IllegalArgumentException("'" + name + "' is missing");
            }
        } else if (parameter.least() == null || parameter.most() == null) {
            if (!value.isString()) {
                throw new IllegalArgumentException("'" + name + "' is no text");
            }
        } else if (!value.isIntegralNumber()
                || !value.canConvertToInt()
                || value.intValue() < parameter.least()
                || value.intValue() > parameter.most()) {
            throw new IllegalArgumentException(
                    "'" + name + "' is no whole number from " + parameter.least() + " to " + parameter.most());
        }
    }

    /// A text that has to be given.
    String text(String name) {
        return json.path(name).stringValue();
    }

    Optional<String> optionalText(String name) {
        return has(name) ? Optional.of(text(name)) : Optional.empty();
    }

    int number(String name, int otherwise) {
        return has(name) ? json.path(name).intValue() : otherwise;
    }

    boolean has(String name) {
        return json.hasNonNull(name);
    }
}
