/// When the calls that come by the thousand in a step are recorded: what that costs is measured on the steps of the job.
@NullMarked
package io.dyber.zernel.record.detail;

import org.jspecify.annotations.NullMarked;
