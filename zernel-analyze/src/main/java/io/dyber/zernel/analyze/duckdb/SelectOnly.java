package io.dyber.zernel.analyze.duckdb;

import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/// Whether SQL of somebody else is one query that only reads tables and views, by DuckDB's own syntax tree.
///
/// A query can write (`WITH x AS (INSERT ...)`), and table functions read files, memory by its address and settings:
/// only those are let through that make rows of their arguments, and the library's own.
public final class SelectOnly {
    private static final String TREE = "SELECT json_serialize_sql(CAST(? AS VARCHAR)) AS tree";
    private static final String MACROS =
            "SELECT DISTINCT function_name FROM duckdb_functions() WHERE function_type = 'table_macro' AND NOT internal";
    private static final Set<String> QUERIES =
            Set.of("SELECT_NODE", "SET_OPERATION_NODE", "RECURSIVE_CTE_NODE", "CTE_NODE");
    private static final Set<String> FUNCTIONS =
            Set.of("range", "generate_series", "unnest", "repeat", "json_each", "json_tree");
    private static final JsonMapper JSON = JsonMapper.shared();

    private SelectOnly() {}

    /// Why a text is not such a query; empty where it is one.
    public static Optional<String> refusal(String sql, DuckDb duckDb) {
        Set<String> functions = new TreeSet<>(FUNCTIONS);
        functions.addAll(duckDb.query(MACROS).texts("function_name"));
        try {
            JsonNode tree = JSON.readTree(duckDb.query(TREE, sql).only().requiredText("tree"));
            if (tree.path("error").asBoolean(false)) {
                boolean wrong = tree.path("error_type").asString("").equals("parser");
                return Optional.of(wrong ? tree.path("error_message").asString("") : "only a SELECT may be run");
            }
            JsonNode statements = tree.path("statements");
            return statements.size() == 1
                    ? in(statements, functions)
                    : Optional.of("it has " + statements.size() + " statements and not one");
        } catch (JacksonException _) {
            return Optional.of("it is nested too deeply");
        }
    }

    private static Optional<String> in(JsonNode node, Set<String> functions) {
        String type = node.path("type").asString("");
        if (type.endsWith("_NODE") && !QUERIES.contains(type)) {
            return Optional.of("only a SELECT may be run");
        }
        if (type.equals("TABLE_FUNCTION")) {
            String name = node.path("function").path("function_name").asString("");
            if (!functions.contains(name)) {
                return Optional.of("the table function '" + name + "' may not be used");
            }
        }
        for (JsonNode child : node) {
            Optional<String> refusal = in(child, functions);
            if (refusal.isPresent()) {
                return refusal;
            }
        }
        return Optional.empty();
    }
}
