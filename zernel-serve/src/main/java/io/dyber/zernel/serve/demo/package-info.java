@NullMarked
package io.dyber.zernel.serve.demo;

import org.jspecify.annotations.NullMarked;
