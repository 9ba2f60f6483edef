package io.dyber.zernel.analyze.duckdb;

import io.dyber.zernel.analyze.sql.SqlToken;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.TokenStreamContext;
import tools.jackson.core.json.JsonFactory;

/// The relations that a statement reads, found without running it.
///
/// DuckDB gives the syntax tree of a query, which tells tables from columns. Of other statements it gives none: the query
/// inside of one (`CREATE TABLE t AS query`, `COPY (query) TO`) is asked for alone, and what stands around it are words.
///
/// @param certain names of tables, views and table functions
/// @param possible names that may be one, or something else: a CTE, a column, a word of a statement that has no tree
record ReadNames(Set<String> certain, Set<String> possible) {
    private static final String TREE_SQL = "SELECT json_serialize_sql(CAST(? AS VARCHAR)) AS tree";
    /// A tree is as deep as its query, and larger than it by far.
    private static final JsonFactory JSON = JsonFactory.builder()
            .streamReadConstraints(StreamReadConstraints.builder().maxNestingDepth(100_000).build())
            .build();

    /// Functions and statements that read what a text names.
    private static final List<String> READ_TEXTS = List.of("query", "query_table", "PRAGMA");

    static ReadNames of(String statement, DuckDb duckDb) {
        ReadNames names = new ReadNames(new LinkedHashSet<>(), new LinkedHashSet<>());
        List<SqlToken> tokens = SqlToken.withoutComments(statement);
        if (!names.addRelations(statement, duckDb)) {
            List<SqlToken> query = query(tokens);
            boolean known = !query.isEmpty()
                    && names.addRelations(statement.substring(query.getFirst().begin(), query.getLast().end()), duckDb);
            names.addWords(known ? around(query, tokens) : tokens);
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
        String tree = duckDb.queryOften(TREE_SQL, query).rows().getFirst().requiredText("tree");
        Set<String> relations = new LinkedHashSet<>();
        Set<String> ctes = new HashSet<>();
        try (JsonParser json = JSON.createParser(ObjectReadContext.empty(), tree)) {
            for (JsonToken token = json.nextToken(); token != null; token = json.nextToken()) {
                TokenStreamContext place = json.streamReadContext();
                if (token == JsonToken.VALUE_TRUE && isNamed(place, "error") && place.getParent().inRoot()) {
                    return false;
                }
                if (token == JsonToken.VALUE_STRING) {
                    if (isNamed(place, "table_name") || (isNamed(place, "function_name") && isNamed(place.getParent(), "function"))) {
                        relations.add(json.getString());
                    } else if (isNamed(place, "key") && isInCtes(place)) {
                        ctes.add(json.getString());
                    }
                }
            }
        }
        // A CTE hides the relation of its name only where it is known; elsewhere the relation may be meant.
        relations.forEach(name -> (ctes.contains(name) ? possible : certain).add(name));
        return true;
    }

    /// Of `"cte_map": {"map": [{"key": ...}]}`.
    private static boolean isInCtes(TokenStreamContext entry) {
        TokenStreamContext map = entry.getParent().getParent();
        return isNamed(map, "map") && isNamed(map.getParent(), "cte_map");
    }

    private static boolean isNamed(@Nullable TokenStreamContext place, String name) {
        return place != null && name.equals(place.currentName());
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

    /// Without those of the query: a list's `removeAll` would compare each with each.
    private static List<SqlToken> around(List<SqlToken> query, List<SqlToken> tokens) {
        int begin = query.getFirst().begin();
        int end = query.getLast().end();
        return tokens.stream().filter(token -> token.begin() < begin || token.begin() >= end).toList();
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
