/// Zernel on Apache Spark: two applications for `spark-submit`, [io.dyber.zernel.spark.DigestJob] and
/// [io.dyber.zernel.spark.FleetJob].
@NullMarked
package io.dyber.zernel.spark;

import org.jspecify.annotations.NullMarked;
