@NullMarked
package io.dyber.zernel.serve.mcp;

import org.jspecify.annotations.NullMarked;
