package org.apache.hadoop.conf;

/// A compile-time stand-in that never leaves this module: javac resolves the overloads of `ParquetFileWriter` and
/// wants this name, nothing calls it. It is left out of the jar, so a real Hadoop on the class path is not shadowed.
@SuppressWarnings("UnusedClass")
public final class Configuration {
    private Configuration() {}
}
