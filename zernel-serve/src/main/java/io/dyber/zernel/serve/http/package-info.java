/// HTTP as the server needs it: who may ask, answers, files of the page.
@NullMarked
package io.dyber.zernel.serve.http;

import org.jspecify.annotations.NullMarked;
