package io.dyber.zernel.analyze.cli;

import io.dyber.zernel.analyze.sql.SqlLibrary;
import io.dyber.zernel.analyze.sql.SqlObject;
import java.util.Iterator;

/// What `--explain` is mostly asked about, for completion in a shell.
final class FindingNames implements Iterable<String> {
    @Override
    public Iterator<String> iterator() {
        return SqlLibrary.builtIn().findings().stream().map(SqlObject::name).iterator();
    }
}
