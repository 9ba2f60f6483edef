package io.dyber.zernel.analyze;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/// The relations that a statement reads, found without running it.
///
/// DuckDB gives the syntax tree of a query, which tells tables from columns. Of other statements it gives none: the query
/// inside of one (`CREATE TABLE t AS query`, `COPY (query) TO`) is asked for alone, and what stands around it are words.
///
/// @param certain names of tables, views and table functions
/// @param possible names that may be one, or something else: a CTE, a column, a word of a statement that has no tree
record ReadNames(Set<String> certain, Set<String> possible) {
    /// A row for each relation and CTE of the tree, and one that says whether there is a tree.
    private static final String TREE_SQL =
            """
            SELECT DISTINCT
                CASE
                    WHEN node.fullkey = '$.error' THEN 'error'
                    WHEN node.key = 'key' THEN 'cte'
                    ELSE 'relation'
                END AS role,
                node.atom ->> '$' AS name
            FROM (SELECT json_serialize_sql(CAST(? AS VARCHAR)) AS tree) AS parsed, json_tree(parsed.tree) AS node
            WHERE node.fullkey = '$.error'
                OR node.key = 'table_name'
                OR node.fullkey LIKE '%.function.function_name'
                OR regexp_matches(node.fullkey, '[.]cte_map[.]map\\[[0-9]+\\][.]key$')
            """;

    /// Functions and statements that read what a text names.
    private static final List<String> READ_TEXTS = List.of("query", "query_table", "PRAGMA");

    static ReadNames of(String statement, DuckDb duckDb) {
        ReadNames names = new ReadNames(new LinkedHashSet<>(), new LinkedHashSet<>());
        List<SqlToken> tokens = SqlToken.withoutComments(statement);
        if (!names.addRelations(statement, duckDb)) {
            List<SqlToken> query = query(tokens);
            boolean known = !query.isEmpty()
                    && names.addRelations(statement.substring(query.getFirst().begin(), query.getLast().end()), duckDb);
            List<SqlToken> words = new ArrayList<>(tokens);
            words.removeAll(known ? query : List.of());
            names.addWords(words);
        }
        if (tokens.stream().anyMatch(token -> READ_TEXTS.stream().anyMatch(token::is))) {
            tokens.stream()
                    .filter(token -> token.kind() == SqlToken.Kind.TEXT)
                    .forEach(text -> names.addWords(SqlToken.withoutComments(text.value())));
        }
        return names;
    }

    /// Adds what a query reads; false where it is something else, or wrong.
    private boolean addRelations(String query, DuckDb duckDb) {
        Table tree = duckDb.queryOften(TREE_SQL, query);
        if (names(tree, "error").contains("true")) {
            return false;
        }
        // A CTE hides the relation of its name only where it is known; elsewhere the relation may be meant.
        Set<String> ctes = new HashSet<>(names(tree, "cte"));
        for (String name : names(tree, "relation")) {
            (ctes.contains(name) ? possible : certain).add(name);
        }
        return true;
    }

    private static List<String> names(Table tree, String role) {
        return tree.rows().stream()
                .filter(row -> row.requiredText("role").equals(role))
                .map(row -> row.requiredText("name"))
                .toList();
    }

    /// Adds all names but the one that a statement creates. One that drops or alters something reads nothing.
    private void addWords(List<SqlToken> tokens) {
        if (tokens.isEmpty() || tokens.getFirst().is("DROP") || tokens.getFirst().is("ALTER")) {
            return;
        }
        Optional<SqlToken> created = created(tokens);
        tokens.stream()
                .filter(token -> token.isName() && !created.equals(Optional.of(token)))
                .forEach(token -> possible.add(token.value()));
    }

    /// The first query in a statement, up to the parenthesis that closes around it.
    private static List<SqlToken> query(List<SqlToken> tokens) {
        int begin = 0;
        while (begin < tokens.size() && !beginsQuery(tokens.get(begin))) {
            begin++;
        }
        int depth = 0;
        int end = begin;
        while (end < tokens.size()) {
            depth += tokens.get(end).is("(") ? 1 : tokens.get(end).is(")") ? -1 : 0;
            if (depth < 0) {
                break;
            }
            end++;
        }
        return tokens.subList(begin, end);
    }

    private static boolean beginsQuery(SqlToken token) {
        return token.is("SELECT") || token.is("FROM") || token.is("WITH");
    }

    /// The name that a `CREATE` gives: the last one before `AS`, a parenthesis, or what an index is on.
    static Optional<SqlToken> created(List<SqlToken> tokens) {
        return tokens.isEmpty() || !tokens.getFirst().is("CREATE")
                ? Optional.empty()
                : tokens.stream()
                        .takeWhile(token -> !token.is("AS") && !token.is("(") && !token.is("ON"))
                        .filter(SqlToken::isName)
                        .reduce((_, last) -> last);
    }
}
