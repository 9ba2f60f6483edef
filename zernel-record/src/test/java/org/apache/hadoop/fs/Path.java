package org.apache.hadoop.fs;

/// Stands in for Hadoop's class of this name, which parquet-java's record writers mention in their signatures: the
/// benchmark that measures them neither has nor needs Hadoop.
@SuppressWarnings("UnusedClass")
public final class Path {
    private Path() {}
}
