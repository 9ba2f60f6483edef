@NullMarked
package org.apache.hadoop.fs;

import org.jspecify.annotations.NullMarked;
