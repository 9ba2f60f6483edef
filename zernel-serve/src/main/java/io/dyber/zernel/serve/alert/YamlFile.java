package io.dyber.zernel.serve.alert;

import io.dyber.zernel.format.Suggestion;
import io.dyber.zernel.format.TimeText;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.snakeyaml.engine.v2.api.LoadSettings;
import org.snakeyaml.engine.v2.api.lowlevel.Compose;
import org.snakeyaml.engine.v2.exceptions.Mark;
import org.snakeyaml.engine.v2.exceptions.MarkedYamlEngineException;
import org.snakeyaml.engine.v2.exceptions.YamlEngineException;
import org.snakeyaml.engine.v2.nodes.MappingNode;
import org.snakeyaml.engine.v2.nodes.Node;
import org.snakeyaml.engine.v2.nodes.NodeTuple;
import org.snakeyaml.engine.v2.nodes.ScalarNode;
import org.snakeyaml.engine.v2.nodes.SequenceNode;

/// A file of YAML, or JSON, which is YAML too: reads its values and collects what is wrong, by line.
final class YamlFile {
    private final String name;
    private final List<String> faults = new ArrayList<>();

    YamlFile(String name) {
        this.name = name;
    }

    /// One line each, `file:line: what`.
    List<String> faults() {
        return faults;
    }

    Optional<Node> root(String text) {
        try {
            Optional<Node> root =
                    new Compose(LoadSettings.builder().setLabel(name).build()).composeString(text);
            if (root.isEmpty()) {
                faults.add(name + ":1: the file is empty");
            }
            return root;
        } catch (MarkedYamlEngineException e) {
            fault(e.getProblemMark(), e.getProblem());
        } catch (YamlEngineException e) {
            fault(Optional.empty(), String.valueOf(e.getMessage()).lines().findFirst().orElse(""));
        }
        return Optional.empty();
    }

    void fault(@Nullable Node node, String what) {
        fault(node == null ? Optional.empty() : node.getStartMark(), what);
    }

    private void fault(Optional<Mark> mark, String what) {
        faults.add(name + ":" + (mark.map(Mark::getLine).orElse(0) + 1) + ": " + what);
    }

    /// The values by key; keys other than `known` are faults, and so is a node that is no mapping.
    Map<String, Node> mapping(Node node, String what, List<String> known) {
        Map<String, Node> values = new LinkedHashMap<>();
        if (!(node instanceof MappingNode mapping)) {
            fault(node, what + " has keys: " + String.join(", ", known));
            return values;
        }
        for (NodeTuple entry : mapping.getValue()) {
            String key = text(entry.getKeyNode());
            if (!known.contains(key)) {
                fault(entry.getKeyNode(), what + " has no '" + key + "'" + meant(key, known));
            } else if (values.put(key, entry.getValueNode()) != null) {
                fault(entry.getKeyNode(), "'" + key + "' is there twice");
            }
        }
        return values;
    }

    /// The value of a key that must be there.
    @Nullable Node required(Map<String, Node> values, String key, Node owner) {
        Node value = values.get(key);
        if (value == null) {
            fault(owner, "'" + key + "' is missing");
        }
        return value;
    }

    List<Node> list(Node node, String what) {
        if (node instanceof SequenceNode list) {
            return list.getValue();
        }
        fault(node, what + " is a list");
        return List.of();
    }

    List<Node> oneOrMore(Node node) {
        return node instanceof SequenceNode list ? list.getValue() : List.of(node);
    }

    /// The text of a scalar; empty for what is missing.
    String text(@Nullable Node node) {
        if (node instanceof ScalarNode scalar) {
            return scalar.getValue();
        }
        if (node != null) {
            fault(node, "a single value belongs here");
        }
        return "";
    }

    double number(@Nullable Node node) {
        String text = text(node);
        try {
            double number = Double.parseDouble(text);
            if (Double.isFinite(number)) {
                return number;
            }
        } catch (NumberFormatException _) {
            // said below
        }
        if (node != null) {
            fault(node, "'" + text + "' is not a number");
        }
        return 0;
    }

    Duration duration(@Nullable Node node, Duration orElse) {
        if (node == null) {
            return orElse;
        }
        String text = text(node);
        return TimeText.parse(text).orElseGet(() -> {
            fault(node, "'" + text + "' is not a duration: say 500ms, 5s, 2m or 1h");
            return orElse;
        });
    }

    /// One of the constants of an enum, in lower case.
    <E extends Enum<E>> E choice(@Nullable Node node, String what, E orElse) {
        List<String> known = new ArrayList<>();
        for (E constant : orElse.getDeclaringClass().getEnumConstants()) {
            known.add(constant.name().toLowerCase(Locale.ROOT));
            if (node != null && text(node).equals(known.getLast())) {
                return constant;
            }
        }
        if (node != null) {
            fault(node, "'" + text(node) + "' is no " + what + "; there are " + String.join(", ", known));
        }
        return orElse;
    }

    /// The known word that `word` may mean, as the end of a sentence.
    static String meant(String word, List<String> known) {
        return Suggestion.of(word, known).map(one -> "; did you mean '" + one + "'?").orElse("");
    }
}
