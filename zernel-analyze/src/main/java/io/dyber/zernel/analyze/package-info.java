/// Opens recordings as SQL, and says what they show.
///
/// ```java
/// try (Database database = Recordings.open("run.parquet")) {
///     System.out.println(database.query("SELECT kind, count(*) AS events FROM events GROUP BY ALL"));
/// }
/// ```
@NullMarked
package io.dyber.zernel.analyze;

import org.jspecify.annotations.NullMarked;
