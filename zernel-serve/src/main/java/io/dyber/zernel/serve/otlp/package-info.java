/// What is served, pushed to an OpenTelemetry Collector: metrics, and findings and alerts as logs.
@NullMarked
package io.dyber.zernel.serve.otlp;

import org.jspecify.annotations.NullMarked;
