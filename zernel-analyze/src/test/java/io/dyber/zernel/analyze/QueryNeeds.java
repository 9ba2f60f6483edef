package io.dyber.zernel.analyze;

import io.dyber.zernel.analyze.duckdb.DuckDb;
import io.dyber.zernel.analyze.sql.RowsNeeded;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.jspecify.annotations.NullMarked;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/// Finds what a query needs rows of to have a row itself, by its syntax tree as DuckDB gives it.
///
/// The answer is groups of relations: where all of one group are empty, the query has no row. What it does not know of counts
/// as needing nothing, so an answer may be too short and is never wrong: a join needs both sides and an outer one what it keeps,
/// a condition of a subquery what that is of, a union one of its parts, an aggregate without groups nothing.
///
/// @param relations names of views of the library
/// @param scalars names of functions that do not aggregate
@NullMarked
record QueryNeeds(Set<String> relations, Set<String> scalars, DuckDb duckDb) {
    private static final JsonMapper JSON = new JsonMapper();
    private static final Set<String> EVENTS = Set.of("events", "_rare_events");
    /// Macros that return rows where each relation has some that they are called with.
    private static final Set<String> TABLE_MACROS = Set.of("in_spans", "stack_tree");

    /// A group is a set of names; nothing needed is no group.
    private record Needs(Set<Set<String>> groups) {
        static final Needs NOTHING = new Needs(Set.of());

        static Needs oneOf(Set<String> names) {
            return new Needs(Set.of(names));
        }

        /// All of what each of several needs.
        static Needs all(Stream<Needs> several) {
            return new Needs(several.flatMap(needs -> needs.groups.stream()).collect(Collectors.toSet())).shortened();
        }

        /// What one of several needs.
        static Needs any(List<Needs> several) {
            return several.stream().reduce((one, other) -> new Needs(one.groups.stream()
                    .flatMap(group -> other.groups.stream().map(more -> {
                        Set<String> both = new TreeSet<>(group);
                        both.addAll(more);
                        return both;
                    }))
                    .collect(Collectors.toSet())).shortened()).orElse(NOTHING);
        }

        /// Without groups that another one is part of.
        private Needs shortened() {
            return new Needs(groups.stream()
                    .filter(group -> groups.stream().noneMatch(other -> !other.equals(group) && group.containsAll(other)))
                    .collect(Collectors.toSet()));
        }
    }

    /// Functions that do not aggregate: DuckDB's own, and macros of which no word is a function that does.
    static Set<String> scalars(DuckDb duckDb) {
        return new HashSet<>(duckDb.query(
                        """
                        WITH
                            _functions AS (
                                SELECT DISTINCT lower(function_name) AS name, function_type AS type, macro_definition AS body
                                FROM duckdb_functions()
                            ),
                            _aggregates AS (
                                SELECT list(name) AS names
                                FROM _functions
                                WHERE type = 'aggregate'
                            )
                        SELECT name
                        FROM _functions
                        CROSS JOIN _aggregates
                        GROUP BY name
                        HAVING bool_and(
                                type IN ('scalar', 'macro')
                                AND NOT list_has_any(regexp_split_to_array(lower(coalesce(body, '')), '[^a-z0-9_]+'), names)
                            )
                        """)
                .texts("name"));
    }

    /// The groups of a query.
    Set<Set<String>> of(String query) {
        String tree = duckDb.query("SELECT CAST(json_serialize_sql(CAST(? AS VARCHAR)) AS VARCHAR) AS tree", query).only().requiredText("tree");
        JsonNode statements = JSON.readTree(tree).path("statements");
        if (statements.size() != 1) {
            throw new IllegalArgumentException(tree);
        }
        return query(statements.get(0).path("node"), Map.of()).groups;
    }

    /// @param outer what the named queries around it need
    private Needs query(JsonNode query, Map<String, Needs> outer) {
        Map<String, Needs> named = new HashMap<>(outer);
        for (JsonNode entry : query.path("cte_map").path("map")) {
            JsonNode value = entry.path("value");
            named.put(entry.path("key").asString(), query(value.has("query_node") ? value.path("query_node") : value.path("query").path("node"), named));
        }
        return switch (query.path("type").asString()) {
            case "SELECT_NODE" -> select(query, named);
            case "SET_OPERATION_NODE" -> setOperation(query, named);
            case "RECURSIVE_CTE_NODE" -> recursion(query, named);
            default -> Needs.NOTHING;
        };
    }

    private Needs setOperation(JsonNode operation, Map<String, Needs> named) {
        List<Needs> parts = (operation.has("children")
                        ? elements(operation.path("children"))
                        : Stream.of(operation.path("left"), operation.path("right")))
                .map(part -> query(part, named))
                .toList();
        return switch (operation.path("setop_type").asString()) {
            case "UNION", "UNION_BY_NAME" -> Needs.any(parts);
            case "EXCEPT" -> parts.getFirst();
            case "INTERSECT" -> Needs.all(parts.stream());
            default -> Needs.NOTHING;
        };
    }

    /// In a WITH RECURSIVE also a union that does not read itself: it has the rows of both parts.
    private Needs recursion(JsonNode recursion, Map<String, Needs> named) {
        Needs first = query(recursion.path("left"), named);
        Map<String, Needs> withItself = new HashMap<>(named);
        withItself.put(recursion.path("cte_name").asString(), first);
        return Needs.any(List.of(first, query(recursion.path("right"), withItself)));
    }

    private Needs select(JsonNode select, Map<String, Needs> named) {
        if (hasRowOfNothing(select)) {
            return Needs.NOTHING;
        }
        JsonNode from = select.path("from_table");
        JsonNode where = select.path("where_clause");
        // Without a name in front, a column is of events only where there is nothing else.
        Set<String> events = new HashSet<>(isOfEvents(from) ? Set.of("") : Set.of());
        addEvents(from, events);
        return Needs.all(Stream.of(relation(from, named), condition(where, events, named)));
    }

