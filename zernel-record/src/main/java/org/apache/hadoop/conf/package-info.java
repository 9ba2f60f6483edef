@NullMarked
package org.apache.hadoop.conf;

import org.jspecify.annotations.NullMarked;
