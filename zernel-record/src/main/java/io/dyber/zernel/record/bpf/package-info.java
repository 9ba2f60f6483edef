@NullMarked
package io.dyber.zernel.record.bpf;

import org.jspecify.annotations.NullMarked;