    /// Whether it aggregates everything, which gives one row also of none.
    private boolean hasRowOfNothing(JsonNode select) {
        JsonNode sets = select.path("group_sets");
        if (!select.path("group_expressions").isEmpty()) {
            return elements(sets).anyMatch(JsonNode::isEmpty);
        }
        boolean grouped = select.path("aggregate_handling").asString().equals("FORCE_AGGREGATES");
        return !sets.isEmpty()
                || (grouped
                        ? elements(select.path("select_list")).allMatch(this::aggregates)
                        : aggregates(select.path("select_list")) || aggregates(select.path("having")));
    }

    private boolean aggregates(JsonNode expression) {
        if (expression.path("class").asString().equals("SUBQUERY")) {
            return aggregates(expression.path("child"));
        }
        boolean calls = expression.path("class").asString().equals("FUNCTION") && !expression.path("is_operator").asBoolean();
        return (calls && !scalars.contains(expression.path("function_name").asString().toLowerCase(Locale.ROOT)))
                || elements(expression).anyMatch(this::aggregates);
    }

    private Needs relation(JsonNode relation, Map<String, Needs> named) {
        return switch (relation.path("type").asString()) {
            case "BASE_TABLE" -> table(relation.path("table_name").asString(), named);
            case "SUBQUERY" -> query(relation.path("subquery").path("node"), named);
            case "JOIN" -> join(relation, named);
            case "TABLE_FUNCTION" -> tableFunction(relation.path("function"), named);
            default -> Needs.NOTHING;
        };
    }

    private Needs table(String name, Map<String, Needs> named) {
        Needs known = named.get(name);
        return known != null ? known : relations.contains(name) ? Needs.oneOf(Set.of(name)) : Needs.NOTHING;
    }

    private Needs join(JsonNode join, Map<String, Needs> named) {
        Needs left = relation(join.path("left"), named);
        Needs right = relation(join.path("right"), named);
        return switch (join.path("join_type").asString()) {
            case "INNER", "SEMI" -> Needs.all(Stream.of(left, right));
            case "LEFT", "ANTI" -> left;
            case "RIGHT" -> right;
            case "OUTER" -> Needs.any(List.of(left, right));
            default -> Needs.NOTHING;
        };
    }

    private Needs tableFunction(JsonNode function, Map<String, Needs> named) {
        return TABLE_MACROS.contains(function.path("function_name").asString())
                ? Needs.all(elements(function.path("arguments"))
                        .map(argument -> table(argument.path("expression").path("column_names").path(0).asString(), named)))
                : Needs.NOTHING;
    }

    /// @param events names under which events are read of which every row of the query has one
    private Needs condition(JsonNode condition, Set<String> events, Map<String, Needs> named) {
        return switch (condition.path("type").asString()) {
            case "CONJUNCTION_AND" ->
                Needs.all(elements(condition.path("children")).map(part -> condition(part, events, named)));
            case "CONJUNCTION_OR" ->
                Needs.any(elements(condition.path("children")).map(part -> condition(part, events, named)).toList());
            case "COMPARE_EQUAL" -> kinds(condition.path("left"), Stream.of(condition.path("right")), events);
            case "COMPARE_IN" ->
                kinds(condition.path("children").path(0), elements(condition.path("children")).skip(1), events);
            case "SUBQUERY" ->
                Set.of("EXISTS", "ANY").contains(condition.path("subquery_type").asString())
                        ? query(condition.path("subquery").path("node"), named)
                        : Needs.NOTHING;
            default -> Needs.NOTHING;
        };
    }

    /// What `kind = 'one'` and `kind IN ('one', 'other')` need.
    private static Needs kinds(JsonNode column, Stream<JsonNode> values, Set<String> events) {
        List<String> names = elements(column.path("column_names")).map(JsonNode::asString).toList();
        boolean ofEvents = !names.isEmpty()
                && names.getLast().equals("kind")
                && (names.size() > 1 ? events.contains(names.getFirst()) : events.contains(""));
        List<JsonNode> constants = values.toList();
        return ofEvents && constants.stream().allMatch(value -> value.path("class").asString().equals("CONSTANT"))
                ? Needs.oneOf(constants.stream().map(value -> RowsNeeded.KIND + text(value)).collect(Collectors.toSet()))
                : Needs.NOTHING;
    }

    private static String text(JsonNode constant) {
        JsonNode literal = constant.path("literal").path("text");
        return (literal.isMissingNode() ? constant.path("value").path("value") : literal).asString();
    }

    /// Adds the names of events that a relation has in each of its rows.
    private static void addEvents(JsonNode relation, Set<String> names) {
        if (relation.path("type").asString().equals("JOIN")) {
            String join = relation.path("join_type").asString();
            if (Set.of("INNER", "SEMI", "LEFT", "ANTI").contains(join)) {
                addEvents(relation.path("left"), names);
            }
            if (Set.of("INNER", "SEMI").contains(join)) {
                addEvents(relation.path("right"), names);
            }
        } else if (isOfEvents(relation)) {
            String alias = relation.path("alias").asString("");
            names.add(alias.isEmpty() ? relation.path("table_name").asString() : alias);
        }
    }

    private static boolean isOfEvents(JsonNode relation) {
        return relation.path("type").asString().equals("BASE_TABLE") && EVENTS.contains(relation.path("table_name").asString());
    }

    private static Stream<JsonNode> elements(JsonNode node) {
        return StreamSupport.stream(node.spliterator(), false);
    }
}
